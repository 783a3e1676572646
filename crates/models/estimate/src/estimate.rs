//! What an estimator returns.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlgauge_base::stats::normal_quantile;

use crate::overlap::Overlap;

/// An interval that is to hold the true accuracy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct AccuracyInterval {
    /// Probability with which it is to.
    pub level: f64,
    /// Lower end, in [0, 1].
    pub low: f64,
    /// Upper end, in [0, 1].
    pub high: f64,
}

impl AccuracyInterval {
    /// The interval of that half-width around an accuracy, within [0, 1].
    pub fn around(accuracy: f64, half_width: f64, level: f64) -> Self {
        Self { level, low: (accuracy - half_width).max(0.0), high: (accuracy + half_width).min(1.0) }
    }

    /// The interval, widened to what the choice of `questions` questions alone would leave open of a share (Wilson, 1927):
    /// five right answers of five are no 100 %.
    #[must_use]
    pub(crate) fn at_least_of(self, accuracy: f64, questions: usize) -> Self {
        let n = questions.max(1) as f64;
        let square = normal_quantile(f64::midpoint(1.0, self.level)).powi(2);
        let centre = (accuracy + square / (2.0 * n)) / (1.0 + square / n);
        let variance = accuracy * (1.0 - accuracy) / n + square / (4.0 * n * n);
        let half = (square * variance.max(0.0)).sqrt() / (1.0 + square / n);
        Self {
            level: self.level,
            low: self.low.min((centre - half).max(0.0)),
            high: self.high.max((centre + half).min(1.0)),
        }
    }

    /// The interval without accuracies that more right answers would take than may be right; it holds the estimate all the same.
    #[must_use]
    pub(crate) fn at_most(self, accuracy: f64, most: f64) -> Self {
        let high = self.high.min(most.max(accuracy));
        Self { high, low: self.low.min(high), ..self }
    }

    pub fn holds(&self, accuracy: f64) -> bool {
        self.low <= accuracy && accuracy <= self.high
    }
}

/// What stands for a metric where an accuracy is that of a user's labels.
pub const LABELS: &str = "labels";

/// Name of the signal that is the known accuracy.
pub const ACCURACY: &str = "accuracy";

/// A signal, where labels are known and on the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignalValue {
    pub name: String,
    /// Its value over the system's own labelled answers; `None` if there are none.
    pub known: Option<f64>,
    /// Its value over the target; `None` if it cannot be had there.
    pub target: Option<f64>,
    /// By how much it moved the estimate, as a share of all answers; `None` where that cannot be told apart.
    pub effect: Option<f64>,
}

/// The estimate for one database or one kind of question of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EstimatePart {
    /// Name of the database or the kind.
    pub name: String,
    pub count: usize,
    pub accuracy: f64,
    /// Share of answers that run.
    pub runs: f64,
    /// How much it pulls the estimate away from what the system's known accuracy would give, as a share of all
    /// questions of the target; the parts add up to the whole. `None` without a known accuracy.
    pub pull: Option<f64>,
}

/// One prediction of the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemEstimate {
    pub id: String,
    pub db_id: String,
    pub question: String,
    pub prediction: String,
    /// How it ended.
    pub status: String,
    /// Probability that it is right.
    pub probability: f64,
    /// What speaks against it, in words.
    pub reasons: Vec<String>,
}

/// An accuracy with its interval and its reasons.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub system: String,
    /// Estimated accuracy, in [0, 1].
    pub accuracy: f64,
    pub interval: AccuracyInterval,
    /// The target lies outside what is labelled of the system (of all systems, where it has no labels). The same for every
    /// method.
    pub outside: bool,
    /// Why it does, in sentences; empty inside.
    #[serde(default)]
    pub outside_because: Vec<String>,
    /// Questions of the target that known runs have too.
    #[serde(default)]
    pub overlap: Overlap,
    pub method: String,
    /// The metric of the known runs that is estimated, several with commas between; [`LABELS`] for what a user's labels say; empty
    /// where nobody knows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub metric: String,
    /// What the estimate follows from.
    pub signals: Vec<SignalValue>,
    /// Shift descriptors of the target against the labelled answers, by name.
    pub descriptors: BTreeMap<String, f64>,
    /// By database, the one that pulls the estimate down most first.
    pub by_database: Vec<EstimatePart>,
    /// By kind of question.
    pub by_kind: Vec<EstimatePart>,
    /// The slopes of the law that moved the estimate, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<LawSlopes>,
    /// What was left out or assumed, in sentences.
    pub notes: Vec<String>,
    /// The predictions, in the target's order; not part of `estimate --json`.
    #[serde(skip)]
    pub items: Vec<ItemEstimate>,
}

/// By how much accuracy moves with each signal, on the probit scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LawSlopes {
    /// With the share that runs.
    pub runs: f64,
    /// With agreement.
    pub agreement: f64,
    /// With what structure says.
    pub structure: f64,
}

impl Estimate {
    /// Number of questions of the target.
    pub fn questions(&self) -> usize {
        self.by_database.iter().map(|part| part.count).sum()
    }

    /// The accuracy over the system's own labelled answers, which is the signal [`ACCURACY`].
    pub(crate) fn known_accuracy(&self) -> Option<f64> {
        let accuracy = self.signals.iter().find(|signal| signal.name == ACCURACY)?;
        accuracy.known.filter(|value| value.is_finite())
    }

    /// The predictions most likely wrong, at most `most` of them; equally likely ones in the target's order. Where all
    /// have the same probability, nothing orders them, and those with a reason are listed.
    pub fn most_doubtful(&self, most: usize) -> Vec<&ItemEstimate> {
        let Some(first) = self.items.first() else { return Vec::new() };
        let flat = self.items.iter().all(|item| item.probability.total_cmp(&first.probability).is_eq());
        let mut items: Vec<&ItemEstimate> =
            self.items.iter().filter(|item| !flat || !item.reasons.is_empty()).collect();
        items.sort_by(|a, b| a.probability.total_cmp(&b.probability));
        items.truncate(most);
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_questions_never_give_certainty() {
        let sure = |accuracy| AccuracyInterval { level: 0.9, low: accuracy, high: accuracy };
        // Wilson's interval at 90 % for 5 of 5, 0 of 5, 1 of 1; worked out with z = 1.644854.
        for (accuracy, questions, low, high) in
            [(1.0, 5, 0.648_89, 1.0), (0.0, 5, 0.0, 0.351_11), (1.0, 1, 0.269_86, 1.0)]
        {
            let interval = sure(accuracy).at_least_of(accuracy, questions);
            assert!((interval.low - low).abs() < 1e-4 && (interval.high - high).abs() < 1e-4, "{interval:?}");
        }
        let wide = AccuracyInterval { level: 0.9, low: 0.1, high: 0.9 };
        assert_eq!(wide.at_least_of(0.5, 1000), wide, "what is wider stays");
        assert_eq!(wide.at_most(0.5, 0.8), AccuracyInterval { high: 0.8, ..wide });
        assert_eq!(wide.at_most(0.85, 0.8), AccuracyInterval { high: 0.85, ..wide });
    }
}
