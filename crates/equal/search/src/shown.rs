//! What of a counterexample a reader needs to see.

use std::collections::BTreeSet;

use sqlgauge_engine::{ResultSet, Value};
use sqlgauge_sql::schema::TableId;

use super::Search;
use super::plan::tables_of;
use super::trace::trace;
use super::witness::{Witness, WitnessTable};

impl Search {
    /// The tables of a counterexample that the queries read, each with the columns that they read. Of a table of which they read
    /// no column, but count its rows, say, those that hold a value.
    pub fn read_tables(&self, database: &Witness, left: &str, right: &str) -> Vec<(String, ResultSet)> {
        let contents = self.bounded_option(&[left, right], || {
            let prepared = self.prepared(left, right).ok()?;
            let queries = [&prepared.left.query, &prepared.right.query];
            let read: BTreeSet<(TableId, u32)> = queries.iter().flat_map(|query| trace(query).read).collect();
            let tables: BTreeSet<TableId> = queries.into_iter().flat_map(tables_of).collect();
            let tables = tables.into_iter().filter_map(|id| {
                let table = database.table(&self.schema.table(id)?.name)?;
                let columns = read.iter().filter(|(other, _)| *other == id).map(|(_, at)| *at as usize);
                let columns: Vec<usize> = columns.collect();
                Some(if columns.is_empty() { table.with_values() } else { table.columns_at(&columns) })
            });
            Some(tables.collect())
        });
        contents.unwrap_or_else(|| database.tables.iter().map(WitnessTable::with_values).collect())
    }
}

impl WitnessTable {
    /// The name, and the rows with the columns that are not NULL in all of them; with the first column where all are.
    pub fn with_values(&self) -> (String, ResultSet) {
        let has_value = |at: &usize| self.rows.iter().any(|row| row.get(*at) != Some(&Value::Null));
        let mut columns: Vec<usize> = (0..self.columns.len()).filter(has_value).collect();
        if columns.is_empty() {
            columns.push(0);
        }
        self.columns_at(&columns)
    }

    fn columns_at(&self, columns: &[usize]) -> (String, ResultSet) {
        let names = columns.iter().filter_map(|&at| self.columns.get(at).cloned()).collect();
        let values = self.rows.iter().flat_map(|row| columns.iter().filter_map(|&at| row.get(at).cloned()));
        (self.name.clone(), ResultSet::new(names, values.collect()))
    }
}
