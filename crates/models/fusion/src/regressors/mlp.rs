//! `mlp`: the paper's evaluator.

use crate::blob::{Blob, Blobs};
use crate::card::Epoch;
use crate::error::EvaluatorError;
use crate::meta_set::Rows;
use crate::network::{Dropout, Momentum, Network, Samples};
use sqlgauge_base::{Random, seed_of};

use super::{FittedModel, LabelledRows, Lesson, Model, Regressor};

const ID: &str = "mlp";

/// How a network is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    /// Most passes over the sample sets.
    pub epochs: usize,
    /// Sample sets per step.
    pub batch: usize,
    /// Learning rate of the first step; it falls to 0 along half a cosine, step by step.
    pub learning_rate: f64,
    /// Weight decay, decoupled (`AdamW`), on all parameters.
    pub weight_decay: f64,
    /// Share of hidden values dropped between hidden layers.
    pub dropout: f64,
    /// Epochs without a better mean absolute error on validation after which training stops; the parameters of the
    /// best epoch are kept in any case. (The paper names no number.)
    pub patience: usize,
}

/// Multilayer perceptron 256-128-64 with layer normalisation, `ReLU`, dropout and a sigmoid at the end, trained with
/// `AdamW` (0.9, 0.999) on the mean squared error.
///
/// Source: paper section IV-B, Eq. 7 and 8; section V, "Training Settings".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mlp {
    pub training: Training,
}

impl Mlp {
    /// The training settings of the paper; patience 5.
    pub const PAPER: Self = Self {
        training: Training {
            epochs: 20,
            batch: 64,
            learning_rate: 1e-4,
            weight_decay: 1e-3,
            dropout: 0.2,
            patience: 5,
        },
    };
}

/// A trained network.
pub struct MlpModel(pub(crate) Network);

impl Regressor for Mlp {
    fn id(&self) -> &'static str {
        ID
    }

    fn fit(&self, lesson: &Lesson<'_>) -> Result<FittedModel, EvaluatorError> {
        let &Lesson { train, validation, seed } = lesson;
        self.training.check()?;
        let mean = train.accuracy.iter().sum::<f64>() / train.accuracy.len().max(1) as f64;
        let run = || -> candle_core::Result<FittedModel> {
            let network = Network::new(train.rows.width(), mean, seed)?;
            let curve = self.training.run(&network, train, validation, seed)?;
            Ok(FittedModel { model: Box::new(MlpModel(network)), curve })
        };
        run().map_err(EvaluatorError::regressor(ID))
    }

    fn load(&self, blobs: &Blobs<'_>, width: usize) -> Result<Box<dyn Model>, String> {
        Ok(Box::new(MlpModel(Network::load(blobs, width)?)))
    }
}

impl Training {
    fn check(&self) -> Result<(), EvaluatorError> {
        let sound = self.epochs > 0
            && self.batch > 0
            && self.learning_rate > 0.0
            && self.weight_decay >= 0.0
            && (0.0..1.0).contains(&self.dropout);
        if sound {
            return Ok(());
        }
        Err(EvaluatorError::Option(format!(
            "the training {self:?} makes no sense: epochs, batch and learning rate are above 0, dropout is in [0, 1)"
        )))
    }

    /// Trains a network and leaves it with the parameters of its best epoch.
    fn run(
        &self,
        network: &Network,
        train: LabelledRows<'_>,
        validation: LabelledRows<'_>,
        seed: u64,
    ) -> candle_core::Result<Vec<Epoch>> {
        use candle_nn::Optimizer as _;
        let samples = Samples::new(train.rows, train.accuracy);
        let mut shuffles = Random::new([seed, seed_of("shuffles")]);
        let mut dropout = Dropout { rate: self.dropout, random: Random::new([seed, seed_of("dropout")]) };
        let momentum =
            Momentum { learning_rate: self.learning_rate, beta1: 0.9, weight_decay: self.weight_decay };
        let mut optimizer = network.optimizer(momentum)?;
        let steps = self.epochs * samples.len().div_ceil(self.batch);
        let mut order: Vec<usize> = (0..samples.len()).collect();
        let (mut curve, mut step) = (Vec::new(), 0);
        let mut best = (f64::INFINITY, 0, network.parameters()?);
        for epoch in 1..=self.epochs {
            shuffles.shuffle(&mut order);
            let mut sum = 0.0;
            for batch in order.chunks(self.batch) {
                let turn = std::f64::consts::PI * f64::from(step) / steps as f64;
                optimizer.set_learning_rate(self.learning_rate * f64::midpoint(1.0, turn.cos()));
                sum +=
                    network.step(&mut optimizer, &samples, batch, Some(&mut dropout))? * batch.len() as f64;
                step += 1;
            }
            let validation_mae = mean_absolute_error(&network.predict(validation.rows)?, validation.accuracy);
            curve.push(Epoch { epoch, train_mse: sum / samples.len() as f64, validation_mae });
            if validation_mae < best.0 {
                best = (validation_mae, epoch, network.parameters()?);
            } else if epoch - best.1 >= self.patience {
                break;
            }
        }
        network.set(&best.2)?;
        Ok(curve)
    }
}

impl Model for MlpModel {
    fn predict(&self, rows: &Rows) -> Result<Vec<f64>, EvaluatorError> {
        self.0.predict(rows).map_err(EvaluatorError::regressor(ID))
    }

    fn blobs(&self) -> Result<Vec<Blob>, EvaluatorError> {
        self.0.blobs().map_err(EvaluatorError::regressor(ID))
    }

    fn network(&self) -> Option<&MlpModel> {
        Some(self)
    }
}

/// Mean distance between estimates and truths (Eq. 15); 0 of none.
pub(crate) fn mean_absolute_error(estimates: &[f64], truths: &[f64]) -> f64 {
    let sum: f64 = estimates.iter().zip(truths).map(|(estimate, truth)| (estimate - truth).abs()).sum();
    sum / truths.len().max(1) as f64
}
