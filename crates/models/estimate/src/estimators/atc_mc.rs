//! `atc-mc`: average thresholded confidence with the maximum confidence as score.

use crate::case::TargetCase;
use crate::confidence::{LabelledSample, estimate_by};
use crate::error::EstimateError;
use crate::estimate::Estimate;
use crate::threshold::{ABOVE, Threshold};

use super::Estimator;

/// What it does: takes the threshold that as many labelled answers exceed in confidence as are right, and estimates the
/// share of the target's answers that exceed it (Garg et al., 2022).
///
/// The maximum confidence over classes is, for a system that writes queries, that of the query which it gave.
#[derive(Debug, Clone, Copy)]
pub struct AtcMc;

fn formula(source: &LabelledSample, target: &[f64]) -> f64 {
    Threshold::fit(&source.confidences, source.accuracy()).share(target)
}

impl Estimator for AtcMc {
    fn id(&self) -> &'static str {
        "atc-mc"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        estimate_by(case, self.id(), &formula, (ABOVE, &formula))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidences_are_the_scores() {
        // Two of four are right, so the threshold is 0.6; one of four exceeds or meets it.
        let source =
            LabelledSample { confidences: vec![0.7, 0.2, 0.6, 0.4], labels: vec![1.0, 0.0, 0.0, 1.0] };
        assert!((formula(&source, &[0.65, 0.59, 0.0, 0.5]) - 0.25).abs() < 1e-12);
    }
}
