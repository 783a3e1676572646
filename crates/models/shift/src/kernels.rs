//! The loops that touch every component: projections, moments, distances.
//!
//! They are written once and compiled for the widest instructions of the processor at hand through `pulp`. The
//! order of the operations on one output does not depend on the width, so neither does the result.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the dispatched function is compiled for the oldest processor"
)]

use std::ops::Range;

use pulp::bytemuck::cast_slice;
use pulp::{Arch, Simd, WithSimd};

/// Vectors that go through the kernels together: a multiple of the tile heights 4, 6 and 8.
pub(crate) const BLOCK_ROWS: usize = 48;

/// Products that are summed in `f32` before the sum goes on in `f64`: it bounds the rounding error of long vectors.
const DEPTH: usize = 256;

/// Directions in the order in which the product reads them.
#[derive(Debug, Clone)]
pub(crate) struct Packed {
    dimensions: usize,
    count: usize,
    /// Directions with padding.
    width: usize,
    /// SIMD vectors of one tile.
    vectors: usize,
    /// Depth block after depth block, in it tile after tile, in it dimension after dimension.
    values: Vec<f32>,
}

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> usize {
        S::F32_LANES
    }
}

impl Packed {
    /// From `count` directions, one after the other.
    pub(crate) fn new(dimensions: usize, directions: &[f32]) -> Self {
        let count = directions.len() / dimensions.max(1);
        let lanes = Arch::new().dispatch(Lanes);
        let wanted = count.div_ceil(lanes).max(1);
        let vectors = if wanted == 1 {
            1
        } else if wanted.is_multiple_of(3) {
            3
        } else {
            2
        };
        let tile = vectors * lanes;
        let width = count.div_ceil(tile).max(1) * tile;
        let mut values = Vec::with_capacity(width * dimensions);
        for start in (0..dimensions).step_by(DEPTH) {
            for first in (0..width).step_by(tile) {
                for dimension in start..dimensions.min(start + DEPTH) {
                    values.extend((first..first + tile).map(|direction| {
                        directions.get(direction * dimensions + dimension).copied().unwrap_or_default()
                    }));
                }
            }
        }
        Self { dimensions, count, width, vectors, values }
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Buffers for [`Packed::project`].
    pub(crate) fn scratch(&self) -> Scratch {
        Scratch { rows: vec![0.0; BLOCK_ROWS * DEPTH], sums: vec![0.0; BLOCK_ROWS * self.width] }
    }

    /// Projects up to [`BLOCK_ROWS`] vectors and puts the result behind each of the `columns` (one per direction).
    pub(crate) fn project(
        &self,
        rows: &[f32],
        scratch: &mut Scratch,
        mut put: impl FnMut(usize, usize, f32),
    ) {
        let count = rows.len() / self.dimensions;
        scratch.sums.fill(0.0);
        Arch::new().dispatch(Product { packed: self, rows, count, scratch });
        for direction in 0..self.count {
            for row in 0..count {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "projections are kept in single precision"
                )]
                put(direction, row, scratch.sums[row * self.width + direction] as f32);
            }
        }
    }
}

/// Buffers of one thread.
pub(crate) struct Scratch {
    rows: Vec<f32>,
    sums: Vec<f64>,
}

struct Product<'a> {
    packed: &'a Packed,
    rows: &'a [f32],
    count: usize,
    scratch: &'a mut Scratch,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.packed.vectors {
            1 => product::<S, 8, 1>(simd, self),
            2 => product::<S, 6, 2>(simd, self),
            _ => product::<S, 4, 3>(simd, self),
        }
    }
}

/// One product, tile by tile: `HEIGHT` vectors times `VECTORS` SIMD vectors of directions stay in registers.
#[inline(always)]
fn product<S: Simd, const HEIGHT: usize, const VECTORS: usize>(simd: S, job: Product<'_>) {
    let Product { packed, rows, count, scratch } = job;
    let (dimensions, width) = (packed.dimensions, packed.width);
    let tile = VECTORS * S::F32_LANES;
    let tiles = count.div_ceil(HEIGHT);
    for start in (0..dimensions).step_by(DEPTH) {
        let depth = DEPTH.min(dimensions - start);
        let panel = &packed.values[start * width..][..depth * width];
        // Whole blocks of whole tiles are read where they are; what is left over is put side by side first.
        let whole = if depth == DEPTH { count / HEIGHT } else { 0 };
        interleave::<HEIGHT>(rows, dimensions, start, depth, whole..tiles, &mut scratch.rows);
        for (index, panel) in panel.chunks_exact(depth * tile).enumerate() {
            let panel: &[S::f32s] = cast_slice(panel);
            let (panel, _) = panel.as_chunks::<VECTORS>();
            for number in 0..tiles {
                let sums = if number < whole {
                    let row = |lane: usize| &rows[(number * HEIGHT + lane) * dimensions + start..][..DEPTH];
                    multiply_rows::<S, HEIGHT, VECTORS>(simd, std::array::from_fn(row), panel)
                } else {
                    let (block, _) = scratch.rows[number * HEIGHT * depth..].as_chunks::<HEIGHT>();
                    multiply::<S, HEIGHT, VECTORS>(simd, &block[..depth], panel)
                };
                for (row, sums) in sums.iter().enumerate() {
                    let out = &mut scratch.sums[(number * HEIGHT + row) * width + index * tile..][..tile];
                    let sums: &[f32] = cast_slice(sums);
                    for (out, &sum) in out.iter_mut().zip(sums) {
                        *out += f64::from(sum);
                    }
                }
            }
        }
    }
}

/// A tile of `DEPTH` dimensions, read from vectors that lie one after the other.
#[inline(always)]
fn multiply_rows<S: Simd, const HEIGHT: usize, const VECTORS: usize>(
    simd: S,
    rows: [&[f32]; HEIGHT],
    panel: &[[S::f32s; VECTORS]],
) -> [[S::f32s; VECTORS]; HEIGHT] {
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; HEIGHT];
    let panel = &panel[..DEPTH];
    let rows = rows.map(|row| &row[..DEPTH]);
    for depth in 0..DEPTH {
        for row in 0..HEIGHT {
            let component = simd.splat_f32s(rows[row][depth]);
            for vector in 0..VECTORS {
                sums[row][vector] = simd.mul_add_f32s(component, panel[depth][vector], sums[row][vector]);
            }
        }
    }
    sums
}

#[inline(always)]
fn multiply<S: Simd, const HEIGHT: usize, const VECTORS: usize>(
    simd: S,
    block: &[[f32; HEIGHT]],
    panel: &[[S::f32s; VECTORS]],
) -> [[S::f32s; VECTORS]; HEIGHT] {
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; HEIGHT];
    for (components, directions) in block.iter().zip(panel) {
        for row in 0..HEIGHT {
            let component = simd.splat_f32s(components[row]);
            for vector in 0..VECTORS {
                sums[row][vector] = simd.mul_add_f32s(component, directions[vector], sums[row][vector]);
            }
        }
    }
    sums
}

/// Puts the vectors of some tiles side by side, dimension after dimension; absent vectors are zero.
#[inline(always)]
fn interleave<const HEIGHT: usize>(
    rows: &[f32],
    dimensions: usize,
    start: usize,
    depth: usize,
    tiles: Range<usize>,
    out: &mut [f32],
) {
    for number in tiles {
        let (out, _) = out[number * HEIGHT * depth..][..HEIGHT * depth].as_chunks_mut::<HEIGHT>();
        for lane in 0..HEIGHT {
            let first = (number * HEIGHT + lane) * dimensions + start;
            if let Some(row) = rows.get(first..first + depth) {
                out.iter_mut().zip(row).for_each(|(out, &value)| out[lane] = value);
            } else {
                out.iter_mut().for_each(|out| out[lane] = 0.0);
            }
        }
    }
}

/// Adds the deviations of vectors from a pivot, and their squares, to the sums.
pub(crate) fn add_moments<'a>(
    rows: impl ExactSizeIterator<Item = &'a [f32]>,
    pivot: &[f64],
    sums: &mut [f64],
    squares: &mut [f64],
) {
    Arch::new().dispatch(
        #[inline(always)]
        || moments(rows, pivot, sums, squares),
    );
}

#[inline(always)]
fn moments<'a>(
    mut rows: impl ExactSizeIterator<Item = &'a [f32]>,
    pivot: &[f64],
    sums: &mut [f64],
    squares: &mut [f64],
) {
    let length = pivot.len();
    let (sums, squares) = (&mut sums[..length], &mut squares[..length]);
    // Four vectors at a time, so that the sums are loaded and stored once for four.
    while rows.len() >= 4 {
        let four: [&[f32]; 4] = std::array::from_fn(|_| rows.next().unwrap_or_default());
        let four = four.map(|row| &row[..length]);
        for i in 0..length {
            let deviations = four.map(|row| f64::from(row[i]) - pivot[i]);
            let powers = deviations.map(|deviation| deviation * deviation);
            sums[i] += (deviations[0] + deviations[1]) + (deviations[2] + deviations[3]);
            squares[i] += (powers[0] + powers[1]) + (powers[2] + powers[3]);
        }
    }
    for row in rows {
        let row = &row[..length];
        for i in 0..length {
            let deviation = f64::from(row[i]) - pivot[i];
            sums[i] += deviation;
            squares[i] += deviation * deviation;
        }
    }
}

/// For each vector, the square root of the sum of ((x - centre) * scale)².
pub(crate) fn distances(rows: &[f32], centre: &[f64], scale: &[f64], out: &mut Vec<f64>) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            out.extend(rows.chunks_exact(centre.len()).map(
                #[inline(always)]
                |row| {
                    reduce(row, centre, scale, |x, centre, scale| {
                        let z = (x - centre) * scale;
                        z * z
                    })
                    .sqrt()
                },
            ));
        },
    );
}

/// For each vector, the sum of (x - centre) * direction.
pub(crate) fn centred_products(rows: &[f32], centre: &[f64], direction: &[f64], out: &mut Vec<f64>) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            out.extend(rows.chunks_exact(centre.len()).map(
                #[inline(always)]
                |row| reduce(row, centre, direction, |x, centre, direction| (x - centre) * direction),
            ));
        },
    );
}

/// Sum over the components, in eight interleaved sums, so that it can be done eight at a time in one fixed order.
#[inline(always)]
fn reduce(row: &[f32], a: &[f64], b: &[f64], term: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let (row, row_rest) = row.as_chunks::<8>();
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for ((row, a), b) in row.iter().zip(a).zip(b) {
        for lane in 0..8 {
            sums[lane] += term(f64::from(row[lane]), a[lane], b[lane]);
        }
    }
    let rest: f64 =
        row_rest.iter().zip(a_rest).zip(b_rest).map(|((&x, &a), &b)| term(f64::from(x), a, b)).sum();
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlgauge_base::Random;

    #[test]
    fn the_product_equals_the_sum_of_products() {
        let mut random = Random::new([3, 0]);
        for (rows, dimensions, directions) in
            [(1, 1, 1), (5, 3, 2), (48, 7, 9), (47, 300, 24), (13, 600, 33), (48, 256, 64), (4, 4, 100)]
        {
            let mut values = |count: usize| -> Vec<f32> {
                (0..count).map(|_| f32::from(i8::try_from(random.below(33)).unwrap() - 16) / 8.0).collect()
            };
            let (x, p) = (values(rows * dimensions), values(directions * dimensions));
            let packed = Packed::new(dimensions, &p);
            let mut seen = 0;
            packed.project(&x, &mut packed.scratch(), |direction, row, value| {
                let (x, p) =
                    (&x[row * dimensions..][..dimensions], &p[direction * dimensions..][..dimensions]);
                let exact: f64 = x.iter().zip(p).map(|(x, p)| f64::from(*x) * f64::from(*p)).sum();
                assert!((f64::from(value) - exact).abs() <= 1e-3, "{value} {exact}");
                seen += 1;
            });
            assert_eq!(seen, rows * directions);
        }
    }
}
