//! What the rows of a database hold, where its schema says less.
//!
//! A schema rarely says which columns may not be NULL. An answer with `NOT IN` where the gold has `EXCEPT`, say, differs from
//! it once a NULL comes by; nobody meant that, if the benchmark's rows have none there. So a column without NULL in the rows
//! is taken for NOT NULL by whoever makes further databases. Which values are shared, or missing, is another matter: a
//! question does ask about namesakes.

use std::sync::Arc;

use sqlgauge_engine::{Database, Engine, Value};
use sqlgauge_sql::Dialect;
use sqlgauge_sql::schema::{Schema, Table, TableKind};

/// Rows of each table that are looked at.
const ROWS: usize = 10_000;

/// The schema, with NOT NULL for the columns that hold no NULL in the rows of the database. Tables without rows, and those
/// that cannot be read within the engine's limits, stay as they are.
pub(crate) fn with_observed_not_null(
    schema: &Schema,
    engine: &dyn Engine,
    database: &Database,
) -> Arc<Schema> {
    let mut tables = schema.tables().to_vec();
    for table in tables.iter_mut().filter(|table| table.kind == TableKind::Table) {
        let Some(is_full) = full_columns(table, engine, database) else { continue };
        for (column, is_full) in table.columns.iter_mut().zip(is_full) {
            column.not_null |= is_full && !column.generated;
        }
    }
    Arc::new(Schema::new(tables))
}

/// Of each column, whether it holds no NULL; nothing where there is no row to go by.
fn full_columns(table: &Table, engine: &dyn Engine, database: &Database) -> Option<Vec<bool>> {
    let counts = table.columns.iter().map(|column| {
        let name = Dialect::Sqlite.identifier(&column.name);
        format!("count({name}) = count(*)")
    });
    let counts: Vec<String> = counts.collect();
    let sql = format!(
        "SELECT count(*), {} FROM (SELECT * FROM {} LIMIT {ROWS})",
        counts.join(", "),
        Dialect::Sqlite.identifier(&table.name)
    );
    let execution = engine.run(database, &sql);
    let (rows, found) = execution.rows()?.values().split_first()?;
    (*rows != Value::Integer(0)).then(|| found.iter().map(|one| *one == Value::Integer(1)).collect())
}
