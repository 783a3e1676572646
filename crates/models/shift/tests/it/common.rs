//! What several tests need.

use sqlgauge_encode::{Matrix, Vectors, VectorsError};

/// A stream of numbers for test data (splitmix64).
pub(crate) struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// About normal: the sum of twelve uniform numbers.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    #[expect(clippy::cast_possible_truncation, reason = "the vectors are of f32")]
    /// Vectors whose components are normal with mean `shift` and standard deviation `spread`.
    pub(crate) fn matrix(&mut self, rows: usize, dimensions: usize, shift: f64, spread: f64) -> Matrix {
        let values = (0..rows * dimensions).map(|_| (self.normal() * spread + shift) as f32).collect();
        Matrix::new(dimensions, values).expect("the sizes fit")
    }
}

/// A matrix in chunks of so many rows.
pub(crate) struct Chunked<'a>(pub &'a Matrix, pub usize);

impl Vectors for Chunked<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn dimensions(&self) -> usize {
        self.0.dimensions()
    }

    fn chunks(&self) -> usize {
        self.0.len().div_ceil(self.1)
    }

    fn read_chunk(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), VectorsError> {
        let size = self.1 * self.0.dimensions();
        rows.clear();
        let values = self.0.values().chunks(size).nth(chunk);
        rows.extend_from_slice(values.ok_or_else(|| VectorsError(format!("no chunk {chunk}")))?);
        Ok(())
    }
}

/// Runs something on so many threads.
pub(crate) fn on_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start").install(run)
}
