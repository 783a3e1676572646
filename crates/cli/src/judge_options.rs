//! Options of commands that ask a language model to judge.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use sqlgauge_estimate::JudgeService;
use sqlgauge_estimate::judges::{Template, TemplateKind};
use sqlgauge_llm::{Budget, CacheOptions, Client, ClientOptions, Prices, RateLimits, Secret, TokenLimit};

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
    judge_prices: Option<Prices>,
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

fn prices(text: &str) -> Result<Prices, String> {
    let parsed = text.split_once(',').and_then(|(prompt, completion)| {
        Some(Prices {
            prompt_per_million: prompt.trim().parse().ok()?,
            completion_per_million: completion.trim().parse().ok()?,
        })
    });
    parsed.ok_or_else(|| "write two numbers, as in 1.25,10".to_owned())
}

impl JudgeOptions {
    /// The service, if a server is named. `method` says which prompt a file is for.
    ///
    /// # Errors
    /// When the address, the cache folder or the prompt cannot be used.
    pub fn service(&self, method: &str, seed: u64, quiet: bool) -> Result<Option<JudgeService>> {
        let (Some(url), Some(model)) = (&self.judge_url, &self.judge_model) else { return Ok(None) };
        let kind = match method {
            "judge-bug" => TemplateKind::Bug,
            "judge-arena" => TemplateKind::Arena,
            _ => bail!("--judge-url is for --method judge-bug or judge-arena, and {method} asks no judge"),
        };
        let client = Client::new(&self.client_options(url, seed)).context("no client for --judge-url")?;
        let template = self.judge_prompt.as_deref().map(|path| Template::load(kind, path)).transpose()?;
        let (token_limit, temperature) = if self.judge_reasons {
            (TokenLimit::MaxCompletionTokens, None)
        } else {
            (TokenLimit::MaxTokens, Some(0.0))
        };
        Ok(Some(JudgeService {
            temperature,
            max_tokens: self.judge_answer_tokens,
            token_limit,
            template,
            questions: self.judge_questions,
            opponents: self.judge_opponents,
            progress: (!quiet).then(progress),
            ..JudgeService::new(client, model.clone())
        }))
    }

    fn client_options(&self, url: &str, seed: u64) -> ClientOptions {
        let cache = |folder: &PathBuf| CacheOptions { folder: folder.clone(), namespace: String::new() };
        ClientOptions {
            key: std::env::var(&self.judge_key_env)
                .ok()
                .filter(|key| !key.trim().is_empty())
                .map(Secret::new),
            concurrency: usize::from(self.judge_concurrency),
            rate: RateLimits {
                requests_per_minute: self.judge_requests_per_minute,
                tokens_per_minute: self.judge_tokens_per_minute,
            },
            budget: Budget {
                requests: self.judge_max_requests,
                tokens: self.judge_max_tokens,
                cost: self.judge_max_cost,
            },
            prices: self.judge_prices,
            cache: self.judge_cache.as_ref().map(cache),
            seed,
            ..ClientOptions::new(url)
        }
    }
}

/// A bar on standard error; nothing where that is no terminal.
fn progress() -> Box<dyn Fn(&sqlgauge_llm::Progress) + Send + Sync> {
    let bar = ProgressBar::no_length();
    if let Ok(style) =
        ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} answers  {eta} left  {msg}")
    {
        bar.set_style(style);
    }
    Box::new(move |progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        let tokens = progress.usage.prompt_tokens + progress.usage.completion_tokens;
        bar.set_message(format!("{} without an answer, {tokens} tokens", progress.failed));
        if progress.done >= progress.total {
            bar.finish_and_clear();
        }
    })
}
