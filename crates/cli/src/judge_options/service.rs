//! The judge that the options describe.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use sqlgauge_estimate::judges::{Template, TemplateKind};
use sqlgauge_estimate::{JudgeService, Services};
use sqlgauge_llm::{Budget, CacheOptions, Client, ClientOptions, Prices, RateLimits, Secret, TokenLimit};

use super::JudgeOptions;

impl JudgeOptions {
    /// The services of an estimate.
    ///
    /// # Errors
    /// As [`JudgeOptions::service`].
    pub fn services(&self, method: &str, seed: u64, quiet: bool) -> Result<Services> {
        Ok(Services { judge: self.service(method, seed, quiet)? })
    }

    /// The service, if a server is named. `method` says which prompt a file is for.
    ///
    /// # Errors
    /// When the address, the cache folder or the prompt cannot be used.
    fn service(&self, method: &str, seed: u64, quiet: bool) -> Result<Option<JudgeService>> {
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
            prices: self.judge_prices.map(|(prompt_per_million, completion_per_million)| Prices {
                prompt_per_million,
                completion_per_million,
            }),
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
