//! Finds the foreign keys that the rows of a database keep.
//!
//! SQLite enforces foreign keys only where a connection asks for it, and benchmarks hold databases whose rows break
//! theirs. What is proved by a foreign key holds on a database only if its rows keep it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use sqlgauge_sql::reads;
use sqlgauge_sql::schema::{ForeignKey, Schema, Table, TableId, TableKind};
use sqlgauge_sql::{PrintDialect, resolve};

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
        self.kept_schema.get_or_init(|| check(engine, self, |_| true))
    }

    /// [`Database::kept_schema`] as far as those queries can tell: the foreign keys of tables that they do not reach are not
    /// looked at, however many there are, and stay in the schema.
    pub fn kept_schema_for(&self, engine: &dyn Engine, queries: &[&str]) -> Arc<KeptSchema> {
        let Some(reached) = reached(self.schema(), queries) else {
            return Arc::new(self.kept_schema(engine).clone());
        };
        let find = |entries: &KeptFor| {
            entries.iter().find(|(of, _)| *of == reached).map(|(_, schema)| Arc::clone(schema))
        };
        if let Some(schema) = find(&self.kept_for.lock().unwrap_or_else(PoisonError::into_inner)) {
            return schema;
        }
        let schema = Arc::new(check(engine, self, |id| reached.contains(&id)));
        self.kept_for.lock().unwrap_or_else(PoisonError::into_inner).push((reached, Arc::clone(&schema)));
        schema
    }
}

/// What the tables that queries reach keep, by those tables.
pub(crate) type KeptFor = Vec<(BTreeSet<TableId>, Arc<KeptSchema>)>;

/// The tables that the queries read, and those that foreign keys lead to from there; `None` if that is not known.
fn reached(schema: &Schema, queries: &[&str]) -> Option<BTreeSet<TableId>> {
    let mut read = Vec::new();
    for sql in queries {
        read.extend(reads::tables(&resolve(sql, schema).ok()?).into_iter().map(|(_, table)| table));
    }
    let mut reached = BTreeSet::new();
    while let Some(id) = read.pop() {
        let table = schema.table(id).filter(|table| table.kind == TableKind::Table)?;
        if reached.insert(id) {
            let keys = table.foreign_keys.iter().filter_map(|key| schema.resolve_foreign_key(key));
            read.extend(keys.map(|(target, _)| target));
        }
    }
    Some(reached)
}

fn check(engine: &dyn Engine, database: &Database, is_reached: impl Fn(TableId) -> bool) -> KeptSchema {
    let deadline = Instant::now() + BUDGET;
    let schema = database.schema();
    let mut broken = Vec::new();
    let mut tables = schema.tables().to_vec();
    for (_, table) in schema.ids().zip(&mut tables).filter(|(id, _)| is_reached(*id)) {
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
    let name = |of: &Table, column: u32| Some(PrintDialect::Sqlite.identifier(&of.column(column)?.name));
    let (mut set, mut equal) = (Vec::new(), Vec::new());
    for (&column, &other) in key.columns.iter().zip(&columns) {
        let (column, other) = (name(table, column)?, name(target, other)?);
        set.push(format!("child.{column} IS NOT NULL"));
        equal.push(format!("parent.{other} = +child.{column}"));
    }
    Some(format!(
        "SELECT 1 FROM {} AS child WHERE {} AND NOT EXISTS (SELECT 1 FROM {} AS parent WHERE {}) LIMIT 1",
        PrintDialect::Sqlite.identifier(&table.name),
        set.join(" AND "),
        PrintDialect::Sqlite.identifier(&target.name),
        equal.join(" AND "),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, SqliteEngine};

    #[test]
    fn keys_of_tables_that_no_query_reaches_are_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.sqlite");
        let world = "PRAGMA foreign_keys = OFF;
            CREATE TABLE a (id INTEGER PRIMARY KEY);
            CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id));
            CREATE TABLE c (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b (id));
            CREATE VIEW v AS SELECT id FROM a;
            INSERT INTO b VALUES (1, 7); INSERT INTO c VALUES (1, 9);";
        rusqlite::Connection::open(&path).unwrap().execute_batch(world).unwrap();
        let engine = SqliteEngine::new(Limits::default());
        let database = engine.open(&path).unwrap();
        let broken = |sql: &str| {
            let schema = database.kept_schema_for(&engine, &[sql]);
            schema.broken.iter().map(|broken| broken.key.clone()).collect::<Vec<_>>()
        };
        let (of_b, of_c) = ("b(a) REFERENCES a(id)", "c(b) REFERENCES b(id)");
        assert_eq!(broken("SELECT id FROM a"), [""; 0]);
        assert!(Arc::ptr_eq(
            &database.kept_schema_for(&engine, &["SELECT id FROM a"]).schema,
            database.schema()
        ));
        assert_eq!(broken("SELECT id FROM b"), [of_b]);
        // Through a foreign key too.
        assert_eq!(broken("SELECT id FROM c"), [of_b, of_c]);
        // What is not known is looked at whole.
        assert_eq!(broken("SELECT id FROM v"), [of_b, of_c]);
        assert_eq!(broken("SELECT nothing FROM a"), [of_b, of_c]);
    }
}
