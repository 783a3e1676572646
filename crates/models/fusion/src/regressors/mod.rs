//! The regressors of Figure 6: one file each.

mod boosting;
mod flat_trees;
mod forest;
mod knn;
mod mlp;
mod svr;
mod tree;

use super::blob::{Blob, Blobs};
use super::card::Epoch;
use super::error::EvaluatorError;
use super::meta_set::Rows;

pub use boosting::GradientBoosting;
pub use forest::RandomForest;
pub use knn::KNearest;
pub use mlp::{Mlp, Training};
pub use svr::SupportVectors;
pub use tree::DecisionTree;

pub use mlp::MlpModel;
pub(super) use mlp::mean_absolute_error;

/// Scaled descriptors with the accuracy of each row.
#[derive(Debug, Clone, Copy)]
pub struct LabelledRows<'a> {
    /// One row per sample set.
    pub rows: &'a Rows,
    pub accuracy: &'a [f64],
}

/// All that a regressor learns with.
#[derive(Debug, Clone, Copy)]
pub struct Lesson<'a> {
    /// What it learns from.
    pub train: LabelledRows<'a>,
    /// For stopping early; it is not learnt from.
    pub validation: LabelledRows<'a>,
    /// Where all randomness comes from.
    pub seed: u64,
}

/// A way to learn accuracy from descriptors.
pub trait Regressor: Send + Sync {
    /// Name, as on the command line.
    fn id(&self) -> &'static str;

    /// Learns from scaled rows.
    ///
    /// # Errors
    /// When the library under it refuses.
    fn fit(&self, lesson: &Lesson<'_>) -> Result<FittedModel, EvaluatorError>;

    /// What [`Model::blobs`] gave, for rows of that width.
    ///
    /// # Errors
    /// What is missing or wrong.
    fn load(&self, blobs: &Blobs<'_>, width: usize) -> Result<Box<dyn Model>, String>;
}

/// A fitted model and how it came to be.
pub struct FittedModel {
    pub model: Box<dyn Model>,
    /// One entry per epoch; empty where there are none.
    pub curve: Vec<Epoch>,
}

/// What a regressor has learnt.
pub trait Model: Send + Sync {
    /// Accuracy of each scaled row; not necessarily within `[0, 1]`.
    ///
    /// # Errors
    /// When the library under it refuses.
    fn predict(&self, rows: &Rows) -> Result<Vec<f64>, EvaluatorError>;

    /// Its parameters.
    ///
    /// # Errors
    /// When they cannot be read out.
    fn blobs(&self) -> Result<Vec<Blob>, EvaluatorError>;

    /// The network, where it is one and can be trained further.
    fn network(&self) -> Option<&MlpModel> {
        None
    }
}

/// All regressors, the paper's choice first.
pub fn all() -> &'static [&'static dyn Regressor] {
    &[&Mlp::PAPER, &KNearest, &SupportVectors, &DecisionTree, &RandomForest, &GradientBoosting]
}

/// The regressor of that id.
///
/// # Errors
/// [`EvaluatorError::UnknownRegressor`] with the ids that exist.
pub fn find(name: &str) -> Result<&'static dyn Regressor, EvaluatorError> {
    let regressor = all().iter().find(|regressor| regressor.id() == name);
    regressor.copied().ok_or_else(|| EvaluatorError::UnknownRegressor {
        name: name.to_owned(),
        regressors: all().iter().map(|regressor| regressor.id()).collect::<Vec<_>>().join(", "),
    })
}
