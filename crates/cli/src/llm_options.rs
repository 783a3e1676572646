//! Options of commands that ask a language model to write.

#[cfg(feature = "services")]
pub(crate) mod service;

use clap::Args;

use crate::values::{Address, OutputPath, Variable};

/// The server and the model, with their limits.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Language model")]
pub(crate) struct LlmOptions {
    /// Server with an OpenAI-compatible API, as in <http://127.0.0.1:8091/v1>; questions and schemas are sent to it
    #[arg(long, value_name = "URL")]
    pub llm_url: Address,
    /// Name of the model
    #[arg(long, value_name = "NAME")]
    pub llm_model: String,
    #[command(flatten)]
    pub limits: LlmLimits,
}

/// The same for commands that ask a model only where another option says so.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Language model")]
pub(crate) struct OptionalLlm {
    /// Server with an OpenAI-compatible API, as in <http://127.0.0.1:8091/v1>; names, types and keys of the schemas are sent
    /// to it, and for `synth --polish` questions with values of the rows, and queries
    #[arg(long, value_name = "URL", requires = "llm_model")]
    pub llm_url: Option<Address>,
    /// Name of the model
    #[arg(long, value_name = "NAME", requires = "llm_url")]
    pub llm_model: Option<String>,
    #[command(flatten)]
    pub limits: LlmLimits,
}

/// How a server is asked, and how much.
#[derive(Debug, Clone, Args)]
#[allow(clippy::struct_field_names, reason = "a field is named as its option is")]
#[command(next_help_heading = "Language model")]
pub(crate) struct LlmLimits {
    /// Environment variable that has the key of the server; none is sent if it is not set
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY")]
    pub llm_key_env: Variable,
    /// Folder that keeps the answers: the same command again asks only for missing ones [default: OUT.answers]
    #[arg(long, value_name = "DIR")]
    pub llm_cache: Option<OutputPath>,
    /// Requests at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub llm_concurrency: u16,
    /// Seconds until a whole answer must be there
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    pub llm_timeout: f64,
    /// Attempts of a request that fails, the first among them
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub llm_attempts: u32,
    /// Requests in any 60 seconds
    #[arg(long, value_name = "N")]
    pub llm_requests_per_minute: Option<u32>,
    /// Tokens in any 60 seconds
    #[arg(long, value_name = "N")]
    pub llm_tokens_per_minute: Option<u64>,
    /// Stop before more requests than this are sent
    #[arg(long, value_name = "N")]
    pub llm_max_requests: Option<u64>,
    /// Stop before more tokens than this are used
    #[arg(long, value_name = "N")]
    pub llm_max_tokens: Option<u64>,
    /// Stop before it costs more than this, in the currency of --llm-prices
    #[arg(long, value_name = "COST", requires = "llm_prices")]
    pub llm_max_cost: Option<f64>,
    /// What a million tokens sent and a million generated cost
    #[arg(long, value_name = "IN,OUT", value_parser = prices)]
    pub llm_prices: Option<(f64, f64)>,
    /// Most tokens of an answer; models that reason need more
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    pub llm_answer_tokens: u32,
    /// Call that limit `max_completion_tokens` and leave the temperature to the server, as models that reason want it
    #[arg(long)]
    pub llm_reasons: bool,
}

/// Two prices separated by a comma.
pub(crate) fn prices(text: &str) -> Result<(f64, f64), String> {
    text.split_once(',')
        .and_then(|(prompt, completion)| Some((prompt.trim().parse().ok()?, completion.trim().parse().ok()?)))
        .ok_or_else(|| "write two numbers, as in 1.25,10".to_owned())
}
