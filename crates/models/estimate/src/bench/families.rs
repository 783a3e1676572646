//! One system alone on data of another kind: the slopes and the spread that `signals` believes in there, each family of
//! systems judged by what the other families show, on other databases (cross-validation over families and databases).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;
use sqlgauge_base::markdown_text;
use sqlgauge_dataset::Databases;
use sqlgauge_engine::Engine;

use crate::case::{EstimateOptions, PoolEvidence, TargetCase};
use crate::error::EstimateError;
use crate::errors::Spread;
use crate::law::Law;
use crate::logistic::solve;
use crate::sets::{Sums, shift, sums_of, total};
use crate::structure::Structure;
use sqlgauge_base::probit::{density_at, normal_cdf, on_probit, probit};

use super::protocol::{BenchRun, Selection, Trial};
use super::run::pool_of;

/// Variance on the probit scale that a transfer has beside the choice of its questions, for its weight.
const BETWEEN: f64 = 0.1;

/// The smallest standard deviation that is believed.
const LEAST: f64 = 0.05;

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
    let mut found = Vec::new();
    let Some(first) = runs.first() else { return Ok(found) };
    for (place, target) in runs.iter().enumerate().skip(1) {
        for system in first.systems().intersection(&target.systems()) {
            let only = |run: usize| Selection {
                run,
                systems: BTreeSet::from([system.clone()]),
                databases: runs[run].databases(),
            };
            let trial = Trial {
                transfer: target.name.clone(),
                split: 0,
                known: vec![only(0)],
                target: only(place),
                systems: vec![system.clone()],
            };
            let pool = pool_of(runs, &trial, engine, databases)?;
            let mut evidence = PoolEvidence::new(&pool)?;
            let all = evidence.questions.clone();
            let mut parts: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
            for &question in &all {
                let name = pool.databases[pool.questions[question].database].db_id.clone();
                parts.entry(Some(name)).or_default().push(question);
            }
            if parts.len() > 1 {
                parts.insert(None, all);
            }
            let truths = truths(target, system);
            for (database, questions) in parts {
                evidence.questions = questions;
                let of_target = pool.targets.iter().map(|&system| evidence.case(system, options));
                for case in of_target {
                    let transfer = transfer(&case, &truths, family(system), &target.name, database.clone());
                    found.extend(transfer);
                }
            }
        }
    }
    Ok(found)
}

/// Labels of a system by the id of the question.
fn truths(run: &BenchRun, system: &str) -> BTreeMap<String, f64> {
    let of_system = run.stored.items.iter().filter(|item| item.system == system);
    of_system.filter_map(|item| Some((item.id.clone(), (*item.metrics.get(&run.metric)?)?))).collect()
}

fn transfer(
    case: &TargetCase<'_>,
    truths: &BTreeMap<String, f64>,
    family: String,
    target: &str,
    database: Option<String>,
) -> Option<Transfer> {
    let sums = |questions: &[usize]| -> Sums {
        total(&questions.iter().map(|&q| sums_of(case, case.target, q, 0.0)).collect::<Vec<_>>())
    };
    let (home, there) = (sums(&case.labelled(case.target)), sums(&case.evidence.questions));
    let structure = Structure::fit(case)?;
    let (mut given, mut right, mut all) = (0.0, 0.0, 0.0);
    for &question in &case.evidence.questions {
        let truth = *truths.get(&case.pool().questions[question].id)?;
        all += truth;
        if case.observed(case.target, question).is_some_and(|seen| seen.runs_as_given) {
            given += 1.0;
            right += truth;
        }
    }
    let asked = case.evidence.questions.len() as f64;
    let law = Law::alone(shift(&home, &there)[0] > 0.0);
    let databases = crate::sets::databases(case, &case.evidence.questions);
    Some(Transfer {
        system: case.pool().systems[case.target].clone(),
        family,
        target: target.to_owned(),
        database,
        databases,
        share: given / asked,
        running: given,
        level: home.level(),
        moves: [law.moves(&home, &there)[0], on_probit(structure.target) - on_probit(structure.home)],
        change: probit(right, given) - home.level(),
        truth: all / asked,
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
        let square = |of: &dyn Fn(&Transfer) -> bool| {
            let chosen: Vec<&&Transfer> = transfers.iter().filter(|one| of(one)).collect();
            let count = chosen.len().max(1) as f64;
            let chance = chosen.iter().map(|one| one.chance()).sum::<f64>() / count;
            let groups = chosen.iter().map(|one| one.databases as f64).sum::<f64>() / count;
            (chosen.iter().map(|one| rest(one).powi(2)).sum::<f64>() / count - chance, groups)
        };
        let (whole, groups) = square(&|one| one.databases > 1);
        let (one, _) = square(&|one| one.databases == 1);
        let kind = if groups > 1.0 { (groups * whole - one) / (groups - 1.0) } else { one / 2.0 };
        let kind = kind.max(LEAST.powi(2));
        Some(Self {
            slopes,
            kind: kind.sqrt(),
            database: (one - kind).max(LEAST.powi(2)).sqrt(),
            families: counts.len(),
        })
    }

    fn judge(self, transfer: &Transfer, level: f64) -> JudgedTransfer {
        let moves = self.slopes[0] * transfer.moves[0] + self.slopes[1] * transfer.moves[1];
        let centre = transfer.level + moves;
        // The few families that are left show less than there is.
        let spread = Spread {
            kind: self.kind.max(Spread::ALONE.kind),
            database: self.database.max(Spread::ALONE.database),
            slope: Spread::ALONE.slope,
        };
        let share = normal_cdf(centre);
        let width =
            spread.half_width_alone(transfer.databases, transfer.moves[0], level, share, transfer.running);
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
pub fn judge(transfers: &[Transfer], level: f64) -> Vec<JudgedTransfer> {
    let others = |one: &Transfer| -> Vec<&Transfer> {
        let is_apart = |other: &&Transfer| {
            other.family != one.family && (one.database.is_none() || other.database != one.database)
        };
        transfers.iter().filter(is_apart).collect()
    };
    let judged = |one: &Transfer| Some(Belief::learn(&others(one))?.judge(one, level));
    transfers.iter().filter_map(judged).collect()
}

/// The tables: what was found without each family, by whole runs and by single databases, and what all show together.
pub fn families_markdown(judged: &[JudgedTransfer], all: Option<Belief>) -> String {
    let mut text = String::from(
        "# Families left out\n\n| target | n | MAE | bias | coverage | half-width |\n|---|---|---|---|---|---|\n",
    );
    // Writing to a string cannot fail.
    let mut line = |name: &str, of: &dyn Fn(&JudgedTransfer) -> bool| {
        let chosen: Vec<&JudgedTransfer> = judged.iter().filter(|one| of(one)).collect();
        if chosen.is_empty() {
            return;
        }
        let mean = |value: &dyn Fn(&JudgedTransfer) -> f64| {
            chosen.iter().map(|one| value(one)).sum::<f64>() / chosen.len() as f64
        };
        let error = |one: &JudgedTransfer| one.accuracy - one.transfer.truth;
        let holds = chosen.iter().filter(|o| o.low <= o.transfer.truth && o.transfer.truth <= o.high).count();
        let _ = writeln!(
            text,
            "| {name} | {} | {:.2} | {:+.2} | {holds} of {} | {:.1} |",
            chosen.len(),
            100.0 * mean(&|one| error(one).abs()),
            100.0 * mean(&error),
            chosen.len(),
            50.0 * mean(&|one| one.high - one.low)
        );
    };
    line("whole runs", &|one| one.transfer.databases > 1);
    line("single databases", &|one| one.transfer.databases == 1);
    if let Some(all) = all {
        let _ = writeln!(
            text,
            "\nAll {} families: slopes {:.2} (share that runs) and {:.2} (structure), spread {:.2} (kind) and {:.2} \
             (database).\n\n| system | family | target | truth | estimate | interval |\n|---|---|---|---|---|---|",
            all.families, all.slopes[0], all.slopes[1], all.kind, all.database
        );
    }
    for one in judged {
        let transfer = &one.transfer;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.1} | {:.1} | [{:.1}, {:.1}] |",
            markdown_text(&transfer.system),
            markdown_text(&transfer.family),
            markdown_text(transfer.database.as_ref().unwrap_or(&transfer.target)),
            100.0 * transfer.truth,
            100.0 * one.accuracy,
            100.0 * one.low,
            100.0 * one.high
        );
    }
    text
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
        let judged = judge(&exact, 0.9);
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
        let accuracy = |all: &[Transfer]| judge(all, 0.9)[4].accuracy;
        assert!((accuracy(&of(-0.5)) - accuracy(&of(0.9))).abs() < 1e-12);
        let first = |all: &[Transfer]| judge(all, 0.9)[0].accuracy;
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
        let accuracy = |all: &[Transfer], at: usize| judge(all, 0.9)[at].accuracy;
        assert!((accuracy(&of(-0.5), 1) - accuracy(&of(0.9), 1)).abs() < 1e-12);
        assert!((accuracy(&of(-0.5), 0) - accuracy(&of(0.9), 0)).abs() > 1e-3);
    }

    #[test]
    fn one_family_says_nothing_of_others() {
        let one = [transfer("a", [-1.0, 0.0], -0.5, 1), transfer("b", [-1.0, 0.0], -0.5, 1)];
        assert!(judge(&one, 0.9).is_empty());
    }
}
