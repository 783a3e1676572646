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
    texts.extend(dates_like(pattern, many, one));
    texts
}

/// Most places of a pattern that take any number of letters: every length is tried at each.
const MAX_GAPS: usize = 4;

/// Dates that a pattern with two digits matches, as where a year or a month is looked for in a text.
fn dates_like(pattern: &str, many: char, one: char) -> Vec<String> {
    let digits = pattern.chars().filter(char::is_ascii_digit).count();
    let gaps = pattern.chars().filter(|letter| *letter == many).count();
    if digits < 2 || gaps > MAX_GAPS {
        return Vec::new();
    }
    let letters: Vec<char> = pattern.chars().collect();
    let dates = ["2000-06-15", "1999-11-28"].into_iter().filter_map(|model| {
        let mut date = String::new();
        complete(&letters, (many, one), model, &mut date).then_some(date)
    });
    let mut dates: Vec<String> = dates.collect();
    dates.dedup();
    dates
}

/// Makes a date of the rest of a pattern, with the letters of a model where the pattern leaves them open.
fn complete(pattern: &[char], (many, one): (char, char), model: &str, date: &mut String) -> bool {
    let left = &model[date.len().min(model.len())..];
    let Some((&letter, rest)) = pattern.split_first() else { return left.is_empty() && is_date(date) };
    let before = date.len();
    if letter == many {
        // As much of the model as the rest of the pattern allows.
        for count in (0..=left.len()).rev() {
            date.push_str(&left[..count]);
            if complete(rest, (many, one), model, date) {
                return true;
            }
            date.truncate(before);
        }
        return false;
    }
    let Some(open) = left.chars().next() else { return false };
    let fits =
        letter == one || (letter == '-') == (open == '-') && (letter == '-' || letter.is_ascii_digit());
    if !fits {
        return false;
    }
    date.push(if letter == one { open } else { letter });
    complete(rest, (many, one), model, date) || {
        date.truncate(before);
        false
    }
}

/// Whether the month and the day of a text in the form of a date are ones of every year.
fn is_date(text: &str) -> bool {
    let part = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u8>().ok());
    part(5..7).is_some_and(|month| (1..=12).contains(&month))
        && part(8..10).is_some_and(|day| (1..=28).contains(&day))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SQLite matches each date with its pattern.
    #[test]
    fn patterns_become_dates_that_they_match() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        for (pattern, expected) in [
            ("1995-03%", 2),
            ("%1995-03-24%", 1),
            ("19%-03-%", 2),
            ("1970-__-01", 2),
            ("%-02-2_", 2),
            ("%/1995", 0),
            ("19xx%", 0),
            ("a%", 0),
        ] {
            let dates = dates_like(pattern, '%', '_');
            assert_eq!(dates.len(), expected, "{pattern}: {dates:?}");
            for date in dates {
                let sql = format!("SELECT '{date}' LIKE '{pattern}' AND date('{date}') = '{date}'");
                let matches: bool = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
                assert!(matches, "{sql}");
            }
        }
    }
}
