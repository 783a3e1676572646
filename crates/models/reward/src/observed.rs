//! What the rows of a database show, where its schema says less.
//!
//! A schema rarely says which columns may not be NULL, or which do not repeat. An answer with `NOT IN` where the gold has
//! `EXCEPT`, say, differs from it once a NULL comes by, and one that groups by names once there are namesakes; nobody meant
//! that, if the benchmark's rows have neither. So whoever makes further databases may take a column without NULL in the rows
//! for NOT NULL, and one without repeated values for UNIQUE ([`Likeness`]).

use std::sync::Arc;

use sqlgauge_engine::{Database, Engine, Value};
use sqlgauge_sql::Dialect;
use sqlgauge_sql::schema::{Schema, Table, TableKind};

use crate::options::Likeness;

/// Rows of each table that are looked at.
const ROWS: usize = 10_000;

/// Columns of a table that one query asks about: SQLite returns at most 2,000 at once.
const COLUMNS: usize = 500;

/// The schema, with what its database shows. Tables without rows, and those that cannot be read within the engine's limits,
/// stay as they are; of a table with a single row nothing is known of repeats.
pub(crate) fn observed(
    schema: &Schema,
    likeness: Likeness,
    engine: &dyn Engine,
    database: &Database,
) -> Arc<Schema> {
    let mut tables = schema.tables().to_vec();
    for table in tables.iter_mut().filter(|table| table.kind == TableKind::Table) {
        let Some(counts) = counts(table, engine, database).filter(|_| likeness > Likeness::Schema) else {
            continue;
        };
        let mut unique = Vec::new();
        for ((at, column), found) in (0..).zip(&mut table.columns).zip(&counts.columns) {
            column.not_null |= found.present == counts.rows && !column.generated;
            if counts.rows > 1 && found.distinct == counts.rows {
                unique.push(vec![at]);
            }
        }
        if likeness >= Likeness::Repeats {
            let known = |key: &Vec<u32>| table.primary_key == *key || table.unique.contains(key);
            let more: Vec<Vec<u32>> = unique.into_iter().filter(|key| !known(key)).collect();
            table.unique.extend(more);
        }
    }
    Arc::new(Schema::new(tables))
}

/// Of a table's first rows.
struct Counts {
    rows: i64,
    columns: Vec<ColumnCounts>,
}

struct ColumnCounts {
    /// Rows with a value.
    present: i64,
    distinct: i64,
}

/// The counts of a table; `None` where there is no row to go by.
fn counts(table: &Table, engine: &dyn Engine, database: &Database) -> Option<Counts> {
    let number = |value: &Value| if let Value::Integer(number) = value { *number } else { 0 };
    let mut counts = Counts { rows: 0, columns: Vec::with_capacity(table.columns.len()) };
    for columns in table.columns.chunks(COLUMNS) {
        let asked = columns.iter().map(|column| {
            let name = Dialect::Sqlite.identifier(&column.name);
            format!("count({name}), count(DISTINCT {name})")
        });
        let sql = format!(
            "SELECT count(*), {} FROM (SELECT * FROM {} LIMIT {ROWS})",
            asked.collect::<Vec<_>>().join(", "),
            Dialect::Sqlite.identifier(&table.name)
        );
        let execution = engine.run(database, &sql);
        let (rows, found) = execution.rows()?.values().split_first()?;
        counts.rows = number(rows);
        let found = found.chunks_exact(2);
        counts
            .columns
            .extend(found.map(|of| ColumnCounts { present: number(&of[0]), distinct: number(&of[1]) }));
    }
    (counts.rows > 0).then_some(counts)
}
