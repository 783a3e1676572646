//! Which foreign keys the rows of a database keep.
//!
//! SQLite enforces foreign keys only where a connection asks for it, and benchmarks hold databases whose rows break
//! theirs. What is proved by a foreign key holds on a database only if its rows keep it.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlgauge_sql::Dialect;
use sqlgauge_sql::schema::{ForeignKey, Schema, Table};

use crate::database::Database;
use crate::engine::Engine;
use crate::outcome::Outcome;

/// How long the foreign keys of one database are looked at; those that are left then are not relied on.
const BUDGET: Duration = Duration::from_secs(20);

/// A foreign key that is not to be relied on, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenForeignKey {
    /// The key as DDL, with the name of its table: `car_makers(Country) REFERENCES countries(CountryId)`.
    pub key: String,
    /// Why: rows without a target, a target that is not there, or a check that came to no end.
    pub reason: String,
}

impl fmt::Display for BrokenForeignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.key, self.reason)
    }
}

/// The schema of a database without the foreign keys that its rows break.
#[derive(Debug, Clone)]
pub struct KeptSchema {
    /// The schema.
    pub schema: Arc<Schema>,
    /// The foreign keys that are not in it, in the order of the catalog.
    pub broken: Vec<BrokenForeignKey>,
}

impl Database {
    /// The schema without the foreign keys that the rows break. They are looked at once, by queries under the
    /// engine's locks and limits.
    pub fn kept_schema(&self, engine: &dyn Engine) -> &KeptSchema {
        self.kept.get_or_init(|| check(engine, self))
    }
}

fn check(engine: &dyn Engine, database: &Database) -> KeptSchema {
    let deadline = Instant::now() + BUDGET;
    let schema = database.schema();
    let mut broken = Vec::new();
    let mut tables = schema.tables().to_vec();
    for table in &mut tables {
        let keys = std::mem::take(&mut table.foreign_keys);
        for key in keys {
            match reason_against(engine, database, table, &key, deadline) {
                None => table.foreign_keys.push(key),
                Some(reason) => broken.push(BrokenForeignKey { key: key.describe(table), reason }),
            }
        }
    }
    let schema = if broken.is_empty() { Arc::clone(schema) } else { Arc::new(Schema::new(tables)) };
    KeptSchema { schema, broken }
}

fn reason_against(
    engine: &dyn Engine,
    database: &Database,
    table: &Table,
    key: &ForeignKey,
    deadline: Instant,
) -> Option<String> {
    let Some(sql) = orphans(database.schema(), table, key) else {
        return Some("what it refers to is not there".to_owned());
    };
    if Instant::now() >= deadline {
        return Some(format!("not checked within {} s", BUDGET.as_secs()));
    }
    match engine.run(database, &sql).outcome {
        Outcome::Rows(rows) if rows.is_empty() => None,
        Outcome::Rows(_) => Some("some rows refer to nothing".to_owned()),
        Outcome::Failed(failure) => Some(format!("not checked: {}", failure.message)),
    }
}

/// A query that returns a row if some row of the table refers to nothing.
///
/// SQLite compares by the affinity and collation of the column that is referred to: as the left side of `=` it gives
/// the collation, and the `+` takes the other side's affinity away.
fn orphans(schema: &Schema, table: &Table, key: &ForeignKey) -> Option<String> {
    let (target, columns) = schema.resolve_foreign_key(key)?;
    let target = schema.table(target)?;
    let name = |of: &Table, column: u32| Some(Dialect::Sqlite.identifier(&of.column(column)?.name));
    let (mut set, mut equal) = (Vec::new(), Vec::new());
    for (&own, &other) in key.columns.iter().zip(&columns) {
        let (own, other) = (name(table, own)?, name(target, other)?);
        set.push(format!("child.{own} IS NOT NULL"));
        equal.push(format!("parent.{other} = +child.{own}"));
    }
    Some(format!(
        "SELECT 1 FROM {} AS child WHERE {} AND NOT EXISTS (SELECT 1 FROM {} AS parent WHERE {}) LIMIT 1",
        Dialect::Sqlite.identifier(&table.name),
        set.join(" AND "),
        Dialect::Sqlite.identifier(&target.name),
        equal.join(" AND "),
    ))
}
