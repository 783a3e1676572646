//! `doc`: difference of confidences.

use crate::case::TargetCase;
use crate::confidence::{LabelledSample, estimate_by, mean};
use crate::error::EstimateError;
use crate::estimate::Estimate;

use super::Estimator;

/// What it does: the known accuracy less what the mean confidence falls by, `acc_S − (AC_S − AC_T)` (Guillory et al.,
/// 2021, section 3, without the regression on it).
///
/// The `FusionSQL` paper prints `DoC(τ)` for τ of 0.8 and 0.9 and does not say what τ is; Guillory et al. have none. It
/// is read here as: only confident answers count, so a confidence below τ adds 0 to the mean, which is over all
/// answers. τ = 0 is the published method. The result is moved into [0, 1].
#[derive(Debug, Clone, Copy)]
pub struct Doc;

fn confident(confidences: &[f64], tau: f64) -> f64 {
    let counted: Vec<f64> = confidences.iter().map(|&p| if p >= tau { p } else { 0.0 }).collect();
    mean(&counted)
}

fn formula(source: &LabelledSample, target: &[f64], tau: f64) -> f64 {
    (source.accuracy() - confident(&source.confidences, tau) + confident(target, tau)).clamp(0.0, 1.0)
}

impl Estimator for Doc {
    fn id(&self) -> &'static str {
        "doc"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        let tau = case.options.tau;
        let mut estimate = estimate_by(
            case,
            self.id(),
            &|source, target| formula(source, target, tau),
            ("confidence", &|_, confidences| confident(confidences, tau)),
        )?;
        estimate
            .notes
            .push(format!("confidences below {tau} do not count (--tau; 0 is the published method)"));
        Ok(estimate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accuracy_falls_by_what_confidence_falls() {
        let source =
            LabelledSample { confidences: vec![0.9, 0.8, 0.7, 0.4], labels: vec![1.0, 1.0, 1.0, 0.0] };
        // Means: 0.7 and 0.5 over all; from 0.8 on 1.7 / 4 = 0.425 and 0.9 / 4 = 0.225; from 0.9 on 0.225 and 0.225.
        let target = [0.9, 0.5, 0.3, 0.3];
        for (tau, accuracy) in [(0.0, 0.55), (0.8, 0.55), (0.9, 0.75), (0.75, 0.55), (0.6, 0.375)] {
            let estimate = formula(&source, &target, tau);
            assert!((estimate - accuracy).abs() < 1e-12, "{tau}: {estimate}");
        }
    }

    #[test]
    fn the_estimate_stays_an_accuracy() {
        let source = LabelledSample { confidences: vec![0.9, 0.9], labels: vec![1.0, 0.0] };
        assert!(formula(&source, &[0.1, 0.1], 0.0).abs() < 1e-12);
        let unsure = LabelledSample { confidences: vec![0.1, 0.1], labels: vec![1.0, 1.0] };
        assert!((formula(&unsure, &[0.9], 0.0) - 1.0).abs() < 1e-12);
    }
}
