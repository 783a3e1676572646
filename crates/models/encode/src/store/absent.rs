//! Embedding files in a build without the feature `parquet`: none can be opened or written, and the error says why.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use sqlgauge_base::NotBuiltIn;

use super::{EmbeddingRow, Metadata, StoreError};
use crate::vectors::{Vectors, VectorsError};

const NOT_BUILT_IN: NotBuiltIn = NotBuiltIn { what: "a Parquet file of embeddings", feature: "parquet" };

/// An embedding file; this build has none.
#[derive(Debug)]
pub struct EmbeddingFile(Infallible);

impl EmbeddingFile {
    /// Fails.
    ///
    /// # Errors
    /// Always: the feature `parquet` is not built in.
    pub fn open(_: &Path) -> Result<Self, StoreError> {
        Err(NOT_BUILT_IN.into())
    }

    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    /// Where the vectors come from.
    pub fn metadata(&self) -> &Metadata {
        match self.0 {}
    }

    /// Id of each item, in the order of the vectors.
    pub fn ids(&self) -> &[String] {
        match self.0 {}
    }

    /// Database of each item.
    pub fn db_ids(&self) -> &[Arc<str>] {
        match self.0 {}
    }

    /// Label of each item.
    pub fn correct(&self) -> &[Option<f64>] {
        match self.0 {}
    }

    /// Confidence of each item.
    pub fn confidence(&self) -> &[Option<f64>] {
        match self.0 {}
    }

    /// The labels of all items.
    ///
    /// # Errors
    /// When an item has none.
    pub fn labels(&self) -> Result<Vec<f64>, StoreError> {
        match self.0 {}
    }

    /// As [`Vectors::read_chunk`], with the typed error.
    ///
    /// # Errors
    /// When the chunk cannot be read.
    pub fn read(&self, _: usize, _: &mut Vec<f32>) -> Result<(), StoreError> {
        match self.0 {}
    }
}

impl Vectors for EmbeddingFile {
    fn len(&self) -> usize {
        match self.0 {}
    }

    fn dimensions(&self) -> usize {
        match self.0 {}
    }

    fn chunks(&self) -> usize {
        match self.0 {}
    }

    fn read_chunk(&self, _: usize, _: &mut Vec<f32>) -> Result<(), VectorsError> {
        match self.0 {}
    }
}

/// Writes an embedding file; this build cannot.
#[derive(Debug)]
pub struct EmbeddingWriter(Infallible);

impl EmbeddingWriter {
    /// Fails.
    ///
    /// # Errors
    /// Always: the feature `parquet` is not built in.
    pub fn create(_: &Path, _: &Metadata, _: usize) -> Result<Self, StoreError> {
        Err(NOT_BUILT_IN.into())
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When the row cannot be written.
    pub fn push(&mut self, _: EmbeddingRow<'_>) -> Result<(), StoreError> {
        match self.0 {}
    }

    /// Puts the file in place.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(self) -> Result<(), StoreError> {
        match self.0 {}
    }
}

/// A Parquet file; this build reads none.
#[derive(Debug)]
pub(crate) struct Table(Infallible);

impl Table {
    pub(crate) fn open(_: &Path) -> Result<Self, StoreError> {
        Err(NOT_BUILT_IN.into())
    }

    pub(crate) fn rows(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn groups(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn has(&self, _: &str) -> bool {
        match self.0 {}
    }

    pub(crate) fn description(&self) -> Result<(Metadata, Option<usize>), StoreError> {
        match self.0 {}
    }

    pub(crate) fn texts(&self, _: &'static str) -> Result<Vec<String>, StoreError> {
        match self.0 {}
    }
}

/// The column of vectors of a table.
#[derive(Debug)]
pub(crate) struct VectorColumn {
    /// Components of each vector.
    pub(crate) dimensions: usize,
    none: Infallible,
}

impl VectorColumn {
    pub(crate) fn find(table: &Table, _: &'static str, _: Option<usize>) -> Result<Self, StoreError> {
        match table.0 {}
    }

    pub(crate) fn read_group(&self, _: &Table, _: usize, _: &mut Vec<f32>) -> Result<(), StoreError> {
        match self.none {}
    }
}
