//! Words and numbers that all reports write alike.

use std::collections::BTreeSet;

use sqlgauge_base::noun_for;
use sqlgauge_base::stats::{Interval, wilson};
use sqlgauge_run::Comparison;

/// What stands where there is no value.
pub const NONE: &str = "–";

/// A number as people read it, with the sign for minus and not a hyphen.
pub fn minus(number: String) -> String {
    if number.contains('-') { number.replace('-', "−") } else { number }
}

/// A share in percent with one decimal.
pub fn percent(value: f64) -> String {
    if value.is_finite() { minus(format!("{:.1}", 100.0 * value)) } else { NONE.to_owned() }
}

/// A share that may be missing.
pub fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), percent)
}

/// A difference of shares in points, with its sign.
pub fn points(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return NONE.to_owned() };
    let text = format!("{:+.1}", 100.0 * value);
    if text == "+0.0" || text == "-0.0" { "0.0".to_owned() } else { minus(text) }
}

/// The status of a prediction in words.
pub fn status(status: &str) -> String {
    match status {
        "ok" => "runs".to_owned(),
        "empty" => "empty text".to_owned(),
        other => other.replace('_', " "),
    }
}

/// `82.9 [80.5, 85.1]`: a share in percent with its Wilson interval of 95 %; a dash without trials.
pub fn share(right: usize, of: usize) -> String {
    if of == 0 {
        return NONE.to_owned();
    }
    let Interval { low, high } = wilson(right as u64, of as u64, 0.95);
    format!("{} [{}, {}]", percent(right as f64 / of as f64), percent(low), percent(high))
}

/// The tests behind the p-values of comparisons, each named once.
pub fn tests<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> String {
    let names: BTreeSet<String> = comparisons.into_iter().map(Comparison::test).collect();
    Vec::from_iter(names).join("; ")
}

/// The end of a note on differences where an interval and a p-value of one row do not agree on 0.
pub fn torn<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> &'static str {
    if comparisons.into_iter().any(Comparison::is_torn) {
        "; of scores other than 0 and 1 the interval is a bootstrap and p a permutation test, and near 0.05 the two may differ: \
         go by p"
    } else {
        ""
    }
}

/// `1,534`: digits in groups of three.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// `1 question`, `12 questions`, `1,534 questions`.
pub fn many(count: usize, noun: &str) -> String {
    format!("{} {}", grouped(count), noun_for(&count, noun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([percent(0.4733), percent(1.0), percent(f64::NAN)], ["47.3", "100.0", "–"]);
        assert_eq!(
            [points(Some(-0.0647)), points(Some(0.02)), points(Some(-0.000_1)), points(None)],
            ["−6.5", "+2.0", "0.0", "–"]
        );
        assert_eq!(
            [many(1, "item"), many(1534, "item"), many(1_000_000, "item")],
            ["1 item", "1,534 items", "1,000,000 items"]
        );
    }
}
