//! The lines of the files beside a plan: what was drawn, and what people say.

use serde::{Deserialize, Serialize};
use sqlgauge_base::rows::now;

/// What a person says of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Right,
    Wrong,
    Unsure,
}

impl Verdict {
    /// 1, 0, or nothing where the person is not sure.
    pub fn correct(self) -> Option<u8> {
        match self {
            Self::Right => Some(1),
            Self::Wrong => Some(0),
            Self::Unsure => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Unsure => "unsure",
        }
    }
}

/// A label, in a form that `sqlgauge import --correct` reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelRow {
    pub id: String,
    /// 1, 0, or null where the person is not sure.
    pub correct: Option<u8>,
    pub verdict: Verdict,
    /// Who says so.
    pub by: String,
    /// Seconds since 1970.
    pub at: u64,
    pub system: String,
    /// Name of the run as it was listed, or of the plan.
    pub run: String,
    /// SHA-256 of the answer that the person saw.
    pub shown: String,
}

impl LabelRow {
    /// A label of this moment, of an answer that is still to be named.
    pub fn new(id: String, verdict: Verdict, by: String) -> Self {
        let none = String::new;
        let correct = verdict.correct();
        Self { id, correct, verdict, by, at: now(), system: none(), run: none(), shown: none() }
    }
}

/// A batch that was drawn.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct BatchRow {
    /// The plan that it was drawn by.
    pub(super) plan: String,
    /// Weights of the features, for each quantity.
    pub(super) weights: Vec<Vec<f64>>,
    pub(super) draws: Vec<DrawRow>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct DrawRow {
    pub(super) id: String,
    /// The chance with which it was drawn among those that were left.
    pub(super) chance: f64,
}
