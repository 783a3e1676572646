//! One file per encoder, and the registry that finds one by its name.

#[cfg(feature = "neural")]
pub mod bert;
pub mod features;
#[cfg(feature = "parquet")]
pub mod file;
#[cfg(feature = "services")]
pub mod http;
#[cfg(feature = "neural")]
pub mod llm;
#[cfg(feature = "neural")]
pub mod neural;
mod registry;
pub mod tfidf;

pub use registry::{BuildOptions, EncoderSpec, SpecError, parse};
