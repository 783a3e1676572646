//! The numbers that FusionSQL prints in Table VII, held to what its own definitions allow.

#![allow(clippy::unwrap_used, reason = "a failure should stop the test")]

use crate::common::Numbers;
use sqlgauge_shift::{Slices, shift};

/// Means and variances of a workload in the four dimensions of the table.
type Moments = ([f64; 4], [f64; 4]);

/// Source, target, the `SD_M` and the Euclidean distance that are printed.
const PRINTED: [(Moments, Moments, f64, f64); 6] = [
    (
        ([0.03, -0.01, 0.00, 0.02], [0.35, 0.10, 0.06, 0.05]),
        ([0.12, 0.18, 0.05, 0.04], [1.80, 0.42, 0.30, 0.22]),
        2.60,
        0.22,
    ),
    (
        ([0.24, 0.08, -0.02, 0.04], [1.10, 0.32, 0.14, 0.11]),
        ([0.03, 0.22, 0.00, 0.02], [0.62, 0.40, 0.16, 0.12]),
        3.85,
        0.25,
    ),
    // Spider → BIRD, BIRD → WikiSQL, WikiSQL → Spider, SParC → CoSQL.
    (
        ([0.12, 0.02, -0.05, 0.01], [4.90, 0.95, 0.62, 0.41]),
        ([0.05, 0.34, -0.03, 0.06], [4.65, 2.70, 0.76, 0.52]),
        3.15,
        0.33,
    ),
    (
        ([0.06, 0.31, -0.02, 0.05], [4.70, 2.60, 0.74, 0.50]),
        ([-0.02, 0.04, 0.01, -0.02], [1.05, 0.20, 0.14, 0.11]),
        2.40,
        0.29,
    ),
    (
        ([-0.01, 0.02, 0.00, -0.01], [1.10, 0.22, 0.15, 0.10]),
        ([-0.06, 0.30, 0.12, 0.08], [8.05, 0.86, 0.95, 0.72]),
        5.41,
        0.32,
    ),
    (
        ([0.00, 0.01, 0.02, -0.01], [2.35, 0.58, 0.44, 0.30]),
        ([-0.08, 0.41, 0.05, 0.12], [2.40, 0.62, 0.55, 0.39]),
        6.05,
        0.43,
    ),
];

/// Half a unit of the last printed digit.
const ROUNDING: f64 = 0.005;

/// The most that the mean of `r = ‖(φ - μ_S) / σ_S‖` can be: by Jensen's inequality, the root of the mean of r², which moments decide.
fn bound(((means, variances), (other_means, other_variances)): (Moments, Moments), rounding: f64) -> f64 {
    let square = |d: usize| {
        let distance = (other_means[d] - means[d]).abs() + 2.0 * rounding;
        (other_variances[d] + rounding + distance.powi(2)) / (variances[d] - rounding)
    };
    (0..4).map(square).sum::<f64>().sqrt()
}

#[test]
fn five_of_six_printed_tails_exceed_what_their_moments_allow() {
    let exceeds = PRINTED.map(|(source, target, printed, _)| printed > bound((source, target), ROUNDING));
    assert_eq!(exceeds, [false, true, true, true, true, true]);
    // Even the sum of the mean and the standard deviation is √2 times the bound at most.
    let as_sum = PRINTED
        .map(|(source, target, printed, _)| printed > 2_f64.sqrt() * bound((source, target), ROUNDING));
    assert_eq!(as_sum, [false, true, false, true, false, true]);
    let (source, target, printed, _) = PRINTED[5];
    assert_eq!(format!("{printed} of {:.2}", bound((source, target), 0.0)), "6.05 of 2.23");
}

/// The moments are those of the space that the descriptors were computed in: the distance between the means is the printed one.
#[test]
fn the_printed_distances_are_those_of_the_printed_means() {
    for ((means, _), (other_means, _), _, euclidean) in PRINTED {
        let square: f64 = means.iter().zip(other_means).map(|(mean, other)| (mean - other).powi(2)).sum();
        assert!(
            (square.sqrt() - euclidean).abs() < 2.0 * ROUNDING,
            "{} is printed as {euclidean}",
            square.sqrt()
        );
    }
}

/// No set of vectors exceeds the bound: random ones of many shapes come near it from below.
#[test]
fn vectors_obey_the_bound() {
    let mut numbers = Numbers(7);
    for (offset, stretch) in [(0.0, 1.0), (0.4, 1.0), (1.0, 0.3), (-2.0, 3.0)] {
        let source = numbers.matrix(450, 4, 0.0, 1.0);
        let target = numbers.matrix(450, 4, offset, stretch);
        let moments = |matrix: &sqlgauge_encode::Matrix| -> Moments {
            let of = sqlgauge_shift::moments(matrix).unwrap();
            let variances: Vec<f64> = of.variance().collect();
            (of.mean().try_into().unwrap(), variances.try_into().unwrap())
        };
        let most = bound((moments(&source), moments(&target)), 0.0);
        let tail = shift(&source, &target, Slices::Random(4), 1).unwrap().1.mahalanobis.mean;
        assert!(tail <= most * (1.0 + 1e-9) && tail > 0.8 * most, "{tail} of {most}");
    }
}
