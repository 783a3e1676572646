//! A logistic regression that learns from each batch what the proxy is worth.

use crate::logistic::{dot, sigmoid, solve};

/// Newton steps after each batch.
const STEPS: usize = 3;
/// Curvature of a label at least, so that steps cannot swing.
const CURVATURE: f64 = 0.125;
/// What the weights are drawn to the prior with.
const RIDGE: f64 = 1.0;
/// Beyond, a probability no longer changes.
const FAR: f64 = 30.0;

/// The weights before a label: the logit as it is, and nothing else.
pub(super) fn prior(width: usize) -> Vec<f64> {
    (0..width).map(|at| f64::from(u8::from(at == 1))).collect()
}

/// The probability that a regression of those weights gives.
pub(super) fn probability(weights: &[f64], features: &[f64]) -> f64 {
    sigmoid(dot(weights, features).clamp(-FAR, FAR))
}

/// The weights that fit features and verdicts, from those before.
pub(super) fn recalibrate(weights: &[f64], seen: &[(&[f64], f64)]) -> Vec<f64> {
    let prior = prior(weights.len());
    let mut weights = weights.to_vec();
    for _ in 0..STEPS {
        let mut gradient: Vec<f64> =
            weights.iter().zip(&prior).map(|(weight, prior)| (prior - weight) * RIDGE).collect();
        let mut hessian = vec![vec![0.0; weights.len()]; weights.len()];
        (0..weights.len()).for_each(|at| hessian[at][at] = RIDGE);
        for (features, verdict) in seen {
            let p = probability(&weights, features);
            let curvature = (p * (1.0 - p)).max(CURVATURE);
            for (row, a) in features.iter().enumerate() {
                gradient[row] += (verdict - p) * a;
                hessian[row].iter_mut().zip(*features).for_each(|(cell, b)| *cell += curvature * a * b);
            }
        }
        weights.iter_mut().zip(solve(hessian, gradient)).for_each(|(weight, step)| *weight += step);
    }
    weights
}
