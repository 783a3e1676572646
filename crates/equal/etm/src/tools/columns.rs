//! Columns: which are read, and others in their place.

use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{ColumnRef, Expr, Place, Query, RelationId, UnaryOperator};
use sqlgauge_sql::visit::{Walk, change_exprs};

use super::exprs::parts_first;

/// Replaces a column everywhere in a piece of a query, subqueries included.
pub(crate) fn replace_column(piece: &mut impl Walk, from: ColumnRef, to: &Expr) {
    // `x IS c` compares with the value of c, and `x IS TRUE` would ask for a truth.
    let is_truth = to.as_truth().is_some();
    let copy = || if is_truth { Expr::Unary(UnaryOperator::Plus, Box::new(to.clone())) } else { to.clone() };
    change_exprs(piece, |expr| {
        if matches!(expr, Expr::Column(column) if *column == from) {
            *expr = copy();
        }
    });
}

/// All columns of a relation that a query reads, subqueries included, with repetition.
pub(crate) fn columns_read(query: &Query, relation: RelationId) -> Vec<Place> {
    let columns = reads::columns(query).into_iter().filter(|column| column.relation == relation);
    columns.map(|column| column.column).collect()
}

/// Calls `change` for every column of an expression, those in subqueries only if `inside` is set.
pub(crate) fn swap_columns(expr: &mut Expr, inside: bool, change: &mut dyn FnMut(&mut ColumnRef)) {
    let mut swap = |part: &mut Expr| {
        if let Expr::Column(column) = part {
            change(column);
        }
    };
    if inside {
        change_exprs(expr, swap);
    } else {
        parts_first(expr, &mut swap);
    }
}

/// Makes every column of one relation the same column of another.
pub(crate) fn move_columns(query: &mut Query, from: RelationId, to: RelationId) {
    change_exprs(query, |expr| {
        if let Expr::Column(column) = expr
            && column.relation == from
        {
            column.relation = to;
        }
    });
}
