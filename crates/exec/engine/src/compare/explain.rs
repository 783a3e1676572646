//! Reasons in words: where two results differ.

use std::collections::HashMap;

use crate::{ResultSet, Value};
use sqlgauge_base::counted;

use crate::compare::pyeq::{Grid, float_repr};

/// Characters of one value that a reason quotes.
const VALUE_LENGTH: usize = 40;
/// Values of one row that a reason quotes.
const ROW_WIDTH: usize = 6;

/// At most `length` characters of the text, with a mark where something is missing.
pub fn shorten(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A value as a reason shows it.
pub fn value(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Integer(i) => i.to_string(),
        Value::Real(r) => float_repr(*r),
        Value::Text(bytes) => format!("'{}'", shorten(&String::from_utf8_lossy(bytes), VALUE_LENGTH)),
        Value::Blob(bytes) => format!("blob of {}", counted(bytes.len(), "byte")),
        Value::Decimal(decimal) => shorten(decimal.as_str(), VALUE_LENGTH),
    }
}

/// A row as a reason shows it.
pub fn row(values: &[Value]) -> String {
    let mut parts: Vec<String> = values.iter().take(ROW_WIDTH).map(value).collect();
    if values.len() > ROW_WIDTH {
        parts.push(format!("… {} more", values.len() - ROW_WIDTH));
    }
    format!("({})", parts.join(", "))
}

/// Why results of different shape differ, `None` if they have one shape.
pub fn shape(gold: &ResultSet, prediction: &ResultSet) -> Option<String> {
    if gold.len() != prediction.len() {
        let least = if prediction.is_beginning() { "at least " } else { "" };
        return Some(format!(
            "gold has {}, prediction {least}{}",
            counted(gold.len(), "row"),
            prediction.len()
        ));
    }
    width(gold, prediction)
}

/// Why results of different width differ, `None` if they have one width.
pub fn width(gold: &ResultSet, prediction: &ResultSet) -> Option<String> {
    let differs = gold.width() != prediction.width();
    differs
        .then(|| format!("gold has {}, prediction {}", counted(gold.width(), "column"), prediction.width()))
}

/// Both values, where each result is a single one.
fn single_values(gold: &ResultSet, prediction: &ResultSet) -> Option<String> {
    let single = |result: &ResultSet| match result.row(0)? {
        [only] if result.len() == 1 && !result.is_beginning() => Some(value(only)),
        _ => None,
    };
    Some(format!("gold {}, prediction {}", single(gold)?, single(prediction)?))
}

/// The first row that differs when both are read in order.
pub fn first_difference(gold: (&ResultSet, &Grid), prediction: (&ResultSet, &Grid)) -> Option<String> {
    let at = gold.1.rows().zip(prediction.1.rows()).position(|(a, b)| a != b)?;
    if let Some(values) = single_values(gold.0, prediction.0) {
        return Some(values);
    }
    let [ours, theirs] = [row(gold.0.row(at)?), row(prediction.0.row(at)?)];
    Some(format!("row {} differs: gold {ours}, prediction {theirs}", at + 1))
}

/// A row that one result has and the other lacks, whatever the order; `as_sets` ignores repetition.
pub fn missing_row(
    gold: (&ResultSet, &Grid),
    prediction: (&ResultSet, &Grid),
    as_sets: bool,
) -> Option<String> {
    let lacking = lacking(gold, prediction.1, as_sets)
        .map(|(at, row)| format!("gold row {at} {row} is not in the prediction"));
    let extra = lacking_in_gold(gold, prediction, as_sets);
    match (lacking, extra) {
        (Some(lacking), Some(extra)) => {
            single_values(gold.0, prediction.0).or_else(|| Some(format!("{lacking}; {extra}")))
        }
        (lacking, extra) => lacking.or(extra),
    }
}

fn lacking_in_gold(
    gold: (&ResultSet, &Grid),
    prediction: (&ResultSet, &Grid),
    as_sets: bool,
) -> Option<String> {
    let (at, row) = lacking(prediction, gold.1, as_sets)?;
    Some(format!("prediction row {at} {row} is not in the gold"))
}

/// The first row of `from`, counted from 1, that `other` has not (often enough).
fn lacking(from: (&ResultSet, &Grid), other: &Grid, as_sets: bool) -> Option<(usize, String)> {
    let mut available: HashMap<&[u32], usize> = HashMap::new();
    for row in other.rows() {
        *available.entry(row).or_default() += 1;
    }
    let at = from.1.rows().position(|row| match available.get_mut(row) {
        None | Some(0) => true,
        Some(left) => {
            *left -= usize::from(!as_sets);
            false
        }
    })?;
    Some((at + 1, row(from.0.row(at)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_things_are_cut_between_characters() {
        assert_eq!(shorten("héllo", 2), "hé…");
        assert_eq!(shorten("héllo", 5), "héllo");
        let many = vec![Value::Integer(1); 8];
        assert_eq!(row(&many), "(1, 1, 1, 1, 1, 1, … 2 more)");
        assert_eq!(row(&[Value::Null, Value::Real(2.0), Value::text("x")]), "(NULL, 2.0, 'x')");
    }
}
