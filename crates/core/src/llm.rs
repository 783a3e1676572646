//! The language model that a job asks.

#[cfg(feature = "services")]
mod service;

use std::time::Duration;

#[cfg(feature = "cli")]
use sqlgauge_engine::seconds;

#[cfg(feature = "services")]
pub(crate) use service::show_progress;

use crate::values::OutputPath;

/// A language model to ask.
///
/// The key stands in it, so it has no debug output.
#[derive(Clone, Default)]
pub struct LlmSettings {
    /// Address of a server with an OpenAI-compatible API, such as `http://127.0.0.1:8091/v1`.
    pub url: String,
    /// Name of the model.
    pub model: String,
    /// Key of the server; `None` sends no key.
    pub key: Option<String>,
    /// How it is asked, and how much.
    pub limits: LlmLimits,
    /// Seed of the pauses between attempts.
    pub seed: u64,
}

/// How a server is asked, and how much.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Language model"))]
pub struct LlmLimits {
    /// Folder that keeps the answers: the same command again asks only for missing ones [default: OUT.answers]
    #[cfg_attr(feature = "cli", arg(long = "llm-cache", id = "llm_cache", value_name = "DIR"))]
    pub cache: Option<OutputPath>,
    /// Requests at the same time
    #[cfg_attr(feature = "cli", arg(long = "llm-concurrency", id = "llm_concurrency", value_name = "N",
        default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..)))]
    pub concurrency: u16,
    /// Seconds until a whole answer must be there
    #[cfg_attr(feature = "cli", arg(long = "llm-timeout", id = "llm_timeout", value_name = "SECONDS",
        default_value = "120", value_parser = seconds))]
    pub timeout: Duration,
    /// Attempts of a request that fails, the first among them
    #[cfg_attr(feature = "cli", arg(long = "llm-attempts", id = "llm_attempts", value_name = "N",
        default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..)))]
    pub attempts: u32,
    /// Requests in any 60 seconds
    #[cfg_attr(
        feature = "cli",
        arg(long = "llm-requests-per-minute", id = "llm_requests_per_minute", value_name = "N")
    )]
    pub requests_per_minute: Option<u32>,
    /// Tokens in any 60 seconds
    #[cfg_attr(
        feature = "cli",
        arg(long = "llm-tokens-per-minute", id = "llm_tokens_per_minute", value_name = "N")
    )]
    pub tokens_per_minute: Option<u64>,
    /// Stop before more requests than this are sent
    #[cfg_attr(feature = "cli", arg(long = "llm-max-requests", id = "llm_max_requests", value_name = "N"))]
    pub max_requests: Option<u64>,
    /// Stop before more tokens than this are used
    #[cfg_attr(feature = "cli", arg(long = "llm-max-tokens", id = "llm_max_tokens", value_name = "N"))]
    pub max_tokens: Option<u64>,
    /// Stop before it costs more than this, in the currency of --llm-prices
    #[cfg_attr(
        feature = "cli",
        arg(long = "llm-max-cost", id = "llm_max_cost", value_name = "COST", requires = "llm_prices")
    )]
    pub max_cost: Option<f64>,
    /// What a million tokens sent and a million generated cost
    #[cfg_attr(feature = "cli", arg(long = "llm-prices", id = "llm_prices", value_name = "IN,OUT",
        value_parser = crate::cli::prices))]
    pub prices: Option<(f64, f64)>,
    /// Most tokens of an answer; models that reason need more
    #[cfg_attr(feature = "cli", arg(long = "llm-answer-tokens", id = "llm_answer_tokens", value_name = "N",
        default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..)))]
    pub answer_tokens: u32,
    /// Call that limit `max_completion_tokens` and leave the temperature to the server, as models that reason want it
    #[cfg_attr(feature = "cli", arg(long = "llm-reasons", id = "llm_reasons"))]
    pub reasons: bool,
}

impl Default for LlmLimits {
    fn default() -> Self {
        Self {
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
        }
    }
}

impl LlmSettings {
    /// A model without a key, under the default limits and without a cache.
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Self { url: url.into(), model: model.into(), ..Self::default() }
    }
}
