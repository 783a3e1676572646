//! Sample sets of a corpus: their descriptors are those of the same vectors described by themselves.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "test data fits, and a failure should stop the test"
)]

mod common;

use common::{Chunked, Numbers, on_threads};
use sqlgauge_encode::Matrix;
use sqlgauge_shift::{
    Corpus, Descriptors, Directions, Grouping, MetaSetOptions, Reference, SampleSet, SetSide, Slices,
    Strategy, meta_set,
};

const DIMENSIONS: usize = 6;

struct World {
    source: Matrix,
    corpus: Matrix,
    correct: Vec<f64>,
    groupings: Vec<Grouping>,
}

/// Databases with places of their own; a prediction is more often right near the source.
fn world(rows: usize) -> World {
    let mut numbers = Numbers(77);
    let source = numbers.matrix(150, DIMENSIONS, 0.0, 1.0);
    let (mut values, mut correct, mut databases) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        let database = row % 10;
        let vector: Vec<f64> = (0..DIMENSIONS).map(|_| numbers.normal() + database as f64 / 4.0).collect();
        correct.push(f64::from(numbers.unit() < (-0.4 * vector[0]).exp().min(0.95)));
        values.extend(vector.iter().map(|value| *value as f32));
        databases.push(u32::try_from(database).unwrap());
    }
    let difficulty = (0..rows).map(|row| u32::from(row % 3 == 0)).collect();
    let groupings = vec![
        Grouping { name: "database".to_owned(), of: databases },
        Grouping { name: "difficulty".to_owned(), of: difficulty },
    ];
    World { source, corpus: Matrix::new(DIMENSIONS, values).unwrap(), correct, groupings }
}

impl World {
    fn reference(&self) -> Reference {
        let sides: [(SetSide, &dyn sqlgauge_encode::Vectors); 2] =
            [(SetSide::Source, &self.source), (SetSide::Corpus, &self.corpus)];
        Reference::build(&self.source, Directions::new(Slices::default(), 0, &sides).unwrap()).unwrap()
    }

    fn sets(&self, options: &MetaSetOptions, chunk: usize) -> Vec<SampleSet> {
        let vectors = Chunked(&self.corpus, chunk);
        let corpus = Corpus { vectors: &vectors, correct: &self.correct, groupings: &self.groupings };
        meta_set(&self.reference(), &corpus, options, &|_| ()).unwrap()
    }
}

fn options(sets: usize) -> MetaSetOptions {
    MetaSetOptions { sets, smallest: 5, largest: 400, seed: 3, ..MetaSetOptions::default() }
}

#[test]
fn a_set_of_the_whole_corpus_has_the_descriptors_of_the_corpus() {
    let world = world(500);
    let all = MetaSetOptions {
        sets: 1,
        smallest: 500,
        largest: 500,
        seed: 0,
        strategies: vec![(Strategy::Uniform, 1)],
    };
    let set = &world.sets(&all, 64)[0];
    let whole = world.reference().describe(&world.corpus).unwrap();
    assert_eq!(set.size, 500);
    let right = world.correct.iter().sum::<f64>() / 500.0;
    assert!((set.accuracy - right).abs() < 1e-12);
    for ((name, ours), expected) in Descriptors::names().iter().zip(&set.row).zip(whole.to_row()) {
        assert!((ours - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{name}: {ours} {expected}");
    }
}

#[test]
fn the_sets_of_one_database_have_the_descriptors_of_its_vectors() {
    // The corpus is one database and vectors that are never drawn: groups have weight only where they are.
    let mut world = world(300);
    world.groupings = vec![Grouping { name: "row".to_owned(), of: (0..300).collect() }];
    let singles = MetaSetOptions {
        sets: 300,
        smallest: 1,
        largest: 1,
        seed: 4,
        strategies: vec![(Strategy::Groups, 1)],
    };
    let reference = world.reference();
    let expected: Vec<Vec<f64>> = world
        .corpus
        .rows()
        .map(|row| reference.describe(&Matrix::new(DIMENSIONS, row.to_vec()).unwrap()).unwrap().to_row())
        .collect();
    for set in world.sets(&singles, 7) {
        assert_eq!(set.size, 1);
        let near =
            |row: &Vec<f64>| row.iter().zip(&set.row).all(|(a, b)| (a - b).abs() <= 1e-9 * a.abs().max(1e-3));
        assert!(expected.iter().any(near), "{:?}", set.row);
    }
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let world = world(800);
    let one = on_threads(1, || world.sets(&options(60), 100));
    let three = on_threads(3, || world.sets(&options(60), 100));
    assert_eq!(one, three);
    let fewer = world.sets(&options(20), 100);
    assert_eq!(fewer, one[..20]);
    let other = world.sets(&MetaSetOptions { seed: 4, ..options(60) }, 100);
    assert_ne!(one, other);
}

#[test]
fn sets_spread_over_size_accuracy_and_shift() {
    let world = world(2000);
    let sets = world.sets(&options(400), 500);
    let spread = |values: Vec<f64>| {
        let mut values = values;
        values.sort_by(f64::total_cmp);
        (values[values.len() / 20], values[values.len() * 19 / 20])
    };
    let accuracy = spread(sets.iter().map(|set| set.accuracy).collect());
    assert!(accuracy.1 - accuracy.0 > 0.4, "{accuracy:?}");
    let swd = Descriptors::names().iter().position(|name| *name == "swd").unwrap();
    let shift = spread(sets.iter().map(|set| set.row[swd]).collect());
    assert!(shift.1 > 1.5 * shift.0, "{shift:?}");
    let size = spread(sets.iter().map(|set| set.size as f64).collect());
    assert!(size.0 < 12.0 && size.1 > 200.0, "{size:?}");
    let of = |kind: Strategy| sets.iter().filter(|set| set.strategy == kind).count();
    let kinds = [Strategy::Uniform, Strategy::Groups, Strategy::Tilt, Strategy::Mixture, Strategy::Accuracy];
    assert!(kinds.iter().all(|kind| of(*kind) > 10));
    assert!(sets.iter().flat_map(|set| &set.row).all(|value| value.is_finite()));
}

#[test]
fn bad_corpora_are_named() {
    let world = world(20);
    let reference = world.reference();
    let run = |correct: &[f64], groupings: &[Grouping], options: &MetaSetOptions| {
        let corpus = Corpus { vectors: &world.corpus, correct, groupings };
        meta_set(&reference, &corpus, options, &|_| ()).map_err(|error| error.to_string())
    };
    let short = [Grouping { name: "database".to_owned(), of: vec![0; 3] }];
    let wrong = [&world.correct[..19], &[1.5]].concat();
    for (correct, groupings, options, expected) in [
        (&world.correct[..5], &[][..], options(3), "20 vectors, but 5 labels"),
        (&wrong[..], &[][..], options(3), "the label of row 19 is 1.5"),
        (&world.correct[..], &short[..], options(3), "20 vectors, but 3 for \"database\""),
        (&world.correct[..], &[][..], options(0), "cannot be drawn"),
    ] {
        let message = run(correct, groupings, &options).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    // All right, one database, a tilt where nothing varies: allowed.
    let sets = run(&[1.0; 20], &[], &options(30)).unwrap();
    assert!(sets.iter().all(|set| (set.accuracy - 1.0).abs() < 1e-12 && set.size <= 20));
}
