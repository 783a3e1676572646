//! What is said besides the query, of columns that it does not use.

use std::collections::HashSet;

use sqlgauge_sql::tree::{ColumnRef, Expr, Place, Query, Relation, RelationId};
use sqlgauge_sql::visit::{Visitor, walk_query};

use super::{Said, Say};
use crate::engine::tree::Tree;
use crate::grammar::Rule;
use sqlgauge_sql::canonical::table_of;

/// The tables that a query reads, and the columns that it names.
#[derive(Default)]
struct Used {
    relations: Vec<(RelationId, u32)>,
    columns: HashSet<ColumnRef>,
}

impl Visitor for Used {
    fn relation(&mut self, relation: &Relation) {
        self.relations.extend(table_of(relation).map(|table| (relation.id, table)));
    }

    fn expr(&mut self, expr: &Expr) {
        if let Expr::Column(column) = expr {
            self.columns.insert(*column);
        }
    }
}

impl Say<'_> {
    /// A sentence of a column that the query could have used and does not: of a table that it reads, or else of another one.
    pub(super) fn aside(&mut self, query: &Query) -> Said<Option<Tree>> {
        let mut used = Used::default();
        walk_query(&mut used, query);
        let named: HashSet<(u32, u32)> = used
            .columns
            .iter()
            .filter_map(|column| {
                let (_, table) = used.relations.iter().find(|(id, _)| *id == column.relation)?;
                match column.column {
                    Place::At(at) => Some((*table, at)),
                    Place::Rowid => None,
                }
            })
            .collect();
        let all = (0..)
            .zip(self.schema.tables())
            .flat_map(|(table, entry)| (0..).take(entry.columns.len()).map(move |at| (table, at)));
        let unused: Vec<(u32, u32)> = all.filter(|spot| !named.contains(spot)).collect();
        let is_near = |(table, _): &&(u32, u32)| used.relations.iter().any(|(_, read)| read == table);
        let near: Vec<(u32, u32)> = unused.iter().filter(is_near).copied().collect();
        let Some(&(table, at)) = self.random.pick(if near.is_empty() { &unused } else { &near }) else {
            return Ok(None);
        };
        Ok(Some(Tree::of(Rule::Aside, [self.name(table, at)?, self.noun(table, false)?])))
    }
}
