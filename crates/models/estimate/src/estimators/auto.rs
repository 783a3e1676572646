//! `auto`: the best of ours that the evidence allows.

use crate::case::TargetCase;
use crate::error::EstimateError;
use crate::estimate::Estimate;

use super::{Equivalents, Estimator, FromSignals};

/// What it does: `equivalents` where at least three other systems have labels on the target's questions, else
/// `signals`.
#[derive(Debug, Clone, Copy)]
pub struct Auto;

impl Estimator for Auto {
    fn id(&self) -> &'static str {
        "auto"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        if Equivalents::systems(case).is_some() {
            Equivalents.estimate(case)
        } else {
            FromSignals.estimate(case)
        }
    }
}
