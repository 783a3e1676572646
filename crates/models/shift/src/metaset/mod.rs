//! Sample sets of a labelled corpus, with their shift and their true accuracy: what an evaluator learns from
//! (FusionSQL, sections IV-B and V-B).

mod draw;
mod ranks;
mod sums;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sqlgauge_encode::Vectors;

use crate::descriptors::{Descriptors, Mahalanobis};
use crate::directions::Directions;
use crate::error::{SetSide, ShiftError};
use crate::reference::{Reference, mean_and_std};
use crate::scan::scan;
use draw::{Drawer, Tilts};
use ranks::Ranks;
use sums::SetSums;

/// Bytes that the running sums and the members of the sets of one pass over the corpus may take.
const BATCH_BYTES: usize = 256 << 20;
/// Sample sets of one meta-set: all of them are held, at some hundred bytes each.
const MOST_SETS: usize = 10_000_000;
/// Dimensions that sample sets may be tilted along, besides the directions of the reference.
const TILT_DIMENSIONS: usize = 32;

/// A way to divide the corpus: by database, by difficulty, by dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping {
    /// What the groups are: `database`, `difficulty`.
    pub name: String,
    /// The number of every vector's group, from 0.
    pub of: Vec<u32>,
}

/// Vectors with known correctness.
pub struct Corpus<'a> {
    pub vectors: &'a dyn Vectors,
    /// For every vector, how right the system was: 0 or 1, or a share between (m of equation 4).
    pub correct: &'a [f64],
    /// Ways to divide it; may be empty.
    pub groupings: &'a [Grouping],
}

/// How the members of a sample set are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Every vector is as likely.
    Uniform,
    /// Some groups of one grouping, each with a weight of its own.
    Groups,
    /// Weights exp(t z), where z is a standardised dimension or projection and t is uniform in \[-3, 3\].
    Tilt,
    /// A mixture of two draws of the kinds above.
    Mixture,
    /// A draw of the kinds above, in which right and wrong predictions are weighted for an accuracy that is uniform
    /// in \[0, 1\].
    Accuracy,
}

/// What sample sets are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetaSetOptions {
    /// Sample sets, n.
    pub sets: usize,
    pub smallest: usize,
    /// Vectors of the largest set; the size's logarithm is uniform between the two.
    pub largest: usize,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Strategies, each with its share in parts of the sum.
    pub strategies: Vec<(Strategy, u32)>,
}

impl Default for MetaSetOptions {
    /// 30,000 sets of 50 to 10,000 vectors; a tenth of them uniform, a tenth by accuracy, the others by groups, tilts
    /// and mixtures. Without groupings, those by groups are uniform.
    fn default() -> Self {
        Self {
            sets: 30_000,
            smallest: 50,
            largest: 10_000,
            seed: 0,
            strategies: vec![
                (Strategy::Uniform, 1),
                (Strategy::Groups, 3),
                (Strategy::Tilt, 3),
                (Strategy::Mixture, 2),
                (Strategy::Accuracy, 1),
            ],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleSet {
    /// How it was drawn.
    pub strategy: Strategy,
    /// Its vectors; none is in it twice.
    pub size: usize,
    /// The mean of their correctness.
    pub accuracy: f64,
    /// The shift from the source, in the columns of [`Descriptors::names`].
    pub row: Vec<f64>,
}

/// Draws sample sets of a corpus and compares each with the source.
///
/// The corpus is read once for its projections and Mahalanobis distances and then once for every few thousand sets
/// (256 MiB of their sums). A set's moments are sums over its own vectors; its distances are looked up; its sorted
/// projections are read off the corpus's order, which is sorted once. The result depends on the seed and the chunks of
/// the corpus, not on the number of threads. Set i depends on the seed and i alone, so fewer sets are the first of
/// more. `progress` is called with the number of sets that are done, each time some are.
///
/// A set is drawn without replacement, so no set is larger than the part of the corpus it is drawn from.
///
/// # Errors
/// When the corpus is empty, cannot be read, or holds NaN or infinity; when a list that goes with it has another length, or
/// a correctness outside \[0, 1\]; when the options make no set.
pub fn meta_set(
    reference: &Reference,
    corpus: &Corpus<'_>,
    options: &MetaSetOptions,
    progress: &dyn Fn(usize),
) -> Result<Vec<SampleSet>, ShiftError> {
    check(corpus, options)?;
    let Prepared { items, tilts } = prepare(reference, corpus, options.seed)?;
    let present = corpus.groupings.iter().map(|grouping| draw::present(&grouping.of)).collect();
    let drawer = Drawer { corpus, options, tilts, present };
    let dimensions = reference.directions().dimensions();
    let set_bytes = 16 * dimensions + 4 * options.largest.min(corpus.correct.len());
    let together = (BATCH_BYTES / set_bytes).max(1);
    let mut sets = Vec::with_capacity(options.sets);
    for start in (0..options.sets).step_by(together) {
        let numbers = start..options.sets.min(start + together);
        let mut drawn: Vec<SetSums> = numbers
            .into_par_iter()
            .map_init(Vec::new, |weights, number| {
                let (strategy, members) = drawer.draw(number, weights);
                SetSums::new(strategy, members, dimensions)
            })
            .collect();
        sums::accumulate(&mut drawn, corpus.vectors, reference.moments().mean())?;
        sets.par_extend(
            drawn
                .into_par_iter()
                .map_init(Vec::new, |bits, set| describe(reference, &items, corpus, &set, bits)),
        );
        progress(sets.len());
    }
    Ok(sets)
}

/// What is computed once for every vector of the corpus.
struct Items {
    distances: Vec<f64>,
    ranks: Ranks,
}

struct Prepared {
    items: Items,
    tilts: Tilts,
}

fn prepare(reference: &Reference, corpus: &Corpus<'_>, seed: u64) -> Result<Prepared, ShiftError> {
    let directions = reference.directions();
    let axes = draw::tilt_dimensions(directions.dimensions(), TILT_DIMENSIONS, seed);
    let mut values = directions.values().to_vec();
    for axis in axes {
        let start = values.len();
        values.resize(start + directions.dimensions(), 0.0);
        values[start + axis] = 1.0;
    }
    let all = Directions::from_rows(directions.dimensions(), values)?;
    let mut partial = scan(SetSide::Corpus, corpus.vectors, &all, Some(reference.whitening()))?;
    if partial.len() != corpus.correct.len() {
        let (read, expected) = (partial.len(), corpus.correct.len());
        return Err(ShiftError::Invalid(format!("the corpus has {read} vectors, but said {expected}")));
    }
    let tilts = Tilts::new(&partial.projections);
    partial.projections.truncate(directions.len());
    let ranks = Ranks::new(&partial.projections, reference.quantiles());
    Ok(Prepared { items: Items { distances: partial.distances, ranks }, tilts })
}

fn describe(
    reference: &Reference,
    items: &Items,
    corpus: &Corpus<'_>,
    set: &SetSums,
    bits: &mut Vec<u64>,
) -> SampleSet {
    let members = &set.members;
    let of = |values: &[f64]| -> Vec<f64> { members.iter().map(|item| values[*item as usize]).collect() };
    let (mean, std) = mean_and_std(&of(&items.distances));
    let (accuracy, _) = mean_and_std(&of(corpus.correct));
    let squares = items.ranks.w2_squares(members, bits);
    let moments = set.moments(reference.moments().mean());
    let descriptors = reference.assemble(&moments, Mahalanobis { mean, std }, squares);
    SampleSet {
        strategy: set.strategy,
        size: members.len(),
        accuracy,
        row: Descriptors::to_row(&descriptors),
    }
}

fn check(corpus: &Corpus<'_>, options: &MetaSetOptions) -> Result<(), ShiftError> {
    let count = corpus.vectors.len();
    if count == 0 {
        return Err(ShiftError::TooFew { side: SetSide::Corpus, count: 0, needed: 1 });
    }
    if u32::try_from(count).is_err() {
        return Err(ShiftError::Invalid(format!(
            "a corpus of {count} vectors is too large; the most is 4294967295"
        )));
    }
    if corpus.correct.len() != count {
        let labels = corpus.correct.len();
        return Err(ShiftError::Invalid(format!("the corpus has {count} vectors, but {labels} labels")));
    }
    if let Some(row) = corpus.correct.iter().position(|value| !(0.0..=1.0).contains(value)) {
        let value = corpus.correct[row];
        return Err(ShiftError::Invalid(format!(
            "the label of row {row} is {value}; it must be between 0 and 1"
        )));
    }
    for Grouping { name, of } in corpus.groupings {
        if of.len() != count {
            let groups = of.len();
            return Err(ShiftError::Invalid(format!(
                "the corpus has {count} vectors, but {groups} for {name:?}"
            )));
        }
    }
    let MetaSetOptions { sets, smallest, largest, strategies, .. } = options;
    if *sets == 0 || *smallest == 0 || smallest > largest {
        let message = format!(
            "{sets} sets of {smallest} to {largest} vectors cannot be drawn; at least one of at least one is needed"
        );
        return Err(ShiftError::Invalid(message));
    }
    if *sets > MOST_SETS {
        return Err(ShiftError::Invalid(format!(
            "{sets} sample sets are too many; ask for at most {MOST_SETS}"
        )));
    }
    if strategies.iter().all(|(_, share)| *share == 0) {
        return Err(ShiftError::Invalid("no strategy has a share of the sample sets".to_owned()));
    }
    Ok(())
}
