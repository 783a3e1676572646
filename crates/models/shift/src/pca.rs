//! Principal directions of a sample by randomised PCA.
//!
//! Source: N. Halko, P.-G. Martinsson, J. A. Tropp, "Finding structure with randomness", SIAM Review 53 (2011),
//! algorithms 4.4 and 5.1, with 8 directions more than asked for and one power iteration.

use rayon::prelude::*;
use sqlgauge_encode::Vectors;

use crate::eigen::{self, Eigen};
use crate::error::{SetSide, ShiftError};
use crate::kernels::{BLOCK_ROWS, Packed};
use sqlgauge_base::Random;

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
    sets: &[(SetSide, &dyn Vectors)],
    dimensions: usize,
    seed: u64,
) -> Result<Vec<f32>, ShiftError> {
    let total: usize = sets.iter().map(|(_, set)| set.len()).sum();
    let wanted = SAMPLE_ROWS.min((SAMPLE_BYTES / (4 * dimensions)).max(FEWEST_ROWS)).min(total);
    let mut rows = Vec::with_capacity((wanted + sets.len() * SAMPLE_CHUNKS) * dimensions);
    for (index, (side, set)) in sets.iter().enumerate() {
        let share = (wanted * set.len()).div_ceil(total);
        let chunks = Random::new([seed, index as u64]).distinct(SAMPLE_CHUNKS, set.chunks());
        let quota = share.div_ceil(chunks.len().max(1));
        let parts: Vec<Result<Vec<f32>, ShiftError>> = chunks
            .par_iter()
            .map_init(Vec::new, |buffer, chunk| {
                let mut random = Random::new([seed, index as u64, *chunk as u64]);
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
    side: SetSide,
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
/// The sign of a direction is chosen so that its component of the largest size is positive. The vectors of `sample` lie one
/// after the other; there are fewer directions than asked for where it does not vary in as many.
pub fn principal_directions(mut sample: Vec<f32>, dimensions: usize, count: usize, seed: u64) -> Vec<f32> {
    let rows = sample.len() / dimensions;
    let width = (count + OVERSAMPLING).min(rows).min(dimensions);
    if count == 0 || rows < 2 {
        return Vec::new();
    }
    centre(&mut sample, dimensions);
    let turned = transposed(&sample, dimensions);
    let mut random = Random::new([seed]);
    #[expect(clippy::cast_possible_truncation, reason = "the sketch is in single precision, as the data")]
    let mut sketch: Vec<f32> = (0..width * dimensions).map(|_| random.normals()[0] as f32).collect();
    for _ in 0..=POWER_ITERATIONS {
        let basis = orthonormal(&product(&sample, dimensions, &sketch), rows);
        sketch = product(&turned, rows, &basis);
        if sketch.iter().any(|value| !value.is_finite()) {
            return Vec::new();
        }
    }
    leading(&sketch, dimensions, count.min(width))
}

/// The directions from `Z = XᵀQ`, whose columns lie one after the other: the eigenvectors `u` of `ZᵀZ` give the
/// directions `Zu`.
fn leading(sketch: &[f32], dimensions: usize, count: usize) -> Vec<f32> {
    let columns: Vec<Vec<f64>> = sketch
        .chunks_exact(dimensions)
        .map(|column| column.iter().map(|&x| f64::from(x)).collect())
        .collect();
    let gram = columns.iter().flat_map(|a| columns.iter().map(|b| dot(a, b))).collect();
    let Some(Eigen { values, vectors }) = eigen::symmetric(gram, columns.len()) else {
        return Vec::new();
    };
    let mut directions = Vec::new();
    for (value, vector) in values.iter().zip(&vectors).take(count) {
        if *value <= values[0] * SMALLEST_SHARE || *value <= 0.0 {
            break;
        }
        let mut direction = vec![0.0; dimensions];
        for (column, share) in columns.iter().zip(vector) {
            direction.iter_mut().zip(column).for_each(|(sum, x)| *sum += share * x);
        }
        directions.extend(normalised(&direction));
    }
    directions
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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

/// Vectors times directions, both one after the other: for each direction, the products with all vectors.
fn product(vectors: &[f32], length: usize, directions: &[f32]) -> Vec<f32> {
    let count = vectors.len() / length;
    let packed = Packed::new(length, directions);
    let mut scratch = packed.scratch();
    let mut products = vec![0.0; count * packed.count()];
    for (block, rows) in vectors.chunks(BLOCK_ROWS * length).enumerate() {
        packed.project(rows, &mut scratch, |direction, row, value| {
            products[direction * count + block * BLOCK_ROWS + row] = value;
        });
    }
    products
}

/// Component after component of all vectors, in place of vector after vector.
fn transposed(vectors: &[f32], length: usize) -> Vec<f32> {
    let count = vectors.len() / length;
    let mut turned = vec![0.0; vectors.len()];
    for (row, vector) in vectors.chunks_exact(length).enumerate() {
        vector.iter().enumerate().for_each(|(at, value)| turned[at * count + row] = *value);
    }
    turned
}

/// Vectors of length 1 that are at right angles to each other and span the same space (Gram and Schmidt, each taken
/// away twice, which is enough); zeros in place of a vector that lies in the space of those before it.
fn orthonormal(vectors: &[f32], length: usize) -> Vec<f32> {
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(vectors.len() / length);
    for vector in vectors.chunks_exact(length) {
        let mut rest: Vec<f64> = vector.iter().map(|&x| f64::from(x)).collect();
        let before = dot(&rest, &rest).sqrt();
        for _ in 0..2 {
            for direction in &basis {
                let share = dot(&rest, direction);
                rest.iter_mut().zip(direction).for_each(|(x, component)| *x -= share * component);
            }
        }
        let after = dot(&rest, &rest).sqrt();
        // What is left of a dependent vector is the rounding of the products that it is made of.
        let scale = if after > f64::from(f32::EPSILON) * before { 1.0 / after } else { 0.0 };
        rest.iter_mut().for_each(|x| *x *= scale);
        basis.push(rest);
    }
    #[expect(clippy::cast_possible_truncation, reason = "the sketch is in single precision, as the data")]
    basis.into_iter().flatten().map(|x| x as f32).collect()
}
