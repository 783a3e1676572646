//! Asking the model, in builds with the client.

use std::sync::Arc;

use sqlgauge_llm::{
    CacheOptions, Client, ClientOptions, LlmError, Prices, RateLimits, Secret, SpendingBudget, TokenLimit,
};
use sqlgauge_prompt::ModelSettings;

use super::LlmSettings;
use crate::context::{Context, Watcher};
use crate::error::Error;

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
        match &self.limits.cache {
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
            timeout_ms: u64::try_from(self.limits.timeout.as_millis()).unwrap_or(u64::MAX),
            concurrency: usize::from(self.limits.concurrency),
            retry: sqlgauge_llm::Retry { attempts: self.limits.attempts, ..defaults.retry },
            rate: RateLimits {
                requests_per_minute: self.limits.requests_per_minute,
                tokens_per_minute: self.limits.tokens_per_minute,
            },
            budget: SpendingBudget {
                requests: self.limits.max_requests,
                tokens: self.limits.max_tokens,
                cost: self.limits.max_cost,
            },
            prices: self.limits.prices.map(|(prompt_per_million, completion_per_million)| Prices {
                prompt_per_million,
                completion_per_million,
            }),
            cache: self
                .limits
                .cache
                .clone()
                .map(|folder| CacheOptions { folder: folder.into(), namespace: String::new() }),
            seed: self.seed,
            ..defaults
        })
    }

    /// What each request says of the model; a model that reasons takes no temperature.
    pub(crate) fn model_settings(&self, temperature: f64) -> ModelSettings {
        let (token_limit, temperature) = if self.limits.reasons {
            (TokenLimit::MaxCompletionTokens, None)
        } else {
            (TokenLimit::MaxTokens, Some(temperature))
        };
        ModelSettings {
            model: self.model.clone(),
            temperature,
            max_tokens: self.limits.answer_tokens,
            token_limit,
        }
    }
}
