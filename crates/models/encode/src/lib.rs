//! Questions, schemas and predictions to vectors: one file per encoder.
//!
//! An [`Encoder`] makes a vector of an [`EncoderInput`]; [`encoders::parse`] finds it by its name,
//! [`encode_workload`] runs it over a workload, and the vectors go to an embedding file (`store`, feature `parquet`), which everything
//! behind it reads as [`Vectors`].

pub mod cache;
mod encoder;
pub mod encoders;
mod input;
mod metadata;
mod positioned;
pub mod render;
#[cfg(feature = "parquet")]
pub mod store;
mod vectors;
mod workload;

pub use cache::digest;
pub use encoder::{EncodeError, Encoder};
pub use input::{EncoderInput, InputForm};
pub use metadata::Metadata;
#[cfg(feature = "parquet")]
pub use store::{EmbeddingFile, EmbeddingRow, EmbeddingWriter, StoreError};
pub use vectors::{Matrix, Vectors, VectorsError};
pub use workload::{EncodeProgress, Sink, WorkloadError, encode_workload};
