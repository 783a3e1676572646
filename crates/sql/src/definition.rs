//! What the definitions in a schema say, resolved: the query of a view, CHECKs, generated columns, index expressions.
//!
//! A definition that does not resolve is left out: SQLite lets a view be created over a table that is not there.

use std::sync::OnceLock;

use crate::derive::{ColumnFacts, Facts};
use crate::print::Dialect;
use crate::resolve;
use crate::schema::{Indexed, Schema, Table};
use crate::tree::{Expr, Query, Relation, RelationId, Source};
use crate::visit::{Visitor, walk_query};

/// What the definitions of one table or view say.
#[derive(Debug, Clone, Default)]
pub struct Definition {
    /// The query of a view.
    pub view: Option<Query>,
    /// The CHECK constraints, over [`Definition::ROW`].
    pub checks: Vec<Expr>,
    /// The generated columns with their expressions, over [`Definition::ROW`].
    pub generated: Vec<(u32, Expr)>,
    /// The expressions and the WHERE of indexes, over [`Definition::ROW`], by the position of the index.
    pub indexes: Vec<(usize, Expr)>,
    facts: OnceLock<ViewFacts>,
}

/// What follows from the query of a view.
#[derive(Debug, Clone)]
pub(crate) struct ViewFacts {
    pub columns: Vec<ColumnFacts>,
    pub keys: Vec<Vec<u32>>,
}

impl Definition {
    /// The relation whose columns the expressions read: the row of the table.
    pub const ROW: RelationId = RelationId(0);

    /// What follows from the query of a view.
    pub(crate) fn view_facts(&self, schema: &Schema) -> Option<&ViewFacts> {
        let query = self.view.as_ref()?;
        Some(self.facts.get_or_init(|| Facts::of_view(query, schema)))
    }
}

/// The definitions of all tables of a schema, in their order.
pub(crate) fn definitions(schema: &Schema) -> Vec<Definition> {
    let mut all: Vec<Definition> = schema.tables().iter().map(|table| of_table(table, schema)).collect();
    // SQLite calls a view that reads itself circular; nothing follows from it.
    let circular: Vec<usize> = (0..all.len()).filter(|&at| reads_itself(at, &all)).collect();
    for at in circular {
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
    Definition {
        view: table.view.as_ref().and_then(|text| resolve(text, schema).ok()),
        checks: table.checks.iter().filter_map(over_row).collect(),
        generated: generated.collect(),
        indexes: indexes.collect(),
        facts: OnceLock::new(),
    }
}

/// An expression of a definition over one row of its table.
fn over_row(text: &str, table: &Table, schema: &Schema) -> Option<Expr> {
    let query =
        resolve(&format!("SELECT ({text}\n) FROM {}", Dialect::Sqlite.identifier(&table.name)), schema)
            .ok()?;
    query.as_select().and_then(|select| select.outputs.first()).map(|output| output.expr.clone())
}

fn reads_itself(start: usize, all: &[Definition]) -> bool {
    let mut pending = vec![start];
    let mut seen = vec![false; all.len()];
    while let Some(at) = pending.pop() {
        let Some(query) = all.get(at).and_then(|definition| definition.view.as_ref()) else { continue };
        let mut reads = Reads(Vec::new());
        walk_query(&mut reads, query);
        for read in reads.0 {
            if read == start {
                return true;
            }
            if seen.get(read) == Some(&false) {
                seen[read] = true;
                pending.push(read);
            }
        }
    }
    false
}

struct Reads(Vec<usize>);

impl Visitor for Reads {
    fn relation(&mut self, relation: &Relation) {
        if let Source::Table(id) = relation.source {
            self.0.push(id.index());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_resolved_and_what_does_not_resolve_is_left_out() {
        let schema = Schema::from_ddl(
            "CREATE TABLE t (a INT CHECK (a > 0), b INT AS (a + 1), c TEXT, CHECK (a < \"no such\" + b));
             CREATE INDEX e ON t (lower(c)) WHERE a > 3;
             CREATE VIEW v AS SELECT a, upper(c) AS d FROM t;",
        )
        .unwrap();
        let of = |name| schema.definition(schema.table_id(name).unwrap()).unwrap();
        assert_eq!((of("t").checks.len(), of("t").generated.len(), of("t").indexes.len()), (2, 1, 2));
        assert!(of("t").view.is_none() && of("v").view.is_some());
        assert_eq!(of("v").view_facts(&schema).unwrap().columns.len(), 2);
    }
}
