//! Options of commands that ask a language model to judge.

#[cfg(feature = "services")]
mod service;

use std::path::PathBuf;

use clap::Args;

use crate::llm_options::prices;
use crate::values::{Address, OutputPath, Variable};

/// The server, the model and their limits.
#[derive(Debug, Args)]
#[allow(clippy::struct_field_names, reason = "a field is named as its option is")]
#[command(next_help_heading = "Judges (--method judge-bug, judge-arena)")]
pub(crate) struct JudgeOptions {
    /// Server with an OpenAI-compatible API, e.g. <https://api.openai.com/v1>; it receives questions, schemas and
    /// predictions
    #[arg(long, value_name = "URL", requires = "judge_model")]
    judge_url: Option<Address>,
    /// Name of the model
    #[arg(long, value_name = "NAME", requires = "judge_url")]
    judge_model: Option<String>,
    /// Environment variable with the key of the server; leave it unset for a server without keys
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY")]
    judge_key_env: Variable,
    /// File with a prompt, instead of the built-in one
    #[arg(long, value_name = "FILE")]
    judge_prompt: Option<PathBuf>,
    /// Folder to keep the answers in: a second run asks only for the missing ones
    #[arg(long, value_name = "DIR")]
    judge_cache: Option<OutputPath>,
    /// Requests at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    judge_concurrency: u16,
    /// Seconds to wait for a whole answer
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    judge_timeout: f64,
    /// Attempts of a request that fails, including the first
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    judge_attempts: u32,
    /// Most requests in any 60 seconds
    #[arg(long, value_name = "N")]
    judge_requests_per_minute: Option<u32>,
    /// Most tokens in any 60 seconds
    #[arg(long, value_name = "N")]
    judge_tokens_per_minute: Option<u64>,
    /// Stop before sending more than N requests
    #[arg(long, value_name = "N")]
    judge_max_requests: Option<u64>,
    /// Stop before using more than N tokens
    #[arg(long, value_name = "N")]
    judge_max_tokens: Option<u64>,
    /// Stop before spending more than COST, in the currency of --judge-prices
    #[arg(long, value_name = "COST", requires = "judge_prices")]
    judge_max_cost: Option<f64>,
    /// Price of a million tokens sent and of a million tokens generated, e.g. 1.25,10
    #[arg(long, value_name = "IN,OUT", value_parser = prices)]
    judge_prices: Option<(f64, f64)>,
    /// Most tokens of an answer; a reasoning model needs more
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    judge_answer_tokens: u32,
    /// Ask a reasoning model: send that limit as `max_completion_tokens` and leave out the temperature
    #[arg(long)]
    judge_reasons: bool,
    /// Questions that judge-arena compares systems on, drawn at random [default: all]
    #[arg(long, value_name = "N")]
    judge_questions: Option<usize>,
    /// Most systems that judge-arena compares with
    #[arg(long, value_name = "N", default_value_t = 4)]
    judge_opponents: usize,
}

impl JudgeOptions {
    /// Whether a server is named.
    pub(crate) fn is_given(&self) -> bool {
        self.judge_url.is_some()
    }
}
