//! What the official Spider script does to a text before it runs it.
//!
//! Source: `evaluation.py`, `exec_eval.py` and `parse.py` of the test-suite repository (Zhong, Yu, Klein,
//! "Semantic Evaluation for Text-to-SQL with Distilled Test Suites", 2020).

mod plug;
pub mod sqlparse;

pub use plug::{Plugged, plugged};

use std::borrow::Cow;

use sqlgauge_sql::spider::fill_placeholders;

/// The prediction as the script reads it from its line: without outer white space, up to the first tab, and with
/// the text `value`, wherever it stands, replaced by `1` (models that predict no values write it for one).
///
/// A prediction of several lines cannot come from such a file; its tabs stay.
pub(crate) fn prediction_line(prediction: &str) -> String {
    let line = prediction.trim_matches(sqlparse::is_space);
    let first_field = if line.contains('\n') { line } else { line.split('\t').next().unwrap_or_default() };
    fill_placeholders(first_field).into_owned()
}

/// The prediction as the script runs it, `None` if it stops with an exception on the text.
pub fn prediction_to_run(prediction: &str, keep_distinct: bool) -> Option<String> {
    Some(fix_year(&repair(&prediction_line(prediction), keep_distinct)?).into_owned())
}

/// The gold as the script runs it, and whether the order of its rows counts; `None` if the script stops with
/// an exception on the text.
pub(crate) fn gold_to_run(gold: &str, keep_distinct: bool) -> Option<(String, bool)> {
    let repaired = repair(gold, keep_distinct)?;
    let ordered = repaired.to_lowercase().contains("order by");
    Some((fix_year(&repaired).into_owned(), ordered))
}

/// What the script changes in a prediction before it runs it, in words.
pub fn changes_of_prediction(prediction: &str, keep_distinct: bool) -> Vec<&'static str> {
    let line = prediction.trim_matches(sqlparse::is_space);
    let first_field = if line.contains('\n') { line } else { line.split('\t').next().unwrap_or_default() };
    let filled = fill_placeholders(first_field);
    let mut changes = Vec::new();
    if first_field.len() < line.len() {
        changes.push("cut at a tab");
    }
    if filled != first_field {
        changes.push("`value` read as 1");
    }
    changes.extend(changes_of_gold(&filled, keep_distinct));
    changes
}

/// What the script changes in a gold before it runs it, in words.
pub(crate) fn changes_of_gold(gold: &str, keep_distinct: bool) -> Vec<&'static str> {
    let closed = close_operators(gold);
    let Some(repaired) = repair(gold, keep_distinct) else { return Vec::new() };
    let distincts = |text: &str| text.to_ascii_lowercase().matches("distinct").count();
    let dropped = distincts(&closed).saturating_sub(distincts(&repaired));
    let further = closed.len() > repaired.len() + dropped * "distinct".len();
    [
        (closed != gold, "comparison operators closed up"),
        (dropped > 0, "DISTINCT dropped"),
        (further, "further statements dropped"),
        (fix_year(&repaired) != repaired, "YEAR(CURDATE()) read as 2020"),
    ]
    .into_iter()
    .filter_map(|(is_so, change)| is_so.then_some(change))
    .collect()
}

fn close_operators(sql: &str) -> String {
    sql.replace("> =", ">=").replace("< =", "<=").replace("! =", "!=")
}

/// Closes up comparison operators, then drops `distinct` and all but the first statement unless those are
/// kept.
fn repair(sql: &str, keep_distinct: bool) -> Option<String> {
    let closed = close_operators(sql);
    if keep_distinct { Some(closed) } else { sqlparse::remove_distinct(&closed).map(Cow::into_owned) }
}

/// Replaces `MySQL`'s `YEAR(CURDATE())` and the white space behind it by `2020`.
fn fix_year(sql: &str) -> Cow<'_, str> {
    let mut fixed = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(start) = find_year(sql, at) {
        match after_year_call(sql, start) {
            Some(end) => {
                fixed.push_str(&sql[copied..start]);
                fixed.push_str("2020");
                (copied, at) = (end, end);
            }
            None => at = start + "YEAR".len(),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(sql);
    }
    fixed.push_str(&sql[copied..]);
    Cow::Owned(fixed)
}

fn find_year(sql: &str, from: usize) -> Option<usize> {
    let window = sql.as_bytes().get(from..)?.windows(4).position(|w| w.eq_ignore_ascii_case(b"YEAR"))?;
    Some(from + window)
}

/// Where `YEAR ( CURDATE ( ) )` that begins at `start` ends, white space behind it included.
fn after_year_call(sql: &str, start: usize) -> Option<usize> {
    let mut rest = &sql[start..];
    for part in ["YEAR", "(", "CURDATE", "(", ")", ")"] {
        let head = rest.get(..part.len()).filter(|head| head.eq_ignore_ascii_case(part))?;
        rest = rest[head.len()..].trim_start_matches(sqlparse::is_space);
    }
    Some(sql.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_are_repaired_as_the_script_does() {
        for (prediction, keep_distinct, expected) in [
            ("SELECT a FROM t WHERE b = value AND c > = 2", true, "SELECT a FROM t WHERE b = 1 AND c >= 2"),
            (" SELECT values_of FROM t\tdb ", true, "SELECT 1s_of FROM t"),
            ("SELECT a\n\tFROM t", true, "SELECT a\n\tFROM t"),
            ("SELECT DISTINCT a FROM t; SELECT 2", false, "SELECT  a FROM t; "),
            ("SELECT DISTINCT a FROM t; SELECT 2", true, "SELECT DISTINCT a FROM t; SELECT 2"),
            ("SELECT year ( curdate( ) )  - age", true, "SELECT 2020- age"),
            ("SELECT YEAR(x), YEAR(CURDATE())", true, "SELECT YEAR(x), 2020"),
            ("SELECT a ! = 1", true, "SELECT a != 1"),
        ] {
            assert_eq!(
                prediction_to_run(prediction, keep_distinct).as_deref(),
                Some(expected),
                "{prediction}"
            );
        }
        assert_eq!(prediction_to_run("  ", false), None);
        assert_eq!(prediction_to_run("  ", true).as_deref(), Some(""));
    }

    #[test]
    fn what_is_changed_is_said() {
        for (prediction, keep_distinct, expected) in [
            ("SELECT a FROM t", false, &[][..]),
            ("SELECT DISTINCT a FROM t", false, &["DISTINCT dropped"]),
            ("SELECT DISTINCT a FROM t", true, &[]),
            (
                "SELECT a FROM t WHERE b ! = value",
                true,
                &["`value` read as 1", "comparison operators closed up"],
            ),
            (
                "SELECT count(DISTINCT a) FROM t; SELECT 2",
                false,
                &["DISTINCT dropped", "further statements dropped"],
            ),
            ("SELECT a\tdb", true, &["cut at a tab"]),
            ("SELECT YEAR(CURDATE())", true, &["YEAR(CURDATE()) read as 2020"]),
        ] {
            assert_eq!(changes_of_prediction(prediction, keep_distinct), expected, "{prediction}");
        }
    }

    #[test]
    fn the_text_decides_whether_order_counts() {
        let ordered = |gold| gold_to_run(gold, false).map(|(_, ordered)| ordered);
        assert_eq!(ordered("SELECT a FROM t ORDER BY a"), Some(true));
        assert_eq!(ordered("SELECT a FROM (SELECT a FROM t order by a)"), Some(true));
        assert_eq!(ordered("SELECT a FROM t ORDER  BY a"), Some(false));
    }
}
