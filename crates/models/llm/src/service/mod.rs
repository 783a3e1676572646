//! The client and what it is made of.

mod batch;
mod cache;
mod chat;
mod client;
mod embeddings;
mod endpoint;
mod error;
mod lean;
mod ledger;
mod options;
mod rate;
mod retry;
mod secret;
mod transport;

pub use batch::{Batch, BatchProgress};
pub use chat::{AnswerToken, ChatAnswer, ChatRequest, Message, Speaker, TokenLimit, TokenUsage};
pub use client::Client;
pub use embeddings::EmbeddingRequest;
pub use endpoint::Endpoint;
pub use error::LlmError;
pub use ledger::Usage;
pub use options::{CacheOptions, ClientOptions, Prices, RateLimits, Retry, SpendingBudget};
pub use secret::Secret;
