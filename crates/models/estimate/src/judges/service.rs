//! The language model that methods ask. The caller makes it; without it the methods that need it say so.

use sqlgauge_llm::{BatchProgress, Client, TokenLimit, Usage};

use super::{JudgeOptions, JudgeTemplate, TemplateKind};
use crate::error::EstimateError;

/// Takes the progress of a batch of requests.
pub type OnProgress<'a> = Box<dyn Fn(&BatchProgress) + Send + Sync + 'a>;

/// A judge and how it is asked.
pub struct JudgeService<'a> {
    /// The client, with its key, budget and cache.
    pub client: Client,
    pub model: String,
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Most tokens of an answer.
    pub max_tokens: u32,
    pub token_limit: TokenLimit,
    /// Prompt in place of the built-in one.
    pub template: Option<JudgeTemplate>,
    /// Questions that the pairwise judge compares on; all if `None`.
    pub questions: Option<usize>,
    /// Other systems that the pairwise judge compares with at most.
    pub opponents: usize,
    /// Called with the progress of each batch.
    pub progress: OnProgress<'a>,
}

impl JudgeService<'_> {
    /// Temperature 0, 1,024 tokens, built-in prompts, all questions, at most 4 other systems.
    pub fn new(client: Client, model: impl Into<String>) -> Self {
        Self {
            client,
            model: model.into(),
            temperature: Some(0.0),
            max_tokens: 1024,
            token_limit: TokenLimit::MaxTokens,
            template: None,
            questions: None,
            opponents: 4,
            progress: Box::new(|_| {}),
        }
    }

    /// How a judge of that kind is asked.
    ///
    /// # Errors
    /// When the built-in prompt cannot be read.
    pub fn options(&self, kind: TemplateKind) -> Result<JudgeOptions, EstimateError> {
        let template = match &self.template {
            Some(template) => template.clone(),
            None => JudgeTemplate::built_in(kind)
                .map_err(|error| EstimateError::Computation(error.to_string()))?,
        };
        Ok(JudgeOptions {
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            token_limit: self.token_limit,
            ..JudgeOptions::new(self.model.clone(), template)
        })
    }
}

/// What a judge used, in words.
pub fn describe(usage: &Usage) -> String {
    let cost = usage.cost.map(|cost| format!(", cost {cost:.2}")).unwrap_or_default();
    format!(
        "{}, {} from the cache, {} sent and {} generated{cost}",
        sqlgauge_base::counted(usage.requests, "request"),
        sqlgauge_base::counted(usage.cached, "answer"),
        sqlgauge_base::counted(usage.prompt_tokens, "token"),
        usage.completion_tokens
    )
}
