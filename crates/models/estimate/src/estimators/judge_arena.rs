//! `judge-arena`: a language model compares predictions with those of systems whose accuracy is known.

use std::collections::HashMap;

use sqlgauge_base::stats::normal_quantile;

use crate::calibrate::mean_label;
use crate::case::{TargetCase, spread};
use crate::error::EstimateError;
use crate::estimate::{AccuracyInterval, Estimate};
use crate::judges::describe;
use crate::judges::{
    ArenaEstimate, ArenaOptions, ArenaReport, JudgeItem, Opponent, TemplateKind, judge_arena,
};
use crate::outcome::EstimateDraft;
use crate::pool::SystemIndex;

use super::Estimator;
use super::judge_bug::words;

/// Opponents of known accuracy without which there is no line.
const FEWEST_OPPONENTS: usize = 2;

/// What it does: turns the share of comparisons that the system wins against systems of known accuracy into an accuracy
/// (see [`judge_arena`](crate::judges::judge_arena)).
///
/// An opponent's accuracy is that on the target's questions where it has labels for at least half of them, else that on
/// all its labelled questions: then the line is that of the other questions, which a note says. The interval
/// comes from resampling the questions; the judge's own bias is not in it.
#[derive(Debug, Clone, Copy)]
pub struct JudgeArena;

impl Estimator for JudgeArena {
    fn id(&self) -> &'static str {
        "judge-arena"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        let service = case.judge(self.id())?;
        let items = case.judge_items();
        let systems = opponents(case, service.opponents);
        if systems.len() < FEWEST_OPPONENTS {
            return Err(EstimateError::Needs {
                method: self.id(),
                needs: format!(
                    "predictions on the target of at least {FEWEST_OPPONENTS} other systems of known accuracy, and has {}",
                    systems.len()
                ),
                remedy: "give their predictions with --peer and their runs with --known",
            });
        }
        let opponents: Vec<KnownOpponent> =
            systems.iter().map(|&system| KnownOpponent::of(case, system, &items)).collect();
        let all: Vec<Opponent> = opponents.iter().map(|rival| rival.opponent.clone()).collect();
        let judge = service.options(TemplateKind::Arena)?;
        let options = ArenaOptions { judge, questions: service.questions, seed: case.options.seed };
        let mut on_progress = |progress: &_| (service.progress)(progress);
        let report = judge_arena(&service.client, &options, &items, &all, Some(&mut on_progress))
            .map_err(|error| EstimateError::Computation(error.to_string()))?;
        let estimate = match &report.estimate {
            Ok(estimate) => estimate.clone(),
            Err(error) => {
                let why = report.stopped_by.as_ref().or(report.failed_by.as_ref());
                let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
                return Err(EstimateError::Computation(format!(
                    "the comparisons give no accuracy: {error}{why}"
                )));
            }
        };
        let mut outcome = EstimateDraft::flat(case, estimate.accuracy, "the judge's comparisons");
        outcome.notes.extend(notes(&report, &estimate, &opponents, &service.client.server()));
        let interval = interval(&estimate, case.options.level);
        Ok(outcome.estimate_at(case, self.id(), estimate.accuracy, interval))
    }
}

fn interval(estimate: &ArenaEstimate, level: f64) -> AccuracyInterval {
    let error = estimate.standard_error.map(|error| error * normal_quantile(f64::midpoint(1.0, level)));
    AccuracyInterval::around(estimate.accuracy, error.unwrap_or(0.5), level)
}

/// Other systems of known accuracy that answer the target, at most so many, from the worst to the best.
fn opponents(case: &TargetCase<'_>, most: usize) -> Vec<SystemIndex> {
    let accuracy = |system: SystemIndex| case.pool().known_accuracy(system);
    let mut systems: Vec<SystemIndex> = case
        .evidence
        .present
        .iter()
        .copied()
        .filter(|&system| system != case.target && accuracy(system).is_some())
        .collect();
    spread(&mut systems, accuracy, most);
    systems
}

/// An opponent, and whether its accuracy is that on the target's questions.
struct KnownOpponent {
    opponent: Opponent,
    is_of_target: bool,
}

impl KnownOpponent {
    fn of(case: &TargetCase<'_>, system: SystemIndex, items: &[JudgeItem]) -> Self {
        let pool = case.pool();
        let questions = &case.evidence.questions;
        let sql: HashMap<String, String> = items
            .iter()
            .zip(questions)
            .filter_map(|(item, &question)| Some((item.id.clone(), pool.get(system, question)?.sql.clone())))
            .collect();
        let labelled = questions.iter().filter(|&&question| pool.label(system, question).is_some()).count();
        let is_of_target = 2 * labelled >= questions.len();
        let accuracy =
            if is_of_target { mean_label(case, system, questions) } else { pool.known_accuracy(system) };
        Self { opponent: Opponent { name: pool[system].clone(), accuracy, sql }, is_of_target }
    }
}

fn notes(
    report: &ArenaReport,
    estimate: &ArenaEstimate,
    opponents: &[KnownOpponent],
    server: &str,
) -> Vec<String> {
    let against: Vec<String> = report
        .opponents
        .iter()
        .map(|of| format!("{} {}:{}:{}", of.name, of.wins, of.ties, of.losses))
        .collect();
    let mut notes = vec![
        format!(
            "judged by {} at {server} on {} questions; wins, ties and losses: {}; {}",
            report.model,
            report.questions,
            against.join(", "),
            describe(&report.usage)
        ),
        "the line is calibrated on the other systems' accuracies alone: the interval holds the choice of questions, not the \
         judge's bias, and is not conformal"
            .to_owned(),
    ];
    let elsewhere: Vec<&str> = opponents
        .iter()
        .filter(|rival| !rival.is_of_target)
        .map(|rival| rival.opponent.name.as_str())
        .collect();
    if !elsewhere.is_empty() {
        notes.push(format!(
            "the accuracy of {} is known on other questions only: the estimate is one for those, not for the target",
            elsewhere.join(", ")
        ));
    }
    if estimate.outside {
        notes.push("the system is stronger or weaker than all that it was compared with".to_owned());
    }
    if !report.undecided.is_empty() {
        notes.push(format!("comparisons without a verdict: {}", words(&report.undecided)));
    }
    notes.extend(report.failed_by.as_ref().map(|why| format!("the first request that failed: {why}")));
    notes.extend(report.stopped_by.as_ref().map(|why| format!("the judge stopped before the end: {why}")));
    notes
}
