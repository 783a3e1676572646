//! `fusion-tl`: fine-tuning on a few labelled items of the target.

use super::calibration::Calibration;
use super::error::EvaluatorError;
use super::fit::Evaluator;
use super::meta_set::MetaSet;
use super::network::{Dropout, Momentum, Samples};
use super::regressors::{Mlp, MlpModel, Training};
use sqlgauge_base::{Random, seed_of};

/// Steps of the optimizer, as 20 epochs of 3,000 sample sets take in training. The rest is as there too.
const STEPS: usize = 940;

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
pub fn fine_tune(evaluator: &Evaluator, labelled: &MetaSet, seed: u64) -> Result<Evaluator, EvaluatorError> {
    evaluator.check_rows(labelled)?;
    let samples = Samples::new(&evaluator.scaler.apply(labelled.rows()), labelled.accuracy());
    let Training { batch, learning_rate, weight_decay, dropout, .. } = Mlp::PAPER.training;
    let momentum = Momentum { learning_rate, beta1: 0.9, weight_decay };
    let mut random = Random::new([seed, seed_of("transfer")]);
    let mut dropout = Dropout { rate: dropout, random: Random::new([seed, seed_of("transfer dropout")]) };
    let tuned = evaluator.trained_further(|network| {
        use candle_nn::Optimizer as _;
        let mut optimizer = network.optimizer(momentum)?;
        for step in 0..STEPS {
            let turn = std::f64::consts::PI * step as f64 / STEPS as f64;
            optimizer.set_learning_rate(learning_rate * f64::midpoint(1.0, turn.cos()));
            let rows = draw(&mut random, samples.len(), batch);
            network.step(&mut optimizer, &samples, &rows, Some(&mut dropout))?;
        }
        Ok(())
    })?;
    let note = format!(
        "Fine-tuned with {STEPS} steps on {} sample sets from labelled items of a target.",
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
