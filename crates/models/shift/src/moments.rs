//! Mean and variance of every dimension, computed in parts that can be merged.

use crate::error::ShiftError;

/// Count, mean and sum of squared deviations of every dimension, in `f64`.
///
/// Two parts merge by the pairwise formula of Chan, Golub and `LeVeque` (1979), which does not lose the variance of
/// values far from zero. A dimension that is the same everywhere has a variance of exactly zero.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moments {
    count: u64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    /// The moments of nothing.
    pub fn new(dimensions: usize) -> Self {
        Self { count: 0, mean: vec![0.0; dimensions], squares: vec![0.0; dimensions] }
    }

    /// From sums of the deviations from a pivot and of their squares.
    pub(crate) fn from_sums(count: u64, pivot: &[f64], sums: &[f64], squares: &[f64]) -> Self {
        let n = count as f64;
        let mean = pivot.iter().zip(sums).map(|(pivot, sum)| pivot + sum / n).collect();
        let squares =
            sums.iter().zip(squares).map(|(sum, square)| (square - sum * sum / n).max(0.0)).collect();
        Self { count, mean, squares }
    }

    pub(crate) fn from_parts(count: u64, mean: Vec<f64>, squares: Vec<f64>) -> Self {
        Self { count, mean, squares }
    }

    /// Vectors counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Dimensions of the vectors.
    pub fn dimensions(&self) -> usize {
        self.mean.len()
    }

    /// Mean of each dimension.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Sum of the squared deviations from the mean of each dimension.
    pub(crate) fn squared_deviations(&self) -> &[f64] {
        &self.squares
    }

    /// Population variance (divisor n) of each dimension; 0 for less than two vectors.
    pub fn variance(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        let n = self.count.max(1) as f64;
        self.squares.iter().map(move |square| square / n)
    }

    /// Adds the vectors of another part.
    ///
    /// # Errors
    /// When the dimensions differ.
    pub fn merge(&mut self, other: &Self) -> Result<(), ShiftError> {
        if self.dimensions() != other.dimensions() {
            return Err(ShiftError::Invalid(format!(
                "moments of {} dimensions cannot be merged with moments of {}",
                other.dimensions(),
                self.dimensions()
            )));
        }
        if other.count == 0 {
            return Ok(());
        }
        let (count, others) = (self.count as f64, other.count as f64);
        let total = count + others;
        for (index, (mean, square)) in self.mean.iter_mut().zip(&mut self.squares).enumerate() {
            let difference = other.mean[index] - *mean;
            *mean += difference * (others / total);
            *square += other.squares[index] + difference * difference * (count * others / total);
        }
        self.count += other.count;
        Ok(())
    }
}
