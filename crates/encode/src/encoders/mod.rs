//! One file per encoder, and the registry that finds one by its name.

#[cfg(feature = "neural")]
pub mod bert;
#[cfg(feature = "features")]
pub mod features;
pub mod file;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "neural")]
pub mod llm;
#[cfg(feature = "neural")]
pub mod neural;
mod registry;
#[cfg(feature = "tfidf")]
pub mod tfidf;

pub use registry::{BuildOptions, EncoderSpec, SpecError, parse};
