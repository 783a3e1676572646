//! The descriptors beside those of numpy and POT (fixtures/generate.py).

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "test data fits, and a failure should stop the test"
)]

use serde_json::Value;
use sqlgauge_encode::Matrix;
use sqlgauge_shift::{Directions, Reference};

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn singles(value: &Value) -> Vec<f32> {
    numbers(value).into_iter().map(|number| number as f32).collect()
}

fn close(name: &str, what: &str, ours: f64, theirs: f64) {
    let error = (ours - theirs).abs();
    assert!(error <= 1e-6 * theirs.abs().max(1e-3), "{name}: {what} is {ours}, not {theirs}");
}

#[test]
fn every_descriptor_equals_the_python_libraries() {
    let cases: Value = serde_json::from_str(include_str!("../fixtures/descriptors.json")).unwrap();
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let dimensions = usize::try_from(case["dimensions"].as_u64().unwrap()).unwrap();
        let matrix = |side: &str| Matrix::new(dimensions, singles(&case[side])).unwrap();
        let (source, target) = (matrix("source"), matrix("target"));
        let directions = Directions::from_rows(dimensions, singles(&case["directions"])).unwrap();
        let reference = Reference::build(&source, directions).unwrap();
        let descriptors = reference.describe(&target).unwrap();
        let expected = &case["expected"];
        for (what, ours) in [
            ("swd", descriptors.sliced.distance),
            ("swd_mean", descriptors.sliced.mean_distance),
            ("mean_shift", descriptors.frechet.mean_shift),
            ("standardised_mean_shift", descriptors.frechet.standardised_mean_shift),
            ("spread_shift", descriptors.frechet.spread_shift),
            ("spread_ratio", descriptors.frechet.spread_ratio),
            ("log_variance_mean", descriptors.frechet.log_variance_mean),
            ("log_variance_std", descriptors.frechet.log_variance_std),
            ("mahalanobis_mean", descriptors.mahalanobis.mean),
            ("mahalanobis_std", descriptors.mahalanobis.std),
            ("euclidean", descriptors.euclidean),
        ] {
            close(name, what, ours, expected[what].as_f64().unwrap());
        }
        let squares = numbers(&expected["squares"]);
        assert_eq!(squares.len(), descriptors.sliced.squares.len());
        for (ours, theirs) in descriptors.sliced.squares.iter().zip(squares) {
            close(name, "W2² of a direction", *ours, theirs);
        }
        let all: Vec<usize> = (0..dimensions).collect();
        let shifts = reference.attribute_dimensions(&source, &target, &all).unwrap();
        for (shift, theirs) in shifts.iter().zip(numbers(&expected["axis_w2"])) {
            close(name, "W2 of a dimension", shift.w2, theirs);
        }
    }
}
