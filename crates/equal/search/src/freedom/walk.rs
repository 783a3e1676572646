//! What an expression or a query refers to.

use std::collections::BTreeSet;

use sqlgauge_sql::tree::{ColumnRef, Cte, Expr, Query, Relation, RelationId, RelationSource};
use sqlgauge_sql::visit::{Visitor, walk_query};

/// Whether the CTE reads itself.
pub(super) fn reads_cte(cte: &Cte) -> bool {
    struct Reads<'c>(&'c Cte, bool);
    impl Visitor for Reads<'_> {
        fn relation(&mut self, relation: &Relation) {
            self.1 |= matches!(relation.source, RelationSource::Cte(id) if id == self.0.id);
        }
    }
    let mut reads = Reads(cte, false);
    walk_query(&mut reads, &cte.query);
    reads.1
}

/// Relations and the columns that refer to them.
#[derive(Default)]
struct References {
    declared: BTreeSet<RelationId>,
    columns: Vec<ColumnRef>,
}

impl Visitor for References {
    fn relation(&mut self, relation: &Relation) {
        self.declared.insert(relation.id);
    }

    fn expr(&mut self, expr: &Expr) {
        if let Expr::Column(column) = expr {
            self.columns.push(*column);
        }
    }
}

pub(super) fn columns_in(query: &Query) -> Vec<ColumnRef> {
    let mut references = References::default();
    walk_query(&mut references, query);
    references.columns
}

/// The relations of enclosing queries that a query refers to.
pub(crate) fn free_relations(query: &Query) -> BTreeSet<RelationId> {
    let mut references = References::default();
    walk_query(&mut references, query);
    let References { declared, columns } = references;
    columns.into_iter().map(|column| column.relation).filter(|id| !declared.contains(id)).collect()
}

/// Every expression directly inside another, those in subqueries excepted.
pub(super) fn operands(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Column(_) | Expr::Output(_) | Expr::Literal(_) | Expr::Scalar(_) | Expr::Exists { .. } => {
            Vec::new()
        }
        Expr::Unary(_, inner)
        | Expr::Cast { expr: inner, .. }
        | Expr::Collate { expr: inner, .. }
        | Expr::IsNull { expr: inner, .. }
        | Expr::InQuery { expr: inner, .. } => vec![inner],
        Expr::Binary(_, left, right) => vec![left, right],
        Expr::And(list) | Expr::Or(list) | Expr::Row(list) => list.iter().collect(),
        Expr::Between { expr, low, high, .. } => vec![expr, low, high],
        Expr::Like { expr, pattern, escape, .. } => {
            [expr, pattern].into_iter().chain(escape).map(|operand| &**operand).collect()
        }
        Expr::InList { expr, list, .. } => std::iter::once(&**expr).chain(list).collect(),
        Expr::Case { operand, branches, otherwise } => {
            let branches = branches.iter().flat_map(|(when, then)| [when, then]);
            operand.as_deref().into_iter().chain(branches).chain(otherwise.as_deref()).collect()
        }
        Expr::Function { args, .. } => args.as_slice().iter().collect(),
        Expr::Aggregate(call) => {
            let order = call.order_by.iter().map(|term| &term.expr);
            call.args.as_slice().iter().chain(&call.filter).chain(order).collect()
        }
        Expr::Window(call) => {
            let order = call.window.order_by.iter().map(|term| &term.expr);
            let keys = call.window.partition_by.iter().chain(order);
            call.args.as_slice().iter().chain(&call.filter).chain(keys).collect()
        }
    }
}

/// Whether an ORDER BY term reads the result column at that place.
pub(super) fn reads_output(expr: &Expr, at: usize) -> bool {
    matches!(expr, Expr::Output(output) if *output as usize == at)
        || operands(expr).into_iter().any(|operand| reads_output(operand, at))
}
