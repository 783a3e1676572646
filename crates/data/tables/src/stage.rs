//! Reads a file twice: for the types of its columns, then for its rows as typed values in a SQLite file, and as
//! numbers.

use std::path::{Path, PathBuf};

use csv::StringRecord;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use sqlgauge_base::counted;
use sqlgauge_names::NamesInUse;
use twox_hash::XxHash3_128;

use crate::error::TablesError;
use crate::input::{NotRead, Part, Reading, Refused, Source, line, read};
use crate::names::{Of, free, safe};
use crate::options::TablesOptions;
use crate::profile::{Coded, MixSet, Numbering, Traits};
use crate::report::{FileRefusal, Lines};
use crate::values::{Column, Typing};

pub(crate) const ROWS: &str = "rows";

/// A file whose rows wait in SQLite, as `c0`, `c1` … of the table [`ROWS`].
pub(crate) struct Staged {
    pub(crate) path: PathBuf,
    pub(crate) reading: Reading,
    pub(crate) rows: usize,
    pub(crate) duplicate_rows: Lines,
    pub(crate) empty_columns: Vec<String>,
    /// The names of its columns, and those that they have in the file where these are others.
    pub(crate) names: Vec<(String, Option<String>)>,
    pub(crate) typing: Vec<Typing>,
    pub(crate) codes: Vec<Coded>,
    pub(crate) traits: Vec<Traits>,
    /// A hash of names and rows, the same for the same table.
    pub(crate) digest: u128,
}

/// Reads a file into the SQLite file `path`.
pub(crate) fn stage(source: &Source, path: &Path, options: &TablesOptions) -> Result<Staged, NotRead> {
    let scan = Scan::of(source, options)?;
    let columns: Vec<usize> = (0..scan.columns.len()).filter(|&at| !scan.columns[at].is_empty()).collect();
    if columns.len() < options.min_columns {
        let detail =
            format!("{} with a value, of at least {}", counted(columns.len(), "column"), options.min_columns);
        return Err(Refused::new(FileRefusal::TooFewColumns, detail).into());
    }
    let cells = scan.rows.saturating_mul(columns.len() as u64);
    if cells > options.max_cells {
        let detail = format!("{cells} cells, of at most {}; split the file", options.max_cells);
        return Err(Refused::new(FileRefusal::TooManyRows, detail).into());
    }
    let database = |source| NotRead::Ended(TablesError::Database { path: path.to_owned(), source });
    let connection = open(path, columns.len()).map_err(database)?;
    let mut rows = Copying::new(&scan, &columns, options);
    rows.copy(source, &connection, options)?;
    connection.execute_batch("COMMIT").map_err(database)?;
    if rows.codes_rows() < options.min_rows {
        let detail = format!("{} different rows, of at least {}", rows.codes_rows(), options.min_rows);
        return Err(Refused::new(FileRefusal::TooFewRows, detail).into());
    }
    Ok(rows.finish(path, scan, &columns))
}

/// A SQLite file that only this process needs.
fn open(path: &Path, columns: usize) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection
        .execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4096;")?;
    let columns: Vec<String> = (0..columns).map(|at| format!("c{at}")).collect();
    connection.execute_batch(&format!("CREATE TABLE {ROWS} ({}); BEGIN", columns.join(", ")))?;
    Ok(connection)
}

/// What a first reading tells.
struct Scan {
    header: Vec<String>,
    columns: Vec<Column>,
    rows: u64,
    latin: u64,
    letters: u64,
    reading: Reading,
}

impl Scan {
    fn of(source: &Source, options: &TablesOptions) -> Result<Self, NotRead> {
        let mut scan = Self {
            header: Vec::new(),
            columns: Vec::new(),
            rows: 0,
            latin: 0,
            letters: 0,
            reading: Reading::default(),
        };
        scan.reading = read(source, options, &mut |part| match part {
            Part::Header(names) => Ok(scan.header(names, options)?),
            Part::Row(row) => Ok(scan.row(row, options)?),
        })?;
        scan.refuse(options)?;
        Ok(scan)
    }

    fn header(&mut self, names: &StringRecord, options: &TablesOptions) -> Result<(), Refused> {
        if names.len() > options.max_columns {
            let detail = format!(
                "{} columns, more than {}; split the table by columns",
                names.len(),
                options.max_columns
            );
            return Err(Refused::new(FileRefusal::TooManyColumns, detail));
        }
        self.header = names.iter().map(|name| name.trim_matches('\u{FEFF}').to_owned()).collect();
        self.columns = vec![Column::default(); names.len()];
        names.iter().for_each(|name| self.script(name));
        Ok(())
    }

    fn row(&mut self, row: &StringRecord, options: &TablesOptions) -> Result<(), Refused> {
        self.rows += 1;
        if self.rows > options.max_rows {
            let detail = format!("more than {} rows; split the file", options.max_rows);
            return Err(Refused::new(FileRefusal::TooManyRows, detail));
        }
        for (column, field) in self.columns.iter_mut().zip(row) {
            column.take(field);
        }
        row.iter().for_each(|field| self.script(field));
        Ok(())
    }

    fn script(&mut self, text: &str) {
        if text.is_ascii() {
            let letters = text.bytes().filter(u8::is_ascii_alphabetic).count() as u64;
            (self.letters, self.latin) = (self.letters + letters, self.latin + letters);
            return;
        }
        for c in text.chars().filter(|c| c.is_alphabetic()) {
            self.letters += 1;
            // Latin-1 Supplement, Latin Extended A and B, IPA; Latin Extended Additional.
            self.latin += u64::from(c < '\u{2B0}' || ('\u{1E00}'..='\u{1EFF}').contains(&c));
        }
    }

    fn refuse(&self, options: &TablesOptions) -> Result<(), Refused> {
        if self.rows < options.min_rows {
            let detail = format!("{}, of at least {}", counted(self.rows, "row"), options.min_rows);
            return Err(Refused::new(FileRefusal::TooFewRows, detail));
        }
        let latin = self.latin as f64 / self.letters.max(1) as f64;
        if self.letters > 0 && latin < options.min_latin {
            let detail = format!(
                "{:.0} % of its letters are Latin; at least {:.0} % must be",
                100.0 * latin,
                100.0 * options.min_latin
            );
            return Err(Refused::new(FileRefusal::Script, detail));
        }
        Ok(())
    }

    /// Safe names for the columns that are kept, with those of the file.
    fn names(&self, columns: &[usize]) -> Vec<(String, Option<String>)> {
        let mut in_use = NamesInUse::default();
        let named = columns.iter().map(|&at| {
            let raw = &self.header[at];
            let name =
                free(&safe(raw, Of::Column).unwrap_or_else(|| format!("column_{}", at + 1)), &mut in_use);
            let was = (name != *raw).then(|| raw.clone());
            (name, was)
        });
        named.collect()
    }
}

/// The rows of a second reading.
struct Copying {
    columns: Vec<usize>,
    typing: Vec<Typing>,
    numbering: Vec<Numbering>,
    /// Hashes of the rows so far, where those that repeat one are left out.
    seen: Option<MixSet<u128>>,
    duplicates: Lines,
    digest: u128,
    rows: usize,
}

impl Copying {
    fn new(scan: &Scan, columns: &[usize], options: &TablesOptions) -> Self {
        let typing: Vec<Typing> = columns.iter().map(|&at| scan.columns[at].typing(options)).collect();
        Self {
            columns: columns.to_vec(),
            numbering: typing.iter().map(|typing| Numbering::new(typing.kind)).collect(),
            typing,
            seen: options.drop_duplicate_rows.then(MixSet::default),
            duplicates: Lines::default(),
            digest: 0,
            rows: 0,
        }
    }

    fn codes_rows(&self) -> u64 {
        self.rows as u64
    }

    fn copy(
        &mut self,
        source: &Source,
        connection: &Connection,
        options: &TablesOptions,
    ) -> Result<(), NotRead> {
        let path = connection.path().map(PathBuf::from).unwrap_or_default();
        let database = |source| TablesError::Database { path: path.clone(), source };
        let places = vec!["?"; self.columns.len()].join(", ");
        let mut insert = connection
            .prepare(&format!("INSERT INTO {ROWS} VALUES ({places})"))
            .map_err(|error| NotRead::Ended(database(error)))?;
        let changed = || {
            Refused::new(
                FileRefusal::Changed,
                "it changed while it was read; run again when nobody writes it",
            )
        };
        let outcome = read(source, options, &mut |part| {
            let Part::Row(row) = part else { return Ok(()) };
            match self.row(row) {
                None => Err(changed().into()),
                Some(None) => Ok(()),
                Some(Some(values)) => {
                    Ok(insert.execute(params_from_iter(values)).map(drop).map_err(database)?)
                }
            }
        });
        match outcome {
            // It could be read before.
            Err(NotRead::Refused(_)) => Err(changed().into()),
            outcome => outcome.map(drop),
        }
    }

    /// The values of a row; nothing for one that repeats another; none if it does not have the types of its columns.
    #[expect(clippy::option_option, reason = "another file than before, a row that is left out, a row")]
    fn row(&mut self, row: &StringRecord) -> Option<Option<Vec<Value>>> {
        let typed = self.columns.iter().zip(&self.typing).map(|(&at, typing)| typing.value(row.get(at)?));
        let values: Vec<Value> = typed.collect::<Option<_>>()?;
        let codes: Vec<u32> = self
            .numbering
            .iter_mut()
            .zip(&values)
            .map(|(numbering, value)| numbering.number(value))
            .collect();
        let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
        if let Some(seen) = &mut self.seen
            && !seen.insert(XxHash3_128::oneshot(&bytes))
        {
            self.duplicates.push(line(row));
            return Some(None);
        }
        self.rows += 1;
        self.digest = digest(self.digest, values.iter().map(cell_text));
        self.numbering.iter_mut().zip(codes).for_each(|(numbering, code)| numbering.push(code));
        Some(Some(values))
    }

    fn finish(self, path: &Path, scan: Scan, columns: &[usize]) -> Staged {
        let names = scan.names(columns);
        let empty = (0..scan.header.len())
            .filter(|at| !columns.contains(at))
            .map(|at| scan.header[at].clone())
            .collect();
        let digest = digest(self.digest, names.iter().map(|(name, _)| name.to_lowercase()));
        let (codes, traits) = self.numbering.into_iter().map(Numbering::finish).unzip();
        Staged {
            path: path.to_owned(),
            reading: scan.reading,
            rows: self.rows,
            duplicate_rows: self.duplicates,
            empty_columns: empty,
            names,
            typing: self.typing,
            codes,
            traits,
            digest,
        }
    }
}

fn cell_text(value: &Value) -> String {
    match value {
        Value::Null | Value::Blob(_) => String::new(),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) => format!("{value:?}"),
        Value::Text(text) => text.clone(),
    }
}

fn digest(before: u128, texts: impl Iterator<Item = String>) -> u128 {
    let mut bytes = before.to_le_bytes().to_vec();
    texts.for_each(|text| {
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    });
    XxHash3_128::oneshot(&bytes)
}
