//! What an expression or a query refers to.

use std::collections::BTreeSet;

use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{Expr, Query, RelationId};
use sqlgauge_sql::visit::children;

/// The relations of enclosing queries that a query refers to.
pub(crate) fn free_relations(query: &Query) -> BTreeSet<RelationId> {
    reads::outer_columns(query).into_iter().map(|column| column.relation).collect()
}

/// Every expression directly inside another, those in subqueries excepted.
pub(super) fn operands(expr: &Expr) -> Vec<&Expr> {
    let mut operands = Vec::new();
    children(expr, &mut |operand| operands.push(operand));
    operands
}

/// Whether an ORDER BY term reads the result column at that place.
pub(super) fn reads_output(expr: &Expr, at: usize) -> bool {
    matches!(expr, Expr::Output(output) if *output as usize == at)
        || operands(expr).into_iter().any(|operand| reads_output(operand, at))
}
