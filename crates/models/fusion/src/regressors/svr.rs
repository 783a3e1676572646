//! `svr`: support vector regression.

use serde::Deserialize;
use smartcore::svm::Kernels;
use smartcore::svm::svr::{SVR, SVRParameters};

use crate::blob::{Blob, BlobValues, Blobs};
use crate::error::EvaluatorError;
use crate::meta_set::Rows;
use sqlgauge_base::{Random, seed_of};

use super::knn::matrix;
use super::{FittedModel, Lesson, Model, Regressor};

const ID: &str = "svr";

/// Sample sets that it learns from; the solver's time grows faster than their square.
const MOST_SETS: usize = 2000;

/// Epsilon-SVR with a Gaussian kernel: C = 1, epsilon = 0.01 (one point of accuracy), gamma = 1 / descriptors, on at
/// most 2,000 sample sets drawn by the seed.
///
/// Source: paper Figure 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SupportVectors;

/// `sum_i weight_i exp(-gamma |x - vector_i|²) + offset`.
struct SupportVectorModel {
    vectors: Rows,
    weights: Vec<f64>,
    offset: f64,
    gamma: f64,
}

/// What smartcore writes of its fitted model.
#[derive(Deserialize)]
struct Solved {
    instances: Vec<Vec<f64>>,
    w: Vec<f64>,
    b: f64,
}

impl Regressor for SupportVectors {
    fn id(&self) -> &'static str {
        ID
    }

    fn fit(&self, lesson: &Lesson<'_>) -> Result<FittedModel, EvaluatorError> {
        let &Lesson { train, seed, .. } = lesson;
        let mut chosen: Vec<usize> = (0..train.rows.len()).collect();
        Random::new([seed, seed_of("svr")]).shuffle(&mut chosen);
        chosen.truncate(MOST_SETS);
        let rows = train.rows.select(&chosen);
        let accuracy: Vec<f64> = chosen.iter().map(|&row| train.accuracy[row]).collect();
        let gamma = 1.0 / rows.width() as f64;
        let parameters =
            SVRParameters::default().with_c(1.0).with_eps(0.01).with_kernel(Kernels::rbf().with_gamma(gamma));
        let inputs = matrix(&rows, ID)?;
        let fitted = SVR::fit(&inputs, &accuracy, &parameters).map_err(EvaluatorError::regressor(ID))?;
        let solved = serde_json::to_value(&fitted).and_then(Solved::deserialize);
        let Solved { instances, w: weights, b: offset } = solved.map_err(EvaluatorError::regressor(ID))?;
        let vectors = Rows::new(rows.width(), instances.concat())?;
        let model = SupportVectorModel { vectors, weights, offset, gamma };
        Ok(FittedModel { model: Box::new(model), curve: Vec::new() })
    }

    fn load(&self, blobs: &Blobs<'_>, width: usize) -> Result<Box<dyn Model>, String> {
        let (weights, line) = (blobs.f64s("weights")?.1, blobs.f64s("offset_and_gamma")?.1);
        let vectors =
            Rows::new(width, blobs.f64s("vectors")?.1.to_vec()).map_err(|error| error.to_string())?;
        match line {
            &[offset, gamma] if vectors.len() == weights.len() => {
                Ok(Box::new(SupportVectorModel { vectors, weights: weights.to_vec(), offset, gamma }))
            }
            _ => Err("its support vectors and weights do not belong together".to_owned()),
        }
    }
}

impl Model for SupportVectorModel {
    fn predict(&self, rows: &Rows) -> Result<Vec<f64>, EvaluatorError> {
        let kernel = |row: &[f64], vector: &[f64]| {
            let square: f64 = row.iter().zip(vector).map(|(a, b)| (a - b).powi(2)).sum();
            (-self.gamma * square).exp()
        };
        let value = |row: &[f64]| {
            let weighted = self.vectors.iter().zip(&self.weights);
            self.offset + weighted.map(|(vector, weight)| weight * kernel(row, vector)).sum::<f64>()
        };
        Ok(rows.iter().map(value).collect())
    }

    fn blobs(&self) -> Result<Vec<Blob>, EvaluatorError> {
        let shape = vec![self.vectors.len(), self.vectors.width()];
        Ok(vec![
            Blob::new("vectors", shape, BlobValues::F64(self.vectors.values().to_vec())),
            Blob::new("weights", vec![self.weights.len()], BlobValues::F64(self.weights.clone())),
            Blob::new("offset_and_gamma", vec![2], BlobValues::F64(vec![self.offset, self.gamma])),
        ])
    }
}
