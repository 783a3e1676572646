//! The statistics of a source, computed once.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sqlgauge_encode::Vectors;

use crate::codec::{Reader, Writer};
use crate::descriptors::{Descriptors, Frechet, Mahalanobis, Sliced};
use crate::directions::Directions;
use crate::error::{SetSide, ShiftError};
use crate::moments::Moments;
use crate::partial::Partial;
use crate::scan::{Whitening, directions_together, scan};
use crate::wasserstein::{Quantiles, w2_squared};
use sqlgauge_base::Random;

/// A dimension with less than this share of the mean variance counts as constant.
const SMALLEST_VARIANCE_SHARE: f64 = 1e-12;
/// So does one whose standard deviation is below this share of its mean: it is no more than the rounding of `f32`.
const ROUNDING: f64 = 1.0 / (1 << 23) as f64;

/// Size and number of the samples that tell how large a distance chance makes.
const NULL_SAMPLE: usize = 256;
const NULL_SAMPLES: u64 = 16;

/// The statistics of a source: mean and variance of every dimension and its sorted projections. Everything that a
/// comparison needs of the source; its vectors are not kept.
///
/// A dimension that does not vary in the source (its variance is below 1e-12 of the mean variance, or its standard
/// deviation below 2⁻²³ of its mean, which is rounding) has no scale. It is left out of everything that divides by σ
/// (Mahalanobis, variance ratios, standardised mean shift), and [`Descriptors::constant_dimensions_left`] counts
/// those in which a target differs. Mean shift, Euclidean and sliced distance see it as any other.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    directions: Directions,
    moments: Moments,
    /// Projections, rising, one list per direction.
    sorted: Vec<Vec<f32>>,
    /// 1/σ, 0 where the source does not vary.
    scale: Vec<f64>,
    /// Mean over the directions of the limit of s · E\[W2²\] for a sample of s.
    noise: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    count: u64,
    dimensions: usize,
    directions: usize,
    principal: usize,
}

const FORMAT: &str = "sqlgauge-shift-reference-1";

impl Reference {
    /// Reads a source once.
    ///
    /// # Errors
    /// When the source cannot be read, has less than two vectors, is the same everywhere, holds NaN or infinity, or
    /// has other dimensions than the directions.
    pub fn build(source: &dyn Vectors, directions: Directions) -> Result<Self, ShiftError> {
        let partial = Self::source_part(source, &directions)?;
        Self::from_part(partial, directions)
    }

    /// Reads a shard of a source; parts are merged and given to [`Reference::from_part`].
    ///
    /// # Errors
    /// When the shard cannot be read, holds NaN or infinity, or has other dimensions than the directions.
    pub fn source_part(shard: &dyn Vectors, directions: &Directions) -> Result<Partial, ShiftError> {
        scan(SetSide::Source, shard, directions, None)
    }

    /// From the merged parts of a source.
    ///
    /// # Errors
    /// When the part was made on other directions, has less than two vectors, or is the same everywhere.
    pub fn from_part(partial: Partial, directions: Directions) -> Result<Self, ShiftError> {
        if partial.fingerprint != directions.fingerprint() {
            return Err(ShiftError::OtherDirections);
        }
        let mut sorted = partial.projections;
        let together = directions_together(sorted.len());
        for some in sorted.chunks_mut(together) {
            some.par_iter_mut().for_each(|values| radsort::sort(values));
        }
        Self::from_sorted(partial.moments, sorted, directions)
    }

    fn from_sorted(
        moments: Moments,
        sorted: Vec<Vec<f32>>,
        directions: Directions,
    ) -> Result<Self, ShiftError> {
        let count = sorted.first().map_or(0, Vec::len);
        if count < 2 {
            return Err(ShiftError::TooFew { side: SetSide::Source, count, needed: 2 });
        }
        let scale = scales(&moments);
        if scale.iter().all(|scale| *scale == 0.0) {
            return Err(ShiftError::Constant);
        }
        let noise = noise(&sorted);
        Ok(Self { directions, moments, sorted, scale, noise })
    }

    /// The directions of the projections.
    pub fn directions(&self) -> &Directions {
        &self.directions
    }

    /// Count, mean and variance of the source.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// 1/σ of each dimension, 0 where the source does not vary.
    pub(crate) fn inverse_deviations(&self) -> &[f64] {
        &self.scale
    }

    /// Vectors of the source.
    pub fn len(&self) -> usize {
        self.sorted.first().map_or(0, Vec::len)
    }

    /// Whether there is no vector; never so.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn whitening(&self) -> Whitening<'_> {
        Whitening { mean: self.moments.mean(), scale: &self.scale }
    }

    pub(crate) fn quantiles(&self) -> Vec<Quantiles> {
        self.sorted.par_iter().map(|sorted| Quantiles::new(sorted)).collect()
    }

    pub(crate) fn sorted(&self) -> &[Vec<f32>] {
        &self.sorted
    }

    /// Compares a target with the source.
    ///
    /// # Errors
    /// When the target is empty, cannot be read, holds NaN or infinity, or has other dimensions than the source.
    pub fn describe(&self, target: &dyn Vectors) -> Result<Descriptors, ShiftError> {
        self.describe_part(self.target_part(target)?)
    }

    /// Reads a shard of a target; parts are merged and given to [`Reference::describe_part`].
    ///
    /// # Errors
    /// When the shard cannot be read, holds NaN or infinity, or has other dimensions than the source.
    pub fn target_part(&self, shard: &dyn Vectors) -> Result<Partial, ShiftError> {
        self.part(SetSide::Target, shard)
    }

    pub(crate) fn part(&self, side: SetSide, shard: &dyn Vectors) -> Result<Partial, ShiftError> {
        scan(side, shard, &self.directions, Some(self.whitening()))
    }

    /// Compares the merged parts of a target with the source.
    ///
    /// # Errors
    /// When there is no vector, or the parts were made for another source.
    pub fn describe_part(&self, partial: Partial) -> Result<Descriptors, ShiftError> {
        self.check_part(&partial)?;
        let Partial { moments, mut projections, distances, .. } = partial;
        let together = directions_together(projections.len());
        let mut squares = Vec::with_capacity(projections.len());
        for (targets, sources) in projections.chunks_mut(together).zip(self.sorted.chunks(together)) {
            squares.par_extend(targets.par_iter_mut().zip(sources).map(|(values, source)| {
                radsort::sort(values);
                w2_squared(source, values)
            }));
        }
        let (mean, std) = mean_and_std(&distances);
        Ok(self.assemble(&moments, Mahalanobis { mean, std }, squares))
    }

    pub(crate) fn check_part(&self, partial: &Partial) -> Result<(), ShiftError> {
        if partial.is_empty() {
            return Err(ShiftError::TooFew { side: SetSide::Target, count: 0, needed: 1 });
        }
        if partial.fingerprint != self.directions.fingerprint() {
            return Err(ShiftError::OtherDirections);
        }
        if partial.distances.len() != partial.len() {
            return Err(ShiftError::Invalid("the part is of a source, not of a target".to_owned()));
        }
        Ok(())
    }

    /// The descriptors from the moments of a target, its distances and its W2² on each direction.
    pub(crate) fn assemble(
        &self,
        target: &Moments,
        mahalanobis: Mahalanobis,
        squares: Vec<f64>,
    ) -> Descriptors {
        let frechet = self.frechet(target);
        let directions = squares.len().max(1) as f64;
        let mean_square = squares.iter().sum::<f64>() / directions;
        let null_square = self.null_square(target.count());
        Descriptors {
            source_count: self.len(),
            target_count: usize::try_from(target.count()).unwrap_or(usize::MAX),
            dimensions: self.directions.dimensions(),
            constant_dimensions: self.scale.iter().filter(|scale| **scale == 0.0).count(),
            constant_dimensions_left: self.constants_left(target),
            euclidean: frechet.mean_shift.sqrt(),
            frechet,
            mahalanobis,
            sliced: Sliced {
                distance: mean_square.sqrt(),
                mean_distance: squares.iter().map(|square| square.sqrt()).sum::<f64>() / directions,
                null: null_square.sqrt(),
                excess: (mean_square - null_square).max(0.0).sqrt(),
                squares,
            },
        }
    }

    /// W2² that chance makes between the source and a sample of its distribution.
    fn null_square(&self, target_count: u64) -> f64 {
        self.noise * (1.0 / self.len() as f64 + 1.0 / target_count.max(1) as f64)
    }

    fn frechet(&self, target: &Moments) -> Frechet {
        let one_vector = 1.0 / target.count().max(1) as f64;
        let (mut mean_shift, mut standardised, mut spread_shift, mut spread_ratio) = (0.0, 0.0, 0.0, 0.0);
        let mut logarithms = Vec::with_capacity(self.scale.len());
        let means = self.moments.mean().iter().zip(target.mean());
        let variances = self.moments.variance().zip(target.variance());
        for ((means, variances), scale) in means.zip(variances).zip(&self.scale) {
            let difference = means.1 - means.0;
            mean_shift += difference * difference;
            spread_shift += (variances.1.sqrt() - variances.0.sqrt()).powi(2);
            if *scale > 0.0 {
                standardised += (difference * scale).powi(2);
                spread_ratio += (variances.1.sqrt() * scale - 1.0).powi(2);
                logarithms.push((variances.1 * scale * scale + one_vector).ln());
            }
        }
        let (log_variance_mean, log_variance_std) = mean_and_std(&logarithms);
        let standardised_mean_shift = standardised / logarithms.len().max(1) as f64;
        Frechet {
            mean_shift,
            standardised_mean_shift,
            spread_shift,
            spread_ratio,
            log_variance_mean,
            log_variance_std,
        }
    }

    fn constants_left(&self, target: &Moments) -> usize {
        let floor = constant_below(&self.moments);
        let dimensions =
            self.moments.mean().iter().zip(target.mean()).zip(target.variance()).zip(&self.scale);
        let moved =
            |((mean, other), variance): ((&f64, &f64), f64)| variance + (mean - other).powi(2) > floor(*mean);
        dimensions.filter(|(moments, scale)| **scale == 0.0 && moved(*moments)).count()
    }

    /// The statistics as bytes, for a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(&Header {
            format: FORMAT.to_owned(),
            count: self.moments.count(),
            dimensions: self.directions.dimensions(),
            directions: self.directions.len(),
            principal: self.directions.principal(),
        });
        writer.f64s(self.moments.mean()).f64s(self.moments.squared_deviations());
        writer.f32s(self.directions.values());
        self.sorted.iter().for_each(|values| {
            writer.f32s(values);
        });
        writer.finish()
    }

    /// Reads what [`Reference::to_bytes`] made.
    ///
    /// # Errors
    /// When the bytes are something else, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ShiftError> {
        let (header, mut reader) = Reader::new::<Header>("reference", bytes)?;
        if header.format != FORMAT {
            return Err(reader.corrupt(&format!("its format is {:?}", header.format)));
        }
        let count = usize::try_from(header.count).map_err(|_| reader.corrupt("it is too large"))?;
        let (mean, squares) = (reader.f64s(header.dimensions)?, reader.f64s(header.dimensions)?);
        let size = header
            .dimensions
            .checked_mul(header.directions)
            .ok_or_else(|| reader.corrupt("it is too large"))?;
        let directions = Directions::from_parts(header.dimensions, header.principal, reader.f32s(size)?)?;
        let sorted =
            (0..header.directions).map(|_| reader.f32s(count)).collect::<Result<Vec<_>, ShiftError>>()?;
        reader.end()?;
        let finite = mean.iter().chain(&squares).all(|value| value.is_finite())
            && sorted.iter().all(|values| values.is_sorted());
        if !finite || header.principal > header.directions {
            return Err(reader.corrupt("its numbers are not finite or not in order"));
        }
        Self::from_sorted(Moments::from_parts(header.count, mean, squares), sorted, directions)
    }
}

/// Compares a target with a source: directions, statistics of the source, descriptors.
///
/// # Errors
/// See [`Directions::new`], [`Reference::build`] and [`Reference::describe`].
pub fn shift(
    source: &dyn Vectors,
    target: &dyn Vectors,
    slices: crate::Slices,
    seed: u64,
) -> Result<(Reference, Descriptors), ShiftError> {
    if target.is_empty() {
        return Err(ShiftError::TooFew { side: SetSide::Target, count: 0, needed: 1 });
    }
    let directions = Directions::new(slices, seed, &[(SetSide::Source, source), (SetSide::Target, target)])?;
    let reference = Reference::build(source, directions)?;
    let descriptors = reference.describe(target)?;
    Ok((reference, descriptors))
}

/// The variance up to which a dimension with a mean counts as constant.
fn constant_below(moments: &Moments) -> impl Fn(f64) -> f64 {
    let mean_variance = moments.variance().sum::<f64>() / moments.dimensions().max(1) as f64;
    move |mean| (SMALLEST_VARIANCE_SHARE * mean_variance).max((mean * ROUNDING).powi(2))
}

pub(crate) fn scales(moments: &Moments) -> Vec<f64> {
    let floor = constant_below(moments);
    let scale =
        |(variance, mean): (f64, &f64)| if variance > floor(*mean) { 1.0 / variance.sqrt() } else { 0.0 };
    moments.variance().zip(moments.mean()).map(scale).collect()
}

/// Mean and population standard deviation, in two passes; zeros for no value.
pub(crate) fn mean_and_std(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

/// Mean over the directions of s · W2² between the source and samples of s drawn from it with replacement.
///
/// For a sample of s and its distribution, E\[W2²\] falls as J/s; between samples of n and m it is J (1/n + 1/m).
/// (S. Bobkov, M. Ledoux, "One-dimensional empirical measures, order statistics, and Kantorovich transport distances",
/// 2019, section 5.) Drawn samples tell J, whatever the distribution.
fn noise(sorted: &[Vec<f32>]) -> f64 {
    let of_direction = |(direction, values): (usize, &Vec<f32>)| {
        let quantiles = Quantiles::new(values);
        let mut random = Random::new([0x006e_6f69_7365, direction as u64]);
        let mut sum = 0.0;
        for _ in 0..NULL_SAMPLES {
            let mut drawn: Vec<usize> = (0..NULL_SAMPLE).map(|_| random.below(values.len())).collect();
            drawn.sort_unstable();
            sum += quantiles.w2_squared(NULL_SAMPLE, drawn.iter().map(|index| values[*index]));
        }
        sum / NULL_SAMPLES as f64 * NULL_SAMPLE as f64
    };
    let together = directions_together(sorted.len());
    let mut each: Vec<f64> = Vec::with_capacity(sorted.len());
    for (first, some) in sorted.chunks(together).enumerate() {
        let numbered = some.par_iter().enumerate().map(|(at, values)| (first * together + at, values));
        each.par_extend(numbered.map(of_direction));
    }
    each.iter().sum::<f64>() / each.len().max(1) as f64
}
