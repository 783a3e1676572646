//! An open file as the Parquet reader wants it.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::positioned::PositionedReader;

/// A file that is read at given positions; unlike a cloned [`File`], its readers share no position.
#[derive(Debug)]
pub(super) struct PositionedFile {
    file: Arc<File>,
    length: u64,
}

impl PositionedFile {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), length })
    }
}

impl Length for PositionedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for PositionedFile {
    type T = BufReader<PositionedReader>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        // Only page headers are read this way.
        Ok(BufReader::with_capacity(1024, PositionedReader::new(Arc::clone(&self.file), start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} are not in the file")));
        }
        let mut bytes = vec![0; length];
        let mut reader = PositionedReader::new(Arc::clone(&self.file), start);
        reader.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
