//! Gradient-boosted trees for a probability per answer.

use forust_ml::Matrix;
use forust_ml::gradientbooster::GradientBooster;
use forust_ml::objective::ObjectiveType;

use crate::error::EstimateError;

/// Trees of a model. Few and shallow: the target lies elsewhere than the training data.
const TREES: usize = 80;

/// A model of P(right | features).
pub(crate) struct Classifier {
    model: Option<GradientBooster>,
    /// Columns that vary in training; the library refuses others.
    columns: Vec<usize>,
    base: f64,
}

impl Classifier {
    /// Fits rows of equal length to labels in [0, 1]; a missing feature is NaN.
    ///
    /// # Errors
    /// When the library fails.
    pub(crate) fn fit(
        rows: &[Vec<f64>],
        labels: &[f64],
        weights: &[f64],
        seed: u64,
    ) -> Result<Self, EstimateError> {
        let width = rows.first().map_or(0, Vec::len);
        let varies = |column: &usize| {
            let first = rows.first().map(|row| row[*column].to_bits());
            rows.iter().any(|row| Some(row[*column].to_bits()) != first)
        };
        let columns: Vec<usize> = (0..width).filter(varies).collect();
        let base = labels.iter().sum::<f64>() / labels.len().max(1) as f64;
        let has_both = labels.iter().any(|&label| label > 0.5) && labels.iter().any(|&label| label <= 0.5);
        if columns.is_empty() || !has_both {
            return Ok(Self { model: None, columns, base });
        }
        let data = by_column(rows, &columns);
        let mut model = GradientBooster::default()
            .set_objective_type(ObjectiveType::LogLoss)
            .set_iterations(TREES)
            .set_learning_rate(0.06)
            .set_max_depth(3)
            .set_max_leaves(8)
            .set_l2(5.0)
            .set_min_leaf_weight(8.0)
            .set_nbins(64)
            .set_seed(seed)
            .set_parallel(false);
        model
            .fit(&Matrix::new(&data, rows.len(), columns.len()), labels, weights, None)
            .map_err(|error| EstimateError::Computation(format!("gradient boosting failed: {error}")))?;
        Ok(Self { model: Some(model), columns, base })
    }

    pub(crate) fn predict(&self, rows: &[Vec<f64>]) -> Vec<f64> {
        let Some(model) = self.model.as_ref().filter(|_| !rows.is_empty()) else {
            return vec![self.base; rows.len()];
        };
        let data = by_column(rows, &self.columns);
        let scores = model.predict(&Matrix::new(&data, rows.len(), self.columns.len()), false);
        scores.into_iter().map(|score| 1.0 / (1.0 + (-score).exp())).collect()
    }
}

fn by_column(rows: &[Vec<f64>], columns: &[usize]) -> Vec<f64> {
    columns.iter().flat_map(|&column| rows.iter().map(move |row| row[column])).collect()
}
