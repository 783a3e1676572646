//! Sets of vectors that are read piece by piece.

/// Why vectors could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct VectorsError(pub String);

/// A set of vectors of one dimension, read in chunks of rows, so that a set larger than memory can be walked by many
/// threads at once.
pub trait Vectors: Sync {
    fn len(&self) -> usize;

    /// Components of each vector.
    fn dimensions(&self) -> usize;

    fn chunks(&self) -> usize;

    /// Puts the rows of a chunk, one after the other, into `rows` (what was there is gone).
    ///
    /// # Errors
    /// When the file under it cannot be read, or holds something else than it said.
    fn read_chunk(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), VectorsError>;

    /// Whether there is no vector.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Vectors in memory, row after row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    dimensions: usize,
    values: Vec<f32>,
}

const CHUNK_ROWS: usize = 4096;

impl Matrix {
    /// A matrix of that many columns.
    ///
    /// # Errors
    /// When the number of values is no multiple of the dimensions.
    pub fn new(dimensions: usize, values: Vec<f32>) -> Result<Self, VectorsError> {
        if dimensions == 0 || !values.len().is_multiple_of(dimensions) {
            return Err(VectorsError(format!(
                "{} values do not make vectors of {dimensions} components",
                values.len()
            )));
        }
        Ok(Self { dimensions, values })
    }

    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.dimensions..][..self.dimensions]
    }

    /// All vectors, one after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.dimensions.max(1))
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

impl Vectors for Matrix {
    fn len(&self) -> usize {
        self.values.len().checked_div(self.dimensions).unwrap_or(0)
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn chunks(&self) -> usize {
        self.len().div_ceil(CHUNK_ROWS)
    }

    fn read_chunk(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), VectorsError> {
        rows.clear();
        let values = self.values.chunks(CHUNK_ROWS * self.dimensions.max(1)).nth(chunk);
        rows.extend_from_slice(values.ok_or_else(|| VectorsError(format!("there is no chunk {chunk}")))?);
        Ok(())
    }
}
