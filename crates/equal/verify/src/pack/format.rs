//! The file of a pack.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use sqlgauge_base::hex;
use sqlgauge_engine::Value;
use sqlgauge_engine::compare::Semantics;
use sqlgauge_search::{Witness, WitnessTable, create_table};
use sqlgauge_sql::schema::{Schema, Table};

const FORMAT: &str = "sqlgauge-pack@1";

/// Most bytes of a line: the largest question of BIRD takes some ten thousand.
const MAX_LINE: u64 = 4 << 20;

/// The databases of a benchmark's questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Pack {
    /// When two results count as equal.
    pub semantics: Semantics,
    /// The questions, in the order of the benchmark.
    pub questions: Vec<PackQuestion>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    semantics: String,
    questions: usize,
    databases: usize,
}

/// A question with its databases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PackQuestion {
    /// Its id in the benchmark.
    pub id: String,
    pub db_id: String,
    /// The gold, by [`gold_name`].
    pub gold: String,
    /// What was tried of mutations of the gold.
    #[serde(default)]
    pub mutations: KillCount,
    /// What was tried of answers of systems.
    #[serde(default)]
    pub answers: KillCount,
    /// Why there can be no database, as a code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none: Option<String>,
    databases: Vec<Vec<StoredTable>>,
}

/// How many queries were tried, and what came of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KillCount {
    /// Different texts other than the gold's.
    pub tried: usize,
    /// Those that some database of the pack tells from the gold.
    pub killed: usize,
    /// Those that are proved equal to it.
    pub equal: usize,
}

impl KillCount {
    /// Those of which neither is known.
    pub fn open(self) -> usize {
        self.tried.saturating_sub(self.killed + self.equal)
    }

    /// Of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            tried: self.tried + other.tried,
            killed: self.killed + other.killed,
            equal: self.equal + other.equal,
        }
    }
}

/// A table of a database. Tables without rows are left out, and columns that are NULL in all rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoredTable {
    name: String,
    columns: Vec<String>,
    /// NULL, whole numbers, fractions and texts as JSON has them; `{"real": "inf"}`, `{"text": HEX}` where it is not UTF-8, and
    /// `{"blob": HEX}`.
    rows: Vec<Vec<Json>>,
}

#[derive(Debug, thiserror::Error)]
pub enum PackError {
    #[error("the pack cannot be read; check the file")]
    Unreadable(#[from] std::io::Error),
    #[error("line {line} of the pack: {what}; make the pack again with `sqlgauge pack`")]
    Line {
        /// Its number, from 1.
        line: usize,
        what: String,
    },
    /// It was made for another schema.
    #[error(
        "question {id} of the pack has the table {table} with other columns than the database {db_id}; make the pack again for \
         these databases"
    )]
    OtherSchema { id: String, db_id: String, table: String },
}

/// The name of a gold in a pack: the SHA-256 of its text without surrounding white space, in hex.
pub fn gold_name(gold: &str) -> String {
    hex(&Sha256::digest(gold.trim()))
}

impl Pack {
    /// All databases of all questions.
    pub fn databases(&self) -> usize {
        self.questions.iter().map(PackQuestion::count).sum()
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let header = Header {
            format: FORMAT.to_owned(),
            semantics: self.semantics.name().to_owned(),
            questions: self.questions.len(),
            databases: self.databases(),
        };
        writeln!(out, "{}", serde_json::to_string(&header)?)?;
        self.questions.iter().try_for_each(|question| writeln!(out, "{}", serde_json::to_string(question)?))
    }

    /// Reads the file, line by line; no line may be longer than 4 MiB.
    ///
    /// # Errors
    /// When it is not a pack, or is cut off.
    pub fn read(mut file: impl BufRead) -> Result<Self, PackError> {
        let wrong = |line: usize, what: String| PackError::Line { line, what };
        let first = next_line(&mut file, 1)?.ok_or_else(|| wrong(1, "the file is empty".to_owned()))?;
        let header: Header =
            serde_json::from_str(&first).map_err(|error| wrong(1, format!("not a header ({error})")))?;
        if header.format != FORMAT {
            return Err(wrong(1, format!("the format is {:?} and not {FORMAT}", header.format)));
        }
        let semantics = header.semantics.parse().map_err(|error| wrong(1, format!("{error}")))?;
        let mut questions = Vec::new();
        for number in 2.. {
            let Some(line) = next_line(&mut file, number)? else { break };
            let question = serde_json::from_str(&line);
            questions.push(question.map_err(|error| wrong(number, format!("not a question ({error})")))?);
        }
        if questions.len() != header.questions {
            let what = format!("{} questions of {} are there", questions.len(), header.questions);
            return Err(wrong(questions.len() + 2, what));
        }
        Ok(Self { semantics, questions })
    }
}

/// The next line without its end.
fn next_line(file: &mut impl BufRead, number: usize) -> Result<Option<String>, PackError> {
    let mut line = Vec::new();
    let length = std::io::Read::take(&mut *file, MAX_LINE).read_until(b'\n', &mut line)?;
    if length == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && length as u64 == MAX_LINE {
        return Err(PackError::Line { line: number, what: "it is longer than 4 MiB".to_owned() });
    }
    let text = String::from_utf8(line);
    let text = text.map_err(|_| PackError::Line { line: number, what: "it is not UTF-8".to_owned() })?;
    Ok(Some(text.trim_end().to_owned()))
}

impl PackQuestion {
    /// A question without databases.
    pub fn new(id: &str, db_id: &str, gold: &str) -> Self {
        Self { id: id.to_owned(), db_id: db_id.to_owned(), gold: gold_name(gold), ..Self::default() }
    }

    pub(super) fn with_databases<'w>(self, databases: impl IntoIterator<Item = &'w Witness>) -> Self {
        Self { databases: databases.into_iter().map(stored).collect(), ..self }
    }

    /// Number of its databases.
    pub fn count(&self) -> usize {
        self.databases.len()
    }

    /// Its databases over that schema.
    ///
    /// # Errors
    /// When the schema has other tables or columns.
    pub fn witnesses(&self, schema: &Schema) -> Result<Vec<Witness>, PackError> {
        let table = |stored: &StoredTable| {
            let table = schema.table_named(&stored.name).and_then(|table| stored.over(schema, table));
            table.ok_or_else(|| PackError::OtherSchema {
                id: self.id.clone(),
                db_id: self.db_id.clone(),
                table: stored.name.clone(),
            })
        };
        let witness = |tables: &Vec<StoredTable>| {
            Ok(Witness {
                tables: tables.iter().map(table).collect::<Result<_, _>>()?,
                definitions: Vec::new(),
            })
        };
        self.databases.iter().map(witness).collect()
    }
}

impl StoredTable {
    fn of(table: &WitnessTable) -> Self {
        let has_value =
            |at: &usize| table.rows.iter().any(|row| row.get(*at).is_some_and(|value| *value != Value::Null));
        let filled: Vec<usize> = (0..table.columns.len()).filter(has_value).collect();
        let of_row = |row: &Vec<Value>| filled.iter().filter_map(|&at| row.get(at)).map(json_of).collect();
        Self {
            name: table.name.clone(),
            columns: filled.iter().map(|&at| table.columns[at].clone()).collect(),
            rows: table.rows.iter().map(of_row).collect(),
        }
    }

    /// The rows of a table of the schema; `None` if it lacks a column, or a row is of another width.
    fn over(&self, schema: &Schema, table: &Table) -> Option<WitnessTable> {
        let columns = table.stored_columns();
        let names: Vec<String> =
            columns.iter().filter_map(|&at| Some(table.column(at)?.name.clone())).collect();
        let places = self.columns.iter().map(|column| names.iter().position(|name| name == column));
        let places: Vec<usize> = places.collect::<Option<_>>()?;
        let row = |row: &Vec<Json>| {
            let mut values = vec![Value::Null; names.len()];
            for (&place, json) in places.iter().zip(row) {
                values[place] = value(json)?;
            }
            (row.len() == places.len()).then_some(values)
        };
        let rows: Vec<Vec<Value>> = self.rows.iter().map(row).collect::<Option<_>>()?;
        Some(WitnessTable::new(&table.name, names, create_table(schema, table), rows))
    }
}

fn stored(witness: &Witness) -> Vec<StoredTable> {
    witness.tables.iter().filter(|table| !table.rows.is_empty()).map(StoredTable::of).collect()
}

fn json_of(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(integer) => (*integer).into(),
        Value::Real(real) if real.is_finite() => (*real).into(),
        Value::Real(real) => json!({"real": real.to_string()}),
        Value::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => json!({"text": hex(bytes)}),
        },
        Value::Decimal(decimal) => json!({"decimal": decimal.as_str()}),
        Value::Blob(bytes) => json!({"blob": hex(bytes)}),
    }
}

/// The value that [`json_of`] wrote; `None` for anything else.
fn value(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => Value::Null,
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Value::Integer(integer),
            None => Value::Real(number.as_f64()?),
        },
        Json::String(text) => Value::text(text),
        Json::Object(object) if object.len() == 1 => {
            let (name, content) = object.iter().next()?;
            let content = content.as_str()?;
            match name.as_str() {
                "real" => Value::Real(content.parse().ok()?),
                "text" => Value::Text(bytes(content)?.into()),
                "blob" => Value::Blob(bytes(content)?.into()),
                "decimal" => Value::decimal(content)?,
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_as_they_were() {
        for original in [
            Value::Null,
            Value::Integer(i64::MIN),
            Value::Integer(9_007_199_254_740_993),
            Value::Real(2.0),
            Value::Real(0.1),
            Value::Real(f64::NEG_INFINITY),
            Value::text("it's"),
            Value::text("a\0b"),
            Value::Text(vec![255, 0].into()),
            Value::Blob(vec![0, 254].into()),
        ] {
            let text = json_of(&original).to_string();
            let read: Json = serde_json::from_str(&text).unwrap();
            assert_eq!(value(&read), Some(original), "{text}");
        }
        for wrong in [json!(true), json!([]), json!({"blob": "0"}), json!({"blob": "zz"}), json!({"x": "1"})]
        {
            assert_eq!(value(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_file_that_is_cut_off_or_foreign_is_an_error_with_its_line() {
        let pack = Pack {
            semantics: Semantics::Set,
            questions: vec![PackQuestion::new("a", "d", "SELECT 1"), PackQuestion::new("b", "d", "SELECT 2")],
        };
        let mut file = Vec::new();
        pack.write(&mut file).unwrap();
        assert_eq!(Pack::read(file.as_slice()).unwrap(), pack);
        let text = String::from_utf8(file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (wrong, message) in [
            (String::new(), "line 1 of the pack: the file is empty"),
            (lines[..2].join("\n"), "line 3 of the pack: 1 questions of 2 are there"),
            (text.replace("pack@1", "pack@9"), "line 1 of the pack: the format is \"sqlgauge-pack@9\""),
            (text.replace("\"set\"", "\"sets\""), "line 1 of the pack: unknown semantics \"sets\""),
            (text.replace("\"id\":\"b\"", "\"id\":7"), "line 3 of the pack: not a question"),
        ] {
            let error = Pack::read(wrong.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn another_schema_is_an_error_that_names_the_table() {
        let line =
            r#"{"id":"a","db_id":"d","gold":"","databases":[[{"name":"t","columns":["x"],"rows":[[1]]}]]}"#;
        let question: PackQuestion = serde_json::from_str(line).unwrap();
        for (same, row) in [
            ("CREATE TABLE t (x INT)", vec![Value::Integer(1)]),
            ("CREATE TABLE t (y INT, x INT)", vec![Value::Null, Value::Integer(1)]),
        ] {
            let witness = question.witnesses(&Schema::from_ddl(same).unwrap()).unwrap().remove(0);
            assert_eq!(witness.tables[0].rows, [row]);
            // A column without a value takes no room.
            assert_eq!(stored(&witness), question.databases[0]);
        }
        for other in ["CREATE TABLE t (y INT)", "CREATE TABLE u (x INT)"] {
            let other = Schema::from_ddl(other).unwrap();
            let error = question.witnesses(&other).unwrap_err().to_string();
            assert!(error.starts_with("question a of the pack has the table t"), "{error}");
        }
    }
}
