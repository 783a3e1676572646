//! Reads conditions of a SELECT by their form alone: which hold for every row, which a NULL fails.

use crate::aggregates::has_own;
use crate::tree::{BinaryOperator, ColumnRef, Expr, From, JoinKind, Select, UnaryOperator};
use crate::visit::{any_part, children};

/// Whether a window function is called in the expression itself, subqueries excepted.
pub fn has_window(expr: &Expr) -> bool {
    any_part(expr, &|part| matches!(part, Expr::Window(_)))
}

/// Whether the SELECT groups its rows: GROUP BY, HAVING or an aggregate among its results.
pub fn is_aggregate_select(select: &Select) -> bool {
    !select.group_by.is_empty()
        || select.having.is_some()
        || select.outputs.iter().any(|output| has_own(&output.expr))
}

/// The conditions that every row of a SELECT's FROM and WHERE satisfies: the conjuncts of WHERE, and of ON where
/// no outer join weakens it.
pub fn conjuncts(select: &Select) -> Vec<&Expr> {
    let mut conjuncts = conjuncts_of(select.filter.as_ref());
    conjuncts.extend(select.from.iter().flat_map(on_conjuncts));
    conjuncts
}

/// The conditions of the inner joins of a FROM clause that no outer join weakens.
pub fn on_conjuncts(from: &From) -> Vec<&Expr> {
    let mut conjuncts = Vec::new();
    let mut pending = vec![from];
    while let Some(from) = pending.pop() {
        let From::Join(join) = from else { continue };
        match join.kind {
            JoinKind::Inner | JoinKind::Cross => {
                pending.extend([&join.left, &join.right]);
                conjuncts.extend(conjuncts_of(join.on.as_ref()));
            }
            JoinKind::Left => pending.push(&join.left),
            JoinKind::Right => pending.push(&join.right),
            JoinKind::Full => {}
        }
    }
    conjuncts
}

/// The conditions that must all hold for a condition to hold.
pub fn conjuncts_of(condition: Option<&Expr>) -> Vec<&Expr> {
    match condition {
        Some(Expr::And(list)) => list.iter().flat_map(|operand| conjuncts_of(Some(operand))).collect(),
        Some(other) => vec![other],
        None => Vec::new(),
    }
}

/// Whether the condition can only be true if the column is not NULL.
pub fn rejects_null(condition: &Expr, column: ColumnRef) -> bool {
    match condition {
        Expr::Binary(operator, left, right) if operator.is_comparison() => {
            !matches!(operator, BinaryOperator::Is | BinaryOperator::IsNot)
                && (is_null_with(left, column) || is_null_with(right, column))
        }
        Expr::Between { expr, low, high, negated } => {
            is_null_with(expr, column) || (!negated && [low, high].iter().any(|e| is_null_with(e, column)))
        }
        Expr::Like { expr, pattern, .. } => is_null_with(expr, column) || is_null_with(pattern, column),
        Expr::InList { expr, list, negated } => is_null_with(expr, column) && !(*negated && list.is_empty()),
        // NOT IN over no rows is true whatever the value.
        Expr::InQuery { expr, negated: false, .. } | Expr::IsNull { expr, negated: true } => {
            is_null_with(expr, column)
        }
        Expr::Unary(UnaryOperator::Not, inner) => match inner.as_ref() {
            // NOT BETWEEN is true for a value below the lower bound, whatever the upper one.
            Expr::IsNull { expr, negated: false } | Expr::Between { expr, .. } => is_null_with(expr, column),
            // `NULL IN ()` is false, and not NULL.
            Expr::InList { list, .. } if list.is_empty() => false,
            Expr::Binary(..) | Expr::Like { .. } | Expr::InList { .. } | Expr::Column(_) => {
                rejects_null(inner, column)
            }
            _ => false,
        },
        Expr::And(list) => list.iter().any(|operand| rejects_null(operand, column)),
        Expr::Or(list) => !list.is_empty() && list.iter().all(|operand| rejects_null(operand, column)),
        Expr::Column(read) => *read == column,
        Expr::Exists { query, negated: false } => match query.as_select() {
            Some(select) => {
                !is_aggregate_select(select)
                    && conjuncts(select).iter().any(|inner| rejects_null(inner, column))
            }
            None => false,
        },
        _ => false,
    }
}

/// Whether the expression is NULL whenever the column is.
pub fn is_null_with(expr: &Expr, column: ColumnRef) -> bool {
    match expr {
        Expr::Column(read) => *read == column,
        Expr::Unary(_, operand) => is_null_with(operand, column),
        Expr::Cast { expr, .. } | Expr::Collate { expr, .. } => is_null_with(expr, column),
        Expr::Binary(operator, left, right) => {
            !matches!(operator, BinaryOperator::Is | BinaryOperator::IsNot)
                && (is_null_with(left, column) || is_null_with(right, column))
        }
        Expr::Function { function, args } => {
            function.properties().null_on_null && args.as_slice().iter().any(|arg| is_null_with(arg, column))
        }
        _ => false,
    }
}

/// Adds the columns that an expression reads, those inside subqueries excepted.
pub fn collect_columns(expr: &Expr, columns: &mut Vec<ColumnRef>) {
    if let Expr::Column(column) = expr {
        columns.push(*column);
    }
    children(expr, &mut |child| collect_columns(child, columns));
}

/// Whether a subquery stands in the expression.
pub fn has_subquery(expr: &Expr) -> bool {
    any_part(expr, &|part| matches!(part, Expr::InQuery { .. } | Expr::Exists { .. } | Expr::Scalar(_)))
}
