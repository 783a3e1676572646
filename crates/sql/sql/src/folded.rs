//! Folds constants as SQLite's parser does, before it looks at names.

use crate::tree::{Expr, Literal, UnaryOperator};
use crate::visit::any_part;

/// The integer for which SQLite's parser takes an expression: a number of 32 bits with its signs, IS NULL of a
/// constant (0, negated 1), and AND with such a 0 where no function is called (0). As a term of ORDER BY or GROUP BY
/// that integer is the number of a result column.
pub(crate) fn folded_integer(expr: &Expr) -> Option<i32> {
    match expr {
        Expr::Literal(Literal::Integer(value)) => i32::try_from(*value).ok(),
        Expr::Unary(UnaryOperator::Plus, operand) => folded_integer(operand),
        Expr::Unary(UnaryOperator::Minus, operand) => folded_integer(operand).and_then(i32::checked_neg),
        Expr::IsNull { expr, negated } => is_constant(expr).then_some(i32::from(*negated)),
        Expr::And(list) => (list.iter().any(is_zero) && !list.iter().any(calls)).then_some(0),
        _ => None,
    }
}

/// A sign keeps AND from seeing that its operand is 0.
fn is_zero(expr: &Expr) -> bool {
    !matches!(expr, Expr::Unary(..)) && folded_integer(expr) == Some(0)
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(literal) => !matches!(literal, Literal::Null | Literal::Boolean(_)),
        Expr::Unary(UnaryOperator::Plus | UnaryOperator::Minus, operand) => is_constant(operand),
        _ => false,
    }
}

/// Whether a function is called, those in subqueries excepted; LIKE is one.
fn calls(expr: &Expr) -> bool {
    any_part(expr, &|part| part.called().is_some() || matches!(part, Expr::Like { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;
    use crate::schema::Schema;

    #[test]
    fn terms_are_the_integers_that_sqlite_makes_of_them() {
        let schema = Schema::from_ddl("CREATE TABLE t (k INT)").unwrap();
        let of = |term: &str| {
            let query = resolve(&format!("SELECT {term} FROM t"), &schema).unwrap();
            folded_integer(&query.as_select().unwrap().outputs[0].expr)
        };
        for (term, integer) in [
            ("7", Some(7)),
            ("-+7", Some(-7)),
            ("99999999999", None),
            ("1.5", None),
            ("TRUE", None),
            ("'a' IS NULL", Some(0)),
            ("-1 IS NOT NULL", Some(1)),
            ("NULL IS NULL", None),
            ("k IS NULL", None),
            ("k AND 0", Some(0)),
            ("3 AND (k AND 0)", Some(0)),
            ("k AND +0", None),
            ("abs(k) AND 0", None),
            ("k AND FALSE", None),
            ("1 + 1", None),
        ] {
            assert_eq!(of(term), integer, "{term}");
        }
    }
}
