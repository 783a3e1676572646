//! The lines of the files next to a plan: draws, and verdicts of people.

use serde::{Deserialize, Serialize};
use sqlgauge_base::rows::now;

sqlgauge_base::named! {
    /// What a person says of an answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "lowercase")]
    pub enum Verdict by as_str {
        /// The answer is right.
        Right = "right",
        /// It is wrong.
        Wrong = "wrong",
        /// The person cannot tell.
        Unsure = "unsure",
    }
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
}

/// A label, in a form that `sqlgauge import --correct` reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabelRow {
    /// Id of the question.
    pub id: String,
    /// 1, 0, or null where the person is not sure.
    pub correct: Option<u8>,
    /// The same in a word.
    pub verdict: Verdict,
    /// Who says so.
    pub by: String,
    /// Seconds since 1970.
    pub at: u64,
    /// Name of the system.
    pub system: String,
    /// Name of the run as `view` lists it, or of the plan.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchRow {
    /// The beginning of the SHA-256 of its `plan.json`.
    pub(super) plan: String,
    /// Weights of the features, for each system or the difference.
    pub(super) weights: Vec<Vec<f64>>,
    /// The questions, in the order of the draw.
    pub(super) draws: Vec<DrawRow>,
}

/// A question that was drawn.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrawRow {
    /// Its id.
    pub(super) id: String,
    /// The chance with which it was drawn among those that were left.
    pub(super) chance: f64,
}
