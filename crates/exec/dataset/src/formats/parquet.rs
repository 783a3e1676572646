//! Parquet files, uncompressed or compressed with Snappy.

#[cfg(feature = "parquet")]
mod rows;

use super::{Reader, Take};
use crate::error::DatasetError;
use crate::input::Input;

const SIGNATURE: &[u8] = b"PAR1";

pub(super) struct Parquet;

impl Reader for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn summary(&self) -> &'static str {
        "a Parquet table with named columns, uncompressed or Snappy"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["parquet"]
    }

    fn has_signature(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(SIGNATURE)
    }

    #[cfg(feature = "parquet")]
    fn read(&self, input: &Input, _notes: &mut Vec<String>, take: Take<'_>) -> Result<(), DatasetError> {
        rows::read(input, take)
    }

    #[cfg(not(feature = "parquet"))]
    fn read(&self, input: &Input, _notes: &mut Vec<String>, _take: Take<'_>) -> Result<(), DatasetError> {
        Err(DatasetError::NotBuiltIn {
            path: input.path().to_owned(),
            missing: sqlgauge_base::NotBuiltIn { what: "a Parquet file", feature: "parquet" },
        })
    }
}
