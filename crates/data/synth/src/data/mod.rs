//! The files of pairs: a small registry of formats.
//!
//! # Contract
//! Every format holds the same records in the same order, one for each line of JSON that it is given, and a file is put in
//! place whole or not at all. The same records give the same bytes. Files are named and cut as Hugging Face's `datasets`
//! expects it (`train-00000-of-00007.jsonl`).

mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sqlgauge_base::NotBuiltIn;

/// How records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DataFormat {
    /// A JSON object a line.
    Jsonl,
    /// A Parquet table, compressed with Snappy.
    Parquet,
}

/// What a column of a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A text, or null.
    Text,
    /// Texts, each of which may be null.
    Texts,
    /// A whole number.
    Integer,
    /// Anything; a table has it as the text of its JSON.
    Json,
}

/// A field of a record, as a table has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldColumn {
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
}

/// A file that is being written.
pub trait RecordFile {
    /// Adds a record, given as the text of a JSON object.
    ///
    /// # Errors
    /// When it cannot be written, or has not the columns of the file.
    fn push(&mut self, record: &[u8]) -> io::Result<()>;

    /// Puts the file in place.
    ///
    /// # Errors
    /// When it cannot be written.
    fn commit(self: Box<Self>) -> io::Result<()>;
}

impl DataFormat {
    pub const ALL: [Self; 2] = [Self::Jsonl, Self::Parquet];

    /// How it is called, and how its files end.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }

    /// Whether this build can write it.
    ///
    /// # Errors
    /// [`NotBuiltIn`] with the feature that it takes.
    pub fn check_built(self) -> Result<(), NotBuiltIn> {
        if self == Self::Parquet && !cfg!(feature = "parquet") {
            return Err(NotBuiltIn { what: "synth --output-format parquet", feature: "parquet" });
        }
        Ok(())
    }

    /// Begins a file of records with those columns.
    ///
    /// # Errors
    /// When it cannot be made, or this build has not the format.
    pub fn create(self, path: &Path, columns: &'static [FieldColumn]) -> io::Result<Box<dyn RecordFile>> {
        match self {
            Self::Jsonl => Ok(Box::new(jsonl::Lines::create(path)?)),
            #[cfg(feature = "parquet")]
            Self::Parquet => Ok(Box::new(parquet::Table::create(path, columns)?)),
            #[cfg(not(feature = "parquet"))]
            Self::Parquet => {
                let _ = columns;
                Err(io::Error::new(io::ErrorKind::Unsupported, "Parquet is not built in"))
            }
        }
    }
}
