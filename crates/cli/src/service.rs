//! What the options of commands that ask a language model have in common.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use sqlgauge_llm::{Budget, CacheOptions, ClientOptions, Prices, RateLimits, Secret};

use crate::output::say;
use crate::progress::LINE_EVERY;

/// The limits of a service, whatever its options are called.
pub struct ServiceLimits<'a> {
    /// Environment variable that has the key.
    pub key_env: &'a str,
    pub concurrency: u16,
    pub requests_per_minute: Option<u32>,
    pub tokens_per_minute: Option<u64>,
    pub max_requests: Option<u64>,
    pub max_tokens: Option<u64>,
    pub max_cost: Option<f64>,
    /// Of a million tokens sent, and of a million generated.
    pub prices: Option<(f64, f64)>,
    /// Folder that keeps the answers.
    pub cache: Option<&'a Path>,
}

impl ServiceLimits<'_> {
    /// The options of a client of that server.
    pub fn client_options(&self, url: &str, seed: u64) -> ClientOptions {
        let cache = |folder: &Path| CacheOptions { folder: folder.to_owned(), namespace: String::new() };
        ClientOptions {
            key: std::env::var(self.key_env).ok().filter(|key| !key.trim().is_empty()).map(Secret::new),
            concurrency: usize::from(self.concurrency),
            rate: RateLimits {
                requests_per_minute: self.requests_per_minute,
                tokens_per_minute: self.tokens_per_minute,
            },
            budget: Budget { requests: self.max_requests, tokens: self.max_tokens, cost: self.max_cost },
            prices: self.prices.map(|(prompt_per_million, completion_per_million)| Prices {
                prompt_per_million,
                completion_per_million,
            }),
            cache: self.cache.map(cache),
            seed,
            ..ClientOptions::new(url)
        }
    }
}

/// A bar on standard error; where that is no terminal, a line from time to time.
pub fn progress() -> Box<dyn Fn(&sqlgauge_llm::Progress) + Send + Sync> {
    let bar = ProgressBar::no_length();
    if let Ok(style) =
        ProgressStyle::with_template("{bar:40} {human_pos}/{human_len} answers  {eta} left  {msg}")
    {
        bar.set_style(style);
    }
    let on_terminal = std::io::stderr().is_terminal();
    let last_line = Mutex::new(Instant::now());
    Box::new(move |progress| {
        let tokens = progress.usage.prompt_tokens + progress.usage.completion_tokens;
        let without = format!("{} without an answer, {tokens} tokens", progress.failed);
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        if !on_terminal && is_due(&last_line) {
            say(&format!("{} of {} answers, {without}", progress.done, progress.total));
        }
        bar.set_message(without);
        if progress.done >= progress.total {
            bar.finish_and_clear();
        }
    })
}

fn is_due(last_line: &Mutex<Instant>) -> bool {
    let mut last = last_line.lock().unwrap_or_else(PoisonError::into_inner);
    let is_due = last.elapsed() >= LINE_EVERY;
    if is_due {
        *last = Instant::now();
    }
    is_due
}
