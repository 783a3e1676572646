//! From embedding files to an evaluator, and from an evaluator to the estimate of a target file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sqlgauge_encode::{EmbeddingFile, Metadata, Vectors};
use sqlgauge_run::sha256_of_file;
use sqlgauge_shift::{
    Corpus, Descriptors, Directions, Grouping, MetaSetOptions, Reference, SampleSet, SetSide, Slices,
    Strategy, columns_of, meta_set,
};

use crate::adapt_options::AdaptOptions;

use super::blob::{Blob, BlobValues};
use super::card::{CorpusCard, EncoderCard, Provenance, SourceCard};
use super::error::EvaluatorError;
use super::fit::{
    CALIBRATION_SHARE, Evaluator, FitOptions, FittedEstimate, Parts, VALIDATION_SHARE, fit_parts,
};
use super::meta_set::{MetaSet, Rows};
use super::regressors::Regressor;
use super::reptile::{ReptileOptions, adapt, meta_train};
use super::subset::{Subset, chunk_starts};
use sqlgauge_base::{Random, seed_of};

/// Name of the array with the statistics of the source.
const REFERENCE: &str = "source";
/// Databases from which whole databases can be spared for validation.
const MANY_DATABASES: usize = 5;
/// Groups of databases that a corpus is divided into at most, where every group has sets of its own.
const MOST_GROUPS: usize = 20;

/// How an evaluator is fitted on embedding files.
#[derive(Clone, Copy)]
pub struct CorpusOptions<'a> {
    /// Sample sets in all, n.
    pub sets: usize,
    /// Items of the smallest set; fewer where a part of the corpus has fewer.
    pub smallest: usize,
    /// Items of the largest set.
    pub largest: usize,
    /// Directions of the sliced distance.
    pub slices: Slices,
    /// Names of the descriptors that it learns from ([`sqlgauge_shift::DescriptorSet`]).
    pub descriptors: &'a [String],
    pub regressor: &'a dyn Regressor,
    /// How an initialisation is learnt when there are several corpora.
    pub reptile: ReptileOptions,
    /// Seed of everything random.
    pub seed: u64,
}

/// What is told while an evaluator is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CorpusStage {
    /// That many sample sets are drawn, of so many.
    Sets(usize, usize),
    /// The regressor learns.
    Fitting,
}

/// The estimate of a target, and the shift that it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetEstimate {
    /// The estimate with its interval.
    pub estimate: FittedEstimate,
    /// The target's shift against the source.
    pub descriptors: Descriptors,
}

/// Fits an evaluator on labelled corpora: `fusion` with one, `fusion-ml` with several (one per system).
///
/// Databases are never shared between what is learnt from and what the interval stands on: of one corpus, a fifth of
/// the databases is held out in up to 20 groups (and a tenth for stopping early, from 5 databases on), and sample
/// sets are drawn within each part. Held-out sets are not drawn by accuracy, as no target is. A corpus of a single
/// database is divided by items, and its interval is wide.
///
/// # Errors
/// When a file cannot be read, was encoded otherwise than the source, has an item without a label, or holds too
/// little to learn from.
pub fn fit_files(
    source: &EmbeddingFile,
    corpora: &[EmbeddingFile],
    options: &CorpusOptions<'_>,
    progress: &dyn Fn(CorpusStage),
) -> Result<Evaluator, EvaluatorError> {
    for corpus in corpora {
        check_same_encoder(&encoder_of(source), corpus)?;
    }
    let mut sides: Vec<(SetSide, &dyn Vectors)> = vec![(SetSide::Source, source)];
    sides.extend(corpora.iter().map(|corpus| (SetSide::Corpus, corpus as &dyn Vectors)));
    let directions = Directions::new(options.slices, options.seed, &sides)?;
    let reference = Reference::build(source, directions)?;
    let bytes = reference.to_bytes();
    let fit_options = FitOptions {
        regressor: options.regressor,
        seed: options.seed,
        provenance: provenance(source, corpora, options)?,
        reference: vec![Blob::new(REFERENCE, vec![bytes.len()], BlobValues::Bytes(bytes))],
    };
    let corpora = corpora.iter().map(Labels::new).collect::<Result<Vec<_>, EvaluatorError>>()?;
    let draw = Draw { reference: &reference, options: *options, progress };
    match corpora.as_slice() {
        [] => Err(EvaluatorError::Option("there is no corpus: give at least one".to_owned())),
        [corpus] => {
            let parts = draw.parts(corpus)?;
            progress(CorpusStage::Fitting);
            let mut evaluator = fit_parts(&parts, &fit_options)?;
            evaluator.note_of_databases(corpus.databases.len());
            Ok(evaluator)
        }
        corpora => {
            let each = options.sets.div_ceil(corpora.len());
            let systems = corpora
                .iter()
                .enumerate()
                .map(|(done, corpus)| draw.grouped(corpus, each, done * each, options.sets));
            let systems = systems.collect::<Result<Vec<_>, EvaluatorError>>()?;
            progress(CorpusStage::Fitting);
            meta_train(&systems, &options.reptile, &fit_options)
        }
    }
}

/// Adapts an evaluator to a new system from its labelled corpus, of which `sets` sample sets are drawn (paper section
/// IV-C).
///
/// # Errors
/// As [`fit_files`] and [`adapt`].
pub fn adapt_to_file(
    evaluator: &Evaluator,
    corpus: &EmbeddingFile,
    sets: usize,
    options: &AdaptOptions,
    progress: &dyn Fn(CorpusStage),
) -> Result<Evaluator, EvaluatorError> {
    check_same_encoder(&evaluator.encoder(), corpus)?;
    let reference = evaluator.source()?;
    let [smallest, _, largest] = evaluator.card().set_sizes.unwrap_or([50, 1000, 10_000]);
    let regressor = super::find(&evaluator.card().regressor)?;
    let options_of_draw = CorpusOptions {
        sets,
        smallest,
        largest,
        slices: Slices::default(),
        descriptors: &evaluator.card().descriptors,
        regressor,
        reptile: ReptileOptions::default(),
        seed: options.seed,
    };
    let draw = Draw { reference: &reference, options: options_of_draw, progress };
    let drawn = draw.grouped(&Labels::new(corpus)?, sets, 0, sets)?;
    progress(CorpusStage::Fitting);
    let mut adapted = adapt(evaluator, &drawn, options)?;
    adapted.card.provenance.corpora.push(corpus_card(corpus)?);
    Ok(adapted)
}

/// Estimates the accuracy on a target from its embeddings alone; labels in the file are not looked at.
///
/// # Errors
/// When the file was encoded otherwise than the source, or the evaluator carries no source.
pub fn evaluate_target(
    evaluator: &Evaluator,
    target: &EmbeddingFile,
    level: f64,
) -> Result<TargetEstimate, EvaluatorError> {
    check_same_encoder(&evaluator.encoder(), target)?;
    let descriptors = evaluator.source()?.describe(target)?;
    let row = chosen(&descriptors.to_row(), &evaluator.card().descriptors)?;
    let estimate = evaluator.estimate(&row, Some(target.len()), level)?;
    Ok(TargetEstimate { estimate, descriptors })
}

impl Evaluator {
    /// The statistics of the source that it carries.
    ///
    /// # Errors
    /// When it carries none (it was fitted on bare rows), or they are damaged.
    pub fn source(&self) -> Result<Reference, EvaluatorError> {
        let bytes = self.reference.iter().find_map(|blob| match &blob.values {
            BlobValues::Bytes(bytes) if blob.name == REFERENCE => Some(bytes),
            _ => None,
        });
        let bytes = bytes.ok_or_else(|| {
            let message = "cannot be computed: the evaluator carries no source; fit it with `sqlgauge fit`";
            EvaluatorError::Descriptors(message.to_owned())
        })?;
        Ok(Reference::from_bytes(bytes)?)
    }

    fn encoder(&self) -> EncoderCard {
        self.card.provenance.encoder.clone().unwrap_or_default()
    }

    fn note_of_databases(&mut self, databases: usize) {
        if databases < 2 {
            self.card.notes.push(
                "The corpus has a single database, so nothing is known of the error on another: the interval is \
                 wide on purpose. Fit on a corpus of several databases."
                    .to_owned(),
            );
        }
    }
}

struct Labels<'a> {
    file: &'a EmbeddingFile,
    starts: Vec<usize>,
    correct: Vec<f64>,
    database: Vec<u32>,
    databases: Vec<String>,
}

impl<'a> Labels<'a> {
    fn new(file: &'a EmbeddingFile) -> Result<Self, EvaluatorError> {
        let mut numbers: BTreeMap<&str, u32> = file.db_ids().iter().map(|db_id| (&**db_id, 0)).collect();
        for (number, value) in (0..).zip(numbers.values_mut()) {
            *value = number;
        }
        let starts = chunk_starts(file)
            .map_err(|error| sqlgauge_shift::ShiftError::Read { side: SetSide::Corpus, error })?;
        Ok(Self {
            file,
            starts,
            correct: file.labels()?,
            database: file.db_ids().iter().map(|db_id| numbers[&**db_id]).collect(),
            databases: numbers.into_keys().map(str::to_owned).collect(),
        })
    }

    /// Items of some databases, ascending.
    fn items_of(&self, databases: &[u32]) -> Vec<usize> {
        (0..self.database.len()).filter(|&item| databases.contains(&self.database[item])).collect()
    }

    /// The databases in random order.
    fn shuffled(&self, seed: u64) -> Vec<u32> {
        let mut databases: Vec<u32> = (0..).zip(&self.databases).map(|(number, _)| number).collect();
        Random::new([seed, seed_of("databases")]).shuffle(&mut databases);
        databases
    }
}

/// What sample sets are drawn with.
struct Draw<'a> {
    reference: &'a Reference,
    options: CorpusOptions<'a>,
    progress: &'a dyn Fn(CorpusStage),
}

/// Items of a corpus by what they are for.
struct Division {
    train: Vec<usize>,
    validation: Vec<usize>,
    calibration: Vec<Vec<usize>>,
}

impl Draw<'_> {
    /// Sample sets for learning, for stopping early, and for the interval.
    fn parts(&self, corpus: &Labels<'_>) -> Result<Parts, EvaluatorError> {
        let division = divide(corpus, self.options.seed);
        let all = self.options.sets;
        let calibration = share(all, CALIBRATION_SHARE).max(division.calibration.len());
        let validation = share(all - calibration.min(all), VALIDATION_SHARE).max(1);
        let train = all.saturating_sub(calibration + validation).max(1);
        let sets = |items: &[usize], count, group, labelled, done| {
            self.sets(corpus, items, count, group, labelled, (done, all))
        };
        let parts = Parts {
            train: sets(&division.train, train, 0, true, 0)?,
            validation: sets(&division.validation, validation, 0, false, train)?,
            calibration: Some(self.groups(
                corpus,
                &division.calibration,
                calibration,
                (train + validation, all),
            )?),
        };
        parts.train.check_learnable()?;
        Ok(parts)
    }

    /// Sample sets of one system, each within one group of databases.
    fn grouped(
        &self,
        corpus: &Labels<'_>,
        sets: usize,
        done: usize,
        all: usize,
    ) -> Result<MetaSet, EvaluatorError> {
        let databases = corpus.shuffled(self.options.seed);
        // Two databases in each group, so that sets differ in their mixture too.
        let groups = (databases.len() / 2).clamp(1, MOST_GROUPS);
        let items: Vec<Vec<usize>> =
            dealt(&databases, groups).iter().map(|databases| corpus.items_of(databases)).collect();
        self.groups(corpus, &items, sets, (done, all))
    }

    /// Sample sets of several groups of items, in equal numbers.
    fn groups(
        &self,
        corpus: &Labels<'_>,
        groups: &[Vec<usize>],
        sets: usize,
        (done, all): (usize, usize),
    ) -> Result<MetaSet, EvaluatorError> {
        let each = sets.div_ceil(groups.len().max(1)).max(1);
        let drawn = (0..).zip(groups).map(|(group, items)| {
            let done = done + each * group as usize;
            self.sets(corpus, items, each, group, false, (done, all))
        });
        MetaSet::concatenate(&drawn.collect::<Result<Vec<_>, _>>()?)
    }

    /// Sample sets of some items; `by_accuracy` lets some be drawn for their accuracy.
    fn sets(
        &self,
        corpus: &Labels<'_>,
        items: &[usize],
        sets: usize,
        group: u32,
        by_accuracy: bool,
        (done, all): (usize, usize),
    ) -> Result<MetaSet, EvaluatorError> {
        let vectors = Subset::new(corpus.file, &corpus.starts, items);
        let correct: Vec<f64> = items.iter().map(|&item| corpus.correct[item]).collect();
        let of = items.iter().map(|&item| corpus.database[item]).collect();
        let groupings = [Grouping { name: "database".to_owned(), of: renumbered(of) }];
        let mut strategies = MetaSetOptions::default().strategies;
        strategies.retain(|(strategy, _)| by_accuracy || *strategy != Strategy::Accuracy);
        let options = MetaSetOptions {
            sets,
            smallest: self.options.smallest.min(self.options.largest),
            largest: self.options.largest,
            // Groups of one corpus must not draw the same numbers.
            seed: Random::new([self.options.seed, seed_of(&format!("sets of group {group}, {by_accuracy}"))])
                .next_u64(),
            strategies,
        };
        let progress = |drawn: usize| (self.progress)(CorpusStage::Sets((done + drawn).min(all), all));
        let corpus = Corpus { vectors: &vectors, correct: &correct, groupings: &groupings };
        to_meta_set(&meta_set(self.reference, &corpus, &options, &progress)?, group, self.options.descriptors)
    }
}

/// Divides the items of a corpus so that no database is on two sides, as far as there are databases.
fn divide(corpus: &Labels<'_>, seed: u64) -> Division {
    let mut databases = corpus.shuffled(seed);
    let mut random = Random::new([seed, seed_of("items")]);
    let mut spare = |items: &mut Vec<usize>, part: f64| {
        random.shuffle(items);
        let mut spared = items.split_off(items.len() - share(items.len(), part).clamp(1, items.len().max(1)));
        items.sort_unstable();
        spared.sort_unstable();
        spared
    };
    if databases.len() < 2 {
        let mut train: Vec<usize> = (0..corpus.correct.len()).collect();
        let calibration = vec![spare(&mut train, CALIBRATION_SHARE)];
        let validation = spare(&mut train, VALIDATION_SHARE);
        return Division { train, validation, calibration };
    }
    let held_out = databases.split_off(databases.len() - share(databases.len(), CALIBRATION_SHARE).max(1));
    let groups = dealt(&held_out, held_out.len().min(MOST_GROUPS));
    let calibration = groups.iter().map(|databases| corpus.items_of(databases)).collect();
    if databases.len() + held_out.len() < MANY_DATABASES {
        let mut train = corpus.items_of(&databases);
        let validation = spare(&mut train, VALIDATION_SHARE);
        return Division { train, validation, calibration };
    }
    let spared = databases.split_off(databases.len() - share(databases.len(), VALIDATION_SHARE).max(1));
    Division { train: corpus.items_of(&databases), validation: corpus.items_of(&spared), calibration }
}

/// Deals databases into groups, in turn.
fn dealt(databases: &[u32], groups: usize) -> Vec<Vec<u32>> {
    let mut dealt = vec![Vec::new(); groups.max(1)];
    for (place, &database) in databases.iter().enumerate() {
        dealt[place % groups.max(1)].push(database);
    }
    dealt
}

/// The same groups, numbered from 0 without gaps.
fn renumbered(groups: Vec<u32>) -> Vec<u32> {
    let mut numbers: BTreeMap<u32, u32> = groups.iter().map(|&group| (group, 0)).collect();
    for (number, value) in (0..).zip(numbers.values_mut()) {
        *value = number;
    }
    groups.into_iter().map(|group| numbers[&group]).collect()
}

/// The values of those descriptors in a row of all.
fn chosen(row: &[f64], names: &[String]) -> Result<Vec<f64>, EvaluatorError> {
    columns_of(row, names).ok_or_else(|| {
        let names = names.join(", ");
        EvaluatorError::Descriptors(format!(
            "are {names}, and this version does not know all of them: fit anew"
        ))
    })
}

fn to_meta_set(sets: &[SampleSet], group: u32, names: &[String]) -> Result<MetaSet, EvaluatorError> {
    let mut values = Vec::with_capacity(names.len() * sets.len());
    for set in sets {
        values.extend(chosen(&set.row, names)?);
    }
    let rows = Rows::new(names.len(), values)?;
    // A mean of ones may exceed 1 by rounding.
    let accuracy = sets.iter().map(|set| set.accuracy.clamp(0.0, 1.0)).collect();
    MetaSet::new(names.to_vec(), rows, accuracy, vec![group; sets.len()])?
        .with_sizes(sets.iter().map(|set| set.size).collect())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count is a count")]
fn share(count: usize, share: f64) -> usize {
    (count as f64 * share).round() as usize
}

fn encoder_of(file: &EmbeddingFile) -> EncoderCard {
    let Metadata { encoder, fingerprint, form, .. } = file.metadata();
    EncoderCard {
        id: encoder.clone(),
        fingerprint: fingerprint.clone(),
        form: form.map(|form| form.name().to_owned()).unwrap_or_default(),
        dimensions: file.dimensions(),
    }
}

/// Refuses a file that was encoded otherwise; a file made elsewhere says nothing, and only its dimensions can differ.
fn check_same_encoder(expected: &EncoderCard, file: &EmbeddingFile) -> Result<(), EvaluatorError> {
    let card = encoder_of(file);
    let differ = |a: &str, b: &str| !a.is_empty() && !b.is_empty() && a != b;
    if differ(&expected.fingerprint, &card.fingerprint)
        || differ(&expected.form, &card.form)
        || (expected.dimensions != 0 && expected.dimensions != card.dimensions)
    {
        let mut differing = Vec::new();
        if expected.dimensions != 0 && expected.dimensions != card.dimensions {
            differing.push(format!("{} dimensions and not {}", card.dimensions, expected.dimensions));
        }
        if differ(&expected.form, &card.form) {
            differing.push("the form".to_owned());
        }
        if differ(&expected.fingerprint, &card.fingerprint) {
            differing.push("the encoder or its settings".to_owned());
        }
        let say = |card: &EncoderCard| {
            let or_unknown =
                |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
            format!(
                "{} (form {}, {} dimensions)",
                or_unknown(&card.id),
                or_unknown(&card.form),
                card.dimensions
            )
        };
        return Err(EvaluatorError::Encoder {
            path: file.path().to_owned(),
            encoder: say(&card),
            expected: say(expected),
            differing: differing.join(", "),
        });
    }
    Ok(())
}

fn provenance(
    source: &EmbeddingFile,
    corpora: &[EmbeddingFile],
    options: &CorpusOptions<'_>,
) -> Result<Provenance, EvaluatorError> {
    let CorpusOptions { sets, smallest, largest, slices, seed, .. } = options;
    Ok(Provenance {
        encoder: Some(encoder_of(source)),
        descriptor_options: serde_json::json!({
            "slices": slices.to_string(), "seed": seed, "sets": sets, "smallest": smallest, "largest": largest,
        }),
        source: Some(SourceCard {
            name: name_of(source.path()),
            sha256: digest(source.path())?,
            items: source.len(),
        }),
        corpora: corpora.iter().map(corpus_card).collect::<Result<_, _>>()?,
    })
}

fn corpus_card(file: &EmbeddingFile) -> Result<CorpusCard, EvaluatorError> {
    let labels = file.labels()?;
    let mut databases: Vec<&str> = file.db_ids().iter().map(|db_id| &**db_id).collect();
    databases.sort_unstable();
    databases.dedup();
    Ok(CorpusCard {
        name: name_of(file.path()),
        sha256: digest(file.path())?,
        items: file.len(),
        databases: databases.len(),
        accuracy: labels.iter().sum::<f64>() / labels.len().max(1) as f64,
    })
}

fn digest(path: &Path) -> Result<String, EvaluatorError> {
    let unreadable = |source| EvaluatorError::File { path: path.to_owned(), action: "read", source };
    sha256_of_file(path).map_err(unreadable)
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
