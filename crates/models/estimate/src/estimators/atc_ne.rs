//! `atc-ne`: average thresholded confidence with the negative entropy as score.

use crate::case::TargetCase;
use crate::confidence::{LabelledSample, estimate_by};
use crate::error::EstimateError;
use crate::estimate::Estimate;
use crate::threshold::{ABOVE, Threshold};

use super::Estimator;

/// What it does: as [`AtcMc`](super::AtcMc), with the negative entropy of the confidence as score (Garg et al., 2022).
///
/// Of a system that writes queries one confidence p is known, so the entropy is that of (p, 1 − p). Then an answer that is
/// surely wrong scores as high as one that is surely right: the two methods differ below one half only, and there this
/// one errs. An answer that does not run scores lowest.
#[derive(Debug, Clone, Copy)]
pub struct AtcNe;

/// `p ln p + (1 − p) ln (1 − p)`: from −ln 2 to 0, and −∞ for a confidence of 0, which answers that do not run have.
fn negative_entropy(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let term = |share: f64| if share > 0.0 { share * share.ln() } else { 0.0 };
    term(p) + term(1.0 - p)
}

fn formula(source: &LabelledSample, target: &[f64]) -> f64 {
    let scores =
        |confidences: &[f64]| confidences.iter().copied().map(negative_entropy).collect::<Vec<f64>>();
    Threshold::fit(&scores(&source.confidences), source.accuracy()).share(&scores(target))
}

impl Estimator for AtcNe {
    fn id(&self) -> &'static str {
        "atc-ne"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        estimate_by(case, self.id(), &formula, (ABOVE, &formula))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entropy_is_that_of_two_outcomes() {
        // 0.5: −ln 2. 0.9 and 0.1: 0.9 ln 0.9 + 0.1 ln 0.1.
        for (p, score) in [
            (0.5, -std::f64::consts::LN_2),
            (0.9, -0.325_082_973_391_448_2),
            (0.1, -0.325_082_973_391_448_2),
            (1.0, 0.0),
        ] {
            let entropy = negative_entropy(p);
            assert!((entropy - score).abs() < 1e-12, "{p}: {entropy}");
        }
        assert!(negative_entropy(0.0) < f64::MIN);
    }

    #[test]
    fn surely_wrong_counts_as_sure_and_not_running_does_not() {
        // One of two is right; the surest of the source has 0.9, which 0.95 and 0.05 exceed.
        let source = LabelledSample { confidences: vec![0.9, 0.6], labels: vec![1.0, 0.0] };
        assert!((formula(&source, &[0.95, 0.05, 0.5, 0.0]) - 0.5).abs() < 1e-12);
    }
}
