//! `fusion-tl`: fine-tuning on a few labelled items of the target.

use super::calibration::Calibration;
use super::error::EvaluatorError;
use super::fit::Evaluator;
use super::meta_set::MetaSet;
use super::network::{Dropout, Momentum, Samples};
use super::regressors::MlpModel;
use sqlgauge_base::{Random, seed_of};

/// How an evaluator is fine-tuned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransferOptions {
    /// Steps of the optimizer.
    pub steps: usize,
    /// Sample sets per step.
    pub batch: usize,
    /// Learning rate of the first step; it falls to 0 along half a cosine.
    pub learning_rate: f64,
    pub weight_decay: f64,
    /// Share of hidden values dropped.
    pub dropout: f64,
    /// Seed of shuffles and dropout.
    pub seed: u64,
}

impl Default for TransferOptions {
    /// 940 steps, as 20 epochs of 3,000 sample sets take in training, at its learning rate of 1e-4; the rest as there too.
    fn default() -> Self {
        Self { steps: 940, batch: 64, learning_rate: 1e-4, weight_decay: 1e-3, dropout: 0.2, seed: 0 }
    }
}

/// Sample sets from labelled items: `sets` draws of `size` items with replacement (a bootstrap, so that few items
/// still make sets that differ), each ascending. Their descriptors and accuracies are what [`fine_tune`] takes.
pub fn sample_subsets(labelled: &[usize], sets: usize, size: usize, seed: u64) -> Vec<Vec<usize>> {
    if labelled.is_empty() {
        return Vec::new();
    }
    let mut random = Random::new([seed, seed_of("subsets")]);
    let mut draw = |_| {
        let mut set: Vec<usize> = (0..size).map(|_| labelled[random.below(labelled.len())]).collect();
        set.sort_unstable();
        set
    };
    (0..sets).map(&mut draw).collect()
}

/// `fusion-tl`: trains an evaluator further on sample sets drawn from a labelled part of the target (paper section
/// V-C). The scale of the inputs stays, and so does the calibration until [`Evaluator::measured`] replaces it.
///
/// # Errors
/// [`EvaluatorError::NotAdaptable`] for an evaluator that is no network; when the sets have other descriptors.
pub fn fine_tune(
    evaluator: &Evaluator,
    labelled: &MetaSet,
    options: &TransferOptions,
) -> Result<Evaluator, EvaluatorError> {
    evaluator.check_rows(labelled)?;
    let sound = options.batch > 0 && options.learning_rate > 0.0 && (0.0..1.0).contains(&options.dropout);
    if !sound {
        return Err(EvaluatorError::Option(format!("{options:?} makes no sense: see its documentation")));
    }
    let samples = Samples::new(&evaluator.scaler.apply(labelled.rows()), labelled.accuracy());
    let momentum =
        Momentum { learning_rate: options.learning_rate, beta1: 0.9, weight_decay: options.weight_decay };
    let mut random = Random::new([options.seed, seed_of("transfer")]);
    let mut dropout =
        Dropout { rate: options.dropout, random: Random::new([options.seed, seed_of("transfer dropout")]) };
    let tuned = evaluator.trained_further(|network| {
        use candle_nn::Optimizer as _;
        let mut optimizer = network.optimizer(momentum)?;
        for step in 0..options.steps {
            let turn = std::f64::consts::PI * step as f64 / options.steps as f64;
            optimizer.set_learning_rate(options.learning_rate * f64::midpoint(1.0, turn.cos()));
            let rows = draw(&mut random, samples.len(), options.batch);
            network.step(&mut optimizer, &samples, &rows, Some(&mut dropout))?;
        }
        Ok(())
    })?;
    let note = format!(
        "Fine-tuned with {} steps on {} sample sets from labelled items of a target.",
        options.steps,
        labelled.len()
    );
    Ok(tuned.renamed("fusion-tl", labelled, note))
}

/// A part of the labelled items that fine-tuning was not shown: what it then estimates for the whole target, and how many of the
/// part's items are right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOutPart {
    /// The estimate for the target, in `[0, 1]`.
    pub estimate: f64,
    /// The accuracy on the part, in `[0, 1]`.
    pub truth: f64,
    /// Items of the part, at least one.
    pub items: usize,
}

impl Evaluator {
    /// Takes the interval from held-out parts of the labelled items, which are drawn from the target at random, in place of that of
    /// the evaluator before it was fine-tuned. None leave it as it was.
    #[must_use]
    pub fn measured(mut self, parts: &[HeldOutPart]) -> Self {
        if let Some(calibration) = Calibration::measured(parts) {
            self.calibration = calibration;
            let note = format!(
                "The interval is from the labels of {} parts, each held out from fine-tuning once.",
                parts.len()
            );
            self.card.notes.push(note);
        }
        self
    }
}

/// Rows of a batch: without replacement as long as there are enough.
pub(super) fn draw(random: &mut Random, rows: usize, batch: usize) -> Vec<usize> {
    if batch >= rows {
        return (0..rows).collect();
    }
    let mut order: Vec<usize> = (0..rows).collect();
    for place in 0..batch {
        let other = place + random.below(rows - place);
        order.swap(place, other);
    }
    order.truncate(batch);
    order
}

impl Evaluator {
    /// Refuses sets with other descriptors.
    pub(super) fn check_rows(&self, sets: &MetaSet) -> Result<(), EvaluatorError> {
        if sets.names() == self.card.descriptors {
            return Ok(());
        }
        Err(EvaluatorError::MetaSet(format!(
            "has {} descriptors that are not the {} of the evaluator: compute them with the options of its card",
            sets.names().len(),
            self.card.descriptors.len()
        )))
    }

    /// A copy whose network has been trained further.
    pub(super) fn trained_further(
        &self,
        train: impl FnOnce(&super::network::Network) -> candle_core::Result<()>,
    ) -> Result<Self, EvaluatorError> {
        let Some(MlpModel(network)) = self.model.network() else {
            return Err(EvaluatorError::NotAdaptable(self.card.regressor.clone()));
        };
        let run = || {
            let network = network.copy()?;
            train(&network)?;
            Ok(network)
        };
        let network = run().map_err(|error: candle_core::Error| EvaluatorError::regressor("mlp")(error))?;
        Ok(Self {
            card: self.card.clone(),
            scaler: self.scaler.clone(),
            model: Box::new(MlpModel(network)),
            trained: self.trained.clone(),
            seen: self.seen.clone(),
            calibration: self.calibration.clone(),
            reference: self.reference.clone(),
        })
    }

    /// Says that it was trained further on these sets.
    pub(super) fn renamed(mut self, method: &str, sets: &MetaSet, note: String) -> Self {
        method.clone_into(&mut self.card.method);
        self.card.notes.push(note);
        self.trained.extend(sets.rows());
        self.seen.extend(sets.rows());
        self.card.seen = self.seen.pairs();
        self
    }
}
