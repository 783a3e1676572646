//! The records of a run of golden questions beside those of every run: `answers.jsonl`, `passed.json`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What came of a question: a line of `answers.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoldenAnswer {
    /// Id of the question.
    pub id: String,
    /// Its database.
    pub db_id: String,
    /// Its text.
    pub question: String,
    /// The answer, with whatever stands around its SQL.
    pub answer: Option<String>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took.
    pub seconds: f64,
}

/// Whether a run passed its bars: `passed.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoldenOutcome {
    /// Whether every bar was reached, and no more was lost than `--max-regression` allows.
    pub passed: bool,
    /// The run that it was compared with.
    pub compared_with: Option<PathBuf>,
}
