//! Whether two results are what the contract calls the same: a bag of rows with exact values and storage classes,
//! in the promised order where the query promises one.

use std::cmp::Ordering;

use rusqlite::types::Value;

type Row = Vec<Value>;

/// How far floating-point numbers may lie apart, relatively: the order of a sum rounds differently.
const TOLERANCE: f64 = 1e-9;

/// Whether the rows are the same bag.
pub(crate) fn same_bag(left: &[Row], right: &[Row]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let sorted = |rows: &[Row]| {
        let mut rows = rows.to_vec();
        rows.sort_by(|a, b| order(a, b));
        rows
    };
    same_sequence(&sorted(left), &sorted(right))
}

/// Whether the rows are the same in the same order.
pub(crate) fn same_sequence(left: &[Row], right: &[Row]) -> bool {
    sequences(left, right, same)
}

/// The same by the contract of `ex@1`, which has a tolerance only for numbers with a fraction.
pub(crate) fn same_by_contract(left: &[Row], right: &[Row]) -> bool {
    sequences(left, right, |a, b| match (a, b) {
        (Value::Real(a), Value::Real(b)) if a.fract() == 0.0 && b.fract() == 0.0 => {
            (a + 0.0).total_cmp(&(b + 0.0)).is_eq()
        }
        _ => same(a, b),
    })
}

fn sequences(left: &[Row], right: &[Row], same: impl Fn(&Value, &Value) -> bool) -> bool {
    let same_row = |a: &Row, b: &Row| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b));
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| same_row(a, b))
}

/// Whether `after` is in the order of `before`: `keys` are the sort keys of the rows of `before`, and rows with equal
/// keys may change places.
pub fn same_order(before: &[Row], keys: &[Row], after: &[Row]) -> bool {
    let mut start = 0;
    while start < before.len() {
        let run = keys[start..].iter().take_while(|key| tied(key, &keys[start])).count();
        let end = (start + run).min(after.len());
        if !same_bag(&before[start..start + run], &after[start.min(end)..end]) {
            return false;
        }
        start += run;
    }
    true
}

/// Whether keys may be equal under some collation.
fn tied(left: &Row, right: &Row) -> bool {
    let folded = |text: &str| text.trim_end_matches(' ').to_ascii_lowercase();
    left.iter().zip(right).all(|(a, b)| match (a, b) {
        (Value::Text(a), Value::Text(b)) => folded(a) == folded(b),
        (Value::Integer(n), Value::Real(x)) | (Value::Real(x), Value::Integer(n)) => near(*n as f64, *x),
        _ => same(a, b),
    })
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Real(a), Value::Real(b)) => near(*a, *b),
        _ => left == right,
    }
}

fn near(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_eq() || (a - b).abs() <= TOLERANCE * a.abs().max(b.abs())
}

fn order(left: &[Value], right: &[Value]) -> Ordering {
    let class = |value: &Value| match value {
        Value::Null => 0,
        Value::Integer(_) => 1,
        Value::Real(_) => 2,
        Value::Text(_) => 3,
        Value::Blob(_) => 4,
    };
    let value = |(a, b): (&Value, &Value)| match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Real(a), Value::Real(b)) => a.total_cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Blob(a), Value::Blob(b)) => a.cmp(b),
        (a, b) => class(a).cmp(&class(b)),
    };
    left.iter()
        .zip(right)
        .map(value)
        .find(|ordering| ordering.is_ne())
        .unwrap_or_else(|| left.len().cmp(&right.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[i64]) -> Row {
        values.iter().map(|n| Value::Integer(*n)).collect()
    }

    #[test]
    fn storage_classes_count_and_ties_are_free() {
        let one = vec![row(&[1])];
        assert!(!same_bag(&one, &[vec![Value::Real(1.0)]]));
        assert!(!same_bag(&one, &[row(&[1]), row(&[1])]));
        let before = [row(&[1]), row(&[2]), row(&[3])];
        let keys = [row(&[7]), row(&[7]), row(&[8])];
        assert!(same_order(&before, &keys, &[row(&[2]), row(&[1]), row(&[3])]));
        assert!(!same_order(&before, &keys, &[row(&[3]), row(&[1]), row(&[2])]));
    }
}
