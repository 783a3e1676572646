//! What a model is trained on.

use serde::Serialize;

use super::triple::Triple;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ChatMessage {
    /// `system`, `user` or `assistant`.
    pub role: &'static str,
    /// What is said.
    pub content: String,
}

/// A chat in the form that trainers read (`messages`), and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatExample {
    /// Instructions, question, answer.
    pub messages: [ChatMessage; 3],
    pub question: String,
    /// The original database.
    pub db_id: String,
    /// What the schema is: `original`, a kind of change, a step.
    pub kind: String,
    /// Position of the item in the original file, from 0.
    pub source_index: usize,
}

impl ChatExample {
    pub(crate) fn new(triple: &Triple<'_>, system: String, user: String) -> Self {
        let answer = triple.answer.trim().trim_end_matches(';').trim_end().to_owned();
        let message = |role, content| ChatMessage { role, content };
        Self {
            messages: [message("system", system), message("user", user), message("assistant", answer)],
            question: triple.question.trim().to_owned(),
            db_id: triple.source_db_id.to_owned(),
            kind: triple.kind.to_owned(),
            source_index: triple.source_index,
        }
    }
}
