//! Batches that follow each other, and the alarms that they ring.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sqlgauge_base::listed;

use crate::Estimate;
use crate::watch::{BatchAnswers, Change, Direction, Watched, changes};

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
    /// Batches in a year, in which a change that is none rings once on average, at most.
    pub per_year: Option<f64>,
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
    /// The change that rings; `None` where the bar does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

impl Series {
    /// A series, with the rules applied to the points from `from` on (those before it were judged when they were new).
    /// `answers` has the values of each point's answers.
    ///
    /// - `below` X: an alarm where the upper end of the interval is below X, a warning where only the estimate is.
    /// - `per_year` N: an alarm where [`changes`] rings, at most once in N batches of the mean size without a change.
    pub fn judged(
        system: String,
        points: Vec<DriftPoint>,
        answers: &[BatchAnswers],
        rules: AlarmRules,
        from: usize,
    ) -> Self {
        let new = || points.iter().skip(from);
        let mut alarms: Vec<Alarm> =
            rules.below.map_or_else(Vec::new, |bar| new().filter_map(|point| below(point, bar)).collect());
        if let Some(per_year) = rules.per_year {
            let count: usize = points.iter().map(|point| point.count).sum();
            let a_year = per_year * count as f64 / points.len().max(1) as f64;
            let rung = changes(answers, a_year).into_iter().filter(|(at, _)| *at >= from);
            alarms.extend(rung.map(|(at, change)| rung_by(&points, at, change)));
        }
        Self { system, points, alarms }
    }

    /// Whether an alarm rings; warnings do not.
    pub fn rings(&self) -> bool {
        self.alarms.iter().any(|alarm| alarm.gravity == Gravity::Alarm)
    }

    /// Whether an alarm rings for the batch of that label.
    pub fn rings_at(&self, label: &str) -> bool {
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
    Some(Alarm { label: point.label.clone(), gravity, message, change: None })
}

fn rung_by(points: &[DriftPoint], at: usize, change: Change) -> Alarm {
    let label = |at: usize| points.get(at).map_or("", |point| &point.label).to_owned();
    let what = match change.watched {
        Watched::Confidence => "the confidence that answers are right",
        Watched::Runs => "the share of answers that run",
    };
    let moved = match change.direction {
        Direction::Fall => "fell",
        Direction::Rise => "rose",
    };
    let signed = |by: f64| format!("{}{:.1}", if by < 0.0 { "\u{2212}" } else { "+" }, 100.0 * by.abs());
    let drivers = change.drivers.iter().map(|(name, by)| format!("{name} ({})", signed(*by)));
    let message = format!(
        "{what} {moved} with {} from {:.1} to {:.1} %, most by {}",
        label(change.since),
        100.0 * change.before,
        100.0 * change.after,
        listed(&drivers.collect::<Vec<_>>())
    );
    Alarm { label: label(at), gravity: Gravity::Alarm, message, change: Some(change) }
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
        let series = Series::judged("s".to_owned(), points(values), &[], rules, from);
        series.alarms.into_iter().map(|alarm| (alarm.label, alarm.gravity)).collect()
    }

    #[test]
    fn the_whole_interval_below_the_bar_is_an_alarm_and_the_estimate_alone_a_warning() {
        let rules = AlarmRules { below: Some(0.5), per_year: Some(52.0) };
        let alarms = alarms_of(&[(0.6, 0.05), (0.48, 0.05), (0.4, 0.05), (0.5, 0.0)], rules, 0);
        assert_eq!(alarms, [("b1".to_owned(), Gravity::Warning), ("b2".to_owned(), Gravity::Alarm)]);
    }

    #[test]
    fn points_of_earlier_calls_ring_no_more_and_nothing_rings_without_points() {
        let rules = AlarmRules { below: Some(0.9), per_year: Some(1.0) };
        assert_eq!(alarms_of(&[(0.1, 0.01), (0.95, 0.01)], rules, 1), []);
        assert_eq!(alarms_of(&[], rules, 0), []);
        let judged = |point| Series::judged("s".to_owned(), points(&[point]), &[], rules, 0);
        assert!(!judged((0.89, 0.05)).rings() && judged((0.5, 0.05)).rings_at("b0"));
    }
}
