//! One system alone on data of another kind: the slopes and the spread that `signals` believes in there, each family of
//! systems judged by what the other families show, on other databases (cross-validation over families and databases).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sqlgauge_base::probit::{density_at, normal_cdf, probit};
use sqlgauge_dataset::Databases;
use sqlgauge_engine::Engine;
use sqlgauge_estimate::{
    AloneMoves, EstimateError, EstimateOptions, Pool, PoolEvidence, QuestionIndex, Spread, TargetCase, solve,
};

use super::components::{Residual, spread_of};
use super::protocol::{BenchRun, Selection, Trial};
use super::run::pool_of;

/// Variance on the probit scale that a transfer has beside the choice of its questions, for its weight.
const BETWEEN: f64 = 0.1;

/// A system whose accuracy is known on one run, on another run or one database of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transfer {
    /// The system.
    pub system: String,
    /// Its family.
    pub family: String,
    /// The other run.
    pub target: String,
    /// The database; `None` for the whole run.
    pub database: Option<String>,
    /// Databases of the target.
    pub databases: usize,
    /// Share of the target's answers that run as given.
    pub share: f64,
    /// Number of those.
    pub running: f64,
    /// Known accuracy among running answers, on the probit scale.
    pub level: f64,
    /// Its sampling variance.
    pub labels: f64,
    /// Change of the share that runs, as the law of one system alone counts it, and of what structure says on the probit
    /// scale.
    pub moves: [f64; 2],
    /// True change of the accuracy among running answers, on the probit scale.
    pub change: f64,
    /// True accuracy of all answers.
    pub truth: f64,
}

/// What families say: slopes and spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Belief {
    /// Of the share that runs and of structure.
    pub slopes: [f64; 2],
    /// Standard deviation from kind to kind.
    pub kind: f64,
    /// Standard deviation from database to database.
    pub database: f64,
    /// Families that it rests on.
    pub families: usize,
}

/// How wide intervals are in [`judge`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// By the spread that the other families show.
    OfOthers,
    /// Not narrower than by the program's constants, as few families show less than there is.
    AtLeastTheProgram,
}

/// A transfer estimated by the belief of other families.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedTransfer {
    /// The transfer.
    pub transfer: Transfer,
    /// Estimated accuracy.
    pub accuracy: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The transfers from the first run to every other one, of the systems that have both. `family` names a system's.
///
/// # Errors
/// As [`pool_of`].
pub fn transfers(
    runs: &[BenchRun],
    family: &dyn Fn(&str) -> String,
    engine: &dyn Engine,
    databases: &[Databases],
    options: EstimateOptions,
) -> Result<Vec<Transfer>, EstimateError> {
    let only = |system: &str, other: &str| system == other;
    over_parts(runs, engine, databases, options, &only, &|case, part| Ok(transfer(case, part, family)))
}

/// A run or one database of it, on which a system is estimated, and what is true there.
pub(super) struct Part<'a> {
    /// The run.
    pub(super) target: &'a str,
    /// The database; `None` for the whole run.
    pub(super) database: Option<String>,
    /// Labels of the system by the id of the question.
    pub(super) truths: &'a BTreeMap<String, f64>,
}

/// What is found for a system on a part of a run; `None` where nothing is.
type Measure<'m, T> = dyn Fn(&TargetCase<'_>, &Part<'_>) -> Result<Option<T>, EstimateError> + 'm;

/// What `measure` finds for every system of the first run on every other one and on each database of it. The labels of the
/// first run are known of the systems that stand beside the estimated one by `is_beside(estimated, other)`.
///
/// # Errors
/// As [`pool_of`] and `measure`.
pub(super) fn over_parts<T>(
    runs: &[BenchRun],
    engine: &dyn Engine,
    databases: &[Databases],
    options: EstimateOptions,
    is_beside: &dyn Fn(&str, &str) -> bool,
    measure: &Measure<'_, T>,
) -> Result<Vec<T>, EstimateError> {
    let mut results = Vec::new();
    let Some(first) = runs.first() else { return Ok(results) };
    for (place, target) in runs.iter().enumerate().skip(1) {
        for system in first.systems().intersection(&target.systems()) {
            let of_run = |run: usize| Selection {
                run,
                systems: runs[run].systems().into_iter().filter(|other| is_beside(system, other)).collect(),
                databases: runs[run].databases(),
            };
            let trial = Trial {
                transfer: target.name.clone(),
                split: 0,
                sources: vec![of_run(0)],
                target: of_run(place),
                systems: vec![system.clone()],
            };
            let pool = pool_of(runs, &trial, engine, databases)?;
            let mut evidence = PoolEvidence::new(&pool)?;
            let truths = truths(target, system);
            for (database, questions) in parts_of(&pool, &evidence.questions) {
                evidence.questions = questions;
                let part = Part { target: &target.name, database, truths: &truths };
                for case in pool.targets.iter().map(|&system| evidence.case(system, options)) {
                    results.extend(measure(&case, &part)?);
                }
            }
        }
    }
    Ok(results)
}

/// Questions by database, and all of them if there are several.
fn parts_of(pool: &Pool, questions: &[QuestionIndex]) -> BTreeMap<Option<String>, Vec<QuestionIndex>> {
    let mut parts: BTreeMap<Option<String>, Vec<QuestionIndex>> = BTreeMap::new();
    for &question in questions {
        let name = pool.databases[pool[question].database].db_id.clone();
        parts.entry(Some(name)).or_default().push(question);
    }
    if parts.len() > 1 {
        parts.insert(None, questions.to_vec());
    }
    parts
}

/// Number of databases that the case's questions are about.
pub(super) fn databases_of(case: &TargetCase<'_>) -> usize {
    let database = |&question: &QuestionIndex| case.pool()[question].database;
    case.evidence.questions.iter().map(database).collect::<BTreeSet<_>>().len()
}

/// Labels of a system by the id of the question.
fn truths(run: &BenchRun, system: &str) -> BTreeMap<String, f64> {
    let of_system = run.stored.items.iter().filter(|item| item.system == system);
    of_system.filter_map(|item| Some((item.id.clone(), (*item.metrics.get(&run.metric)?)?))).collect()
}

fn transfer(case: &TargetCase<'_>, part: &Part<'_>, family: &dyn Fn(&str) -> String) -> Option<Transfer> {
    let AloneMoves { level, labels, moves } = AloneMoves::of(case)?;
    let (mut running, mut right, mut all) = (0.0, 0.0, 0.0);
    for &question in &case.evidence.questions {
        let truth = *part.truths.get(&case.pool()[question].id)?;
        all += truth;
        if case.observed(case.target, question).is_some_and(|seen| seen.runs_as_given) {
            running += 1.0;
            right += truth;
        }
    }
    let count = case.evidence.questions.len() as f64;
    let system = &case.pool()[case.target];
    Some(Transfer {
        system: system.clone(),
        family: family(system),
        target: part.target.to_owned(),
        database: part.database.clone(),
        databases: databases_of(case),
        share: running / count,
        running,
        level,
        labels,
        moves,
        change: probit(right, running) - level,
        truth: all / count,
    })
}

impl Transfer {
    /// Sampling variance of the change.
    fn chance(&self) -> f64 {
        let share = normal_cdf(self.level + self.change);
        share * (1.0 - share) / self.running.max(1.0) / density_at(share).powi(2)
    }
}

impl Belief {
    /// Learns from single databases; families weigh the same. `None` where there are too few transfers.
    pub fn learn(transfers: &[&Transfer]) -> Option<Self> {
        let single: Vec<&&Transfer> = transfers.iter().filter(|one| one.databases == 1).collect();
        let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
        single.iter().for_each(|one| *counts.entry(&one.family).or_default() += 1.0);
        if counts.len() < 2 || single.len() < 3 {
            return None;
        }
        let (mut matrix, mut right) = (vec![vec![0.0; 2]; 2], vec![0.0; 2]);
        for one in &single {
            let weight = 1.0 / (BETWEEN + one.chance()) / counts[one.family.as_str()];
            for a in 0..2 {
                right[a] += weight * one.moves[a] * one.change;
                (0..2).for_each(|b| matrix[a][b] += weight * one.moves[a] * one.moves[b]);
            }
        }
        let slopes = solve(matrix, right);
        let slopes = [slopes[0], slopes[1]];
        let rest = |one: &Transfer| one.change - slopes[0] * one.moves[0] - slopes[1] * one.moves[1];
        let residual =
            |one: &&Transfer| Residual { error: rest(one), chance: one.chance(), databases: one.databases };
        let Spread { kind, database, .. } = spread_of(&transfers.iter().map(residual).collect::<Vec<_>>());
        Some(Self { slopes, kind, database, families: counts.len() })
    }

    fn judge(self, transfer: &Transfer, level: f64, width: Width) -> JudgedTransfer {
        let moves = self.slopes[0] * transfer.moves[0] + self.slopes[1] * transfer.moves[1];
        let centre = transfer.level + moves;
        let least = match width {
            Width::OfOthers => Spread { kind: 0.0, database: 0.0, slope: 0.0 },
            Width::AtLeastTheProgram => Spread::ALONE,
        };
        let spread = Spread {
            kind: self.kind.max(least.kind),
            database: self.database.max(least.database),
            // One pair of data does not show it.
            slope: Spread::ALONE.slope,
        };
        let share = normal_cdf(centre);
        let (databases, running) = (transfer.databases, transfer.running);
        let width = spread.half_width_alone(databases, moves, level, share, running, transfer.labels);
        let at = |z: f64| transfer.share * normal_cdf(z);
        JudgedTransfer {
            transfer: transfer.clone(),
            accuracy: at(centre),
            low: at(centre - width),
            high: at(centre + width),
        }
    }
}

/// Every transfer, judged by what the other families show, to a single database by what they show on the other databases.
pub fn judge(transfers: &[Transfer], level: f64, width: Width) -> Vec<JudgedTransfer> {
    let others = |one: &Transfer| -> Vec<&Transfer> {
        let is_apart = |other: &&Transfer| {
            other.family != one.family && (one.database.is_none() || other.database != one.database)
        };
        transfers.iter().filter(is_apart).collect()
    };
    let judged = |one: &Transfer| Some(Belief::learn(&others(one))?.judge(one, level, width));
    transfers.iter().filter_map(judged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(family: &str, moves: [f64; 2], change: f64, databases: usize) -> Transfer {
        Transfer {
            system: family.to_owned(),
            family: family.to_owned(),
            target: "t".to_owned(),
            database: None,
            databases,
            share: 1.0,
            running: 1e6,
            level: 0.5,
            labels: 0.0,
            moves,
            change,
            truth: normal_cdf(0.5 + change),
        }
    }

    #[test]
    fn slopes_that_hold_for_all_families_are_found_and_carry_over() {
        let moves = [[-1.0, -0.2], [-0.2, -0.6], [-0.5, 0.3], [0.4, -0.1]];
        let exact: Vec<Transfer> = ["a", "b", "c"]
            .iter()
            .flat_map(|family| moves.map(|m| transfer(family, m, 0.4 * m[0] + 1.1 * m[1], 1)))
            .collect();
        let belief = Belief::learn(&exact.iter().collect::<Vec<_>>()).unwrap();
        assert!((belief.slopes[0] - 0.4).abs() < 1e-6 && (belief.slopes[1] - 1.1).abs() < 1e-6, "{belief:?}");
        let judged = judge(&exact, 0.9, Width::OfOthers);
        assert_eq!(judged.len(), exact.len());
        assert!(judged.iter().all(|one| (one.accuracy - one.transfer.truth).abs() < 1e-6));
    }

    #[test]
    fn what_a_family_shows_has_no_part_in_its_own_estimate() {
        let of = |c: f64| -> Vec<Transfer> {
            [("a", -0.4), ("a", -0.5), ("b", -0.6), ("b", -0.3), ("c", c), ("c", c)]
                .iter()
                .zip([-1.0, -0.7, -0.9, -0.4, -0.8, -0.6])
                .map(|(&(family, change), runs)| transfer(family, [runs, 0.1 * runs * runs], change, 1))
                .collect()
        };
        let accuracy = |all: &[Transfer]| judge(all, 0.9, Width::OfOthers)[4].accuracy;
        assert!((accuracy(&of(-0.5)) - accuracy(&of(0.9))).abs() < 1e-12);
        let first = |all: &[Transfer]| judge(all, 0.9, Width::OfOthers)[0].accuracy;
        assert!((first(&of(-0.5)) - first(&of(0.9))).abs() > 1e-3);
    }

    #[test]
    fn what_other_families_show_on_a_database_has_no_part_in_estimates_on_it() {
        let of = |c: f64| -> Vec<Transfer> {
            let rows = [
                ("a", "x", -0.4),
                ("a", "y", c),
                ("b", "x", -0.3),
                ("b", "y", c),
                ("b", "z", -0.5),
                ("c", "z", -0.7),
                ("c", "y", c),
                ("c", "x", -0.2),
            ];
            rows.iter()
                .zip([-1.0, -0.7, -0.9, -0.4, -0.8, -0.6, -0.5, -0.3])
                .map(|(&(family, database, change), runs)| Transfer {
                    database: Some(database.to_owned()),
                    ..transfer(family, [runs, 0.1 * runs * runs], change, 1)
                })
                .collect()
        };
        let accuracy = |all: &[Transfer], at: usize| judge(all, 0.9, Width::OfOthers)[at].accuracy;
        assert!((accuracy(&of(-0.5), 1) - accuracy(&of(0.9), 1)).abs() < 1e-12);
        assert!((accuracy(&of(-0.5), 0) - accuracy(&of(0.9), 0)).abs() > 1e-3);
    }

    #[test]
    fn intervals_of_others_are_narrower_than_the_program_s_where_they_agree() {
        let moves = [[-1.0, -0.2], [-0.2, -0.6], [-0.5, 0.3], [0.4, -0.1]];
        let exact: Vec<Transfer> = ["a", "b", "c"]
            .iter()
            .flat_map(|family| moves.map(|m| transfer(family, m, 0.4 * m[0] + 1.1 * m[1], 1)))
            .collect();
        let [nested, program] =
            [Width::OfOthers, Width::AtLeastTheProgram].map(|width| judge(&exact, 0.9, width));
        for (nested, program) in nested.iter().zip(&program) {
            assert!(nested.high - nested.low < program.high - program.low);
            assert!((nested.accuracy - program.accuracy).abs() < 1e-12);
        }
    }

    #[test]
    fn one_family_says_nothing_of_others() {
        let one = [transfer("a", [-1.0, 0.0], -0.5, 1), transfer("b", [-1.0, 0.0], -0.5, 1)];
        assert!(judge(&one, 0.9, Width::OfOthers).is_empty());
    }
}
