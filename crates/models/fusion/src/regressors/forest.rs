//! `forest`: a random forest.

use serde::Deserialize;
use smartcore::ensemble::random_forest_regressor::{RandomForestRegressor, RandomForestRegressorParameters};

use crate::blob::Blobs;
use crate::error::EvaluatorError;

use super::flat_trees::{FlatTrees, GrownTree};
use super::knn::matrix;
use super::{FittedModel, Lesson, Model, Regressor};

const ID: &str = "forest";

/// Random forest: 100 trees on bootstrap samples, a third of the descriptors tried per split, at least 5 sample sets
/// per leaf.
///
/// Source: paper Figure 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomForest;

#[derive(Deserialize)]
struct Grown {
    forest_regressor: GrownForest,
}

#[derive(Deserialize)]
struct GrownForest {
    trees: Vec<GrownTree>,
}

impl Regressor for RandomForest {
    fn id(&self) -> &'static str {
        ID
    }

    fn fit(&self, lesson: &Lesson<'_>) -> Result<FittedModel, EvaluatorError> {
        let &Lesson { train, seed, .. } = lesson;
        let parameters = RandomForestRegressorParameters::default()
            .with_n_trees(100)
            .with_m(train.rows.width().div_ceil(3))
            .with_min_samples_leaf(5)
            .with_min_samples_split(10)
            .with_seed(seed);
        let fitted =
            RandomForestRegressor::fit(&matrix(train.rows, ID)?, &train.accuracy.to_vec(), parameters)
                .map_err(EvaluatorError::regressor(ID))?;
        // Through text and not through a JSON tree, which would take gigabytes for a large forest.
        let text = serde_json::to_vec(&fitted).map_err(EvaluatorError::regressor(ID))?;
        let grown: Grown = serde_json::from_slice(&text).map_err(EvaluatorError::regressor(ID))?;
        let trees = FlatTrees::new(&grown.forest_regressor.trees).ok_or("the forest is too large");
        Ok(FittedModel { model: Box::new(trees.map_err(EvaluatorError::regressor(ID))?), curve: Vec::new() })
    }

    fn load(&self, blobs: &Blobs<'_>, width: usize) -> Result<Box<dyn Model>, String> {
        Ok(Box::new(FlatTrees::load(blobs, width)?))
    }
}
