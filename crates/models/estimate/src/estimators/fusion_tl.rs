//! `fusion-tl`: the evaluator of the paper, fine-tuned on a few labelled answers to the target.

use crate::case::TargetCase;
use crate::error::EstimateError;
use crate::estimate::Estimate;
use sqlgauge_fusion::{TransferOptions, fine_tune, sample_subsets};

use super::Estimator;
use super::fusion::{FittedFusion, outcome};
use super::sampling::{Answers, FusionOptions, described, failed};

/// Sample sets that are drawn from the labelled answers.
const SUBSETS: usize = 200;
/// Fewest labelled answers.
const FEWEST_LABELS: usize = 10;

/// What it does: as [`Fusion`](super::Fusion), and then trains the network further on bootstrap sets of the target's
/// answers that have labels (paper section V-C).
#[derive(Debug, Clone, Copy)]
pub struct FusionTl {
    /// The sample sets; the regressor is always the network.
    pub options: FusionOptions,
}

impl FusionTl {
    /// With the options of [`FusionOptions::DEFAULT`].
    pub const DEFAULT: Self = Self { options: FusionOptions::DEFAULT };
}

impl Estimator for FusionTl {
    fn id(&self) -> &'static str {
        "fusion-tl"
    }

    fn summary(&self) -> &'static str {
        "FusionSQL, fine-tuned on some labelled answers to the target"
    }

    fn needs(&self) -> &'static str {
        "a known run, and labels of at least ten of the target's answers (--labels)"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        let label = |question: usize| case.evidence.labels.get(case.target, question);
        let questions = case.evidence.questions.iter().copied();
        let labelled: Vec<usize> = questions.filter(|&question| label(question).is_some()).collect();
        if labelled.len() < FEWEST_LABELS {
            return Err(EstimateError::Needs {
                method: self.id(),
                needs: format!(
                    "labels of at least {FEWEST_LABELS} of the target's answers, and has {}",
                    labelled.len()
                ),
                remedy: "give some with --labels, or use --method fusion",
            });
        }
        let options = FusionOptions { regressor: "mlp", ..self.options };
        let FittedFusion { known, reference, evaluator } = FittedFusion::new(case, self.id(), options)?;
        let mut answers = Answers::of(case, case.target, &labelled)?;
        answers.correct =
            answers.questions.iter().map(|&question| label(question).unwrap_or_default()).collect();
        let places: Vec<usize> = (0..answers.len()).collect();
        let seed = case.options.seed;
        let subsets = sample_subsets(&places, SUBSETS, places.len(), seed);
        let sets = described(&reference, &answers, &subsets, &evaluator.card().descriptors)?;
        let tuned = fine_tune(&evaluator, &sets, &TransferOptions { seed, ..TransferOptions::default() });
        outcome(case, self.id(), &known, &reference, &tuned.map_err(failed)?)
    }
}
