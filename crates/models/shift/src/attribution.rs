//! Attributes a shift to groups of vectors (databases) and to dimensions.

use rayon::prelude::*;
use serde::Serialize;
use sqlgauge_encode::Vectors;

use crate::directions::check_dimensions;
use crate::error::{SetSide, ShiftError};
use crate::kernels;
use crate::reference::Reference;
use crate::scan::{directions_together, for_chunks, reading_bytes};
use crate::wasserstein::{w2_costs, w2_squared};

/// Bytes of the columns that are compared in one pass, at least.
const COLUMN_BYTES: usize = 1 << 20;

/// What one group of a target's vectors adds to the shift of the whole. The shares of all groups sum to the
/// descriptors of the whole, up to rounding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupShift {
    pub group: usize,
    /// Vectors of the group.
    pub count: usize,
    /// Its part of `‖μ_T - μ_S‖²`: `(m_g / m) ⟨μ_g - μ_S, μ_T - μ_S⟩`. Negative if it lies on the other side of the
    /// source.
    pub mean_shift: f64,
    /// Its part of the mean Mahalanobis distance: `m_g / m` times its own mean.
    pub mahalanobis: f64,
    /// The mean Mahalanobis distance of its own vectors.
    pub own_mahalanobis: f64,
    /// Its part of the squared sliced Wasserstein distance: the mean over the directions of what it costs to move its
    /// vectors to the source in the optimal plan for the whole.
    pub sliced_square: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DimensionShift {
    /// The dimension, from 0.
    pub dimension: usize,
    pub source_mean: f64,
    pub target_mean: f64,
    /// `(μ_T - μ_S) / σ_S`; `None` where the source does not vary.
    pub standardised_difference: Option<f64>,
    /// `σ_T² / σ_S²`; `None` where the source does not vary.
    pub variance_ratio: Option<f64>,
    /// `(μ_T - μ_S)²`, its part of the mean shift.
    pub mean_shift: f64,
    /// W2 between the two sides in this dimension, in its own unit.
    pub w2: f64,
    /// `W2 / σ_S`; `None` where the source does not vary.
    pub standardised_w2: Option<f64>,
}

impl Reference {
    /// How much each group of the target's vectors contributes. The target is read twice.
    ///
    /// `groups` has the number of every vector's group, from 0; the result has one entry per group up to the largest
    /// number.
    ///
    /// # Errors
    /// Those of [`Reference::describe`], and when the number of groups is not that of the vectors.
    pub fn attribute_groups(
        &self,
        target: &dyn Vectors,
        groups: &[u32],
    ) -> Result<Vec<GroupShift>, ShiftError> {
        let partial = self.target_part(target)?;
        self.check_part(&partial)?;
        if groups.len() != partial.len() {
            let message = format!("there are {} group numbers for {} vectors", groups.len(), partial.len());
            return Err(ShiftError::Invalid(message));
        }
        let shift: Vec<f64> = partial
            .moments
            .mean()
            .iter()
            .zip(self.moments().mean())
            .map(|(mean, source)| mean - source)
            .collect();
        let products = self.products(target, &shift)?;
        let count = groups.iter().max().map_or(0, |group| *group as usize + 1);
        let mut shifts: Vec<GroupShift> = (0..count).map(empty).collect();
        let m = groups.len() as f64;
        for ((group, distance), product) in groups.iter().zip(&partial.distances).zip(&products) {
            let entry = &mut shifts[*group as usize];
            entry.count += 1;
            entry.mean_shift += product / m;
            entry.mahalanobis += distance / m;
        }
        let costs = self.group_costs(&partial.projections, groups, count);
        for (entry, cost) in shifts.iter_mut().zip(costs) {
            entry.sliced_square = cost;
            entry.own_mahalanobis = entry.mahalanobis * m / entry.count.max(1) as f64;
        }
        Ok(shifts)
    }

    /// `⟨φ - μ_S, direction⟩` of every vector.
    fn products(&self, target: &dyn Vectors, direction: &[f64]) -> Result<Vec<f64>, ShiftError> {
        let mut products = Vec::with_capacity(target.len());
        let work = |rows: &[f32]| {
            let mut products = Vec::new();
            kernels::centred_products(rows, self.moments().mean(), direction, &mut products);
            products
        };
        let bytes = reading_bytes(target, self.directions().len());
        for_chunks(SetSide::Target, target, bytes, work, |chunk: Vec<f64>| {
            products.extend(chunk);
            Ok(())
        })?;
        Ok(products)
    }

    /// For each group, the mean over the directions of the costs of its vectors.
    fn group_costs(&self, projections: &[Vec<f32>], groups: &[u32], count: usize) -> Vec<f64> {
        let costs = |(values, source): (&Vec<f32>, &Vec<f32>)| {
            let mut order: Vec<u32> = (0_u32..).take(values.len()).collect();
            order.sort_unstable_by(|a, b| values[*a as usize].total_cmp(&values[*b as usize]).then(a.cmp(b)));
            let rising: Vec<f32> = order.iter().map(|index| values[*index as usize]).collect();
            let mut sums = vec![0.0; count];
            for (index, cost) in order.iter().zip(w2_costs(source, &rising)) {
                sums[groups[*index as usize] as usize] += cost;
            }
            sums
        };
        let together = directions_together(projections.len());
        let mut each: Vec<Vec<f64>> = Vec::with_capacity(projections.len());
        for (targets, sources) in projections.chunks(together).zip(self.sorted().chunks(together)) {
            each.par_extend(targets.par_iter().zip(sources).map(costs));
        }
        let mean = |group: usize| each.iter().map(|sums| sums[group]).sum::<f64>() / each.len().max(1) as f64;
        (0..count).map(mean).collect()
    }

    /// The shift in each of some dimensions. Both sides are read several times, for a part of their columns each.
    ///
    /// `source` is the set that the reference was built from.
    ///
    /// # Errors
    /// When a side cannot be read, is empty, or has other dimensions than the reference, or when there is no such
    /// dimension.
    pub fn attribute_dimensions(
        &self,
        source: &dyn Vectors,
        target: &dyn Vectors,
        dimensions: &[usize],
    ) -> Result<Vec<DimensionShift>, ShiftError> {
        for (side, set) in [(SetSide::Source, source), (SetSide::Target, target)] {
            check_dimensions(side, set, self.directions().dimensions())?;
            if set.is_empty() {
                return Err(ShiftError::TooFew { side, count: 0, needed: 1 });
            }
        }
        if let Some(dimension) = dimensions.iter().find(|dimension| **dimension >= source.dimensions()) {
            let message =
                format!("there is no dimension {dimension}; the last is {}", source.dimensions() - 1);
            return Err(ShiftError::Invalid(message));
        }
        // A quarter of what the projections take, as long as that is worth a pass.
        let few = COLUMN_BYTES / (4 * (source.len() + target.len()));
        let together = few.max(self.directions().len() / 4).max(1);
        let mut shifts = Vec::with_capacity(dimensions.len());
        for dimensions in dimensions.chunks(together) {
            let sources = sorted_columns(SetSide::Source, source, dimensions)?;
            let targets = sorted_columns(SetSide::Target, target, dimensions)?;
            let columns = dimensions.par_iter().zip(sources).zip(targets);
            shifts.par_extend(columns.map(|((dimension, a), b)| self.dimension_shift(*dimension, &a, &b)));
        }
        Ok(shifts)
    }

    fn dimension_shift(&self, dimension: usize, source: &[f32], target: &[f32]) -> DimensionShift {
        let (source_mean, _) = column_moments(source);
        let (target_mean, target_variance) = column_moments(target);
        let scale = Some(self.inverse_deviations()[dimension]).filter(|scale| *scale > 0.0);
        let w2 = w2_squared(source, target).sqrt();
        DimensionShift {
            dimension,
            source_mean,
            target_mean,
            standardised_difference: scale.map(|scale| (target_mean - source_mean) * scale),
            variance_ratio: scale.map(|scale| target_variance * scale * scale),
            mean_shift: (target_mean - source_mean).powi(2),
            w2,
            standardised_w2: scale.map(|scale| w2 * scale),
        }
    }
}

fn empty(group: usize) -> GroupShift {
    GroupShift {
        group,
        count: 0,
        mean_shift: 0.0,
        mahalanobis: 0.0,
        own_mahalanobis: 0.0,
        sliced_square: 0.0,
    }
}

fn column_moments(values: &[f32]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / n;
    let variance = values.iter().map(|value| (f64::from(*value) - mean).powi(2)).sum::<f64>() / n;
    (mean, variance)
}

/// Some columns of a set, each in rising order.
fn sorted_columns(
    side: SetSide,
    vectors: &dyn Vectors,
    dimensions: &[usize],
) -> Result<Vec<Vec<f32>>, ShiftError> {
    let mut columns: Vec<Vec<f32>> = vec![Vec::with_capacity(vectors.len()); dimensions.len()];
    let width = vectors.dimensions();
    let work = |rows: &[f32]| -> Vec<f32> {
        dimensions.iter().flat_map(|dimension| rows[*dimension..].iter().step_by(width).copied()).collect()
    };
    let mut row = 0;
    let bytes = reading_bytes(vectors, dimensions.len());
    for_chunks(side, vectors, bytes, work, |chunk: Vec<f32>| {
        let rows = chunk.len() / dimensions.len();
        for ((column, values), dimension) in
            columns.iter_mut().zip(chunk.chunks_exact(rows.max(1))).zip(dimensions)
        {
            if let Some(place) = values.iter().position(|value| !value.is_finite()) {
                let (row, dimension, value) = (row + place, *dimension, values[place]);
                return Err(ShiftError::NotFinite { side, row, dimension, value });
            }
            column.extend_from_slice(values);
        }
        row += rows;
        Ok(())
    })?;
    columns.par_iter_mut().for_each(|column| radsort::sort(column));
    Ok(columns)
}
