//! `knn`: the mean of the nearest sample sets.

use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::metrics::distance::euclidian::Euclidian;
use smartcore::neighbors::knn_regressor::{KNNRegressor, KNNRegressorParameters};

use crate::blob::{Blob, BlobValues, Blobs};
use crate::error::EvaluatorError;
use crate::meta_set::Rows;

use super::{FittedModel, Lesson, Model, Regressor};

const ID: &str = "knn";

/// Neighbours that are averaged, weighted by the inverse of their distance.
const NEIGHBOURS: usize = 10;

/// k nearest neighbours (k = 10) by Euclidean distance of scaled descriptors, weighted by inverse distance; every
/// sample set is kept.
///
/// Source: paper Figure 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KNearest;

type Search = KNNRegressor<f64, f64, DenseMatrix<f64>, Vec<f64>, Euclidian<f64>>;

struct KNearestModel {
    rows: Rows,
    accuracy: Vec<f64>,
    search: Search,
}

impl KNearestModel {
    fn new(rows: Rows, accuracy: Vec<f64>) -> Result<Self, EvaluatorError> {
        let parameters = KNNRegressorParameters::default()
            .with_k(NEIGHBOURS.min(rows.len()))
            .with_weight(smartcore::neighbors::KNNWeightFunction::Distance);
        let search = KNNRegressor::fit(&matrix(&rows, ID)?, &accuracy, parameters)
            .map_err(EvaluatorError::regressor(ID))?;
        Ok(Self { rows, accuracy, search })
    }
}

impl Regressor for KNearest {
    fn id(&self) -> &'static str {
        ID
    }

    fn fit(&self, lesson: &Lesson<'_>) -> Result<FittedModel, EvaluatorError> {
        let &Lesson { train, .. } = lesson;
        let model = KNearestModel::new(train.rows.clone(), train.accuracy.to_vec())?;
        Ok(FittedModel { model: Box::new(model), curve: Vec::new() })
    }

    fn load(&self, blobs: &Blobs<'_>, width: usize) -> Result<Box<dyn Model>, String> {
        let (shape, values) = blobs.f64s("rows")?;
        let accuracy = blobs.f64s("accuracy")?.1;
        if shape.len() != 2 || shape[0] != accuracy.len() || shape[1] != width || accuracy.is_empty() {
            return Err("its rows and accuracies do not belong together".to_owned());
        }
        let rows = Rows::new(width, values.to_vec()).map_err(|error| error.to_string())?;
        Ok(Box::new(KNearestModel::new(rows, accuracy.to_vec()).map_err(|error| error.to_string())?))
    }
}

impl Model for KNearestModel {
    fn predict(&self, rows: &Rows) -> Result<Vec<f64>, EvaluatorError> {
        self.search.predict(&matrix(rows, ID)?).map_err(EvaluatorError::regressor(ID))
    }

    fn blobs(&self) -> Result<Vec<Blob>, EvaluatorError> {
        let shape = vec![self.rows.len(), self.rows.width()];
        let rows = Blob::new("rows", shape, BlobValues::F64(self.rows.values().to_vec()));
        Ok(vec![
            rows,
            Blob::new("accuracy", vec![self.accuracy.len()], BlobValues::F64(self.accuracy.clone())),
        ])
    }
}

/// Rows as smartcore wants them.
pub(super) fn matrix(rows: &Rows, id: &'static str) -> Result<DenseMatrix<f64>, EvaluatorError> {
    DenseMatrix::new(rows.len(), rows.width(), rows.values().to_vec(), false)
        .map_err(EvaluatorError::regressor(id))
}
