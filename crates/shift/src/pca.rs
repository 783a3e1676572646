//! Principal directions of a sample by randomised PCA.
//!
//! Source: N. Halko, P.-G. Martinsson, J. A. Tropp, "Finding structure with randomness", SIAM Review 53 (2011),
//! algorithms 4.4 and 5.1, with 8 directions more than asked for and one power iteration.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;
use sqlgauge_encode::Vectors;

use crate::error::{ShiftError, Side};
use crate::random::Random;

/// Most vectors of the sample.
const SAMPLE_ROWS: usize = 1024;
/// Most bytes of the sample, unless that makes it smaller than [`FEWEST_ROWS`].
const SAMPLE_BYTES: usize = 6 << 20;
/// Fewest vectors of the sample, however long they are.
const FEWEST_ROWS: usize = 128;
/// Chunks of a set that are read.
const SAMPLE_CHUNKS: usize = 64;
/// Directions beyond those asked for.
const OVERSAMPLING: usize = 8;
/// Rounds that sharpen the sketch.
const POWER_ITERATIONS: usize = 1;
/// A principal direction must carry at least this share of the variance of the first.
const SMALLEST_SHARE: f64 = 1e-10;

/// Vectors drawn from the sets together, one after the other.
pub(crate) fn sample(
    sets: &[(Side, &dyn Vectors)],
    dimensions: usize,
    seed: u64,
) -> Result<Vec<f32>, ShiftError> {
    let total: usize = sets.iter().map(|(_, set)| set.len()).sum();
    let wanted = SAMPLE_ROWS.min((SAMPLE_BYTES / (4 * dimensions)).max(FEWEST_ROWS)).min(total);
    let mut rows = Vec::with_capacity((wanted + sets.len() * SAMPLE_CHUNKS) * dimensions);
    for (index, (side, set)) in sets.iter().enumerate() {
        let share = (wanted * set.len()).div_ceil(total);
        let chunks = Random::new(seed, 1 + index as u64).distinct(SAMPLE_CHUNKS, set.chunks());
        let quota = share.div_ceil(chunks.len().max(1));
        let parts: Vec<Result<Vec<f32>, ShiftError>> = chunks
            .par_iter()
            .map_init(Vec::new, |buffer, chunk| {
                let mut random = Random::new(seed ^ (index as u64 + 1).rotate_left(32), 2 + *chunk as u64);
                sample_chunk(*side, *set, *chunk, quota, &mut random, buffer)
            })
            .collect();
        for part in parts {
            rows.extend(part?);
        }
    }
    Ok(rows)
}

/// Some vectors of a chunk, all of them if they are no more.
fn sample_chunk(
    side: Side,
    set: &dyn Vectors,
    chunk: usize,
    quota: usize,
    random: &mut Random,
    buffer: &mut Vec<f32>,
) -> Result<Vec<f32>, ShiftError> {
    let dimensions = set.dimensions();
    set.read_chunk(chunk, buffer).map_err(|error| ShiftError::Read { side, error })?;
    let mut sample = Vec::with_capacity(quota * dimensions);
    for row in random.distinct(quota, buffer.len() / dimensions) {
        let values = &buffer[row * dimensions..][..dimensions];
        if let Some(dimension) = values.iter().position(|value| !value.is_finite()) {
            let before: usize = (0..chunk).map(|chunk| chunk_rows(set, chunk)).sum();
            return Err(ShiftError::NotFinite {
                side,
                row: before + row,
                dimension,
                value: values[dimension],
            });
        }
        sample.extend_from_slice(values);
    }
    Ok(sample)
}

/// Rows of a chunk, found by reading it: only for an error message.
fn chunk_rows(set: &dyn Vectors, chunk: usize) -> usize {
    let mut rows = Vec::new();
    if set.read_chunk(chunk, &mut rows).is_ok() { rows.len() / set.dimensions() } else { 0 }
}

/// Up to `count` principal directions of length 1, strongest first, one after the other.
///
/// The sign of a direction is chosen so that its component of the largest size is positive.
pub(crate) fn principal_directions(
    mut sample: Vec<f32>,
    dimensions: usize,
    count: usize,
    seed: u64,
) -> Vec<f32> {
    let rows = sample.len() / dimensions;
    let width = (count + OVERSAMPLING).min(rows).min(dimensions);
    if count == 0 || rows < 2 {
        return Vec::new();
    }
    centre(&mut sample, dimensions);
    let data = MatRef::from_row_major_slice(&sample, rows, dimensions);
    let mut random = Random::new(seed, u64::MAX);
    #[expect(clippy::cast_possible_truncation, reason = "the sketch is in single precision, as the data")]
    let mut sketch = Mat::from_fn(dimensions, width, |_, _| random.normals()[0] as f32);
    let mut basis = Mat::zeros(rows, width);
    for _ in 0..=POWER_ITERATIONS {
        basis = orthonormal(&product(data, sketch.as_ref()));
        sketch = product(data.transpose(), basis.as_ref());
        if sketch.as_ref().col_iter().any(|column| column.iter().any(|value| !value.is_finite())) {
            return Vec::new();
        }
    }
    drop(basis);
    leading(&sketch, count.min(width))
}

/// The directions from `Z = XᵀQ`: the eigenvectors `u` of `ZᵀZ` give the directions `Zu`.
fn leading(sketch: &Mat<f32>, count: usize) -> Vec<f32> {
    let width = sketch.ncols();
    let wide = Mat::from_fn(sketch.nrows(), width, |row, column| f64::from(sketch[(row, column)]));
    let mut gram = Mat::<f64>::zeros(width, width);
    matmul(&mut gram, Accum::Replace, wide.transpose(), &wide, 1.0, Par::Seq);
    let Ok(eigen) = gram.self_adjoint_eigen(faer::Side::Lower) else {
        return Vec::new();
    };
    let (values, vectors) = (eigen.S(), eigen.U());
    let largest = values[width - 1];
    let mut directions = Vec::new();
    for index in (0..width).rev().take(count) {
        if values[index] <= largest * SMALLEST_SHARE || values[index] <= 0.0 {
            break;
        }
        let direction: Vec<f64> = (0..sketch.nrows())
            .map(|row| (0..width).map(|column| wide[(row, column)] * vectors[(column, index)]).sum())
            .collect();
        directions.extend(normalised(&direction));
    }
    directions
}

#[expect(clippy::cast_possible_truncation, reason = "directions are kept in single precision")]
fn normalised(direction: &[f64]) -> Vec<f32> {
    let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    let peak = direction.iter().fold(0.0_f64, |peak, x| if x.abs() > peak.abs() { *x } else { peak });
    let scale = 1.0 / length.copysign(peak);
    direction.iter().map(|x| (x * scale) as f32).collect()
}

/// Takes the mean away.
fn centre(sample: &mut [f32], dimensions: usize) {
    let rows = sample.len() / dimensions;
    let mut mean = vec![0.0; dimensions];
    for row in sample.chunks_exact(dimensions) {
        mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += f64::from(*value));
    }
    mean.iter_mut().for_each(|mean| *mean /= rows as f64);
    for row in sample.chunks_exact_mut(dimensions) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the sketch is in single precision, as the data"
        )]
        row.iter_mut().zip(&mean).for_each(|(value, mean)| *value = (f64::from(*value) - mean) as f32);
    }
}

fn product(a: MatRef<'_, f32>, b: MatRef<'_, f32>) -> Mat<f32> {
    let mut result = Mat::zeros(a.nrows(), b.ncols());
    matmul(&mut result, Accum::Replace, a, b, 1.0, Par::Seq);
    result
}

fn orthonormal(matrix: &Mat<f32>) -> Mat<f32> {
    matrix.qr().compute_thin_Q()
}
