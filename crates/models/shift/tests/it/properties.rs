//! What holds for any two sets: sizes, order, place, shards, threads.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "test data fits, and a failure should stop the test"
)]

use crate::common::{Chunked, Numbers, on_threads};
use proptest::prelude::*;
use sqlgauge_encode::{Matrix, Vectors};
use sqlgauge_shift::{Descriptors, Directions, Partial, Reference, SetSide, ShiftError, Slices, shift};

fn assert_close(a: &Descriptors, b: &Descriptors, relative: f64) {
    for ((name, a), b) in Descriptors::names().iter().zip(a.to_row()).zip(b.to_row()) {
        assert!((a - b).abs() <= relative * a.abs().max(1e-3), "{name}: {a} {b}");
    }
}

fn described(source: &dyn Vectors, target: &dyn Vectors) -> Descriptors {
    shift(source, target, Slices::Random(16), 3).unwrap().1
}

#[test]
fn a_hand_computed_case() {
    // Source (0,0), (2,0), (0,4), (2,4): means 1 and 2, variances 1 and 4. Target (3,2), (3,6).
    let source = Matrix::new(2, vec![0.0, 0.0, 2.0, 0.0, 0.0, 4.0, 2.0, 4.0]).unwrap();
    let target = Matrix::new(2, vec![3.0, 2.0, 3.0, 6.0]).unwrap();
    let axes = Directions::from_rows(2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let reference = Reference::build(&source, axes).unwrap();
    let descriptors = reference.describe(&target).unwrap();
    let expected = [
        ("frechet_mean_shift", 8.0),
        ("frechet_standardised_mean_shift", 2.5),
        ("frechet_spread_shift", 1.0),
        // Ratios 0 and 1, each with 1/2 more.
        ("frechet_log_variance_mean", 0.75_f64.ln() / 2.0),
        ("frechet_log_variance_std", (1.5_f64.ln() - 0.5_f64.ln()) / 2.0),
        // r = |(2, 0)| and |(2, 2)|.
        ("mahalanobis_mean", 1.0 + 2.0_f64.sqrt()),
        ("mahalanobis_std", (8.0_f64.sqrt() - 2.0) / 2.0),
        // Axis 0: {0,0,2,2} to {3,3}: (9 + 1)/2. Axis 1: {0,0,4,4} to {2,6}: 4.
        ("swd", 4.5_f64.sqrt()),
        ("euclidean", 8.0_f64.sqrt()),
        // Ratios of the standard deviations 0 and 1.
        ("frechet_spread_ratio", 1.0),
        ("swd_mean", f64::midpoint(5.0_f64.sqrt(), 2.0)),
    ];
    let row = descriptors.to_row();
    for (name, value) in expected {
        let column = Descriptors::names().iter().position(|column| *column == name).unwrap();
        assert!((row[column] - value).abs() < 1e-9, "{name}: {} is not {value}", row[column]);
    }
    let groups = reference.attribute_groups(&target, &[0, 1]).unwrap();
    // The first lies at (2, 0) from the source's mean, the second at (2, 4); the shift is (2, 2).
    let shares: Vec<f64> = groups.iter().map(|group| group.mean_shift).collect();
    assert!((shares[0] - 2.0).abs() < 1e-9 && (shares[1] - 6.0).abs() < 1e-9, "{shares:?}");
}

#[test]
fn a_small_sample_of_the_same_distribution_is_as_near_as_a_large_one() {
    let mut numbers = Numbers(1);
    let source = numbers.matrix(1000, 32, 0.0, 1.0);
    let mut excess = |rows: usize, shift: f64| -> Vec<f64> {
        (0..20).map(|_| described(&source, &numbers.matrix(rows, 32, shift, 1.0)).sliced.excess).collect()
    };
    let mean = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64;
    let (many, few) = (excess(1000, 0.0), excess(100, 0.0));
    let (many_moved, few_moved) = (excess(1000, 0.5), excess(100, 0.5));
    // A shift of 0.5 in each of 32 dimensions is about 0.5 on each direction.
    assert!((mean(&many) - mean(&few)).abs() < 0.004, "{} {}", mean(&many), mean(&few));
    assert!(mean(&many_moved) > 0.1 && (mean(&many_moved) / mean(&few_moved) - 1.0).abs() < 0.1);
}

#[test]
fn the_expected_distance_of_equal_distributions_is_known() {
    let mut numbers = Numbers(2);
    for (n, m) in [(1000, 1000), (1000, 100), (300, 2000)] {
        let mut ratios = Vec::new();
        for _ in 0..20 {
            let (source, target) = (numbers.matrix(n, 24, 1.0, 2.0), numbers.matrix(m, 24, 1.0, 2.0));
            let sliced = described(&source, &target).sliced;
            ratios.push((sliced.distance / sliced.null).powi(2));
        }
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        assert!((mean - 1.0).abs() < 0.15, "{n} {m}: {mean}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mut numbers = Numbers(5);
    let (source, target) = (numbers.matrix(700, 37, 0.0, 1.0), numbers.matrix(333, 37, 0.2, 1.3));
    for slices in [Slices::Random(13), Slices::default()] {
        let run = |threads: usize| {
            let (source, target) = (Chunked(&source, 50), Chunked(&target, 50));
            on_threads(threads, || shift(&source, &target, slices, 9).unwrap())
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(5));
    }
}

#[test]
fn shards_merge_to_the_whole_in_any_order_and_through_bytes() {
    let mut numbers = Numbers(6);
    let shards: Vec<Matrix> = [40, 1, 200, 77].map(|rows| numbers.matrix(rows, 12, 3.0, 1.0)).into();
    let whole = Matrix::new(12, shards.iter().flat_map(|shard| shard.values().to_vec()).collect()).unwrap();
    let target = numbers.matrix(60, 12, 3.3, 1.2);
    let directions = Directions::new(Slices::Random(9), 1, &[(SetSide::Source, &whole)]).unwrap();
    let expected = Reference::build(&whole, directions.clone()).unwrap();
    for order in [[0, 1, 2, 3], [3, 1, 0, 2]] {
        let mut parts = order.map(|index| {
            let part = Reference::source_part(&shards[index], &directions).unwrap();
            Partial::from_bytes(&part.to_bytes()).unwrap()
        });
        let mut merged = parts[0].clone();
        for part in &mut parts[1..] {
            merged.merge(part.clone()).unwrap();
        }
        let reference = Reference::from_part(merged, directions.clone()).unwrap();
        let read = Reference::from_bytes(&reference.to_bytes()).unwrap();
        assert_eq!(read, reference);
        let mut part = reference.target_part(&target).unwrap();
        assert_close(
            &reference.describe_part(part.clone()).unwrap(),
            &expected.describe(&target).unwrap(),
            1e-12,
        );
        part.merge(reference.target_part(&target).unwrap()).unwrap();
        let twice = reference.describe_part(part).unwrap();
        assert_eq!(twice.target_count, 120);
    }
}

#[test]
fn shares_of_groups_sum_to_the_whole() {
    let mut numbers = Numbers(8);
    let (source, target) = (numbers.matrix(300, 10, 0.0, 1.0), numbers.matrix(100, 10, 0.4, 1.5));
    let (reference, descriptors) = shift(&source, &target, Slices::default(), 0).unwrap();
    let groups: Vec<u32> = (0..100).map(|row| if row < 30 { 0 } else { 2 + row % 3 }).collect();
    let shares = reference.attribute_groups(&target, &groups).unwrap();
    assert_eq!(shares.iter().map(|share| share.count).collect::<Vec<_>>(), [30, 0, 24, 23, 23]);
    let sum = |part: fn(&sqlgauge_shift::GroupShift) -> f64| shares.iter().map(part).sum::<f64>();
    let whole = descriptors.sliced.distance.powi(2);
    assert!((sum(|share| share.mean_shift) / descriptors.frechet.mean_shift - 1.0).abs() < 1e-9);
    assert!((sum(|share| share.mahalanobis) / descriptors.mahalanobis.mean - 1.0).abs() < 1e-9);
    assert!((sum(|share| share.sliced_square) / whole - 1.0).abs() < 1e-9);
}

#[test]
fn principal_directions_find_where_the_sets_vary() {
    let mut numbers = Numbers(10);
    // The spread of component d is 20, 19, ... for the first ones and 0.1 for the others.
    let spread = |dimension: usize| if dimension < 3 { 20.0 - dimension as f64 } else { 0.1 };
    let values: Vec<f32> =
        (0..600 * 40).map(|place| (numbers.normal() * spread(place % 40)) as f32).collect();
    let source = Matrix::new(40, values).unwrap();
    let slices = Slices::Hybrid { principal: 3, random: 2 };
    let directions = Directions::new(slices, 0, &[(SetSide::Source, &source)]).unwrap();
    assert_eq!((directions.principal(), directions.len()), (3, 5));
    for direction in directions.values().chunks(40) {
        let square: f32 = direction.iter().map(|x| x * x).sum();
        assert!((square - 1.0).abs() < 1e-5, "{square}");
    }
    for direction in directions.values().chunks(40).take(3) {
        let inside: f32 = direction.iter().take(3).map(|x| x * x).sum();
        assert!(inside > 0.9999, "{inside}");
    }
    // A source with fewer directions than asked for: random ones take their places.
    let line = Matrix::new(2, (0..40).map(|place| if place % 2 == 0 { place as f32 } else { 1.0 }).collect())
        .unwrap();
    let directions = Directions::new(slices, 0, &[(SetSide::Source, &line)]).unwrap();
    assert_eq!((directions.principal(), directions.len()), (1, 5));
}

#[test]
fn bad_input_is_named() {
    let mut numbers = Numbers(11);
    let (good, other) = (numbers.matrix(100, 4, 0.0, 1.0), numbers.matrix(10, 5, 0.0, 1.0));
    let with = |row: usize, dimension: usize, value: f32| {
        let mut values = good.values().to_vec();
        values[row * 4 + dimension] = value;
        Matrix::new(4, values).unwrap()
    };
    let none = Matrix::new(4, Vec::new()).unwrap();
    let one = Matrix::new(4, good.values()[..4].to_vec()).unwrap();
    let constant = Matrix::new(4, vec![0.1; 400]).unwrap();
    let (nan, infinite) = (with(63, 2, f32::NAN), with(0, 0, f32::NEG_INFINITY));
    let huge = Matrix::new(4, [good.values(), &[f32::MAX; 4]].concat()).unwrap();
    let ones = Directions::from_rows(4, vec![1.0; 4]).unwrap();
    let reference = Reference::build(&good, ones).unwrap();
    assert!(matches!(
        reference.describe(&huge),
        Err(ShiftError::Overflow { side: SetSide::Target, row: 100 })
    ));
    let message = |source: &Matrix, target: &Matrix| {
        // Small chunks, so that the row is counted over several.
        let (source, target) = (Chunked(source, 10), Chunked(target, 10));
        shift(&source, &target, Slices::Random(4), 0).unwrap_err().to_string()
    };
    for (source, target, expected) in [
        (&good, &nan, "the target has NaN in row 63, dimension 2"),
        (&infinite, &good, "the source has -inf in row 0, dimension 0"),
        (&good, &other, "the target has vectors of 5 dimensions where 4 are expected"),
        (&good, &none, "the target has 0 vectors"),
        (&none, &good, "the source has 0 vectors"),
        (&one, &good, "the source has 1 vectors, but at least 2"),
        (&constant, &good, "all vectors of the source are the same"),
    ] {
        let text = message(source, target);
        assert!(text.contains(expected), "{text}");
    }
    assert!(
        shift(&good, &one, Slices::default(), 0).unwrap().1.to_row().iter().all(|value| value.is_finite())
    );
    assert!(
        shift(&good, &constant, Slices::default(), 0)
            .unwrap()
            .1
            .to_row()
            .iter()
            .all(|value| value.is_finite())
    );
    for text in ["", "a", "0", "1,2,3", "0,0", "-4"] {
        assert!(text.parse::<Slices>().is_err(), "{text}");
    }
    assert!(Reference::from_bytes(b"{}\n").is_err() && Partial::from_bytes(&[0; 10]).is_err());
    let bytes = reference.to_bytes();
    assert!(Reference::from_bytes(&bytes[..bytes.len() - 1]).is_err());
    let foreign = Directions::from_rows(4, vec![0.5; 4]).unwrap();
    let part = Reference::source_part(&good, &foreign).unwrap();
    assert!(matches!(reference.describe_part(part), Err(ShiftError::OtherDirections)));
}

#[test]
fn dimensions_that_the_source_holds_constant_are_left_out_and_counted() {
    let mut numbers = Numbers(12);
    let with = |rows: usize, third: f32, numbers: &mut Numbers| {
        let row = |_| [numbers.normal() as f32, numbers.normal() as f32, third];
        Matrix::new(3, (0..rows).flat_map(row).collect()).unwrap()
    };
    let source = with(200, 0.3, &mut numbers);
    for (third, left) in [(0.3, 0), (0.9, 1)] {
        let descriptors = described(&source, &with(50, third, &mut numbers));
        assert_eq!((descriptors.constant_dimensions, descriptors.constant_dimensions_left), (1, left));
        // Distances of two dimensions, whatever the third.
        assert!(descriptors.mahalanobis.mean < 2.0, "{}", descriptors.mahalanobis.mean);
    }
}

/// Components on a grid, so that shifting them by a whole number is exact.
fn vectors(rows: std::ops::Range<usize>) -> impl Strategy<Value = Vec<[i8; 3]>> {
    proptest::collection::vec(any::<[i8; 3]>(), rows)
}

fn matrix(rows: &[[i8; 3]], offset: f32) -> Matrix {
    Matrix::new(3, rows.iter().flatten().map(|value| f32::from(*value) / 16.0 + offset).collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn order_place_and_repetition_do_not_matter(
        source in vectors(4..40), target in vectors(1..40), offset in -50_i8..50,
    ) {
        let varies = |rows: &[[i8; 3]]| (0..3).all(|d| rows.iter().any(|row| row[d] != rows[0][d]));
        prop_assume!(varies(&source));
        let descriptors = described(&matrix(&source, 0.0), &matrix(&target, 0.0));
        let mut reversed = target.clone();
        reversed.reverse();
        assert_close(&descriptors, &described(&matrix(&source, 0.0), &matrix(&reversed, 0.0)), 1e-9);
        let offset = f32::from(offset);
        assert_close(&descriptors, &described(&matrix(&source, offset), &matrix(&target, offset)), 1e-3);
        // The same distribution with every vector twice: what depends on the sizes aside, nothing changes.
        let doubled: Vec<[i8; 3]> = target.iter().flat_map(|row| [*row, *row]).collect();
        let twice = described(&matrix(&source, 0.0), &matrix(&doubled, 0.0));
        prop_assert!((twice.sliced.distance - descriptors.sliced.distance).abs() <= 1e-9 * descriptors.sliced.distance.max(1e-3));
        prop_assert!((twice.frechet.mean_shift - descriptors.frechet.mean_shift).abs() <= 1e-9 * descriptors.frechet.mean_shift.max(1e-3));
        prop_assert!((twice.mahalanobis.mean - descriptors.mahalanobis.mean).abs() <= 1e-9 * descriptors.mahalanobis.mean);
    }

    #[test]
    fn a_set_is_at_no_distance_from_itself(source in vectors(2..40)) {
        prop_assume!(source.iter().any(|row| row != &source[0]));
        let same = matrix(&source, 0.0);
        let descriptors = described(&same, &same);
        prop_assert_eq!((descriptors.sliced.distance, descriptors.euclidean, descriptors.frechet.spread_shift), (0.0, 0.0, 0.0));
    }
}
