//! `boosting`: gradient-boosted trees.

use forust_ml::gradientbooster::GradientBooster;
use forust_ml::metric::Metric;
use forust_ml::objective::ObjectiveType;
use forust_ml::{Matrix, sampler::SampleMethod};

use crate::blob::{Blob, BlobValues, Blobs};
use crate::error::EvaluatorError;
use crate::meta_set::Rows;

use super::{FittedModel, Lesson, Model, Regressor};

const ID: &str = "boosting";

/// Gradient boosting on squared error: at most 500 trees of depth 6, shrinkage 0.05, 80 % of the sets and of the
/// descriptors per tree; it stops after 30 trees without a better error on validation. (The paper's is `XGBoost`.)
///
/// Source: paper Figure 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GradientBoosting;

struct BoostedModel {
    booster: GradientBooster,
    /// Descriptors that vary; the library refuses others.
    columns: Vec<usize>,
}

impl Regressor for GradientBoosting {
    fn id(&self) -> &'static str {
        ID
    }

    fn fit(&self, lesson: &Lesson<'_>) -> Result<FittedModel, EvaluatorError> {
        let &Lesson { train, validation, seed } = lesson;
        let varies = |column: &usize| {
            let mut values = train.rows.column(*column);
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        let columns: Vec<usize> = (0..train.rows.width()).filter(varies).collect();
        if columns.is_empty() {
            let message = "no descriptor differs between the sample sets".to_owned();
            return Err(EvaluatorError::Regressor { regressor: ID, message });
        }
        let [inputs, held_out] = [train.rows, validation.rows].map(|rows| by_column(rows, &columns));
        let inputs = Matrix::new(&inputs, train.rows.len(), columns.len());
        let held_out = Matrix::new(&held_out, validation.rows.len(), columns.len());
        let weights = vec![1.0; validation.rows.len()];
        let mut booster = GradientBooster::default()
            .set_objective_type(ObjectiveType::SquaredLoss)
            .set_iterations(500)
            .set_learning_rate(0.05)
            .set_max_depth(6)
            .set_min_leaf_weight(5.0)
            .set_sample_method(SampleMethod::Random)
            .set_subsample(0.8)
            .set_colsample_bytree(0.8)
            .set_seed(seed)
            .set_parallel(false)
            .set_evaluation_metric(Some(Metric::RootMeanSquaredError))
            .set_early_stopping_rounds(Some(30));
        booster
            .fit(
                &inputs,
                train.accuracy,
                &vec![1.0; train.rows.len()],
                Some(vec![(held_out, validation.accuracy, &weights)]),
            )
            .map_err(EvaluatorError::regressor(ID))?;
        Ok(FittedModel { model: Box::new(BoostedModel { booster, columns }), curve: Vec::new() })
    }

    fn load(&self, blobs: &Blobs<'_>, width: usize) -> Result<Box<dyn Model>, String> {
        let text = std::str::from_utf8(blobs.bytes("booster.json")?).map_err(|error| error.to_string())?;
        let booster = GradientBooster::from_json(text).map_err(|error| error.to_string())?;
        let columns: Vec<usize> = blobs.u32s("columns")?.iter().map(|&column| column as usize).collect();
        if columns.iter().any(|&column| column >= width) {
            return Err("its trees ask for descriptors that do not exist".to_owned());
        }
        Ok(Box::new(BoostedModel { booster, columns }))
    }
}

impl Model for BoostedModel {
    fn predict(&self, rows: &Rows) -> Result<Vec<f64>, EvaluatorError> {
        let inputs = by_column(rows, &self.columns);
        Ok(self.booster.predict(&Matrix::new(&inputs, rows.len(), self.columns.len()), false))
    }

    fn blobs(&self) -> Result<Vec<Blob>, EvaluatorError> {
        let text = self.booster.json_dump().map_err(EvaluatorError::regressor(ID))?.into_bytes();
        let columns = self.columns.iter().filter_map(|&column| u32::try_from(column).ok()).collect();
        Ok(vec![
            Blob::new("booster.json", vec![text.len()], BlobValues::Bytes(text)),
            Blob::new("columns", vec![self.columns.len()], BlobValues::U32(columns)),
        ])
    }
}

/// Some columns, one after the other.
fn by_column(rows: &Rows, columns: &[usize]) -> Vec<f64> {
    columns.iter().flat_map(|&column| rows.column(column)).collect()
}
