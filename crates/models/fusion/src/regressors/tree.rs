//! `tree`: one regression tree.

use serde::Deserialize;
use smartcore::tree::decision_tree_regressor::{DecisionTreeRegressor, DecisionTreeRegressorParameters};

use crate::blob::Blobs;
use crate::error::EvaluatorError;

use super::flat_trees::{FlatTrees, GrownTree};
use super::knn::matrix;
use super::{FittedModel, Lesson, Model, Regressor};

const ID: &str = "tree";

/// Regression tree by squared error, at least 10 sample sets per leaf.
///
/// Source: paper Figure 6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecisionTree;

#[derive(Deserialize)]
struct Grown {
    tree_regressor: GrownTree,
}

impl Regressor for DecisionTree {
    fn id(&self) -> &'static str {
        ID
    }

    fn fit(&self, lesson: &Lesson<'_>) -> Result<FittedModel, EvaluatorError> {
        let &Lesson { train, seed, .. } = lesson;
        let mut parameters =
            DecisionTreeRegressorParameters::default().with_min_samples_leaf(10).with_min_samples_split(20);
        parameters.seed = Some(seed);
        let fitted =
            DecisionTreeRegressor::fit(&matrix(train.rows, ID)?, &train.accuracy.to_vec(), parameters)
                .map_err(EvaluatorError::regressor(ID))?;
        let grown = serde_json::to_value(&fitted).and_then(Grown::deserialize);
        let grown = grown.map_err(EvaluatorError::regressor(ID))?.tree_regressor;
        let trees = FlatTrees::new(&[grown]).ok_or("the tree is too large");
        Ok(FittedModel { model: Box::new(trees.map_err(EvaluatorError::regressor(ID))?), curve: Vec::new() })
    }

    fn load(&self, blobs: &Blobs<'_>, width: usize) -> Result<Box<dyn Model>, String> {
        Ok(Box::new(FlatTrees::load(blobs, width)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::LabelledRows;
    use super::*;
    use crate::meta_set::Rows;
    use sqlgauge_base::{Random, seed_of};

    /// Our walk over the arrays gives what smartcore's own prediction gives.
    #[test]
    fn arrays_predict_what_the_library_predicts() {
        let mut random = Random::new([5, seed_of("test")]);
        let rows = Rows::new(3, (0..900).map(|_| random.unit()).collect()).unwrap();
        let accuracy: Vec<f64> = rows.iter().map(|row| (row[0] * 7.0).sin().abs() * row[1]).collect();
        let train = LabelledRows { rows: &rows, accuracy: &accuracy };
        let ours = DecisionTree
            .fit(&Lesson { train, validation: train, seed: 3 })
            .unwrap()
            .model
            .predict(&rows)
            .unwrap();
        let mut parameters =
            DecisionTreeRegressorParameters::default().with_min_samples_leaf(10).with_min_samples_split(20);
        parameters.seed = Some(3);
        let inputs = matrix(&rows, ID).unwrap();
        let theirs =
            DecisionTreeRegressor::fit(&inputs, &accuracy, parameters).unwrap().predict(&inputs).unwrap();
        assert_eq!(ours, theirs);
    }
}
