//! Embedding files: Parquet tables of items and their vectors.
//!
//! | column | Parquet type | meaning |
//! |---|---|---|
//! | `id` | string | id of the item in its workload; not unique where a file joins several workloads or systems |
//! | `db_id` | string | its database |
//! | `vector` | list of float32 | its embedding; every row has the same number of components |
//! | `correct` | double, nullable | whether the prediction was right, in \[0, 1\]; null where nobody knows |
//! | `confidence` | double, nullable | what the system said of its own answer; null where it said nothing |
//!
//! Where the vectors come from stands in the file's key-value metadata (see [`Metadata`]). Any Parquet library reads
//! the files: `pandas.read_parquet` shows `vector` as arrays, `pyarrow` as `list<float>`.
//!
//! A file is larger than memory as a rule. It is written in row groups of about 1 MiB of vectors, which are the
//! chunks of [`EmbeddingFile`]'s [`crate::Vectors`]; vectors are plain, uncompressed pages of little-endian floats,
//! so that reading a chunk is one positioned read and one copy per page, from any number of threads through one open
//! file. It is not mapped into memory, because the crate is free of `unsafe` code and a map of a file that someone
//! shortens is undefined behaviour; the page cache of the system makes the second reading as fast. Ids, databases,
//! labels and confidences are small and are read when the file is opened.

mod levels;
mod pairs;
mod positioned_file;
mod reader;
mod writer;

use std::path::PathBuf;

use crate::metadata::Metadata;
pub use reader::EmbeddingFile;
pub(crate) use reader::{Table, VectorColumn};
pub use writer::EmbeddingWriter;

#[derive(Debug, Clone, Copy)]
pub struct EmbeddingRow<'a> {
    /// Id of the item.
    pub id: &'a str,
    /// Name of its database.
    pub db_id: &'a str,
    pub vector: &'a [f32],
    /// Whether the prediction was right, in \[0, 1\].
    pub correct: Option<f64>,
    /// What the system said of its own answer.
    pub confidence: Option<f64>,
}

/// Why an embedding file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("{path}: {source}; {}", hint(source))]
    Io {
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is no Parquet file, is cut off, or contradicts itself.
    #[error("{path} cannot be read as Parquet: {problem}; it may be cut off or damaged, write it again")]
    Damaged {
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    #[error("{path} has no column {column:?}; an embedding file has id, db_id and vector (it has {present})")]
    MissingColumn { path: PathBuf, column: &'static str, present: String },
    /// A column has another type.
    #[error(
        "{path}: column {column:?} is {kind}, not {expected}; convert it, or use encode --encoder file:PATH"
    )]
    WrongType {
        path: PathBuf,
        column: &'static str,
        kind: String,
        /// What it should be.
        expected: &'static str,
    },
    /// There is no row.
    #[error("{path} has no item; a set of embeddings has at least one")]
    Empty { path: PathBuf },
    /// The column cannot have that value: a number that is not finite, a vector of another length, a null.
    #[error("{path}: row {row}: {problem}")]
    Value {
        path: PathBuf,
        /// Row, from 0.
        row: usize,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The metadata say something that cannot be.
    #[error("{path}: metadata {key:?} is {value:?}; write the file again")]
    Metadata { path: PathBuf, key: String, value: String },
}

/// What to do where the system refused.
fn hint(source: &std::io::Error) -> &'static str {
    if source.kind() == std::io::ErrorKind::NotFound {
        "check the path"
    } else {
        sqlgauge_base::file::remedy(source)
    }
}

/// What is wrong with the first component that is not finite.
pub(crate) fn not_finite(vector: &[f32]) -> Option<String> {
    // Without sign, the bits of a finite number are below those of infinity; a maximum of integers is taken many at once.
    let largest = vector.iter().fold(0, |largest, value| largest.max(value.to_bits() & 0x7fff_ffff));
    if largest < f32::INFINITY.to_bits() {
        return None;
    }
    let at = vector.iter().position(|value| !value.is_finite())?;
    Some(format!("component {at} is {}; a vector has finite components, encode the item again", vector[at]))
}
