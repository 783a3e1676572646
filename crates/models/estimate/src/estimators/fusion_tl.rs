//! `fusion-tl`: the evaluator of the paper, fine-tuned on a few labelled answers to the target.

use crate::case::TargetCase;
use crate::error::EstimateError;
use crate::estimate::Estimate;
use crate::pool::QuestionIndex;
use sqlgauge_base::{Random, seed_of};
use sqlgauge_fusion::{HeldOutPart, Rows, fine_tune, sample_subsets};

use super::Estimator;
use super::fusion::{FittedFusion, TargetShift};
use super::sampling::{Answers, FusionOptions, described, failed};

/// Sample sets that are drawn from the labelled answers.
const SUBSETS: usize = 200;
/// Parts of the labelled answers, each held out once for the interval.
const PARTS: usize = 5;
const FEWEST_LABELS: usize = 10;

/// What it does: as [`Fusion`](super::Fusion), and then trains the network further on bootstrap sets of the target's
/// answers that have labels (paper section V-C). The interval is from labels that were held out: a fifth of them at a time.
#[derive(Debug, Clone, Copy)]
pub struct FusionTl;

impl Estimator for FusionTl {
    fn id(&self) -> &'static str {
        "fusion-tl"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        let label = |question: QuestionIndex| case.evidence.labels.get(case.target, question);
        let questions = case.evidence.questions.iter().copied();
        let labelled: Vec<QuestionIndex> = questions.filter(|&question| label(question).is_some()).collect();
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
        let FittedFusion { training, reference, evaluator } =
            FittedFusion::new(case, self.id(), FusionOptions::DEFAULT)?;
        let mut answers = Answers::of(case, case.target, &labelled)?;
        answers.correct =
            answers.questions.iter().map(|&question| label(question).unwrap_or_default()).collect();
        let seed = case.options.seed;
        let target = TargetShift::of(case, &reference)?;
        let row = target.seen_by(&evaluator)?;
        let row = Rows::new(row.len(), row).map_err(failed)?;
        let tuned_on = |places: &[usize]| {
            let subsets = sample_subsets(places, SUBSETS, places.len(), seed);
            let sets = described(&reference, &answers, &subsets, &evaluator.card().descriptors)?;
            fine_tune(&evaluator, &sets, seed).map_err(failed)
        };
        let mut places: Vec<usize> = (0..answers.len()).collect();
        Random::new([seed, seed_of("parts of the labels")]).shuffle(&mut places);
        let parts = (0..PARTS).map(|part| {
            let of = |is_own: bool| -> Vec<usize> {
                let all = places.iter().enumerate();
                all.filter(|(at, _)| (at % PARTS == part) == is_own).map(|(_, &place)| place).collect()
            };
            let test_places = of(true);
            let tuned = tuned_on(&of(false))?;
            let right: f64 = test_places.iter().map(|&place| answers.correct[place]).sum();
            Ok(HeldOutPart {
                estimate: tuned.predict(&row).map_err(failed)?[0],
                truth: right / test_places.len() as f64,
                items: test_places.len(),
            })
        });
        let parts = parts.collect::<Result<Vec<HeldOutPart>, EstimateError>>()?;
        places.sort_unstable();
        let tuned = tuned_on(&places)?.measured(&parts);
        target.outcome(case, self.id(), &training, &tuned)
    }
}
