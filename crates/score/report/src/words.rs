//! Words and numbers that all reports write alike.

use sqlgauge_base::noun_for;
use sqlgauge_run::Comparison;

/// What stands where there is no value.
pub const NONE: &str = "–";

/// A share in percent with one decimal.
pub fn percent(value: f64) -> String {
    if value.is_finite() { format!("{:.1}", 100.0 * value) } else { NONE.to_owned() }
}

/// A share that may be missing.
pub fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), percent)
}

/// A difference of shares in points, with its sign.
pub fn points(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return NONE.to_owned() };
    let text = format!("{:+.1}", 100.0 * value);
    if text == "+0.0" || text == "-0.0" { "0.0".to_owned() } else { text.replace('-', "−") }
}

/// The text with its first letter as a sentence has it.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
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

/// `1 question`, `12 questions`, `1,534 questions`.
pub fn many(count: usize, noun: &str) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {}", noun_for(&count, noun))
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
