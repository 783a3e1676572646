//! `source`: the accuracy of the known runs, unchanged.

use crate::calibrate::{Calibration, mean_label};
use crate::case::TargetCase;
use crate::confidence::own_run_needed;
use crate::error::EstimateError;
use crate::estimate::Estimate;
use crate::items::ItemModel;
use crate::outcome::EstimateDraft;

use super::Estimator;

/// What it does: takes the system's accuracy on its labelled questions for its accuracy on the target. The floor that
/// every other method must beat.
///
/// The interval comes from how far this was off on sets of databases that were cut out of the known runs.
#[derive(Debug, Clone, Copy)]
pub struct SourceAccuracy;

impl Estimator for SourceAccuracy {
    fn id(&self) -> &'static str {
        "source"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        let accuracy =
            case.pool().known_accuracy(case.target).ok_or_else(|| own_run_needed(case, self.id()))?;
        let calibration = Calibration::new(case, &ItemModel::default());
        let interval = calibration.interval(case, accuracy, |cut| mean_label(case, cut.system, &cut.source));
        let mut outcome = EstimateDraft::flat(case, accuracy, "the known accuracy");
        outcome.notes.push("carries the known accuracy over: it does not look at the target".to_owned());
        Ok(outcome.estimate_at(case, self.id(), accuracy, interval))
    }
}
