//! Which model is asked, and how.

use sqlgauge_llm::{ChatRequest, Message, TokenLimit};

/// The model of a request, and the limits of its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    pub model: String,
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Most tokens of an answer.
    pub max_tokens: u32,
    pub token_limit: TokenLimit,
}

impl ModelSettings {
    /// Temperature 0 and 512 tokens.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            temperature: Some(0.0),
            max_tokens: 512,
            token_limit: TokenLimit::MaxTokens,
        }
    }

    /// The request with the two parts of a filled prompt.
    pub(crate) fn request(&self, (system, user): (String, String)) -> ChatRequest {
        self.conversation(vec![Message::system(system), Message::user(user)])
    }

    pub(crate) fn conversation(&self, messages: Vec<Message>) -> ChatRequest {
        ChatRequest {
            temperature: self.temperature,
            max_tokens: Some(self.max_tokens),
            token_limit: self.token_limit,
            ..ChatRequest::new(self.model.clone(), messages)
        }
    }
}
