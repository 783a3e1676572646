//! What goes in, and what comes out.

use serde::Serialize;

use crate::code::Code;

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The completion of a model, or SQL.
    pub prediction: String,
    /// The accepted golds; the answer counts by the best of them.
    pub golds: Vec<String>,
    /// The database of the question.
    pub db_id: String,
}

/// What an answer is worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RewardResult {
    /// In [0, 1]; `None` where nobody knows, because the gold does not run.
    pub value: Option<f64>,
    /// What became of the answer.
    pub code: Code,
    /// The same in words.
    pub reason: String,
    /// For [`Code::WrongOnWitness`] the database that tells the answer from the gold, as an SQL script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
}

impl RewardResult {
    pub(crate) fn new(value: Option<f64>, code: Code, reason: impl Into<String>) -> Self {
        Self { value, code, reason: reason.into(), witness: None }
    }

    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.reason.len() + self.witness.as_ref().map_or(0, String::len)
    }
}
