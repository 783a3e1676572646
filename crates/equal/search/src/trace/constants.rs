//! Constants of a query: their values, and the texts that a constant pattern stands for.

use sqlgauge_engine::Value;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{BinaryOperator, Expr, LikeOperator, Literal, UnaryOperator};

use crate::values::{self, number, text_of};

/// The value of an expression without columns, as far as it can be told without SQLite.
pub(crate) fn constant(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Literal(literal) => Some(match literal {
            Literal::Null => return None,
            Literal::Boolean(truth) => Value::Integer(i64::from(*truth)),
            Literal::Integer(integer) => Value::Integer(*integer),
            Literal::Real(real) => Value::Real(real.get()),
            Literal::Text(text) => Value::text(text),
            Literal::Blob(bytes) => Value::Blob(bytes.as_slice().into()),
        }),
        Expr::Unary(UnaryOperator::Minus, inner) => {
            constant(inner).as_ref().and_then(number).map(|n| values::from_number(-n))
        }
        Expr::Unary(UnaryOperator::Plus, inner)
        | Expr::Cast { expr: inner, .. }
        | Expr::Collate { expr: inner, .. } => constant(inner),
        Expr::Binary(operator, left, right) => {
            let (left, right) = (constant(left)?, constant(right)?);
            let pair = || Some((number(&left)?, number(&right)?));
            match operator {
                BinaryOperator::Concat => Some(Value::text(&(text_of(&left)? + &text_of(&right)?))),
                BinaryOperator::Add => pair().map(|(l, r)| values::from_number(l + r)),
                BinaryOperator::Subtract => pair().map(|(l, r)| values::from_number(l - r)),
                BinaryOperator::Multiply => pair().map(|(l, r)| values::from_number(l * r)),
                _ => None,
            }
        }
        Expr::Function { function, args } if function.is_deterministic(args) => match function {
            Function::Date
            | Function::DateTime
            | Function::Lower
            | Function::Upper
            | Function::Trim
            | Function::JulianDay => constant(args.as_slice().first()?),
            _ => None,
        },
        _ => None,
    }
}

/// Texts that a pattern matches, and some that it just does not.
pub(super) fn instantiate(operator: LikeOperator, pattern: &str) -> Vec<String> {
    let (many, one) = match operator {
        LikeOperator::Like => ('%', '_'),
        LikeOperator::Glob => ('*', '?'),
        LikeOperator::Regexp | LikeOperator::Match => return vec![pattern.to_owned()],
    };
    let fill = |many_text: &str, one_text: &str| -> String {
        pattern
            .chars()
            .map(|c| {
                if c == many {
                    many_text.to_owned()
                } else if c == one {
                    one_text.to_owned()
                } else {
                    c.to_string()
                }
            })
            .collect()
    };
    let mut texts = vec![fill("", "a"), fill("x", "b")];
    let core = texts[0].clone();
    let fitting = fill("", "");
    texts.extend([fill(" ", "a"), core.to_ascii_uppercase(), core.to_ascii_lowercase(), format!("x{core}y")]);
    if fitting != core {
        texts.push(fitting);
    }
    texts
}
