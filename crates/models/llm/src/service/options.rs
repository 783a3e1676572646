//! How a client behaves.

use std::path::PathBuf;

use super::secret::Secret;

/// When a failed request is sent again: after 429, 408, 500, 502, 503, 504, 529, a timeout, a broken connection, or an
/// answer that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Attempts of one request, the first among them; at least 1.
    pub attempts: u32,
    /// Pause before the second attempt in milliseconds; it doubles each time, with a jitter of ±50 %.
    pub first_pause_ms: u64,
    /// Longest pause of our own choice in milliseconds.
    pub longest_pause_ms: u64,
    /// Longest pause that a server may ask for (`Retry-After`) in seconds; a longer one ends the batch.
    pub longest_retry_after_s: u64,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 5, first_pause_ms: 500, longest_pause_ms: 60_000, longest_retry_after_s: 120 }
    }
}

/// How much may be sent in any 60 seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateLimits {
    pub requests_per_minute: Option<u32>,
    /// Tokens: before an answer an estimate (a quarter of the request's bytes, and the most tokens that the answer may
    /// have), after it what the server counted.
    pub tokens_per_minute: Option<u64>,
}

/// What tokens cost, in whatever currency the caller counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// A million tokens sent.
    pub prompt_per_million: f64,
    /// A million tokens generated.
    pub completion_per_million: f64,
}

/// What the client may use before it stops. Strict: a request is sent only if even the worst case fits. The worst case
/// is one token for each byte of the request, and the most tokens that the answer may have; so a budget of tokens or
/// cost needs [`ChatRequest::max_tokens`](crate::ChatRequest). An attempt whose bill is unknown (a timeout, say) counts
/// with its worst case.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SpendingBudget {
    /// HTTP requests, repeated ones included.
    pub requests: Option<u64>,
    /// Tokens, sent and generated.
    pub tokens: Option<u64>,
    /// Cost in the currency of [`Prices`], which must be given.
    pub cost: Option<f64>,
}

/// Where answers are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOptions {
    /// The folder; made if missing.
    pub folder: PathBuf,
    /// Part of every cache key. The server's address is not part of it, so that an answer outlives a change of proxy
    /// or port; give servers that call different models by one name a namespace each.
    pub namespace: String,
}

/// Everything that a [`Client`](crate::Client) needs to know.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Address before `/chat/completions`, such as `https://api.example.com/v1`; a query (`?api-version=…`) is kept.
    pub base_url: String,
    /// The API key, sent as `Authorization: Bearer KEY`; none for servers that want none.
    pub key: Option<Secret>,
    /// Milliseconds until the whole answer must be there.
    pub timeout_ms: u64,
    /// Requests at the same time, at least 1.
    pub concurrency: usize,
    /// When a request is sent again.
    pub retry: Retry,
    /// How much may be sent in a minute.
    pub rate: RateLimits,
    /// When to stop.
    pub budget: SpendingBudget,
    /// What tokens cost; without, no cost is reported.
    pub prices: Option<Prices>,
    /// Where answers are kept; none keeps nothing.
    pub cache: Option<CacheOptions>,
    /// Bytes of an answer that are read at most.
    pub max_answer_bytes: usize,
    /// So many requests in a row that failed after all attempts stop a batch; 0 never stops.
    pub stop_after_failures: u32,
    /// Seed of the jitter.
    pub seed: u64,
}

impl ClientOptions {
    /// Four requests at a time, two minutes for each, five attempts, no limits, no cache.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            key: None,
            timeout_ms: 120_000,
            concurrency: 4,
            retry: Retry::default(),
            rate: RateLimits::default(),
            budget: SpendingBudget::default(),
            prices: None,
            cache: None,
            max_answer_bytes: 64 << 20,
            stop_after_failures: 10,
            seed: 0,
        }
    }
}
