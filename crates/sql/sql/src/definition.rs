//! Resolves the definitions in a schema: queries of views, CHECKs, generated columns, index expressions.
//!
//! A definition that does not resolve is left out: SQLite lets a view be created over a table that is not there.

use std::sync::{Arc, OnceLock};

use sqlgauge_base::budget;

use crate::derive::Facts;
use crate::quote;
use crate::reads;
use crate::resolve;
use crate::schema::{Definition, Indexed, Schema, Table, TableId, ViewFacts};
use crate::tree::{Expr, Query};

impl Schema {
    /// What the table's view, CHECKs, generated columns and indexes say, resolved against this schema.
    pub fn definition(&self, id: TableId) -> Option<&Definition> {
        self.table(id)?;
        self.definitions.get_or_init(|| Arc::new(definitions(self))).get(id.index())
    }
}

impl Definition {
    /// What follows from the query of a view. Views of views are looked at from the innermost out, so that a long
    /// chain of them is no deep recursion.
    pub(crate) fn view_facts(&self, schema: &Schema) -> Option<&ViewFacts> {
        self.view.as_ref()?;
        let mut pending = vec![self];
        while let Some(last) = pending.last().copied() {
            let read = last.reads.iter().filter_map(|&id| schema.definition(id));
            if let Some(inner) = read
                .into_iter()
                .find(|definition| definition.view.is_some() && definition.facts.get().is_none())
            {
                pending.push(inner);
            } else {
                last.own_facts(schema);
                pending.pop();
            }
        }
        self.facts.get()
    }

    /// Nothing is known of a view that is too complex.
    fn own_facts(&self, schema: &Schema) {
        let Some(query) = &self.view else { return };
        self.facts.get_or_init(|| {
            let facts = budget::within(budget::RESOLVE, || Facts::of_view(query, schema));
            facts.unwrap_or_else(|_| ViewFacts { columns: Vec::new(), keys: Vec::new() })
        });
    }
}

/// The definitions of all tables of a schema, in their order. Together they may take the steps of one resolution;
/// those behind are left out.
fn definitions(schema: &Schema) -> Vec<Definition> {
    let mut total = 0;
    let of_table = |table: &Table| {
        if total > budget::RESOLVE {
            return Definition::default();
        }
        let (definition, steps) = budget::measure(|| of_table(table, schema));
        total += steps;
        definition
    };
    let mut all: Vec<Definition> = schema.tables().iter().map(of_table).collect();
    // SQLite calls a view that reads itself circular; nothing follows from it, nor from what reads it.
    for at in circular(&all) {
        all[at].view = None;
    }
    all
}

fn of_table(table: &Table, schema: &Schema) -> Definition {
    let over_row = |text: &String| over_row(text, table, schema);
    let columns = (0..).zip(&table.columns);
    let generated = columns.filter_map(|(at, column)| Some((at, over_row(column.generated_as.as_ref()?)?)));
    let indexes = table.indexes.iter().enumerate().flat_map(|(at, index)| {
        let parts = index.parts.iter().filter_map(|part| match &part.of {
            Indexed::Expression(text) => Some(text),
            Indexed::Column(_) => None,
        });
        parts.chain(&index.filter).filter_map(&over_row).map(move |expr| (at, expr)).collect::<Vec<_>>()
    });
    let view = table.view.as_ref().and_then(|text| resolve(text, schema).ok());
    Definition {
        reads: view.as_ref().map(tables_of).unwrap_or_default(),
        view,
        checks: table.checks.iter().filter_map(over_row).collect(),
        generated: generated.collect(),
        indexes: indexes.collect(),
        facts: OnceLock::new(),
    }
}

/// An expression of a definition over one row of its table.
fn over_row(text: &str, table: &Table, schema: &Schema) -> Option<Expr> {
    let query = resolve(&format!("SELECT ({text}\n) FROM {}", quote::name(&table.name)), schema).ok()?;
    query.as_select().and_then(|select| select.outputs.first()).map(|output| output.expr.clone())
}

/// The views that read themselves, and those that read such a one.
fn circular(all: &[Definition]) -> Vec<usize> {
    let is_view = |at: usize| all.get(at).is_some_and(|definition| definition.view.is_some());
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    let mut waits_for = vec![0_usize; all.len()];
    for (at, definition) in all.iter().enumerate() {
        for read in definition.reads.iter().map(|id| id.index()).filter(|&read| is_view(read)) {
            readers[read].push(at);
            waits_for[at] += 1;
        }
    }
    let mut ready: Vec<usize> = (0..all.len()).filter(|&at| waits_for[at] == 0).collect();
    while let Some(at) = ready.pop() {
        for &reader in &readers[at] {
            waits_for[reader] -= 1;
            if waits_for[reader] == 0 {
                ready.push(reader);
            }
        }
    }
    (0..all.len()).filter(|&at| waits_for[at] > 0).collect()
}

/// The tables and views that a query reads, each once.
fn tables_of(query: &Query) -> Vec<TableId> {
    let mut tables: Vec<TableId> = reads::tables(query).into_iter().map(|(_, table)| table).collect();
    tables.sort_unstable();
    tables.dedup();
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_resolved_and_what_does_not_resolve_is_left_out() {
        let schema = Schema::from_ddl(
            "CREATE TABLE t (a INT CHECK (a > 0), b INT AS (a + 1), c TEXT, CHECK (a < \"no such\" + b));
             CREATE INDEX e ON t (lower(c)) WHERE a > 3;
             CREATE VIEW v AS SELECT a, upper(c) AS d FROM t; CREATE VIEW w AS SELECT * FROM v x, v y;",
        )
        .unwrap();
        let of = |name| schema.definition(schema.table_id(name).unwrap()).unwrap();
        assert_eq!((of("t").checks.len(), of("t").generated.len(), of("t").indexes.len()), (2, 1, 2));
        assert!(of("t").view.is_none() && of("v").view.is_some());
        assert_eq!(of("w").view_facts(&schema).unwrap().columns.len(), 4);
        assert_eq!(of("v").view_facts(&schema).unwrap().columns.len(), 2);
    }
}
