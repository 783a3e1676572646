//! How scores, intervals and p-values are written, the same in every text format.

use sqlgauge_base::stats::Interval;
use sqlgauge_run::ScoreSummary;

use crate::kind::Nature;
use crate::words::minus;

/// What stands where a metric does not apply.
pub(crate) const NOT_APPLICABLE: &str = "–";

/// A score: percent with one decimal, in a unit of its own with two.
pub fn score(value: Option<f64>, nature: Nature) -> String {
    match value {
        None => NOT_APPLICABLE.to_owned(),
        Some(value) if nature.has_own_unit() => cost(value),
        Some(value) => minus(format!("{:.1}", value * 100.0)),
    }
}

/// A score with its interval and the number of items that it is the mean of: `82.9 [80.5, 85.1] n=1034`.
pub fn interval(summary: &ScoreSummary, nature: Nature) -> String {
    let ScoreSummary { mean, low, high, count, .. } = *summary;
    let range = low
        .zip(high)
        .map(|(low, high)| format!(" [{}, {}]", score(Some(low), nature), score(Some(high), nature)));
    format!("{}{} n={count}", score(mean, nature), range.unwrap_or_default())
}

/// A score with the number of items that it is the mean of: `82.9 (1034)`.
pub(crate) fn with_count(summary: Option<&ScoreSummary>, nature: Nature) -> String {
    summary.map_or_else(
        || NOT_APPLICABLE.to_owned(),
        |summary| format!("{} ({})", score(summary.mean, nature), summary.count),
    )
}

/// One item's score: `1`, `0`, `0.67`.
pub fn item(value: Option<f64>) -> String {
    match value {
        None => NOT_APPLICABLE.to_owned(),
        Some(value) => trimmed(value, 3),
    }
}

/// A difference with its sign: `+3.1`.
pub fn difference(value: f64, nature: Nature) -> String {
    let scaled = if nature.has_own_unit() { value } else { value * 100.0 };
    let digits = if nature.has_own_unit() { 2 } else { 1 };
    let text = format!("{scaled:+.digits$}");
    if text.trim_matches(['+', '-', '0', '.']).is_empty() {
        text.replace(['+', '-'], "")
    } else {
        minus(text)
    }
}

/// A difference with its interval: `+4.9 [−2.1, +12.0]`.
pub fn difference_with(value: f64, interval: Interval, nature: Nature) -> String {
    let [value, low, high] = [value, interval.low, interval.high].map(|value| difference(value, nature));
    format!("{value} [{low}, {high}]")
}

/// A p-value in a column: three decimals, `< 0.001` below that, and four where three would round it up to the bar of 0.05.
pub fn p_value(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p if (0.0495..0.049_95).contains(&p) => format!("{p:.4}"),
        p if (0.049_95..0.05).contains(&p) => "< 0.05".to_owned(),
        p => format!("{p:.3}"),
    }
}

/// The same in a sentence: `p = 0.012`, `p < 0.001`.
pub fn p_in_words(p: f64) -> String {
    let value = p_value(p);
    if value.starts_with('<') { format!("p {value}") } else { format!("p = {value}") }
}

fn cost(value: f64) -> String {
    minus(if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.2}") })
}

fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use sqlgauge_metrics::MetricKind;

    use super::*;

    fn nature(kind: MetricKind) -> Nature {
        Nature { kind, lower_is_better: false, about: "" }
    }

    #[test]
    fn scores_are_percent_and_costs_are_not() {
        let cases = [
            (Some(0.829), MetricKind::Binary, "82.9"),
            (Some(1.0), MetricKind::Fraction, "100.0"),
            (Some(1.2345), MetricKind::Unbounded, "1.23"),
            (Some(123_456.7), MetricKind::Unbounded, "123457"),
            (Some(-0.5), MetricKind::Unbounded, "−0.50"),
            (None, MetricKind::Binary, "–"),
        ];
        for (value, kind, expected) in cases {
            assert_eq!(score(value, nature(kind)), expected);
        }
    }

    #[test]
    fn no_p_value_below_the_bar_is_rounded_up_to_it() {
        for (p, text) in [
            (0.0004, "< 0.001"),
            (0.0123, "0.012"),
            (0.0496, "0.0496"),
            (0.049_99, "< 0.05"),
            (0.05, "0.050"),
        ] {
            assert_eq!(p_value(p), text);
        }
        assert_eq!([0.0004, 0.0123].map(p_in_words), ["p < 0.001", "p = 0.012"]);
    }

    #[test]
    fn the_number_of_items_stands_beside_the_mean() {
        let of_a_part = ScoreSummary {
            mean: Some(0.829),
            low: Some(0.805),
            high: Some(0.851),
            count: 412,
            ..ScoreSummary::default()
        };
        assert_eq!(interval(&of_a_part, nature(MetricKind::Binary)), "82.9 [80.5, 85.1] n=412");
        assert_eq!(with_count(Some(&of_a_part), nature(MetricKind::Binary)), "82.9 (412)");
        let of_nothing = ScoreSummary::default();
        assert_eq!(interval(&of_nothing, nature(MetricKind::Binary)), "– n=0");
        assert_eq!(with_count(None, nature(MetricKind::Binary)), "–");
    }

    #[test]
    fn a_difference_of_nothing_has_no_sign() {
        let cases = [(0.031, "+3.1"), (-0.031, "−3.1"), (0.0, "0.0"), (-0.000_01, "0.0")];
        for (value, expected) in cases {
            assert_eq!(difference(value, nature(MetricKind::Binary)), expected);
        }
    }

    #[test]
    fn item_scores_lose_their_trailing_zeros() {
        let cases =
            [(Some(1.0), "1"), (Some(0.0), "0"), (Some(2.0 / 3.0), "0.667"), (None, "–"), (Some(10.0), "10")];
        for (value, expected) in cases {
            assert_eq!(item(value), expected);
        }
    }
}
