//! A run's results in one file, to be scored again without files, databases or engine.
//!
//! # Contract
//! JSON lines in UTF-8:
//! 1. the head: `bundle` (`sqlgauge-bundle@1`), version, engine, systems, items with `condition_cols` and `ignore_order`, and the
//!    record of the run that it was made from;
//! 2. one line per gold (`gold`, its name) and per result (`system`): `id`, and either `columns` and `rows`, or `error` with `status`.
//!    `types` is `stated`, where values have their types, or `written`, where they are the texts of a CSV file. An integer that JSON
//!    readers may round and a real that JSON lacks are objects: `{"integer": "…"}`, `{"real": "inf"}`; bytes are `0x` and hex digits;
//! 3. the end: `lines`, and the `sha256` of all bytes before it. A file that lacks it, or differs, is refused.
//!
//! Lines are found by an index, so memory holds one of them at a time. A bundle may be anybody's: a system, an item, a gold or a result
//! that occurs twice is refused, a line of a system or an item that the head lacks too, and so is what is longer or more than below.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use sqlgauge_base::hex;
use sqlgauge_base::regular;

use crate::error::{ResultsError, Unreadable};
use crate::golds::{Gold, ItemConfig};
use crate::table::{CELL_COST, Cells, MAX_COST, ResultFile, TextColumn, Value};

const FORMAT: &str = "sqlgauge-bundle@1";

/// Most bytes of the first line, of any other, and of values in one; most systems and items. The largest bundle of a benchmark has
/// some ten thousand items.
const MOST_HEAD: usize = 64 << 20;
const MOST_LINE: usize = 4 * MAX_COST;
const MOST_VALUES: usize = 1 << 24;
const MOST_SYSTEMS: usize = 1 << 12;
const MOST_ITEMS: usize = 1 << 20;

/// The first line of a bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BundleHead {
    /// The format with its version.
    pub bundle: String,
    /// Version of sqlgauge that wrote it.
    pub tool_version: String,
    /// Name and version of the engine that the results are from.
    pub engine: String,
    #[serde(deserialize_with = "at_most::<MOST_SYSTEMS, _, _>")]
    pub systems: Vec<String>,
    /// The items: `id`, `condition_cols`, `ignore_order`.
    #[serde(deserialize_with = "at_most::<MOST_ITEMS, _, _>")]
    pub items: Vec<Json>,
    /// The record of the run: inputs with their hashes, options, command.
    pub run: Json,
}

impl BundleHead {
    /// The head of a bundle of those systems and items.
    pub fn new(engine: String, systems: Vec<String>, items: &[ItemConfig], run: Json) -> Self {
        let item = |item: &ItemConfig| json!({"id": item.id, "condition_cols": item.condition_cols(), "ignore_order": item.ignore_order});
        let tool_version = env!("CARGO_PKG_VERSION").to_owned();
        Self {
            bundle: FORMAT.to_owned(),
            tool_version,
            engine,
            systems,
            items: items.iter().map(item).collect(),
            run,
        }
    }
}

/// A list that ends at so many entries, whatever the file has.
fn at_most<'de, const MOST: usize, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct List<T, const MOST: usize>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for List<T, MOST> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MOST}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<T>, A::Error> {
            let mut list = Vec::new();
            while let Some(entry) = sequence.next_element()? {
                if list.len() == MOST {
                    return Err(serde::de::Error::invalid_length(MOST + 1, &self));
                }
                list.push(entry);
            }
            Ok(list)
        }
    }

    deserializer.deserialize_seq(List::<T, MOST>(PhantomData))
}

pub struct BundleWriter<'w> {
    out: &'w mut dyn Write,
    hash: Sha256,
    lines: usize,
}

#[derive(Debug, Clone)]
pub enum BundledResult {
    ResultFile(ResultFile),
    /// There is none, because of that.
    Failed {
        /// The status of the item.
        status: String,
        /// Why, in words.
        error: String,
    },
}

impl<'w> BundleWriter<'w> {
    /// Begins with the head.
    ///
    /// # Errors
    /// When it cannot be written, or no bundle may have such a head.
    pub fn new(out: &'w mut dyn Write, head: &BundleHead) -> io::Result<Self> {
        items_of(head).map_err(|problem| io::Error::new(io::ErrorKind::InvalidData, problem))?;
        let mut writer = Self { out, hash: Sha256::new(), lines: 0 };
        writer.line(&serde_json::to_value(head)?)?;
        Ok(writer)
    }

    /// Writes the gold of that name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn gold(&mut self, id: &str, name: &str, gold: &BundledResult) -> io::Result<()> {
        self.result(json!({"gold": name, "id": id}), gold)
    }

    /// Writes the result of a system.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn prediction(&mut self, system: &str, id: &str, result: &BundledResult) -> io::Result<()> {
        self.result(json!({"system": system, "id": id}), result)
    }

    fn result(&mut self, mut line: Json, result: &BundledResult) -> io::Result<()> {
        match result {
            BundledResult::ResultFile(table) => {
                let is_typed = matches!(table.cells, Cells::Typed(_));
                line["types"] = if is_typed { "stated" } else { "written" }.into();
                line["columns"] = table.names.clone().into();
                line["rows"] = rows_of(table).into();
            }
            BundledResult::Failed { status, error } => {
                line["status"] = status.clone().into();
                line["error"] = error.clone().into();
            }
        }
        self.line(&line)
    }

    fn line(&mut self, line: &Json) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.hash.update(&bytes);
        self.lines += 1;
        self.out.write_all(&bytes)
    }

    /// Writes the end.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> io::Result<()> {
        let end = json!({"lines": self.lines, "sha256": hex(&self.hash.finalize())});
        writeln!(self.out, "{end}")
    }
}

fn rows_of(table: &ResultFile) -> Vec<Json> {
    let columns: Vec<Vec<Json>> = match &table.cells {
        Cells::Written(columns) => {
            columns.iter().map(|column| column.iter().map(Json::from).collect()).collect()
        }
        Cells::Typed(columns) => columns.iter().map(|column| column.iter().map(to_json).collect()).collect(),
    };
    (0..table.rows).map(|row| columns.iter().map(|column| column[row].clone()).collect()).collect()
}

/// The largest integer up to which every JSON reader is exact.
const EXACT: i128 = 1 << 53;

fn to_json(value: &Value<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Int(integer) => match i64::try_from(*integer) {
            Ok(small) if integer.abs() <= EXACT => small.into(),
            _ => json!({"integer": integer.to_string()}),
        },
        Value::Huge(digits) => json!({"integer": digits}),
        Value::Float(real) if real.is_finite() => json!(real),
        Value::Float(real) => json!({"real": real.to_string()}),
        Value::Text(text) => Json::from(text.as_ref()),
    }
}

fn from_json(json: &Json) -> Option<Value<'static>> {
    Some(match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::String(text) => Value::Text(text.clone().into()),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Value::Int(integer.into()),
            None => Value::Float(number.as_f64()?),
        },
        Json::Object(map) => return from_object(map),
        Json::Array(_) => return None,
    })
}

fn from_object(map: &Map<String, Json>) -> Option<Value<'static>> {
    let (name, text) = map.iter().next().and_then(|(name, text)| Some((name.as_str(), text.as_str()?)))?;
    Some(match name {
        "integer" => text.parse().map_or_else(|_| Value::Huge(text.to_owned().into()), Value::Int),
        "real" => Value::Float(text.parse().ok()?),
        _ => return None,
    })
}

/// A bundle whose hash is right.
pub struct Bundle {
    path: PathBuf,
    /// Its first line.
    pub head: BundleHead,
    /// The items, in their order.
    pub items: Vec<ItemConfig>,
    /// By id: names of the golds and where their lines begin.
    golds: HashMap<String, BTreeMap<String, u64>>,
    /// By system, then by id.
    results: HashMap<String, HashMap<String, u64>>,
}

/// The items of a head.
///
/// # Errors
/// What is wrong with it.
fn items_of(head: &BundleHead) -> Result<Vec<ItemConfig>, String> {
    if head.bundle != FORMAT {
        return Err(format!("its format is {:?}, this version reads {FORMAT:?}", head.bundle));
    }
    let mut systems = HashSet::new();
    if let Some(name) = head.systems.iter().find(|name| !systems.insert(name.as_str())) {
        return Err(format!("its head has the system {name:?} twice"));
    }
    let item = |json: &Json| {
        let ignores = json["ignore_order"].as_bool()?;
        Some(ItemConfig::new(json["id"].as_str()?, json["condition_cols"].clone(), ignores))
    };
    let items: Option<Vec<ItemConfig>> = head.items.iter().map(item).collect();
    let items = items.ok_or("an item of its head has no id or no `ignore_order`")?;
    let mut ids = HashSet::new();
    match items.iter().find(|item| !ids.insert(item.id.as_str())) {
        Some(item) => Err(format!("its head has the item {:?} twice", item.id)),
        None => Ok(items),
    }
}

/// What is read of a line to find it again.
#[derive(Deserialize)]
struct Address {
    gold: Option<String>,
    system: Option<String>,
    id: Option<String>,
    lines: Option<usize>,
    sha256: Option<String>,
}

impl Bundle {
    /// Reads a bundle once: checks it and notes where each line is.
    ///
    /// # Errors
    /// When it cannot be read, is of another format, or is not whole.
    pub fn open(path: &Path) -> Result<Self, ResultsError> {
        let refused = |source| ResultsError::Read { path: path.to_owned(), source };
        let damaged = |problem: String| ResultsError::Damaged { path: path.to_owned(), problem };
        let mut source = BufReader::new(regular::open(path).map_err(refused)?);
        let (mut hash, mut at, mut lines) = (Sha256::new(), 0_u64, 0_usize);
        let mut bundle: Option<Self> = None;
        let (mut line, mut ids) = (Vec::new(), HashSet::new());
        loop {
            line.clear();
            let most = if bundle.is_some() { MOST_LINE } else { MOST_HEAD };
            let read = (&mut source).take(most as u64).read_until(b'\n', &mut line).map_err(refused)?;
            if read == most {
                return Err(damaged(format!("line {} is longer than {} MiB", lines + 1, most >> 20)));
            }
            if read == 0 {
                return Err(damaged("its end is missing".to_owned()));
            }
            let wrong = |error: serde_json::Error| damaged(format!("line {}: {error}", lines + 1));
            let Some(content) = &mut bundle else {
                let head: BundleHead = serde_json::from_slice(&line).map_err(wrong)?;
                let items = items_of(&head).map_err(damaged)?;
                ids.extend(items.iter().map(|item| item.id.clone()));
                let (golds, results) = (HashMap::new(), HashMap::new());
                bundle = Some(Self { path: path.to_owned(), head, items, golds, results });
                hash.update(&line);
                (at, lines) = (at + read as u64, 1);
                continue;
            };
            let address: Address = serde_json::from_slice(&line).map_err(wrong)?;
            match address {
                Address { lines: Some(count), sha256: Some(stated), .. } => {
                    let is_whole = count == lines && stated == hex(&hash.finalize());
                    let whole = bundle.filter(|_| is_whole);
                    return whole.ok_or_else(|| damaged("its content is not what its hash says".to_owned()));
                }
                Address { gold: Some(name), id: Some(id), .. } if ids.contains(&id) => {
                    if content.golds.entry(id).or_default().insert(name, at).is_some() {
                        return Err(damaged(format!("line {} repeats a gold", lines + 1)));
                    }
                }
                Address { system: Some(system), id: Some(id), .. }
                    if ids.contains(&id) && content.head.systems.contains(&system) =>
                {
                    if content.results.entry(system).or_default().insert(id, at).is_some() {
                        return Err(damaged(format!("line {} repeats a result", lines + 1)));
                    }
                }
                Address { gold: None, system: None, .. } | Address { id: None, .. } => {
                    return Err(damaged(format!("line {} is neither gold nor result", lines + 1)));
                }
                _ => {
                    let problem = format!("line {} is of an item or a system that its head lacks", lines + 1);
                    return Err(damaged(problem));
                }
            }
            hash.update(&line);
            (at, lines) = (at + read as u64, lines + 1);
        }
    }

    /// Reads the golds of an item.
    pub fn golds(&self, id: &str) -> Vec<Gold> {
        let names = self.golds.get(id).into_iter().flatten();
        let gold = |(name, at): (&String, &u64)| {
            let table = self.table(*at).map(|(table, _)| table);
            Gold { name: name.clone(), is_single: name == id, table }
        };
        names.map(gold).collect()
    }

    /// Reads the result of a system: the table or why it cannot be read, and the status where the result failed.
    pub fn result(&self, system: &str, id: &str) -> Option<(Result<ResultFile, Unreadable>, Option<String>)> {
        let at = self.results.get(system)?.get(id)?;
        Some(match self.table(*at) {
            Ok((table, status)) => (Ok(table), status),
            Err(error) => (Err(error), self.status(*at)),
        })
    }

    fn status(&self, at: u64) -> Option<String> {
        self.line(at).ok()?.get("status")?.as_str().map(str::to_owned)
    }

    fn line(&self, at: u64) -> Result<Json, Unreadable> {
        let mut file: File = regular::open(&self.path)?;
        file.seek(SeekFrom::Start(at))?;
        let mut line = Vec::new();
        BufReader::new(file.take(MOST_LINE as u64)).read_until(b'\n', &mut line)?;
        if line.len() == MOST_LINE || values_in(&line) > MOST_VALUES {
            return Err(Unreadable::TooLarge { limit: MOST_LINE });
        }
        serde_json::from_slice(&line).map_err(|error| Unreadable::Malformed(error.to_string()))
    }

    fn table(&self, at: u64) -> Result<(ResultFile, Option<String>), Unreadable> {
        let line = self.line(at)?;
        if let Some(error) = line.get("error").and_then(Json::as_str) {
            return Err(Unreadable::Malformed(format!("failed: {error}")));
        }
        let malformed = || Unreadable::Malformed("has no columns or rows in its bundle".to_owned());
        let names: Vec<String> = serde_json::from_value(line["columns"].clone()).map_err(|_| malformed())?;
        let rows = line["rows"].as_array().ok_or_else(malformed)?;
        let row = |row: &Json| row.as_array()?.iter().map(from_json).collect::<Option<Vec<_>>>();
        let rows: Vec<Vec<Value<'static>>> =
            rows.iter().map(row).collect::<Option<_>>().ok_or_else(malformed)?;
        if line["types"] == "written" {
            return written(names, &rows).map(|table| (table, None)).ok_or_else(malformed);
        }
        ResultFile::typed(names, rows).map(|table| (table, None)).map_err(|_| malformed())
    }
}

/// How many values a line of JSON has, near enough: its commas and brackets outside of texts. A list of them takes many times the
/// bytes of the line.
fn values_in(line: &[u8]) -> usize {
    let (mut values, mut is_text, mut is_escaped) = (0, false, false);
    for byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => values += 1,
            _ => {}
        }
    }
    values
}

/// The table of a CSV file, from its texts.
fn written(names: Vec<String>, rows: &[Vec<Value<'static>>]) -> Option<ResultFile> {
    let width = rows.first().map_or(names.len(), Vec::len);
    let mut columns = vec![TextColumn::default(); width];
    let mut cost = 0;
    for row in rows {
        if row.len() != width {
            return None;
        }
        for (column, value) in columns.iter_mut().zip(row) {
            let Value::Text(text) = value else { return None };
            column.push(text);
            cost += text.len() + CELL_COST;
        }
    }
    let cells = Cells::Written(columns);
    Some(ResultFile { cells, rows: rows.len(), cost, ..ResultFile::empty(names) })
}
