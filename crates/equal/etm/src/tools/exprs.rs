//! Expressions: small ones to write, and what one is.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Aggregate, Args, ColumnRef, Expr, Literal, Owner};
use sqlgauge_sql::visit::children_mut;

/// The constant 1.
pub(crate) fn one() -> Expr {
    Expr::integer(1)
}

/// The constant TRUE, as an integer.
pub(crate) fn truth(value: bool) -> Expr {
    Expr::integer(i64::from(value))
}

/// Whether the expression is that constant.
pub(crate) fn is_truth(expr: &Expr, value: bool) -> bool {
    match expr {
        Expr::Literal(Literal::Integer(n)) => (*n != 0) == value,
        Expr::Literal(Literal::Real(real)) => (real.get() != 0.0) == value,
        Expr::Literal(Literal::Boolean(b)) => *b == value,
        _ => false,
    }
}

/// The column that an expression is.
pub(crate) fn as_column(expr: &Expr) -> Option<ColumnRef> {
    match expr {
        Expr::Column(column) => Some(*column),
        _ => None,
    }
}

/// The integer that an expression is.
pub(crate) fn as_integer(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(Literal::Integer(n)) => Some(*n),
        #[expect(clippy::cast_possible_truncation, reason = "only whole numbers of small size pass the test")]
        Expr::Literal(Literal::Real(real)) if real.get().fract() == 0.0 && real.get().abs() < 1e15 => {
            Some(real.get() as i64)
        }
        _ => None,
    }
}

/// A plain aggregate of the query that it stands in, with one argument: the function and the argument.
pub(crate) fn plain_aggregate(expr: &Expr) -> Option<(&Function, &Expr)> {
    match own_aggregate(expr) {
        Some(aggregate) if aggregate.is_plain() => match aggregate.args.as_slice() {
            [only] => Some((&aggregate.function, only)),
            _ => None,
        },
        _ => None,
    }
}

/// The aggregate that an expression is, if it is one of the query that it stands in.
pub(crate) fn own_aggregate(expr: &Expr) -> Option<&Aggregate> {
    match expr {
        Expr::Aggregate(aggregate) if aggregate.owner == Owner::HERE => Some(aggregate),
        _ => None,
    }
}

/// Whether the expression is `COUNT(*)` of the query that it stands in, and nothing more.
pub(crate) fn is_count_star(expr: &Expr) -> bool {
    own_aggregate(expr).is_some_and(|aggregate| {
        aggregate.function == Function::Count && aggregate.args == Args::Star && aggregate.filter.is_none()
    })
}

pub(super) fn parts_first(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    children_mut(expr, &mut |child| parts_first(child, change));
    change(expr);
}

/// Whether the expression is an integer that is the same as a real number.
pub(super) fn is_small_integer(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Literal::Integer(n)) if n.unsigned_abs() <= 1 << 53)
}
