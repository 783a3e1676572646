//! How far a row lies outside of what was seen.

use super::blob::{Blob, BlobValues, Blobs};
use super::meta_set::Rows;
use super::scaler::Scaler;

/// Smallest and largest value of each descriptor, unscaled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranges {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Ranges {
    pub(crate) fn of(rows: &Rows) -> Self {
        let mut ranges =
            Self { low: vec![f64::INFINITY; rows.width()], high: vec![f64::NEG_INFINITY; rows.width()] };
        ranges.extend(rows);
        ranges
    }

    /// Widens them to hold further rows.
    pub(crate) fn extend(&mut self, rows: &Rows) {
        for row in rows.iter() {
            for (column, &value) in row.iter().enumerate() {
                self.low[column] = self.low[column].min(value);
                self.high[column] = self.high[column].max(value);
            }
        }
    }

    /// Columns in which the row lies beyond the range by more than rounding (1e-9 of its ends).
    pub(crate) fn beyond(&self, row: &[f64]) -> Vec<usize> {
        let tolerance = |column: usize| 1e-9 * (1.0 + self.low[column].abs().max(self.high[column].abs()));
        (0..row.len())
            .filter(|&column| {
                let tolerance = tolerance(column);
                row[column] < self.low[column] - tolerance || row[column] > self.high[column] + tolerance
            })
            .collect()
    }

    /// Largest distance of a scaled descriptor beyond its scaled range: 0 inside.
    pub(crate) fn excess(&self, row: &[f64], scaler: &Scaler) -> f64 {
        let [low, high, row] = [&self.low, &self.high, row].map(|values| scaler.row(values));
        let beyond = |column: usize| (low[column] - row[column]).max(row[column] - high[column]);
        (0..row.len()).map(beyond).fold(0.0, f64::max)
    }

    pub(crate) fn blobs(&self, name: &str) -> Blob {
        let values = self.low.iter().chain(&self.high).copied().collect();
        Blob::new(name, vec![2, self.low.len()], BlobValues::F64(values))
    }

    pub(crate) fn load(blobs: &Blobs<'_>, name: &str) -> Result<Self, String> {
        let (shape, values) = blobs.f64s(name)?;
        if shape.len() != 2 || shape[0] != 2 {
            return Err(format!("the ranges `{name}` are not two rows"));
        }
        let (low, high) = values.split_at(shape[1]);
        Ok(Self { low: low.to_vec(), high: high.to_vec() })
    }

    /// Number of descriptors.
    pub(crate) fn width(&self) -> usize {
        self.low.len()
    }

    /// Smallest and largest value of each descriptor.
    pub(crate) fn pairs(&self) -> Vec<[f64; 2]> {
        self.low.iter().zip(&self.high).map(|(&low, &high)| [low, high]).collect()
    }
}
