//! What an estimator returns.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An interval that is to hold the true accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Probability with which it is to.
    pub level: f64,
    /// Lower end, in [0, 1].
    pub low: f64,
    /// Upper end, in [0, 1].
    pub high: f64,
}

impl Interval {
    /// The interval of that half-width around an accuracy, within [0, 1].
    pub fn around(accuracy: f64, half_width: f64, level: f64) -> Self {
        Self { level, low: (accuracy - half_width).max(0.0), high: (accuracy + half_width).min(1.0) }
    }

    /// Whether it holds that accuracy.
    pub fn holds(&self, accuracy: f64) -> bool {
        self.low <= accuracy && accuracy <= self.high
    }
}

/// A signal, where labels are known and on the target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignalValue {
    /// Name of the signal.
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
pub struct Part {
    /// Name of the database or the kind.
    pub name: String,
    /// Questions.
    pub count: usize,
    /// Estimated accuracy.
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
    /// Id of the question.
    pub id: String,
    /// Its database.
    pub db_id: String,
    /// The question.
    pub question: String,
    /// The prediction as given.
    pub prediction: String,
    /// How it ended.
    pub status: String,
    /// Probability that it is right.
    pub probability: f64,
    /// What speaks against it, in words.
    pub reasons: Vec<String>,
}

/// An accuracy with its interval and its reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Name of the system.
    pub system: String,
    /// Estimated accuracy, in [0, 1].
    pub accuracy: f64,
    /// The interval.
    pub interval: Interval,
    /// The target lies outside what the labels cover: the interval is widened, and rests on an extrapolation.
    pub outside: bool,
    /// Id of the estimator.
    pub method: String,
    /// What the estimate follows from.
    pub signals: Vec<SignalValue>,
    /// Shift descriptors of the target against the labelled answers, by name.
    pub descriptors: BTreeMap<String, f64>,
    /// By database, the one that pulls the estimate down most first.
    pub by_database: Vec<Part>,
    /// By kind of question.
    pub by_kind: Vec<Part>,
    /// What was left out or assumed, in sentences.
    pub notes: Vec<String>,
    /// The predictions, in the target's order; not part of `estimate --json`.
    #[serde(skip)]
    pub items: Vec<ItemEstimate>,
}
