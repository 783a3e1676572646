//! Relations and common table expressions: which a query declares and reads.

use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{Expr, Query, Relation, RelationId};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};

use crate::context::RuleContext;

/// Gives every relation inside a query a new identity that the context knows.
pub(crate) fn refresh(query: &mut Query, context: &mut RuleContext<'_>) {
    let old = reads::relations(query);
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
