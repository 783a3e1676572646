//! One pass over vectors, by many threads, with the same result for any number of them.

use rayon::prelude::*;
use sqlgauge_encode::Vectors;

use crate::directions::Directions;
use crate::error::{SetSide, ShiftError};
use crate::kernels::{self, BLOCK_ROWS, Packed};
use crate::moments::Moments;
use crate::partial::Partial;

/// Bytes of the vectors whose moments are summed together: few enough for the processor's cache.
const SEGMENT_BYTES: usize = 2 << 20;

/// How far a vector lies from the source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whitening<'a> {
    pub(crate) mean: &'a [f64],
    /// 1/σ of each dimension, 0 for those that are left out.
    pub(crate) scale: &'a [f64],
}

/// Walks over the chunks of a set: `work` runs on many threads, `take` gets the results in the order of the chunks.
///
/// So many chunks are in memory at a time as fit into `bytes`, at least one and at most one per thread: more threads do
/// not take more memory. An error is the first in the order of the chunks.
pub(crate) fn for_chunks<T: Send>(
    side: SetSide,
    vectors: &dyn Vectors,
    bytes: usize,
    work: impl Fn(&[f32]) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), ShiftError>,
) -> Result<(), ShiftError> {
    let chunk_bytes = (4 * vectors.dimensions() * vectors.len()).div_ceil(vectors.chunks().max(1)).max(1);
    let together = (bytes / chunk_bytes).clamp(1, rayon::current_num_threads());
    let mut buffers: Vec<Vec<f32>> = vec![Vec::new(); together.min(vectors.chunks())];
    for first in (0..vectors.chunks()).step_by(together) {
        let chunks = (first..vectors.chunks()).zip(&mut buffers).collect::<Vec<_>>().into_par_iter();
        let read = |(chunk, rows): (usize, &mut Vec<f32>)| {
            vectors.read_chunk(chunk, rows).map_err(|error| ShiftError::Read { side, error })?;
            Ok(work(rows))
        };
        for result in chunks.with_max_len(1).map(read).collect::<Vec<Result<T, ShiftError>>>() {
            take(result?)?;
        }
    }
    Ok(())
}

/// Bytes of the chunks that are read at a time while projections on so many directions are kept: a quarter of what the
/// projections take.
pub(crate) fn reading_bytes(vectors: &dyn Vectors, directions: usize) -> usize {
    vectors.len() * directions
}

/// Directions that are worked on at a time where each needs some room of its own: few, so that more threads do not take
/// more memory than the projections themselves.
pub(crate) fn directions_together(directions: usize) -> usize {
    (directions / 16).max(1)
}

/// Moments and projections of a set, with the distances from the source if its `whitening` is given.
pub(crate) fn scan(
    side: SetSide,
    vectors: &dyn Vectors,
    directions: &Directions,
    whitening: Option<Whitening<'_>>,
) -> Result<Partial, ShiftError> {
    crate::directions::check_dimensions(side, vectors, directions.dimensions())?;
    let packed = Packed::new(directions.dimensions(), directions.values());
    let mut partial = Partial::new(directions.fingerprint(), directions.dimensions(), directions.len());
    partial.projections.iter_mut().for_each(|values| values.reserve_exact(vectors.len()));
    let mut row = 0;
    let work = |rows: &[f32]| segments(rows, &packed, whitening);
    for_chunks(side, vectors, reading_bytes(vectors, directions.len()), work, |segments| {
        for segment in segments {
            let segment = segment.map_err(|fault| fault.at(side, row))?;
            row += segment.rows;
            append(&mut partial, &segment)?;
        }
        Ok(())
    })?;
    Ok(partial)
}

/// What a segment of vectors leaves.
struct Segment {
    rows: usize,
    moments: Moments,
    /// Direction after direction.
    projections: Vec<f32>,
    distances: Vec<f64>,
}

/// A number that is not finite, by its row in the segment.
enum Fault {
    Value { row: usize, dimension: usize, value: f32 },
    Projection { row: usize },
}

impl Fault {
    fn at(self, side: SetSide, first: usize) -> ShiftError {
        match self {
            Self::Value { row, dimension, value } => {
                ShiftError::NotFinite { side, row: first + row, dimension, value }
            }
            Self::Projection { row } => ShiftError::Overflow { side, row: first + row },
        }
    }
}

fn segments(rows: &[f32], packed: &Packed, whitening: Option<Whitening<'_>>) -> Vec<Result<Segment, Fault>> {
    let dimensions = packed.dimensions();
    let length = (SEGMENT_BYTES / (4 * dimensions)).next_multiple_of(BLOCK_ROWS).max(BLOCK_ROWS) * dimensions;
    rows.par_chunks(length).map(|rows| segment(rows, packed, whitening)).collect()
}

fn segment(rows: &[f32], packed: &Packed, whitening: Option<Whitening<'_>>) -> Result<Segment, Fault> {
    let dimensions = packed.dimensions();
    let count = rows.len() / dimensions;
    let pivot: Vec<f64> = rows[..dimensions].iter().map(|value| f64::from(*value)).collect();
    let (mut sums, mut squares) = (vec![0.0; dimensions], vec![0.0; dimensions]);
    let mut projections = vec![0.0; count * packed.count()];
    let mut distances = Vec::with_capacity(if whitening.is_some() { count } else { 0 });
    let mut scratch = packed.scratch();
    let mut overflow = usize::MAX;
    for (number, block) in rows.chunks(BLOCK_ROWS * dimensions).enumerate() {
        kernels::add_moments(block.chunks_exact(dimensions), &pivot, &mut sums, &mut squares);
        packed.project(block, &mut scratch, |direction, row, value| {
            let row = number * BLOCK_ROWS + row;
            projections[direction * count + row] = value;
            if !value.is_finite() {
                overflow = overflow.min(row);
            }
        });
        if let Some(Whitening { mean, scale }) = whitening {
            kernels::distances(block, mean, scale, &mut distances);
        }
    }
    if sums.iter().chain(&squares).any(|sum| !sum.is_finite())
        && let Some(place) = rows.iter().position(|value| !value.is_finite())
    {
        let (row, dimension) = (place / dimensions, place % dimensions);
        return Err(Fault::Value { row, dimension, value: rows[place] });
    }
    if overflow < count {
        return Err(Fault::Projection { row: overflow });
    }
    let moments = Moments::from_sums(count as u64, &pivot, &sums, &squares);
    Ok(Segment { rows: count, moments, projections, distances })
}

fn append(partial: &mut Partial, segment: &Segment) -> Result<(), ShiftError> {
    partial.moments.merge(&segment.moments)?;
    for (values, new) in partial.projections.iter_mut().zip(segment.projections.chunks_exact(segment.rows)) {
        values.extend_from_slice(new);
    }
    partial.distances.extend_from_slice(&segment.distances);
    Ok(())
}

pub(crate) fn moments(side: SetSide, vectors: &dyn Vectors) -> Result<Moments, ShiftError> {
    if vectors.is_empty() || vectors.dimensions() == 0 {
        return Err(ShiftError::TooFew { side, count: 0, needed: 1 });
    }
    // One direction along the first axis costs next to nothing beside reading.
    let mut axis = vec![0.0; vectors.dimensions()];
    axis[0] = 1.0;
    let directions = Directions::from_rows(vectors.dimensions(), axis)?;
    Ok(scan(side, vectors, &directions, None)?.moments)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use sqlgauge_encode::VectorsError;

    use super::*;

    /// 40 chunks of 25 vectors of 4 components; counts how many are in memory at a time.
    #[derive(Default)]
    struct Counted {
        inside: AtomicUsize,
        most: AtomicUsize,
    }

    impl Vectors for Counted {
        fn len(&self) -> usize {
            1000
        }

        fn dimensions(&self) -> usize {
            4
        }

        fn chunks(&self) -> usize {
            40
        }

        fn read_chunk(&self, chunk: usize, rows: &mut Vec<f32>) -> Result<(), VectorsError> {
            let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(inside, Ordering::SeqCst);
            rows.clear();
            rows.resize(100, chunk as f32);
            if chunk == 33 { Err(VectorsError("torn".to_owned())) } else { Ok(()) }
        }
    }

    #[test]
    fn more_threads_hold_no_more_chunks_than_the_bytes_allow() {
        for (threads, bytes, most) in [(8, 1200, 3), (8, 1, 1), (2, 1 << 20, 2), (1, 1 << 20, 1)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap_or_else(|error| {
                panic!("no thread pool: {error}");
            });
            let vectors = Counted::default();
            let mut seen = Vec::new();
            let work = |rows: &[f32]| {
                vectors.inside.fetch_sub(1, Ordering::SeqCst);
                rows[0]
            };
            let take = |first: f32| {
                seen.push(first);
                Ok(())
            };
            let result = pool.install(|| for_chunks(SetSide::Target, &vectors, bytes, work, take));
            assert!(matches!(result, Err(ShiftError::Read { side: SetSide::Target, .. })));
            assert!(vectors.most.load(Ordering::SeqCst) <= most, "{threads} threads, {bytes} bytes");
            let expected: Vec<f32> = (0_u8..33).map(f32::from).collect();
            assert_eq!(seen, expected, "results come in order, up to the first error");
        }
    }
}
