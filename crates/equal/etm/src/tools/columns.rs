//! Columns: which are read, and others in their place.

use sqlgauge_sql::tree::{ColumnRef, Expr, Place, Query, RelationId};
use sqlgauge_sql::visit::{Rewriter, Visitor, rewrite_expr, rewrite_query, walk_expr, walk_query};

use super::exprs::parts_first;

/// Replaces a column everywhere in a query, subqueries included.
pub(crate) fn replace_column(query: &mut Query, from: ColumnRef, to: &Expr) {
    rewrite_query(&mut Replacement { from, to }, query);
}

/// Replaces a column everywhere in an expression, subqueries included.
pub(crate) fn replace_column_in(expr: &mut Expr, from: ColumnRef, to: &Expr) {
    rewrite_expr(&mut Replacement { from, to }, expr);
}

struct Replacement<'e> {
    from: ColumnRef,
    to: &'e Expr,
}

impl Rewriter for Replacement<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if matches!(expr, Expr::Column(column) if *column == self.from) {
            *expr = self.to.clone();
        }
    }
}

/// All columns of a relation that a query reads, subqueries included, with repetition.
pub(crate) fn columns_read(query: &Query, relation: RelationId) -> Vec<Place> {
    let mut reads = Reads { relation, columns: Vec::new() };
    walk_query(&mut reads, query);
    reads.columns
}

struct Reads {
    relation: RelationId,
    columns: Vec<Place>,
}

impl Visitor for Reads {
    fn expr(&mut self, expr: &Expr) {
        if let Expr::Column(column) = expr
            && column.relation == self.relation
        {
            self.columns.push(column.column);
        }
    }
}

/// All columns in an expression, subqueries included.
pub(crate) fn columns_of(expr: &Expr) -> Vec<ColumnRef> {
    let mut all = AllColumns(Vec::new());
    walk_expr(&mut all, expr);
    all.0
}

struct AllColumns(Vec<ColumnRef>);

impl Visitor for AllColumns {
    fn expr(&mut self, expr: &Expr) {
        if let Expr::Column(column) = expr {
            self.0.push(*column);
        }
    }
}

/// Calls `change` for every column of an expression, those in subqueries only if `inside` is set.
pub(crate) fn swap_columns(expr: &mut Expr, inside: bool, change: &mut dyn FnMut(&mut ColumnRef)) {
    if inside {
        rewrite_expr(&mut Swap(change), expr);
    } else {
        parts_first(expr, &mut |part| {
            if let Expr::Column(column) = part {
                change(column);
            }
        });
    }
}

struct Swap<'c>(&'c mut dyn FnMut(&mut ColumnRef));

impl Rewriter for Swap<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if let Expr::Column(column) = expr {
            (self.0)(column);
        }
    }
}

/// Makes every column of one relation the same column of another.
pub(crate) fn move_columns(query: &mut Query, from: RelationId, to: RelationId) {
    let mut change = |column: &mut ColumnRef| {
        if column.relation == from {
            column.relation = to;
        }
    };
    rewrite_query(&mut Swap(&mut change), query);
}
