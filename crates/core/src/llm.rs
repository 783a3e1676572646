//! The language model that a job asks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlgauge_llm::{
    CacheOptions, Client, ClientOptions, LlmError, Prices, RateLimits, Secret, SpendingBudget, TokenLimit,
};
use sqlgauge_prompt::ModelSettings;

use crate::context::{Context, Watcher};
use crate::error::Error;

/// A server with an OpenAI-compatible API, its model, and the limits of asking it.
///
/// The key stands in it, so it has no debug output.
#[derive(Clone)]
pub struct LlmSettings {
    /// Address of the server, such as `http://127.0.0.1:8091/v1`.
    pub url: String,
    /// Name of the model.
    pub model: String,
    /// Key of the server; `None` sends no key.
    pub key: Option<String>,
    /// Folder that keeps the answers; the same job again asks only for what is missing.
    pub cache: Option<PathBuf>,
    /// Requests at the same time.
    pub concurrency: u16,
    /// Time limit of one request.
    pub timeout: Duration,
    /// Attempts of one request, the first among them.
    pub attempts: u32,
    /// Most requests in any 60 seconds.
    pub requests_per_minute: Option<u32>,
    /// Most tokens in any 60 seconds.
    pub tokens_per_minute: Option<u64>,
    /// Most requests of the job.
    pub max_requests: Option<u64>,
    /// Most tokens of the job.
    pub max_tokens: Option<u64>,
    /// Highest cost of the job, in the currency of the prices.
    pub max_cost: Option<f64>,
    /// Prices of a million tokens sent, and of a million generated.
    pub prices: Option<(f64, f64)>,
    /// Most tokens of an answer.
    pub answer_tokens: u32,
    /// The model reasons: it takes `max_completion_tokens` and not a temperature.
    pub reasons: bool,
    /// Seed of the pauses between attempts.
    pub seed: u64,
}

impl LlmSettings {
    /// Four requests at a time, two minutes and five attempts for each, 512 tokens of an answer, no other limit, no cache.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            model: model.into(),
            key: None,
            cache: None,
            concurrency: 4,
            timeout: Duration::from_mins(2),
            attempts: 5,
            requests_per_minute: None,
            tokens_per_minute: None,
            max_requests: None,
            max_tokens: None,
            max_cost: None,
            prices: None,
            answer_tokens: 512,
            reasons: false,
            seed: 0,
        }
    }
}

/// Tells a watcher how many answers are there.
pub(crate) fn show_progress(watcher: &dyn Watcher) -> impl Fn(&sqlgauge_llm::BatchProgress) + Send + Sync {
    let started = std::sync::Once::new();
    move |progress| {
        started.call_once(|| watcher.started("answers", progress.total, 0));
        let tokens = progress.usage.prompt_tokens + progress.usage.completion_tokens;
        watcher.detail(&format!("{} without an answer, {tokens} tokens", progress.failed));
        watcher.advanced(progress.done);
    }
}

impl LlmSettings {
    /// The client of the server, which sends nothing more once the job is to stop.
    pub(crate) fn client(&self, option: &'static str, context: &Context<'_>) -> Result<Client, Error> {
        let client =
            self.unheeding_client().map_err(|error| Error::LlmClient { option, source: Box::new(error) })?;
        client.stop_on(Arc::clone(context.stop()));
        client.on_unreachable(context.warn());
        Ok(client)
    }

    /// Which answers are kept.
    pub(crate) fn cache_note(&self) -> String {
        match &self.cache {
            Some(cache) => format!("the answers so far are kept in {}", cache.display()),
            None => "no answer is kept".to_owned(),
        }
    }

    /// The error of a job that stops before all answers are there.
    pub(crate) fn stopped(&self) -> Error {
        Error::StoppedAsking(self.cache_note())
    }

    fn unheeding_client(&self) -> Result<Client, LlmError> {
        let defaults = ClientOptions::new(&self.url);
        Client::new(&ClientOptions {
            key: self.key.clone().map(Secret::new),
            timeout_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            concurrency: usize::from(self.concurrency),
            retry: sqlgauge_llm::Retry { attempts: self.attempts, ..defaults.retry },
            rate: RateLimits {
                requests_per_minute: self.requests_per_minute,
                tokens_per_minute: self.tokens_per_minute,
            },
            budget: SpendingBudget {
                requests: self.max_requests,
                tokens: self.max_tokens,
                cost: self.max_cost,
            },
            prices: self.prices.map(|(prompt_per_million, completion_per_million)| Prices {
                prompt_per_million,
                completion_per_million,
            }),
            cache: self.cache.clone().map(|folder| CacheOptions { folder, namespace: String::new() }),
            seed: self.seed,
            ..defaults
        })
    }

    /// What each request says of the model; a model that reasons takes no temperature.
    pub(crate) fn model_settings(&self, temperature: f64) -> ModelSettings {
        let (token_limit, temperature) = if self.reasons {
            (TokenLimit::MaxCompletionTokens, None)
        } else {
            (TokenLimit::MaxTokens, Some(temperature))
        };
        ModelSettings { model: self.model.clone(), temperature, max_tokens: self.answer_tokens, token_limit }
    }
}
