//! From a question to what is sent.

use serde_json::{Map, Value};
use sqlgauge_llm::{ChatRequest, Prompt};

use super::asking::PromptQuestion;
use crate::ModelSettings;

/// Which model is asked for SQL, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictSettings {
    /// The model.
    pub model: ModelSettings,
    /// The prompt.
    pub prompt: Prompt,
    /// Texts at which the server ends an answer.
    pub stop: Vec<String>,
    /// Seed of sampling, sent where it is given or where there are several samples: sample `i` has seed + `i`.
    pub seed: Option<u64>,
    /// Answers to each question, at least 1.
    pub samples: u32,
    /// Whether the probabilities of tokens are asked for.
    pub logprobs: bool,
}

impl PredictSettings {
    /// One sample with its log-probabilities.
    pub fn new(model: ModelSettings, prompt: Prompt) -> Self {
        Self { model, prompt, stop: Vec::new(), seed: None, samples: 1, logprobs: true }
    }

    /// The request of a sample of a question.
    pub(crate) fn request(&self, question: &PromptQuestion<'_>, sample: u32) -> ChatRequest {
        let evidence = question.evidence.unwrap_or_default().trim();
        let filled = self.prompt.fill(|name| {
            let value = match name {
                "schema" => question.schema.trim(),
                "evidence" => evidence,
                _ => question.question.trim(),
            };
            value.to_owned()
        });
        let mut extra = Map::new();
        if self.logprobs {
            extra.insert("logprobs".to_owned(), true.into());
        }
        if !self.stop.is_empty() {
            extra.insert("stop".to_owned(), self.stop.clone().into());
        }
        let several = (self.samples > 1).then_some(0);
        if let Some(seed) = self.seed.or(several) {
            extra.insert("seed".to_owned(), Value::from(seed.wrapping_add(u64::from(sample))));
        }
        ChatRequest { extra, ..self.model.request(filled) }
    }
}
