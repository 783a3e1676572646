//! `fusion-ml`: the evaluator of the paper for a system that nothing was learned from.

use sqlgauge_shift::Reference;

use crate::case::TargetCase;
use crate::error::EstimateError;
use crate::estimate::Estimate;
use sqlgauge_fusion::{AdaptOptions, FitOptions, ReptileOptions, adapt, meta_train};

use super::Estimator;
use super::fusion::outcome;
use super::sampling::{FusionOptions, LabelledAnswers, failed, task};

/// What it does: every known system but the target's is a task, its shift measured from its own labelled answers;
/// Reptile learns an initialisation over the tasks, which a few steps adapt to the target's own labelled answers
/// where it has some (paper section IV-C, Eq. 13).
#[derive(Debug, Clone, Copy)]
pub struct FusionMl;

/// Outer steps of Reptile: so few that an estimate takes seconds.
const ITERATIONS: usize = 400;

impl Estimator for FusionMl {
    fn id(&self) -> &'static str {
        "fusion-ml"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        let training = LabelledAnswers::new(case, self.id())?;
        let seed = case.options.seed;
        let options = FusionOptions::DEFAULT;
        let directions = training.directions(options.slices, seed)?;
        let (mut own_sets, mut others) = (None, Vec::new());
        for (system, answers) in &training.corpus {
            let source = training.source_of(answers)?;
            let reference = Reference::build(&source.vectors, directions.clone()).map_err(failed)?;
            let sets = task(case, &training, &reference, (*system, answers), options)?;
            if *system == case.target { own_sets = Some(sets) } else { others.push(sets) }
        }
        if others.len() < 2 {
            return Err(EstimateError::Needs {
                method: self.id(),
                needs: format!(
                    "labelled predictions of at least two other systems, and has {}",
                    others.len()
                ),
                remedy: "give runs of other systems with --known, or use --method fusion",
            });
        }
        let inner = AdaptOptions { seed, ..AdaptOptions::default() };
        let reptile = ReptileOptions { iterations: ITERATIONS, inner };
        let mut evaluator =
            meta_train(&others, &reptile, &FitOptions { seed, ..FitOptions::default() }).map_err(failed)?;
        if let Some(sets) = own_sets {
            evaluator = adapt(&evaluator, &sets, &inner).map_err(failed)?;
        }
        let reference = Reference::build(&training.source.vectors, directions).map_err(failed)?;
        outcome(case, self.id(), &training, &reference, &evaluator)
    }
}
