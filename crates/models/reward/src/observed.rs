//! What the rows of a database show, where its schema says less.
//!
//! A schema rarely says which columns may not be NULL, or which do not repeat. An answer with `NOT IN` where the gold has
//! `EXCEPT`, say, differs from it once a NULL comes by, and one that groups by names once there are namesakes; nobody meant
//! that, if the benchmark's rows have neither. So whoever makes further databases may take a column without NULL in the rows
//! for NOT NULL, and one without repeated values for UNIQUE ([`Likeness`]).

use std::sync::Arc;

use sqlgauge_engine::{Database, Engine, Value};
use sqlgauge_sql::PrintDialect;
use sqlgauge_sql::schema::{Schema, Table, TableKind};

use crate::options::Likeness;

/// Rows of each table that are looked at.
const ROWS: usize = 10_000;

/// Columns of a table that one query asks about: SQLite returns at most 2,000 at once.
const COLUMNS: usize = 500;

/// What the tables of a database show.
pub(crate) struct Observed {
    schema: Arc<Schema>,
    /// Of each table; `None` of a view, a table without rows, and one that the engine cannot read within its limits.
    counts: Vec<Option<Counts>>,
}

impl Observed {
    pub(crate) fn new(schema: Arc<Schema>, engine: &dyn Engine, database: &Database) -> Self {
        let of = |table: &Table| (table.kind == TableKind::Table).then(|| counts(table, engine, database));
        let counts = schema.tables().iter().map(|table| of(table).flatten()).collect();
        Self { schema, counts }
    }

    /// The schema with what the rows show. A table with a single row says nothing about repeats.
    pub(crate) fn schema(&self, likeness: Likeness) -> Arc<Schema> {
        if likeness == Likeness::Schema {
            return Arc::clone(&self.schema);
        }
        let mut tables = self.schema.tables().to_vec();
        for (table, counts) in tables.iter_mut().zip(&self.counts) {
            let Some(counts) = counts else { continue };
            for (column, found) in table.columns.iter_mut().zip(&counts.columns) {
                column.not_null |= found.present == counts.rows && !column.generated;
            }
            if likeness == Likeness::Repeats && counts.rows > 1 {
                let unique = (0_u32..).zip(&counts.columns).filter(|(_, own)| own.distinct == counts.rows);
                let known = |key: &Vec<u32>| table.primary_key == *key || table.unique.contains(key);
                let more: Vec<Vec<u32>> = unique.map(|(at, _)| vec![at]).filter(|key| !known(key)).collect();
                table.unique.extend(more);
            }
        }
        Arc::new(Schema::new(tables))
    }
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

/// Counts a table's first rows; `None` if it is empty or the engine cannot read it within its limits.
fn counts(table: &Table, engine: &dyn Engine, database: &Database) -> Option<Counts> {
    let number = |value: &Value| if let Value::Integer(number) = value { *number } else { 0 };
    let mut counts = Counts { rows: 0, columns: Vec::with_capacity(table.columns.len()) };
    for columns in table.columns.chunks(COLUMNS) {
        let asked = columns.iter().map(|column| {
            let name = PrintDialect::Sqlite.identifier(&column.name);
            format!("count({name}), count(DISTINCT {name})")
        });
        let sql = format!(
            "SELECT count(*), {} FROM (SELECT * FROM {} LIMIT {ROWS})",
            asked.collect::<Vec<_>>().join(", "),
            PrintDialect::Sqlite.identifier(&table.name)
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
