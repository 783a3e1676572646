//! Relations and common table expressions: which a query declares and reads.

use sqlgauge_sql::tree::{Query, RelationId};
use sqlgauge_sql::visit::rewrite_query;
use sqlgauge_sql::{Numbering, reads};

use crate::context::RuleContext;

/// Gives every relation inside a query a new identity that the context knows.
pub(crate) fn refresh(query: &mut Query, context: &mut RuleContext<'_>) {
    let mut next = context.facts.next_relation().0;
    let relations = reads::relations(query).into_iter().map(|id| {
        next += 1;
        (id, RelationId(next - 1))
    });
    let mut renaming = Numbering { relations: relations.collect(), ..Numbering::default() };
    rewrite_query(&mut renaming, query);
    // Makes the relations inside known; the number itself stays free.
    context.facts.add_derived(RelationId(next), query);
}
