//! `fusion`: the evaluator of the paper, learned from the known runs in memory.

use sqlgauge_encode::Vectors;
use sqlgauge_shift::{Descriptors, Reference, columns_of};

use crate::case::TargetCase;
use crate::error::EstimateError;
use crate::estimate::{AccuracyInterval, Estimate};
use crate::outcome::EstimateDraft;
use sqlgauge_fusion::{Evaluator, FitOptions, find, fit_parts};

use super::Estimator;
use super::sampling::{Answers, FusionOptions, LabelledAnswers, failed, parts};

/// What it does: draws sample sets from the labelled answers of the known systems, describes the shift of each from
/// the system's own labelled answers, learns how accuracy follows from the shift, and reads the accuracy of the
/// target off its shift (paper section IV-B, Eq. 6-10). Vectors are the `features` of question, schema and prediction,
/// the paper's form for systems without hidden states (section V-D).
#[derive(Debug, Clone, Copy, Default)]
pub struct Fusion {
    /// The sample sets and the regressor.
    pub options: FusionOptions,
}

impl Fusion {
    /// With the options of [`FusionOptions::DEFAULT`].
    pub const DEFAULT: Self = Self { options: FusionOptions::DEFAULT };
}

impl Estimator for Fusion {
    fn id(&self) -> &'static str {
        "fusion"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        let FittedFusion { training, reference, evaluator } =
            FittedFusion::new(case, self.id(), self.options)?;
        outcome(case, self.id(), &training, &reference, &evaluator)
    }
}

/// An evaluator with the source that it measures from.
pub(crate) struct FittedFusion {
    pub training: LabelledAnswers,
    pub reference: Reference,
    pub evaluator: Evaluator,
}

impl FittedFusion {
    /// Learns an evaluator for the target of a case.
    pub(crate) fn new(
        case: &TargetCase<'_>,
        method: &'static str,
        options: FusionOptions,
    ) -> Result<Self, EstimateError> {
        let training = LabelledAnswers::new(case, method)?;
        let seed = case.options.seed;
        let reference =
            Reference::build(&training.source.vectors, training.directions(options.slices, seed)?)
                .map_err(failed)?;
        let parts = parts(case, &training, &reference, options)?;
        let regressor = find(options.regressor).map_err(failed)?;
        let evaluator =
            fit_parts(&parts, &FitOptions { regressor, seed, ..FitOptions::default() }).map_err(failed)?;
        Ok(Self { training, reference, evaluator })
    }
}

/// The estimate of an evaluator for the target of a case.
pub(crate) fn outcome(
    case: &TargetCase<'_>,
    method: &'static str,
    training: &LabelledAnswers,
    reference: &Reference,
    evaluator: &Evaluator,
) -> Result<Estimate, EstimateError> {
    TargetShift::of(case, reference)?.outcome(case, method, training, evaluator)
}

/// The shift of a case's target from a source.
pub(crate) struct TargetShift {
    row: Vec<f64>,
    items: usize,
}

impl TargetShift {
    pub(crate) fn of(case: &TargetCase<'_>, reference: &Reference) -> Result<Self, EstimateError> {
        let target = Answers::of(case, case.target, &case.evidence.questions)?;
        let row = reference.describe(&target.vectors).map_err(failed)?.to_row();
        Ok(Self { row, items: target.vectors.len() })
    }

    /// Those of its descriptors that an evaluator learned from.
    pub(crate) fn seen_by(&self, evaluator: &Evaluator) -> Result<Vec<f64>, EstimateError> {
        columns_of(&self.row, &evaluator.card().descriptors)
            .ok_or_else(|| failed("the evaluator learned from a descriptor of another version"))
    }

    pub(crate) fn outcome(
        self,
        case: &TargetCase<'_>,
        method: &'static str,
        training: &LabelledAnswers,
        evaluator: &Evaluator,
    ) -> Result<Estimate, EstimateError> {
        let seen = self.seen_by(evaluator)?;
        let evaluation = evaluator.estimate(&seen, Some(self.items), case.options.level).map_err(failed)?;
        let mut outcome = EstimateDraft::flat(case, evaluation.accuracy, "shift descriptors");
        if !training.is_own {
            let name = &case.pool()[case.target];
            outcome.notes.push(format!(
                "no labelled predictions of {name}: the shift is measured from those of all others"
            ));
        }
        if evaluation.outside {
            outcome
                .notes
                .push(format!("beyond what was learned from in {}", evaluation.outside_in.join(", ")));
        }
        let interval =
            AccuracyInterval { level: evaluation.level, low: evaluation.low, high: evaluation.high };
        let mut estimate = outcome.estimate(case, method, interval);
        let names = Descriptors::names().iter().map(|name| (*name).to_owned());
        estimate.descriptors = names.zip(self.row).collect();
        Ok(estimate)
    }
}
