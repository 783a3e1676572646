//! An OpenAI-compatible client with retry, rate limit, budget and cache.
//!
//! `Client` asks `/chat/completions` and `/embeddings` of any server that speaks that protocol. It blocks, so that
//! callers need no asynchronous code; requests of a batch run side by side inside. A batch gives one result for each
//! request, whatever happens to the others, and with a cache folder the same batch again asks only for what is
//! missing.
//!
//! The crate reads no environment variable (proxies neither; only the TLS library looks for the system's certificates,
//! in `SSL_CERT_FILE` too) and writes nothing but its cache. The API key is a `Secret`, which no error, cache file or
//! debug output shows.
//!
//! Without the feature `client` there are only prompts ([`Prompt`]) and digests.

#[cfg(feature = "client")]
mod batch;
#[cfg(feature = "client")]
mod cache;
#[cfg(feature = "client")]
mod chat;
#[cfg(feature = "client")]
mod client;
mod digest;
#[cfg(feature = "client")]
mod embeddings;
#[cfg(feature = "client")]
mod error;
#[cfg(feature = "client")]
mod lean;
#[cfg(feature = "client")]
mod ledger;
#[cfg(feature = "client")]
mod options;
mod prompt;
#[cfg(feature = "client")]
mod rate;
#[cfg(feature = "client")]
mod retry;
#[cfg(feature = "client")]
mod secret;
#[cfg(feature = "client")]
mod transport;

#[cfg(feature = "client")]
pub use batch::{Batch, BatchProgress};
#[cfg(feature = "client")]
pub use chat::{AnswerToken, ChatAnswer, ChatRequest, Message, Speaker, TokenLimit, TokenUsage};
#[cfg(feature = "client")]
pub use client::Client;
pub use digest::digest;
#[cfg(feature = "client")]
pub use embeddings::EmbeddingRequest;
#[cfg(feature = "client")]
pub use error::LlmError;
#[cfg(feature = "client")]
pub use ledger::Usage;
#[cfg(feature = "client")]
pub use options::{Auth, CacheOptions, ClientOptions, Prices, RateLimits, Retry, SpendingBudget};
pub use prompt::{Placeholders, Prompt, PromptError};
#[cfg(feature = "client")]
pub use secret::Secret;
