//! The rows of a database, read under the limits of the engine.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sqlgauge_engine::{Database, Engine, Execution, ResultSet, Value};
use sqlgauge_metrics::Target;
use sqlgauge_sql::quote;
use sqlgauge_sql::schema::{Column, Table};

/// Values of a column that are compared with a literal which no row has.
const MAX_VALUES: usize = 5_000;
/// Repeated values that are read.
const REPEATED: usize = 20;

/// A database, with what was found out of its rows. The golds of a database share it.
pub struct AuditData<'a> {
    engine: &'a dyn Engine,
    database: Arc<Database>,
    /// The same, on which rows without an order come the other way round.
    turned: Database,
    has_rows: bool,
    target: OnceLock<Target>,
    profiles: Mutex<HashMap<(String, String), Option<AuditedColumn>>>,
    values: Mutex<HashMap<(String, String), Option<SharedValues>>>,
}

/// The different values of a column.
type SharedValues = Arc<Vec<String>>;

/// What the rows say of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditedColumn {
    /// Rows of the table.
    pub rows: i64,
    /// Values that are not NULL.
    pub values: i64,
    /// Different ones among them.
    pub distinct: i64,
    /// Texts among the values.
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
    pub fn is_numeric_text(&self) -> bool {
        self.texts > 0 && self.numeric_texts == self.texts && self.texts == self.values
    }
}

impl<'a> AuditData<'a> {
    /// The rows of a database.
    pub fn new(engine: &'a dyn Engine, database: Arc<Database>) -> Self {
        let turned = database.with_prelude("PRAGMA reverse_unordered_selects = 1");
        let has_rows = database.has_rows(engine);
        Self {
            engine,
            database,
            turned,
            has_rows,
            target: OnceLock::new(),
            profiles: Mutex::default(),
            values: Mutex::default(),
        }
    }

    /// Whether a table has a row.
    pub fn has_rows(&self) -> bool {
        self.has_rows
    }

    /// The database.
    pub fn database(&self) -> &Arc<Database> {
        &self.database
    }

    /// The engine.
    pub fn engine(&self) -> &'a dyn Engine {
        self.engine
    }

    /// The database as metrics see it.
    pub(crate) fn target(&self) -> &Target {
        self.target.get_or_init(|| Target::new("gold", Arc::clone(&self.database)))
    }

    /// Runs a query.
    pub fn run(&self, sql: &str) -> Execution {
        self.engine.run(&self.database, sql)
    }

    /// Runs a query with rows without an order the other way round.
    pub fn run_turned(&self, sql: &str) -> Execution {
        self.engine.run(&self.turned, sql)
    }

    /// What the rows say of a column; `None` where they cannot be read within the limits.
    pub fn profile(&self, table: &Table, column: &Column) -> Option<AuditedColumn> {
        let key = (table.name.clone(), column.name.clone());
        if let Some(known) = lock(&self.profiles).get(&key) {
            return *known;
        }
        let profile = self.read_profile(table, column);
        lock(&self.profiles).insert(key, profile);
        profile
    }

    fn read_profile(&self, table: &Table, column: &Column) -> Option<AuditedColumn> {
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

    /// Values of those columns that several rows of the table have, a few; `None` where they cannot be read within the limits.
    pub fn repeated(&self, table: &Table, columns: &[&Column]) -> Option<Arc<ResultSet>> {
        let list: Vec<String> = columns.iter().map(|column| quote::name(&column.name)).collect();
        let list = list.join(", ");
        let present: Vec<String> =
            columns.iter().map(|column| format!("{} IS NOT NULL", quote::name(&column.name))).collect();
        let sql = format!(
            "SELECT {list}, count(*) AS rows FROM {} WHERE {} GROUP BY {list} HAVING count(*) > 1 LIMIT {REPEATED}",
            quote::name(&table.name),
            present.join(" AND ")
        );
        self.run(&sql).rows().cloned()
    }

    /// The different texts of a column; `None` where there are too many of them.
    pub fn texts(&self, table: &Table, column: &Column) -> Option<Arc<Vec<String>>> {
        let key = (table.name.clone(), column.name.clone());
        if let Some(known) = lock(&self.values).get(&key) {
            return known.clone();
        }
        let c = quote::name(&column.name);
        let limit = MAX_VALUES + 1;
        let sql = format!(
            "SELECT DISTINCT {c} FROM {} WHERE typeof({c}) = 'text' LIMIT {limit}",
            quote::name(&table.name)
        );
        let texts = self.run(&sql).rows().filter(|rows| rows.len() <= MAX_VALUES).map(texts_of);
        lock(&self.values).insert(key, texts.clone());
        texts
    }
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
