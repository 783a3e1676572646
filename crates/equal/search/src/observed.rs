//! What the rows of a database show, where its schema says less.
//!
//! A schema rarely says which columns may not be NULL, or which do not repeat. An answer with `NOT IN` where the gold has
//! `EXCEPT`, say, differs from it once a NULL comes by, and one that groups by names once there are namesakes; nobody meant
//! that, if the benchmark's rows have neither. So whoever makes further databases may take a column without NULL in the rows
//! for NOT NULL, and one without repeated values for UNIQUE.

use std::sync::Arc;

use sqlgauge_engine::{Database, Engine, Value};
use sqlgauge_sql::quote::name as quoted;
use sqlgauge_sql::schema::{Affinity, Schema, Table, TableKind};

use super::declared::DeclaredColumns;
use super::needs::is_off_type_in_sql;

/// Rows of each table that are looked at.
pub(super) const ROWS: i64 = 10_000;

/// Columns of a table that one query asks at most five things about: SQLite returns at most 2,000 values at once.
pub(super) const COLUMNS: usize = 390;

/// What the first 10,000 rows of each table show.
#[derive(Debug)]
pub struct Observed {
    schema: Arc<Schema>,
    /// Of each table; `None` of a view, and of a table that the engine cannot read within its limits.
    pub(super) counts: Vec<Option<Counts>>,
    /// Whether some text refers to a number and is not how SQLite writes it.
    has_other_spellings: bool,
}

impl Observed {
    /// Looks at the rows of a database over that schema, which may lack foreign keys of the database's own.
    pub fn new(schema: Arc<Schema>, engine: &dyn Engine, database: &Database) -> Self {
        let of = |table: &Table| (table.kind == TableKind::Table).then(|| counts(table, engine, database));
        let counts = schema.tables().iter().map(|table| of(table).flatten()).collect();
        let has_rows = |text: String| engine.run(database, &text).rows().is_some_and(|rows| !rows.is_empty());
        let has_other_spellings =
            schema.tables().iter().flat_map(|table| other_spellings(&schema, table)).any(has_rows);
        Self { schema, counts, has_other_spellings }
    }

    /// Whether some text that refers to a number is another spelling of it, as `'01'` is for 1.
    pub fn has_other_spellings(&self) -> bool {
        self.has_other_spellings
    }

    /// The columns that hold what they declare, as far as the rows that were looked at show. A table whose rows the engine could not
    /// read is taken for one that does not.
    pub fn declared(&self) -> DeclaredColumns {
        let tables = self.schema.tables().iter().enumerate().zip(&self.counts);
        let free = tables.flat_map(|((place, table), counts)| {
            let is_free = move |at: u32| match counts {
                None => table.kind == TableKind::Table,
                Some(counts) => counts.columns.get(at as usize).is_some_and(|column| {
                    column.off_type > 0 || (table.primary_key.contains(&at) && column.present < counts.rows)
                }),
            };
            let columns = (0_u32..).zip(&table.columns).map(|(at, _)| at);
            columns.filter(move |&at| is_free(at)).map(move |at| (place, at))
        });
        DeclaredColumns::AllBut(free.collect())
    }

    /// The schema with NOT NULL for every column without NULL in the rows.
    pub fn without_nulls(&self) -> Arc<Schema> {
        self.with(|table, counts| {
            for (column, of_column) in table.columns.iter_mut().zip(&counts.columns) {
                column.not_null |= of_column.present == counts.rows && !column.generated;
            }
        })
    }

    /// [`Observed::without_nulls`], with UNIQUE for every column that repeats no value.
    pub fn without_repeats(&self) -> Arc<Schema> {
        let unique = Self { schema: self.without_nulls(), counts: self.counts.clone(), ..*self };
        unique.with(|table, counts| {
            let more = counts.new_keys(table);
            table.unique.extend(more);
        })
    }

    fn with(&self, add: impl Fn(&mut Table, &Counts)) -> Arc<Schema> {
        let mut tables = self.schema.tables().to_vec();
        for (table, counts) in tables.iter_mut().zip(&self.counts) {
            if let Some(counts) = counts.as_ref().filter(|counts| counts.rows > 0) {
                add(table, counts);
            }
        }
        Arc::new(Schema::new(tables))
    }
}

/// For each column of texts that refers to numbers the query that returns a row with another spelling of one.
fn other_spellings(schema: &Schema, table: &Table) -> Vec<String> {
    let mut texts = Vec::new();
    for key in &table.foreign_keys {
        let Some((target, columns)) = schema.resolve_foreign_key(key) else { continue };
        let Some(target) = schema.table(target) else { continue };
        for (child, parent) in key.columns.iter().zip(columns) {
            let (Some(child), Some(parent)) = (table.column(*child), target.column(parent)) else { continue };
            if child.affinity == Affinity::Text && parent.affinity.is_numeric() {
                let (name, from) = (quoted(&child.name), quoted(&table.name));
                texts.push(format!(
                    "SELECT 1 FROM (SELECT {name} AS c FROM {from} LIMIT {ROWS}) \
                     WHERE c <> CAST(CAST(c AS NUMERIC) AS TEXT) LIMIT 1"
                ));
            }
        }
    }
    texts
}

/// Of a table's first rows.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    pub(super) rows: i64,
    pub(super) columns: Vec<ColumnCounts>,
}

#[derive(Debug, Clone)]
pub(super) struct ColumnCounts {
    /// Rows with a value.
    pub(super) present: i64,
    pub(super) distinct: i64,
    /// Rows with a value that is not of the column's declared type.
    pub(super) off_type: i64,
}

impl Counts {
    /// The columns that repeat no value, and of which the table does not say so. A single row says nothing about repeats.
    pub(super) fn new_keys(&self, table: &Table) -> Vec<Vec<u32>> {
        let is_unique = |column: &ColumnCounts| self.rows > 1 && column.distinct == self.rows;
        let unique = (0_u32..).zip(&self.columns).filter(|(_, column)| is_unique(column));
        let is_declared = |key: &Vec<u32>| table.primary_key == *key || table.unique.contains(key);
        unique.map(|(at, _)| vec![at]).filter(|key| !is_declared(key)).collect()
    }
}

/// Counts a table's first rows; `None` if the engine cannot read it within its limits.
pub(super) fn counts(table: &Table, engine: &dyn Engine, database: &Database) -> Option<Counts> {
    let mut counts = Counts { rows: 0, columns: Vec::with_capacity(table.columns.len()) };
    for columns in table.columns.chunks(COLUMNS) {
        let terms = columns.iter().map(|column| {
            let name = quoted(&column.name);
            let off_type = is_off_type_in_sql(&name, column);
            format!("count({name}), count(DISTINCT {name}), sum({off_type})")
        });
        let sql = format!(
            "SELECT count(*), {} FROM (SELECT * FROM {} LIMIT {ROWS})",
            terms.collect::<Vec<_>>().join(", "),
            quoted(&table.name)
        );
        let execution = engine.run(database, &sql);
        let (rows, cells) = execution.rows()?.values().split_first()?;
        counts.rows = count(rows);
        counts.columns.extend(cells.chunks_exact(3).map(|of| ColumnCounts {
            present: count(&of[0]),
            distinct: count(&of[1]),
            off_type: count(&of[2]),
        }));
    }
    Some(counts)
}

/// A number of rows as SQLite returned it.
pub(super) fn count(value: &Value) -> i64 {
    if let Value::Integer(number) = value { *number } else { 0 }
}
