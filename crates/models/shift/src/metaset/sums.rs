//! Moments of many sets of vectors in one walk over the corpus.

use rayon::prelude::*;
use sqlgauge_encode::Vectors;

use super::Strategy;
use crate::error::{SetSide, ShiftError};
use crate::kernels;
use crate::moments::Moments;

/// Bytes of the vectors that all sets take their members from at one time: few enough for the shared cache.
const SLAB_BYTES: usize = 4 << 20;

/// A set and the running sums over its members.
pub(super) struct SetSums {
    pub(super) strategy: Strategy,
    /// Rising.
    pub(super) members: Vec<u32>,
    added: usize,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl SetSums {
    pub(super) fn new(strategy: Strategy, members: Vec<u32>, dimensions: usize) -> Self {
        Self { strategy, members, added: 0, sums: vec![0.0; dimensions], squares: vec![0.0; dimensions] }
    }

    /// The moments of its members; `pivot` is what the sums were taken from.
    pub(super) fn moments(&self, pivot: &[f64]) -> Moments {
        Moments::from_sums(self.members.len() as u64, pivot, &self.sums, &self.squares)
    }

    /// Adds the members that are in a slab beginning at vector `first`.
    fn add(&mut self, slab: &[f32], first: usize, pivot: &[f64]) {
        let dimensions = pivot.len();
        let end = first + slab.len() / dimensions;
        let waiting = &self.members[self.added..];
        let here = waiting.partition_point(|item| (*item as usize) < end);
        let rows =
            waiting[..here].iter().map(|item| &slab[(*item as usize - first) * dimensions..][..dimensions]);
        kernels::add_moments(rows, pivot, &mut self.sums, &mut self.squares);
        self.added += here;
    }
}

/// Walks over the corpus once and adds every vector to the sets that it is in.
pub(super) fn accumulate(
    sets: &mut [SetSums],
    vectors: &dyn Vectors,
    pivot: &[f64],
) -> Result<(), ShiftError> {
    let (mut slab, mut chunk_rows) = (Vec::new(), Vec::new());
    let mut first = 0;
    for chunk in 0..vectors.chunks() {
        let read = vectors.read_chunk(chunk, &mut chunk_rows);
        read.map_err(|error| ShiftError::Read { side: SetSide::Corpus, error })?;
        slab.extend_from_slice(&chunk_rows);
        if slab.len() * 4 >= SLAB_BYTES || chunk + 1 == vectors.chunks() {
            for slab in slab.chunks((SLAB_BYTES / (4 * pivot.len())).max(1) * pivot.len()) {
                sets.par_iter_mut().for_each(|set| set.add(slab, first, pivot));
                first += slab.len() / pivot.len();
            }
            slab.clear();
        }
    }
    Ok(())
}
