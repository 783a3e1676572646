//! Where the vectors of a file come from.

use std::collections::BTreeMap;

use crate::input::InputForm;

/// What an embedding file says about itself; kept in Parquet's key-value metadata under `sqlgauge.*`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata {
    /// Id of the encoder, such as `features@1` (`sqlgauge.encoder`); empty in a file made elsewhere.
    pub encoder: String,
    /// Its fingerprint (`sqlgauge.fingerprint`): vectors of two files can be compared only if theirs are equal. Empty
    /// in a file made elsewhere.
    pub fingerprint: String,
    /// What was encoded (`sqlgauge.form`), where it is known.
    pub form: Option<InputForm>,
    /// What each component means (`sqlgauge.dimension_names`, a JSON list), where it means something.
    pub dimension_names: Option<Vec<String>>,
    /// The version of sqlgauge that wrote the file (`sqlgauge.version`); the writer sets it.
    pub version: String,
    /// [`crate::digest`] of the items (`sqlgauge.source_digest`).
    pub source_digest: String,
    /// What else an encoder must find again, such as a vocabulary (`sqlgauge.extra.*`).
    pub extra: BTreeMap<String, String>,
}
