//! The rows of a database, read under the limits of the engine.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sqlgauge_dialects::{TypedSchema, dialect, translate};
use sqlgauge_engine::{Database, Engine, Execution, ResultSet, Value};
use sqlgauge_sql::schema::{Column, Schema, Table};
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{PrintDialect, print, quote};

use crate::finding::cell;

/// Values of a column that are compared with a literal which no row has.
const MAX_VALUES: usize = 5_000;
const REPEATED: usize = 20;

/// A database, with what was found out of its rows. The golds of a database share it.
pub struct AuditData<'a> {
    engine: &'a dyn Engine,
    database: Arc<Database>,
    /// The same, on which rows without an order come the other way round.
    turned: Database,
    has_rows: bool,
    profiles: Mutex<HashMap<(String, String), Option<AuditedColumn>>>,
    values: Mutex<HashMap<(String, String), Option<SharedValues>>>,
}

/// The different values of a column.
type SharedValues = Arc<Vec<String>>;

/// What the rows say of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditedColumn {
    /// Rows of the table.
    pub rows: i64,
    /// Values that are not NULL.
    pub values: i64,
    /// Different ones among them.
    pub distinct: i64,
    pub texts: i64,
    /// Texts that are written like a number.
    pub numeric_texts: i64,
    /// Texts that begin like `2026-11-25`.
    pub iso_dates: i64,
    /// Length of the shortest and the longest value.
    pub lengths: (i64, i64),
}

impl AuditedColumn {
    /// Whether the values are numbers that are stored as text.
    pub(crate) fn is_numeric_text(&self) -> bool {
        self.texts > 0 && self.numeric_texts == self.texts && self.texts == self.values
    }
}

impl<'a> AuditData<'a> {
    /// The rows of a database.
    pub fn new(engine: &'a dyn Engine, database: Arc<Database>) -> Self {
        let turned = database.with_prelude("PRAGMA reverse_unordered_selects = 1");
        let has_rows = database.has_rows(engine);
        Self { engine, database, turned, has_rows, profiles: Mutex::default(), values: Mutex::default() }
    }

    /// Whether a table has a row.
    pub fn has_rows(&self) -> bool {
        self.has_rows
    }

    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    pub fn engine(&self) -> &'a dyn Engine {
        self.engine
    }

    /// Runs a query.
    pub fn run(&self, sql: &str) -> Execution {
        self.engine.run(&self.database, sql)
    }

    /// Runs a query with rows without an order the other way round.
    pub(crate) fn run_turned(&self, sql: &str) -> Execution {
        self.engine.run(&self.turned, sql)
    }

    /// What the rows say of a column; `None` where they cannot be read within the limits.
    pub fn profile(&self, table: &Table, column: &Column) -> Option<AuditedColumn> {
        let key = (table.name.clone(), column.name.clone());
        if let Some(cached) = lock(&self.profiles).get(&key) {
            return *cached;
        }
        let profile = self.read_profile(table, column);
        lock(&self.profiles).insert(key, profile);
        profile
    }

    fn read_profile(&self, table: &Table, column: &Column) -> Option<AuditedColumn> {
        if !self.engine.is_sqlite() {
            return self.read_values(table, column);
        }
        let c = quote::name(&column.name);
        let sql = format!(
            "SELECT count(*), count({c}), count(DISTINCT {c}), total(typeof({c}) = 'text'), \
             total(typeof({c}) = 'text' AND {c} GLOB '*[0-9]*' AND NOT {c} GLOB '*[^0-9.]*'), \
             total(typeof({c}) = 'text' AND {c} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'), \
             coalesce(min(length({c})), 0), coalesce(max(length({c})), 0) FROM {}",
            quote::name(&table.name)
        );
        let result = self.run(&sql);
        let row = result.rows()?.row(0)?;
        let number = |at: usize| row.get(at).and_then(integer);
        Some(AuditedColumn {
            rows: number(0)?,
            values: number(1)?,
            distinct: number(2)?,
            texts: number(3)?,
            numeric_texts: number(4)?,
            iso_dates: number(5)?,
            lengths: (number(6)?, number(7)?),
        })
    }

    /// The same by the values themselves, for engines without SQLite's functions.
    fn read_values(&self, table: &Table, column: &Column) -> Option<AuditedColumn> {
        let (c, table) = (self.engine.quoted(&column.name), self.engine.quoted(&table.name));
        let result = self.run(&format!("SELECT {c}, count(*) FROM {table} GROUP BY {c}"));
        let rows = result.rows()?;
        let mut profile = AuditedColumn::default();
        let mut lengths = Vec::new();
        for row in rows.rows() {
            let [value, count] = row else { return None };
            let count = integer(count)?;
            profile.rows += count;
            if *value == Value::Null {
                continue;
            }
            profile.values += count;
            profile.distinct += 1;
            let text = value.as_str();
            let of_text = |holds: bool| if holds { count } else { 0 };
            profile.texts += of_text(text.is_some());
            profile.numeric_texts += of_text(text.is_some_and(is_numeric));
            profile.iso_dates += of_text(text.is_some_and(begins_with_date));
            lengths.push(i64::try_from(cell(value).chars().count()).unwrap_or(i64::MAX));
        }
        let bounds = lengths.iter().min().zip(lengths.iter().max());
        profile.lengths = bounds.map_or((0, 0), |(least, most)| (*least, *most));
        Some(profile)
    }

    /// A query in the words of the engine, with the meaning that it has in SQLite.
    ///
    /// # Errors
    /// Why the query cannot be written in the engine's dialect.
    pub(crate) fn spoken(&self, query: &Query, schema: &Schema) -> Result<String, String> {
        match dialect(self.engine.dialect()) {
            None => print(query, schema, PrintDialect::Sqlite).map_err(|error| error.to_string()),
            Some(dialect) => {
                let typed = TypedSchema::on_server(schema);
                translate(query, &typed, dialect).map_err(|refused| refused.to_string())
            }
        }
    }

    /// Values of those columns that several rows of the table have, a few; `None` where they cannot be read within the limits.
    pub fn repeated(&self, table: &Table, columns: &[&Column]) -> Option<Arc<ResultSet>> {
        let list: Vec<String> = columns.iter().map(|column| self.engine.quoted(&column.name)).collect();
        let present: Vec<String> = list.iter().map(|column| format!("{column} IS NOT NULL")).collect();
        let (list, rows) = (list.join(", "), self.engine.quoted("rows"));
        let sql = format!(
            "SELECT {list}, count(*) AS {rows} FROM {} WHERE {} GROUP BY {list} HAVING count(*) > 1 LIMIT {REPEATED}",
            self.engine.quoted(&table.name),
            present.join(" AND ")
        );
        self.run(&sql).rows().cloned()
    }

    /// The different texts of a column; `None` where there are too many of them.
    pub fn texts(&self, table: &Table, column: &Column) -> Option<Arc<Vec<String>>> {
        let key = (table.name.clone(), column.name.clone());
        if let Some(cached) = lock(&self.values).get(&key) {
            return cached.clone();
        }
        let (c, limit) = (self.engine.quoted(&column.name), MAX_VALUES + 1);
        let is_text =
            if self.engine.is_sqlite() { format!(" WHERE typeof({c}) = 'text'") } else { String::new() };
        let sql =
            format!("SELECT DISTINCT {c} FROM {}{is_text} LIMIT {limit}", self.engine.quoted(&table.name));
        let texts = self.run(&sql).rows().filter(|rows| rows.len() <= MAX_VALUES).map(texts_of);
        lock(&self.values).insert(key, texts.clone());
        texts
    }
}

/// Digits and points.
fn is_numeric(text: &str) -> bool {
    let has_digit = text.contains(|c: char| c.is_ascii_digit());
    has_digit && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// `2026-11-25`, and whatever follows.
fn begins_with_date(text: &str) -> bool {
    let is_of =
        |(letter, wanted): (u8, u8)| if wanted == b'0' { letter.is_ascii_digit() } else { letter == wanted };
    text.len() >= 10 && text.bytes().zip(*b"0000-00-00").all(is_of)
}

fn texts_of(rows: &Arc<ResultSet>) -> Arc<Vec<String>> {
    Arc::new(rows.values().iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// A whole number.
#[expect(clippy::cast_possible_truncation, reason = "counts of rows are far below 2^53")]
pub(crate) fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(integer) => Some(*integer),
        Value::Real(real) if real.fract() == 0.0 => Some(*real as i64),
        _ => None,
    }
}

/// What a thread that panicked left behind is a cache like any other.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
