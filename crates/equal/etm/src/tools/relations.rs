//! Relations and common table expressions: which a query declares and reads.

use sqlgauge_sql::tree::{CteId, Expr, Query, Relation, RelationId, RelationSource};
use sqlgauge_sql::visit::{Rewriter, Visitor, rewrite_query, walk_expr, walk_query};

use crate::context::RuleContext;

/// Whether a query reads that common table expression.
pub(crate) fn reads_cte(query: &Query, id: CteId) -> bool {
    let mut found = ReadsCte { id, found: false };
    walk_query(&mut found, query);
    found.found
}

struct ReadsCte {
    id: CteId,
    found: bool,
}

impl Visitor for ReadsCte {
    fn relation(&mut self, relation: &Relation) {
        self.found |= relation.source == RelationSource::Cte(self.id);
    }
}

/// The relations that a query declares, subqueries included.
pub(crate) fn declared(query: &Query) -> Vec<RelationId> {
    let mut found = Declared(Vec::new());
    walk_query(&mut found, query);
    found.0
}

/// The relations that the subqueries of an expression declare.
pub(crate) fn declared_in(expr: &Expr) -> Vec<RelationId> {
    let mut found = Declared(Vec::new());
    walk_expr(&mut found, expr);
    found.0
}

struct Declared(Vec<RelationId>);

impl Visitor for Declared {
    fn relation(&mut self, relation: &Relation) {
        self.0.push(relation.id);
    }
}

/// Gives every relation inside a query a new identity that the context knows.
pub(crate) fn refresh(query: &mut Query, context: &mut RuleContext<'_>) {
    let old = declared(query);
    let first = context.facts.next_relation().0;
    let new: Vec<RelationId> = (first..).map(RelationId).take(old.len()).collect();
    let mut renaming = Renaming { old: &old, new: &new };
    rewrite_query(&mut renaming, query);
    // Makes the relations inside known; the number itself stays free.
    let spare = RelationId(first + u32::try_from(old.len()).unwrap_or(u32::MAX));
    context.facts.add_derived(spare, query);
}

pub(super) struct Renaming<'r> {
    pub(super) old: &'r [RelationId],
    pub(super) new: &'r [RelationId],
}

impl Renaming<'_> {
    fn of(&self, id: RelationId) -> RelationId {
        self.old.iter().position(|old| *old == id).map_or(id, |place| self.new[place])
    }
}

impl Rewriter for Renaming<'_> {
    fn relation(&mut self, relation: &mut Relation) {
        relation.id = self.of(relation.id);
    }
    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(column) = expr {
            column.relation = self.of(column.relation);
        }
    }
}
