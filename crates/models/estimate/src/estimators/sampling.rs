//! Sample sets of the labelled answers of a case, with their shift: what the methods of the paper learn from.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sqlgauge_encode::{Matrix, Vectors};
use sqlgauge_shift::{
    Corpus, DescriptorSet, Directions, Grouping, MetaSetOptions, Reference, SampleSet, SetSide, Slices,
    Strategy, columns_of, meta_set,
};

use crate::case::TargetCase;
use crate::error::{EstimateError, LABELLED_RUN, NEEDED_LABELS};
use crate::pool::{QuestionIndex, SystemIndex};
use crate::sums::groups;
use sqlgauge_base::Random;
use sqlgauge_fusion::{MetaSet, Parts, Rows};

/// Fewest answers that sample sets are drawn from.
const FEWEST_ANSWERS: usize = 5;
/// Answers of the smallest set; fewer where a part of the labelled answers has fewer.
const SMALLEST: usize = 50;
/// Groups of databases that hold sets for the interval, at most.
const MOST_GROUPS: usize = 20;
/// Share of the databases, and of the sets, that the interval stands on.
const CALIBRATION_SHARE: f64 = 0.2;
/// Share of the rest that decides when to stop.
const VALIDATION_SHARE: f64 = 0.1;

/// What sample sets are drawn, and what learns from them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FusionOptions {
    /// Sample sets in all; those of the case's options if it is `None`.
    pub sets: Option<usize>,
    /// Answers of the largest set.
    pub largest: usize,
    /// Directions of the sliced distance.
    pub slices: Slices,
    /// Id of the regressor; fine-tuning and adaptation need `mlp`.
    pub regressor: &'static str,
    /// The descriptors that it learns from.
    pub descriptors: DescriptorSet,
}

impl FusionOptions {
    /// Sets of 50 to 2,000 answers, HSWD (8, 16), the network.
    pub const DEFAULT: Self = Self {
        sets: None,
        largest: 2000,
        slices: Slices::Hybrid { principal: 8, random: 16 },
        regressor: "mlp",
        descriptors: DescriptorSet::All,
    };

    fn sets(&self, case: &TargetCase<'_>) -> usize {
        self.sets.unwrap_or(case.options.sample_sets)
    }
}

impl Default for FusionOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Turns an error of the evaluator or of the shift into ours.
pub(crate) fn failed(error: impl std::fmt::Display) -> EstimateError {
    EstimateError::Computation(error.to_string())
}

/// Answers of one system as vectors, with what is known of them.
pub(crate) struct Answers {
    /// The `features` of question, schema and prediction.
    pub vectors: Matrix,
    /// Labels; 0 where there is none.
    pub correct: Vec<f64>,
    pub questions: Vec<QuestionIndex>,
}

impl Answers {
    /// The answers of a system to those of the questions that it answered.
    pub(crate) fn of(
        case: &TargetCase<'_>,
        system: SystemIndex,
        questions: &[QuestionIndex],
    ) -> Result<Self, EstimateError> {
        let rows: Vec<(QuestionIndex, &[f32])> = questions
            .iter()
            .filter_map(|&question| Some((question, case.observed(system, question)?.features.as_slice())))
            .collect();
        let label = |question| case.pool().label(system, question).unwrap_or_default();
        Ok(Self {
            vectors: matrix(rows.iter().map(|(_, row)| *row))?,
            correct: rows.iter().map(|&(question, _)| label(question)).collect(),
            questions: rows.into_iter().map(|(question, _)| question).collect(),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.questions.len()
    }

    /// Those at some places, in the order given; a place may come twice.
    pub(crate) fn at(&self, places: &[usize]) -> Result<Self, EstimateError> {
        Ok(Self {
            vectors: matrix(places.iter().map(|&place| self.vectors.row(place)))?,
            correct: places.iter().map(|&place| self.correct[place]).collect(),
            questions: places.iter().map(|&place| self.questions[place]).collect(),
        })
    }

    /// Those to questions of some units.
    fn within(&self, units: &Units, chosen: &BTreeSet<usize>) -> Result<Self, EstimateError> {
        let is_chosen = |place: &usize| chosen.contains(&units.of[&self.questions[*place]]);
        self.at(&(0..self.len()).filter(is_chosen).collect::<Vec<_>>())
    }
}

fn matrix<'a>(rows: impl Iterator<Item = &'a [f32]>) -> Result<Matrix, EstimateError> {
    let rows: Vec<&[f32]> = rows.collect();
    Matrix::new(rows.first().map_or(1, |row| row.len()), rows.concat()).map_err(failed)
}

/// Questions by what must not be on two sides: the database, or a part of it where there are few.
struct Units {
    of: HashMap<QuestionIndex, usize>,
    /// In random order.
    shuffled: Vec<usize>,
}

impl Units {
    fn new(case: &TargetCase<'_>, questions: BTreeSet<QuestionIndex>, seed: u64) -> Self {
        let groups = groups(case, &questions.into_iter().collect::<Vec<_>>());
        let mut shuffled: Vec<usize> = (0..groups.len()).collect();
        Random::new([seed]).shuffle(&mut shuffled);
        let of =
            groups.into_iter().enumerate().flat_map(|(unit, all)| all.into_iter().map(move |q| (q, unit)));
        Self { of: of.collect(), shuffled }
    }

    /// Deals some units into at most so many groups.
    fn dealt(units: &[usize], most: usize) -> Vec<BTreeSet<usize>> {
        let count = units.len().min(most).max(1);
        let mut dealt = vec![BTreeSet::new(); count];
        for (place, &unit) in units.iter().enumerate() {
            dealt[place % count].insert(unit);
        }
        dealt
    }
}

/// The labelled answers that a case learns from.
pub(crate) struct LabelledAnswers {
    /// The answers that shift is measured from: the target's own labelled ones, or everybody's where it has none.
    pub source: Answers,
    /// Whether the source is the target's own.
    pub is_own: bool,
    /// The labelled answers of each known system.
    pub corpus: Vec<(SystemIndex, Answers)>,
}

impl LabelledAnswers {
    /// The labelled answers of a case; `method` is named where there are too few.
    pub(crate) fn new(case: &TargetCase<'_>, method: &'static str) -> Result<Self, EstimateError> {
        let labelled = |system: SystemIndex| Answers::of(case, system, &case.labelled(system));
        let sources = case.evidence.sources.iter().map(|&system| Ok((system, labelled(system)?)));
        let corpus: Vec<(SystemIndex, Answers)> = sources.collect::<Result<_, EstimateError>>()?;
        let corpus: Vec<_> =
            corpus.into_iter().filter(|(_, answers)| answers.len() >= FEWEST_ANSWERS).collect();
        if corpus.is_empty() {
            return Err(EstimateError::Needs {
                method,
                needs: NEEDED_LABELS.to_owned(),
                remedy: LABELLED_RUN,
            });
        }
        let home = labelled(case.target)?;
        let is_own = home.len() >= FEWEST_ANSWERS;
        let source = if is_own { home } else { joined(corpus.iter().map(|(_, answers)| answers))? };
        Ok(Self { source, is_own, corpus })
    }

    /// Directions for all that is known; the target has no part in them.
    pub(crate) fn directions(&self, slices: Slices, seed: u64) -> Result<Directions, EstimateError> {
        let mut sides: Vec<(SetSide, &dyn Vectors)> = vec![(SetSide::Source, &self.source.vectors)];
        sides.extend(
            self.corpus.iter().map(|(_, answers)| (SetSide::Corpus, &answers.vectors as &dyn Vectors)),
        );
        Directions::new(slices, seed, &sides).map_err(failed)
    }

    /// The answers of a known system to the questions of the source: what it would be measured from, were it the
    /// target. All its labelled answers, if it has none to those.
    pub(crate) fn source_of(&self, answers: &Answers) -> Result<Answers, EstimateError> {
        let questions: BTreeSet<QuestionIndex> = self.source.questions.iter().copied().collect();
        let shared: Vec<usize> =
            (0..answers.len()).filter(|&place| questions.contains(&answers.questions[place])).collect();
        let all: Vec<usize> = (0..answers.len()).collect();
        answers.at(if shared.len() >= FEWEST_ANSWERS { &shared } else { &all })
    }
}

fn joined<'a>(all: impl Iterator<Item = &'a Answers> + Clone) -> Result<Answers, EstimateError> {
    Ok(Answers {
        vectors: matrix(all.clone().flat_map(|answers| answers.vectors.rows()))?,
        correct: all.clone().flat_map(|answers| &answers.correct).copied().collect(),
        questions: all.flat_map(|answers| &answers.questions).copied().collect(),
    })
}

/// Sample sets in the making.
pub(crate) struct Draw<'a> {
    case: &'a TargetCase<'a>,
    options: FusionOptions,
    sets: Vec<(SampleSet, u32)>,
}

impl<'a> Draw<'a> {
    fn new(case: &'a TargetCase<'a>, options: FusionOptions) -> Self {
        Self { case, options, sets: Vec::new() }
    }

    /// Draws sets of some answers of one system; `by_accuracy` lets some be drawn for their accuracy, as no target
    /// is.
    fn add(
        &mut self,
        reference: &Reference,
        (system, answers): (SystemIndex, &Answers),
        sets: usize,
        group: u32,
        by_accuracy: bool,
    ) -> Result<(), EstimateError> {
        if answers.len() < FEWEST_ANSWERS {
            return Ok(());
        }
        let mut strategies = MetaSetOptions::default().strategies;
        strategies.retain(|(strategy, _)| by_accuracy || *strategy != Strategy::Accuracy);
        let place = ((system.0 as u64) << 32) | (u64::from(group) << 1) | u64::from(by_accuracy);
        let options = MetaSetOptions {
            sets: sets.max(1),
            smallest: SMALLEST.min(self.options.largest),
            largest: self.options.largest,
            seed: Random::new([self.case.options.seed, place]).next_u64(),
            strategies,
        };
        let groupings = [by_database(self.case, &answers.questions)];
        let corpus = Corpus { vectors: &answers.vectors, correct: &answers.correct, groupings: &groupings };
        let drawn = meta_set(reference, &corpus, &options, &|_| ()).map_err(failed)?;
        self.sets.extend(drawn.into_iter().map(|set| (set, group)));
        Ok(())
    }

    fn finish(self) -> Result<MetaSet, EstimateError> {
        if self.sets.is_empty() {
            let message = format!(
                "too few labelled answers: the databases are split into three groups, and one has fewer than \
                 {FEWEST_ANSWERS} labelled answers; label more, or choose another --method"
            );
            return Err(EstimateError::Computation(message));
        }
        let names = self.options.descriptors.columns();
        let mut values = Vec::with_capacity(names.len() * self.sets.len());
        for (set, _) in &self.sets {
            values.extend(columns_of(&set.row, &names).ok_or_else(|| failed("a descriptor is missing"))?);
        }
        let rows = Rows::new(names.len(), values).map_err(failed)?;
        // A mean of ones may exceed 1 by rounding.
        let accuracy = self.sets.iter().map(|(set, _)| set.accuracy.clamp(0.0, 1.0)).collect();
        let group = self.sets.iter().map(|&(_, group)| group).collect();
        let sizes = self.sets.iter().map(|(set, _)| set.size).collect();
        let names = names.into_iter().map(str::to_owned).collect();
        MetaSet::new(names, rows, accuracy, group).and_then(|sets| sets.with_sizes(sizes)).map_err(failed)
    }
}

fn by_database(case: &TargetCase<'_>, questions: &[QuestionIndex]) -> Grouping {
    let database = |question: &QuestionIndex| case.pool()[*question].database;
    let mut numbers: BTreeMap<usize, u32> =
        questions.iter().map(|question| (database(question), 0)).collect();
    for (number, value) in (0..).zip(numbers.values_mut()) {
        *value = number;
    }
    Grouping {
        name: "database".to_owned(),
        of: questions.iter().map(|question| numbers[&database(question)]).collect(),
    }
}

/// Sample sets of all known systems against one source, each of one system: to learn from, to stop by, and for the
/// interval. No database (no part of one, where there are fewer than five) is on two sides.
pub(crate) fn parts(
    case: &TargetCase<'_>,
    training: &LabelledAnswers,
    reference: &Reference,
    options: FusionOptions,
) -> Result<Parts, EstimateError> {
    let units = units_of(case, training);
    let mut rest = units.shuffled.clone();
    let held_out = rest.split_off(rest.len().saturating_sub(share(rest.len(), CALIBRATION_SHARE)));
    let spared = rest.split_off(rest.len().saturating_sub(share(rest.len(), VALIDATION_SHARE)));
    let sets = options.sets(case);
    let calibration = count_of(sets, CALIBRATION_SHARE);
    let validation = count_of(sets - calibration, VALIDATION_SHARE);
    let train = sets - calibration - validation;
    let held_out = Units::dealt(&held_out, MOST_GROUPS);
    let draw = |chosen: &[BTreeSet<usize>], sets: usize, first: u32, by_accuracy: bool| {
        let mut draw = Draw::new(case, options);
        let each = sets.div_ceil(training.corpus.len() * chosen.len());
        for (group, chosen) in (first..).zip(chosen) {
            for (system, answers) in &training.corpus {
                draw.add(reference, (*system, &answers.within(&units, chosen)?), each, group, by_accuracy)?;
            }
        }
        draw.finish()
    };
    Ok(Parts {
        train: draw(&[rest.into_iter().collect()], train, 0, true)?,
        validation: draw(&[spared.into_iter().collect()], validation, 1, false)?,
        calibration: Some(draw(&held_out, calibration, 2, false)?),
    })
}

/// Sample sets of one system against its own source, in groups of two databases.
pub(crate) fn task(
    case: &TargetCase<'_>,
    training: &LabelledAnswers,
    reference: &Reference,
    (system, answers): (SystemIndex, &Answers),
    options: FusionOptions,
) -> Result<MetaSet, EstimateError> {
    let units = units_of(case, training);
    let system_units: BTreeSet<usize> = answers.questions.iter().map(|question| units.of[question]).collect();
    let system_units: Vec<usize> =
        units.shuffled.iter().copied().filter(|unit| system_units.contains(unit)).collect();
    let groups = Units::dealt(&system_units, (system_units.len() / 2).clamp(1, MOST_GROUPS));
    let each = (options.sets(case) / training.corpus.len()).div_ceil(groups.len());
    let mut draw = Draw::new(case, options);
    for (group, chosen) in (0..).zip(&groups) {
        draw.add(reference, (system, &answers.within(&units, chosen)?), each, group, false)?;
    }
    draw.finish()
}

/// Sets of some answers against a source, as they are: those descriptors, and the accuracy of each.
pub(crate) fn described(
    reference: &Reference,
    answers: &Answers,
    sets: &[Vec<usize>],
    names: &[String],
) -> Result<MetaSet, EstimateError> {
    let (mut values, mut accuracy) = (Vec::new(), Vec::new());
    for set in sets {
        let chosen = answers.at(set)?;
        let row = reference.describe(&chosen.vectors).map_err(failed)?.to_row();
        values.extend(columns_of(&row, names).ok_or_else(|| failed("a descriptor is missing"))?);
        accuracy.push((chosen.correct.iter().sum::<f64>() / chosen.len().max(1) as f64).clamp(0.0, 1.0));
    }
    let rows = Rows::new(names.len(), values).map_err(failed)?;
    MetaSet::new(names.to_vec(), rows, accuracy, vec![0; sets.len()]).map_err(failed)
}

fn units_of(case: &TargetCase<'_>, training: &LabelledAnswers) -> Units {
    let questions: BTreeSet<QuestionIndex> =
        training.corpus.iter().flat_map(|(_, answers)| &answers.questions).copied().collect();
    Units::new(case, questions, case.options.seed)
}

/// That share of some units, at least one.
fn share(units: usize, share: f64) -> usize {
    count_of(units, share).clamp(1, units.saturating_sub(1).max(1))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count is a count")]
fn count_of(count: usize, share: f64) -> usize {
    (count as f64 * share).round() as usize
}
