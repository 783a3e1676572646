//! Whether accuracy falls over batches that follow each other.

use std::ops::Range;

use crate::Estimate;
use serde::{Deserialize, Serialize};

/// Points at the start of a series that later ones are compared with.
const BASELINE: usize = 3;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriftPoint {
    /// Name of the batch: a date, a range of questions.
    pub label: String,
    pub count: usize,
    /// Estimated accuracy, in [0, 1].
    pub accuracy: f64,
    pub low: f64,
    pub high: f64,
    /// The batch lies outside what the labels cover.
    pub outside: bool,
}

impl DriftPoint {
    /// The estimate of `count` questions, under a name.
    pub fn of(estimate: &Estimate, label: &str, count: usize) -> Self {
        Self {
            label: label.to_owned(),
            count,
            accuracy: estimate.accuracy,
            low: estimate.interval.low,
            high: estimate.interval.high,
            outside: estimate.outside,
        }
    }
}

/// Consecutive batches of `size` of so many questions; a rest below half a batch joins the last one.
pub fn batches(questions: usize, size: usize) -> Vec<Range<usize>> {
    let size = size.max(1);
    let mut starts: Vec<usize> = (0..questions).step_by(size).collect();
    if starts.len() > 1 && 2 * (questions % size) < size && !questions.is_multiple_of(size) {
        starts.pop();
    }
    let ends = starts.iter().copied().skip(1).chain([questions]);
    starts.iter().copied().zip(ends).map(|(from, to)| from..to).collect()
}

/// What a batch is called: its questions, counted from 1.
pub fn batch_label(range: &Range<usize>) -> String {
    format!("{}–{}", range.start + 1, range.end)
}

/// The batches of one system in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    pub system: String,
    pub points: Vec<DriftPoint>,
    /// What is to be said of them.
    pub alarms: Vec<Alarm>,
}

/// When to raise an alarm.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AlarmRules {
    /// Accuracy that is not to be undershot, in [0, 1].
    pub below: Option<f64>,
    /// Drop against the first batches that is not to be reached, in [0, 1].
    pub drop: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// The estimate says so, the interval does not exclude the contrary: no alarm yet.
    Warning,
    /// The interval says so.
    Alarm,
}

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alarm {
    pub label: String,
    pub gravity: Gravity,
    /// What happened, as a sentence.
    pub message: String,
}

impl Series {
    /// A series, with the rules applied to the points from `from` on (those before it were judged when they were new).
    ///
    /// - `below` X: an alarm where the upper end of the interval is below X, a warning where only the estimate is.
    /// - `drop` D: the baseline is the mean of the first three points (of the first one while there are fewer than
    ///   four); where a later estimate is lower by D or more it is a warning, and an alarm where the drop is also
    ///   larger than √(h₀² + h²), the half-widths of the baseline (their mean, since the points may share an error) and
    ///   of the point.
    pub fn judged(system: String, points: Vec<DriftPoint>, rules: AlarmRules, from: usize) -> Self {
        let mut alarms = Vec::new();
        let baseline = Baseline::of(&points);
        for (at, point) in points.iter().enumerate().skip(from) {
            alarms.extend(rules.below.and_then(|bar| below(point, bar)));
            if let (Some(most), Some(baseline)) = (rules.drop, &baseline)
                && at >= baseline.count
            {
                alarms.extend(baseline.drop_to(point, most));
            }
        }
        Self { system, points, alarms }
    }

    /// Whether an alarm rings; warnings do not.
    pub fn rings(&self) -> bool {
        self.alarms.iter().any(|alarm| alarm.gravity == Gravity::Alarm)
    }

    /// Whether an alarm rings for the batch of that label.
    pub(crate) fn rings_at(&self, label: &str) -> bool {
        self.alarms.iter().any(|alarm| alarm.gravity == Gravity::Alarm && alarm.label == label)
    }
}

fn below(point: &DriftPoint, bar: f64) -> Option<Alarm> {
    let (gravity, what) = if point.high < bar {
        (Gravity::Alarm, "the whole interval is")
    } else if point.accuracy < bar {
        (Gravity::Warning, "the estimate is, but not the whole interval,")
    } else {
        return None;
    };
    let message = format!(
        "{what} below {:.1} %: {:.1} % [{:.1}, {:.1}]",
        100.0 * bar,
        100.0 * point.accuracy,
        100.0 * point.low,
        100.0 * point.high
    );
    Some(Alarm { label: point.label.clone(), gravity, message })
}

struct Baseline {
    count: usize,
    accuracy: f64,
    half_width: f64,
}

impl Baseline {
    fn of(points: &[DriftPoint]) -> Option<Self> {
        let count = if points.len() > BASELINE { BASELINE } else { 1 };
        let first = points.get(..count)?;
        let mean = |of: &dyn Fn(&DriftPoint) -> f64| first.iter().map(of).sum::<f64>() / count as f64;
        let half_width = mean(&|point| (point.high - point.low) / 2.0);
        Some(Self { count, accuracy: mean(&|point| point.accuracy), half_width })
    }

    fn drop_to(&self, point: &DriftPoint, most: f64) -> Option<Alarm> {
        let drop = self.accuracy - point.accuracy;
        // What the user calls 10 points is 10 points in binary too.
        if drop.is_nan() || drop < most - 1e-9 {
            return None;
        }
        let explained = self.half_width.hypot((point.high - point.low) / 2.0);
        let (gravity, what) = if drop > explained {
            (Gravity::Alarm, "more than the intervals explain")
        } else {
            (Gravity::Warning, "which the intervals may explain")
        };
        let first = if self.count == 1 { "the first batch" } else { "the first batches" };
        let message = format!(
            "{:.1} points below {first} ({:.1} % against {:.1} %), {what} ({:.1})",
            100.0 * drop,
            100.0 * point.accuracy,
            100.0 * self.accuracy,
            100.0 * explained
        );
        Some(Alarm { label: point.label.clone(), gravity, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_cover_the_target_and_a_small_rest_joins_the_last() {
        type Cut<'a> = (usize, usize, &'a [(usize, usize)]);
        let cases: [Cut<'_>; 7] = [
            (10, 100, &[(0, 10)]),
            (10, 5, &[(0, 5), (5, 10)]),
            (12, 5, &[(0, 5), (5, 12)]),
            (13, 5, &[(0, 5), (5, 10), (10, 13)]),
            (1, 1, &[(0, 1)]),
            (2, 5, &[(0, 2)]),
            (2, 0, &[(0, 1), (1, 2)]),
        ];
        for (questions, size, expected) in cases {
            let spans: Vec<_> = batches(questions, size).iter().map(|r| (r.start, r.end)).collect();
            assert_eq!(spans, expected, "{questions} by {size}");
        }
    }

    fn points(values: &[(f64, f64)]) -> Vec<DriftPoint> {
        let point = |(at, &(accuracy, half)): (usize, &(f64, f64))| DriftPoint {
            label: format!("b{at}"),
            count: 100,
            accuracy,
            low: accuracy - half,
            high: accuracy + half,
            outside: false,
        };
        values.iter().enumerate().map(point).collect()
    }

    fn alarms_of(values: &[(f64, f64)], rules: AlarmRules, from: usize) -> Vec<(String, Gravity)> {
        let series = Series::judged("s".to_owned(), points(values), rules, from);
        series.alarms.into_iter().map(|alarm| (alarm.label, alarm.gravity)).collect()
    }

    #[test]
    fn the_whole_interval_below_the_bar_is_an_alarm_and_the_estimate_alone_a_warning() {
        let rules = AlarmRules { below: Some(0.5), drop: None };
        let alarms = alarms_of(&[(0.6, 0.05), (0.48, 0.05), (0.4, 0.05), (0.5, 0.0)], rules, 0);
        assert_eq!(alarms, [("b1".to_owned(), Gravity::Warning), ("b2".to_owned(), Gravity::Alarm)]);
    }

    #[test]
    fn a_drop_is_an_alarm_only_beyond_both_intervals() {
        let rules = AlarmRules { below: None, drop: Some(0.1) };
        // The half-widths 0.06 and 0.08 explain a drop of 0.1 between two estimates.
        let start = [(0.7, 0.06), (0.72, 0.06), (0.68, 0.06)];
        let with = |last: (f64, f64)| [start.as_slice(), &[last]].concat();
        assert_eq!(alarms_of(&with((0.61, 0.01)), rules, 0), []);
        assert_eq!(alarms_of(&with((0.595, 0.08)), rules, 0), [("b3".to_owned(), Gravity::Alarm)]);
        assert_eq!(alarms_of(&with((0.595, 0.1)), rules, 0), [("b3".to_owned(), Gravity::Warning)]);
        // Fewer than four: against the first alone.
        assert_eq!(alarms_of(&[(0.7, 0.01), (0.5, 0.01)], rules, 0), [("b1".to_owned(), Gravity::Alarm)]);
    }

    #[test]
    fn points_of_earlier_calls_ring_no_more_and_nothing_rings_without_points() {
        let rules = AlarmRules { below: Some(0.9), drop: Some(0.0) };
        assert_eq!(alarms_of(&[(0.1, 0.01), (0.95, 0.01)], rules, 1), []);
        assert_eq!(alarms_of(&[], rules, 0), []);
        assert!(!Series::judged("s".to_owned(), points(&[(0.89, 0.05)]), rules, 0).rings());
        assert!(Series::judged("s".to_owned(), points(&[(0.5, 0.05)]), rules, 0).rings_at("b0"));
    }
}
