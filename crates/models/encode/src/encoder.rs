//! The trait of all encoders.

use std::collections::BTreeMap;

use crate::input::EncoderInput;
use crate::vectors::Matrix;

/// Why a text could not be encoded.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct EncodeError(pub String);

/// Text to vectors.
pub trait Encoder: Send + Sync {
    /// Name and what it depends on, such as `features@1` or `bert:all-MiniLM-L6-v2`.
    fn id(&self) -> String;

    /// Changes whenever the vector of some input changes (weights, options, version): half of the cache key.
    fn fingerprint(&self) -> String;

    /// Components of a vector.
    fn dimensions(&self) -> usize;

    /// What each component means, where it means something.
    fn dimension_names(&self) -> Option<Vec<String>> {
        None
    }

    /// What another run needs to make the same encoder again, where its name does not say it (a learned vocabulary); kept
    /// in the metadata of the embedding file.
    fn extra(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// One vector per input, in their order. The vector of an input does not depend on what else is in the batch.
    ///
    /// # Errors
    /// When a model or a service fails; no vector is made up.
    fn encode(&self, inputs: &[EncoderInput]) -> Result<Matrix, EncodeError>;
}
