//! Options of commands that ask a language model to judge.

#[cfg(feature = "services")]
mod service;

use std::path::PathBuf;

use clap::Args;

use crate::llm_options::prices;

/// The server, the model and their limits.
#[derive(Debug, Args)]
#[allow(clippy::struct_field_names, reason = "a field is named as its option is")]
#[command(next_help_heading = "Judges (--method judge-bug, judge-arena)")]
pub struct JudgeOptions {
    /// Server with an OpenAI-compatible API, as in <https://api.openai.com/v1>; questions, schemas and predictions
    /// are sent to it
    #[arg(long, value_name = "URL", requires = "judge_model")]
    judge_url: Option<String>,
    /// Name of the model
    #[arg(long, value_name = "NAME", requires = "judge_url")]
    judge_model: Option<String>,
    /// Environment variable that has the key of the server; none is sent if it is not set
    #[arg(long, value_name = "NAME", default_value = "OPENAI_API_KEY")]
    judge_key_env: String,
    /// File with the prompt, in place of the built-in one
    #[arg(long, value_name = "FILE")]
    judge_prompt: Option<PathBuf>,
    /// Folder that keeps the answers: a second run asks only for what is missing
    #[arg(long, value_name = "DIR")]
    judge_cache: Option<PathBuf>,
    /// Requests at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    judge_concurrency: u16,
    /// Requests in any 60 seconds
    #[arg(long, value_name = "N")]
    judge_requests_per_minute: Option<u32>,
    /// Tokens in any 60 seconds
    #[arg(long, value_name = "N")]
    judge_tokens_per_minute: Option<u64>,
    /// Stop before more requests than this are sent
    #[arg(long, value_name = "N")]
    judge_max_requests: Option<u64>,
    /// Stop before more tokens than this are used
    #[arg(long, value_name = "N")]
    judge_max_tokens: Option<u64>,
    /// Stop before it costs more than this, in the currency of --judge-prices
    #[arg(long, value_name = "COST", requires = "judge_prices")]
    judge_max_cost: Option<f64>,
    /// What a million tokens sent and a million generated cost
    #[arg(long, value_name = "IN,OUT", value_parser = prices)]
    judge_prices: Option<(f64, f64)>,
    /// Most tokens of an answer; models that reason need more
    #[arg(long, value_name = "N", default_value_t = 1024)]
    judge_answer_tokens: u32,
    /// Call that limit `max_completion_tokens` and leave the temperature to the server, as models that reason want it
    #[arg(long)]
    judge_reasons: bool,
    /// Questions that judge-arena compares on, drawn by the seed; all by default
    #[arg(long, value_name = "N")]
    judge_questions: Option<usize>,
    /// Other systems that judge-arena compares with at most
    #[arg(long, value_name = "N", default_value_t = 4)]
    judge_opponents: usize,
}

#[cfg(not(feature = "services"))]
impl JudgeOptions {
    /// No service, and an error where one is named: this build has none.
    pub fn services(&self, _: &str, _: u64, _: bool) -> anyhow::Result<sqlgauge_estimate::Services> {
        match &self.judge_url {
            None => Ok(sqlgauge_estimate::Services::default()),
            Some(_) => Err(sqlgauge_base::NotBuiltIn { what: "--judge-url", feature: "services" }.into()),
        }
    }
}
