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

mod digest;
mod prompt;
#[cfg(feature = "client")]
mod service;

pub use digest::digest;
pub use prompt::{Placeholders, Prompt, PromptError};
#[cfg(feature = "client")]
pub use service::*;
