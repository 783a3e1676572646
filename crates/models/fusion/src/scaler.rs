//! Descriptors to inputs of about unit spread.

use super::blob::{Blob, BlobValues, Blobs};
use super::error::EvaluatorError;
use super::meta_set::Rows;

/// Robust scaling of each descriptor `x`: `z = (asinh((x - median) / spread) - mean) / deviation`.
///
/// `spread` is the interquartile range divided by 1.349 (the standard deviation of a normal distribution), or the
/// standard deviation where the middle half is constant; `asinh` is linear near the median and logarithmic in the
/// tails, which descriptors (squared distances) have; `mean` and `deviation` are those of the transformed training
/// values. A descriptor that is constant in training gives 0 always.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scaler {
    columns: Vec<Column>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Column {
    median: f64,
    /// 0 for a constant descriptor.
    spread: f64,
    mean: f64,
    deviation: f64,
}

impl Scaler {
    /// Learns the scale of each column.
    pub(crate) fn fit(rows: &Rows) -> Self {
        Self { columns: (0..rows.width()).map(|column| Column::fit(rows.column(column).collect())).collect() }
    }

    /// Number of descriptors.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn apply(&self, rows: &Rows) -> Rows {
        let values = rows.iter().flat_map(|row| self.row(row)).collect();
        Rows::new(rows.width(), values).unwrap_or_default()
    }

    pub(crate) fn row(&self, row: &[f64]) -> Vec<f64> {
        self.columns.iter().zip(row).map(|(column, &value)| column.apply(value)).collect()
    }

    pub(crate) fn blobs(&self) -> Vec<Blob> {
        let values = self
            .columns
            .iter()
            .flat_map(|column| [column.median, column.spread, column.mean, column.deviation])
            .collect();
        vec![Blob::new("scaler", vec![self.columns.len(), 4], BlobValues::F64(values))]
    }

    pub(crate) fn load(blobs: &Blobs<'_>) -> Result<Self, String> {
        let (shape, values) = blobs.f64s("scaler")?;
        if shape.len() != 2 || shape[1] != 4 {
            return Err("its scale is not one of four numbers per descriptor".to_owned());
        }
        let column =
            |four: &[f64]| Column { median: four[0], spread: four[1], mean: four[2], deviation: four[3] };
        Ok(Self { columns: values.chunks_exact(4).map(column).collect() })
    }

    /// Whether rows have the width of this scale.
    pub(crate) fn check(&self, row: &[f64], names: &[String]) -> Result<(), EvaluatorError> {
        if row.len() != self.width() {
            let message = format!(
                "are {} numbers, and the evaluator was fitted on {}: compute them with the options of its card",
                row.len(),
                self.width()
            );
            return Err(EvaluatorError::Descriptors(message));
        }
        match row.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(EvaluatorError::Descriptors(format!(
                "of the target hold {} as `{}`: it must be finite",
                row[at],
                names.get(at).map_or("?", String::as_str)
            ))),
            None => Ok(()),
        }
    }
}

impl Column {
    fn fit(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let median = quantile(&values, 0.5);
        let range = (quantile(&values, 0.75) - quantile(&values, 0.25)) / 1.349;
        let spread = if range > 0.0 { range } else { mean_and_deviation(&values).1 };
        let mut column = Self { median, spread, mean: 0.0, deviation: 1.0 };
        // Below this the differences are rounding errors of the descriptor, not shift.
        if spread <= median.abs() * 1e-12 {
            return Self { spread: 0.0, ..column };
        }
        for value in &mut values {
            *value = column.apply(*value);
        }
        (column.mean, column.deviation) = mean_and_deviation(&values);
        column
    }

    fn apply(self, value: f64) -> f64 {
        if self.spread > 0.0 && self.deviation > 0.0 {
            (((value - self.median) / self.spread).asinh() - self.mean) / self.deviation
        } else {
            0.0
        }
    }
}

/// Value at a share of sorted values, interpolated linearly.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position inside the slice")]
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len().max(1) - 1) as f64;
    let below = position as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_computed_scale() {
        // Sorted 1 2 3 4 5: median 3, quartiles 2 and 4.
        let rows = Rows::new(1, vec![5.0, 1.0, 3.0, 2.0, 4.0]).unwrap();
        let scaler = Scaler::fit(&rows);
        let spread = 2.0 / 1.349;
        let transformed = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|x: f64| (x / spread).asinh());
        let deviation = (transformed.iter().map(|x| x * x).sum::<f64>() / 5.0).sqrt();
        assert!((scaler.row(&[5.0])[0] - transformed[4] / deviation).abs() < 1e-12);
        assert!(scaler.row(&[3.0])[0].abs() < 1e-12);
    }

    #[test]
    fn a_constant_descriptor_gives_nothing_and_a_mostly_constant_one_still_speaks() {
        let mut values = vec![7.0; 40];
        for row in 0..20 {
            values[row * 2 + 1] = if row == 19 { 9.0 } else { 1.0 };
        }
        let scaler = Scaler::fit(&Rows::new(2, values).unwrap());
        let inputs = scaler.row(&[1e9, 9.0]);
        assert_eq!(inputs[0].to_bits(), 0.0_f64.to_bits());
        assert!(inputs[1] > 1.0);
    }
}
