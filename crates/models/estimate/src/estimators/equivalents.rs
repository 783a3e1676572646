//! `equivalents`: an answer gets the label of another system's answer to the same question that returns the same.

use crate::case::TargetCase;
use crate::conformal::half_width;
use crate::error::EstimateError;
use crate::errors::{ErrorPoint, Expected, UNKNOWN};
use crate::estimate::{AccuracyInterval, Estimate};
use crate::logistic::Logistic;
use crate::observations::Observation;
use crate::outcome::EstimateDraft;
use crate::peer_agreement::agree;
use crate::pool::{PoolAnswer, QuestionIndex, SystemIndex};
use sqlgauge_base::probit::probit;

use super::Estimator;

/// Labelled systems on the target's questions without which a model cannot be checked on one that it has not seen.
pub(crate) const FEWEST_SYSTEMS: usize = 3;

/// Share of the target's questions that must have labels of other systems.
const FEWEST_LABELLED: f64 = 0.5;

/// Penalty on the model's standardised weights.
const RIDGE: f64 = 1.0;

/// What it does: for each answer, counts the labelled answers of other systems to the same question that return the
/// same on generated databases, right ones and wrong ones, and how many of the others are right. A logistic model,
/// learned on the labelled systems as if each were the unlabelled one, turns that into a probability. How often the
/// system hits a known right answer where there is one says how able it is where there is none.
///
/// The interval is conformal over the labelled systems, each estimated without its own labels.
#[derive(Debug, Clone, Copy)]
pub struct Equivalents;

impl Equivalents {
    /// The labelled systems on the target's questions, if there are enough.
    pub fn systems(case: &TargetCase<'_>) -> Option<Vec<SystemIndex>> {
        let questions = &case.evidence.questions;
        let covers = |&system: &SystemIndex| {
            let labelled = questions.iter().filter(|&&q| case.pool().label(system, q).is_some()).count();
            system != case.target && labelled as f64 >= FEWEST_LABELLED * questions.len() as f64
        };
        let systems: Vec<SystemIndex> = case.evidence.present.iter().copied().filter(covers).collect();
        (systems.len() >= FEWEST_SYSTEMS).then_some(systems)
    }
}

impl Estimator for Equivalents {
    fn id(&self) -> &'static str {
        "equivalents"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        let systems = Self::systems(case).ok_or(EstimateError::Needs {
            method: self.id(),
            needs: format!("labels of {FEWEST_SYSTEMS} other systems on the target's questions"),
            remedy: "give their runs with --known, or choose another --method",
        })?;
        let questions = &case.evidence.questions;
        let rule = Rule::of(case);
        let rows =
            |system: SystemIndex, others: &[SystemIndex]| rows_of(case, rule, system, others, questions);
        let tables: Vec<Vec<Option<Vec<f64>>>> = systems.iter().map(|&s| rows(s, &systems)).collect();
        let labels: Vec<Vec<Option<f64>>> = systems
            .iter()
            .map(|&system| questions.iter().map(|&q| case.pool().label(system, q)).collect())
            .collect();
        let fit = |without: Option<usize>| {
            let (mut inputs, mut truths) = (Vec::new(), Vec::new());
            for (at, (table, labels)) in tables.iter().zip(&labels).enumerate() {
                if Some(at) != without {
                    let both =
                        table.iter().zip(labels).filter_map(|(row, label)| Some((row.clone()?, (*label)?)));
                    let (more, their): (Vec<_>, Vec<_>) = both.unzip();
                    inputs.extend(more);
                    truths.extend(their);
                }
            }
            Logistic::fit(&inputs, &truths, RIDGE)
        };
        let refused = refused_rate(case, rule, &systems);
        let probabilities = |model: &Logistic, rows: &[Option<Vec<f64>>]| -> Vec<f64> {
            rows.iter().map(|row| row.as_ref().map_or(refused, |row| model.predict(row))).collect()
        };
        let errors: Vec<f64> = (0..systems.len())
            .map(|at| {
                let others: Vec<SystemIndex> =
                    systems.iter().copied().filter(|&system| system != systems[at]).collect();
                let rows = rows(systems[at], &others);
                let guesses = probabilities(&fit(Some(at)), &rows);
                let judged = guesses.iter().zip(&labels[at]).filter_map(|(p, label)| Some(p - (*label)?));
                let (sum, count) = judged.fold((0.0, 0.0), |(sum, count), off| (sum + off, count + 1.0));
                sum / f64::max(count, 1.0)
            })
            .collect();
        let mut outcome = EstimateDraft {
            notes: vec![format!(
                "{} labelled systems answered the same questions; each estimated without its labels was off by {:.1} \
                 points on average",
                systems.len(),
                100.0 * errors.iter().map(|error| error.abs()).sum::<f64>() / errors.len() as f64
            )],
            ..EstimateDraft::new(
                probabilities(&fit(None), &rows(case.target, &systems)),
                "labels of other systems on these questions",
            )
        };
        let width = Likeness::new(case, &systems, &errors).half_width(case.options.level);
        let interval = AccuracyInterval::around(outcome.accuracy(), width, case.options.level);
        if case.standing().is_outside() {
            outcome.notes.push(
                "that the target lies outside the system's own labels does not matter here: other systems have labels on \
                 the target itself"
                    .to_owned(),
            );
        }
        Ok(outcome.estimate(case, self.id(), interval))
    }
}

/// The features of every answer that counts as running.
fn rows_of(
    case: &TargetCase<'_>,
    rule: Rule,
    system: SystemIndex,
    others: &[SystemIndex],
    questions: &[QuestionIndex],
) -> Vec<Option<Vec<f64>>> {
    let counted: Vec<Option<Counts>> =
        questions.iter().map(|&question| Counts::of(case, rule, system, question, others)).collect();
    let answerable: Vec<&Counts> = counted.iter().flatten().filter(|counts| counts.some_right).collect();
    let hits = answerable.iter().filter(|counts| counts.same_right > 0.0).count() as f64;
    let hit_rate = (hits + 1.0) / (answerable.len() as f64 + 2.0);
    counted
        .into_iter()
        .map(|counts| counts.filter(|counts| counts.runs).map(|counts| counts.features(hit_rate)))
        .collect()
}

/// Which answers the labels give a chance.
#[derive(Debug, Clone, Copy)]
struct Rule {
    /// The labels judge the first of several statements, as Spider's official script does.
    first_statement: bool,
}

impl Rule {
    /// What the labelled answers of all other systems to these questions show: first statements count if they are right at least half
    /// as often as answers that run as given.
    fn of(case: &TargetCase<'_>) -> Self {
        let (mut whole, mut first) = ((0.0, 0.0), (0.0, 0.0));
        let systems = case.pool().all_systems().filter(|&system| system != case.target);
        for (system, &question) in systems.flat_map(|s| case.evidence.questions.iter().map(move |q| (s, q))) {
            let Some(PoolAnswer { correct: Some(label), status, .. }) = case.pool().get(system, question)
            else {
                continue;
            };
            // Not every labelled system is among those whose signals were computed.
            let as_given = match (case.observed(system, question), status.as_deref()) {
                (Some(seen), _) if seen.runs => seen.runs_as_given,
                (None, Some("ok")) => true,
                (None, Some("multiple_statements")) => false,
                _ => continue,
            };
            let rate = if as_given { &mut whole } else { &mut first };
            rate.0 += label;
            rate.1 += 1.0;
        }
        Self { first_statement: first.1 > 0.0 && first.0 / first.1 > 0.5 * whole.0 / f64::max(whole.1, 1.0) }
    }

    fn counts(self, seen: &Observation) -> bool {
        seen.runs_as_given || (self.first_statement && seen.runs)
    }
}

/// How an answer stands to the labelled ones.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    runs: bool,
    /// Right answers that return the same.
    same_right: f64,
    /// Wrong answers that return the same.
    same_wrong: f64,
    /// Share of labelled answers that are right.
    ease: f64,
    some_right: bool,
    /// Share of labelled answers that return the same.
    share: f64,
}

impl Counts {
    fn of(
        case: &TargetCase<'_>,
        rule: Rule,
        system: SystemIndex,
        question: QuestionIndex,
        others: &[SystemIndex],
    ) -> Option<Self> {
        let observation = case.observed(system, question);
        let mut counts =
            Self { runs: observation.is_some_and(|observation| rule.counts(observation)), ..Self::default() };
        let (mut judged, mut right) = (0.0, 0.0);
        for &other in others.iter().filter(|&&other| other != system) {
            let Some(label) = case.pool().label(other, question) else { continue };
            judged += 1.0;
            right += label;
            let same = match (observation, case.observed(other, question)) {
                (Some(observation), Some(other)) => {
                    rule.counts(observation) && rule.counts(other) && agree(case.ground, observation, other)
                }
                _ => false,
            };
            if same {
                counts.same_right += label;
                counts.same_wrong += 1.0 - label;
            }
        }
        if judged == 0.0 {
            return None;
        }
        counts.ease = right / judged;
        counts.some_right = right > 0.0;
        counts.share = (counts.same_right + counts.same_wrong) / judged;
        Some(counts)
    }

    fn features(&self, hit_rate: f64) -> Vec<f64> {
        let same = self.same_right + self.same_wrong;
        vec![
            f64::from(self.same_right > 0.0),
            f64::from(self.same_wrong > 0.0),
            (self.same_right + 0.3) / (same + 1.0),
            self.share,
            self.ease,
            f64::from(self.some_right),
            hit_rate,
        ]
    }
}

/// How often answers that do not count as running are right.
fn refused_rate(case: &TargetCase<'_>, rule: Rule, systems: &[SystemIndex]) -> f64 {
    let (mut right, mut count) = (0.0, 0.0);
    for &system in systems {
        for &question in &case.evidence.questions {
            let runs = case.observed(system, question).is_some_and(|seen| rule.counts(seen));
            if let Some(label) = case.pool().label(system, question).filter(|_| !runs) {
                right += label;
                count += 1.0;
            }
        }
    }
    if count > 0.0 { right / count } else { 0.0 }
}

/// How like the target's system the labelled ones are, by the share of their answers that run: errors of those that are
/// less like the others say what to expect of a system unlike all of them.
struct Likeness {
    points: Vec<ErrorPoint>,
    /// The target's squared distance.
    distance: f64,
}

impl Likeness {
    fn new(case: &TargetCase<'_>, systems: &[SystemIndex], errors: &[f64]) -> Self {
        let questions = &case.evidence.questions;
        let place = |&system: &SystemIndex| {
            let runs = |&&question: &&QuestionIndex| {
                case.observed(system, question).is_some_and(|seen| seen.runs_as_given)
            };
            probit(questions.iter().filter(runs).count() as f64, questions.len() as f64)
        };
        let places: Vec<f64> = systems.iter().map(place).collect();
        let sum: f64 = places.iter().sum();
        let distance = |position: f64, mean: f64| (position - mean).powi(2);
        let points =
            systems.iter().zip(&places).zip(errors).map(|((&system, &position), &error)| ErrorPoint {
                system,
                distance: distance(position, (sum - position) / (places.len() - 1).max(1) as f64),
                per_group: 1.0,
                error,
                weight: 1.0,
            });
        Self {
            points: points.collect(),
            distance: distance(place(&case.target), sum / places.len().max(1) as f64),
        }
    }

    fn half_width(&self, level: f64) -> f64 {
        let expected = Expected::fit(&self.points);
        let score = |point: &ErrorPoint| point.error / expected.at(point.distance, point.per_group).sqrt();
        let scores: Vec<f64> = self.points.iter().map(score).collect();
        let here = expected.at(self.distance, 1.0).sqrt();
        half_width(&scores, level).map_or(UNKNOWN, |score| score * here)
    }
}
