//! `judge-bug`: a language model judges every prediction right or wrong.

use std::collections::BTreeMap;

use sqlgauge_base::stats::normal_quantile;

use crate::case::TargetCase;
use crate::error::EstimateError;
use crate::estimate::{AccuracyInterval, Estimate};
use crate::judges::describe;
use crate::judges::{BugEstimate, BugOutcome, BugReport, TemplateKind, judge_bug};
use crate::outcome::EstimateDraft;

use super::Estimator;

/// What it does: the mean probability of being right over all predictions, as a language model sees it
/// (see [`judge_bug`](crate::judges::judge_bug)).
///
/// The judge's rate is taken as it is, calibrated on nothing, as published. The interval holds the sampling of the
/// questions and, for predictions without a verdict, both possibilities; the judge's own bias is not in it.
#[derive(Debug, Clone, Copy)]
pub struct JudgeBug;

impl Estimator for JudgeBug {
    fn id(&self) -> &'static str {
        "judge-bug"
    }

    fn estimate(&self, case: &TargetCase<'_>) -> Result<Estimate, EstimateError> {
        let service = case.judge(self.id())?;
        let options = service.options(TemplateKind::Bug)?;
        let items = case.judge_items();
        let mut on_progress = |progress: &_| (service.progress)(progress);
        let report = judge_bug(&service.client, &options, &items, Some(&mut on_progress))
            .map_err(|error| EstimateError::Computation(error.to_string()))?;
        let Some(estimate) = &report.estimate else {
            let reasons = || words(&report.undecided);
            let why = report.stopped_by.clone().or(report.failed_by.clone()).unwrap_or_else(reasons);
            return Err(EstimateError::Computation(format!(
                "the judge gave no verdict on any prediction: {why}"
            )));
        };
        let probability = |outcome: &BugOutcome| outcome.p_correct().unwrap_or(estimate.accuracy);
        let mut outcome =
            EstimateDraft::new(report.outcomes.iter().map(probability).collect(), "the judge's verdicts");
        outcome.notes = notes(&report, estimate, &service.client.server());
        let interval = interval(estimate, report.decided, items.len(), case.options.level);
        Ok(outcome.estimate_at(case, self.id(), estimate.accuracy, interval))
    }
}

/// From all undecided wrong to all of them right, wider by the sampling error of the decided part.
fn interval(estimate: &BugEstimate, decided: usize, all: usize, level: f64) -> AccuracyInterval {
    let share = decided as f64 / all.max(1) as f64;
    // One verdict says nothing of the spread of verdicts.
    let width = estimate
        .standard_error
        .map_or(0.5, |error| error * normal_quantile(f64::midpoint(1.0, level)) * share);
    AccuracyInterval {
        level,
        low: (estimate.lowest - width).max(0.0),
        high: (estimate.highest + width).min(1.0),
    }
}

fn notes(report: &BugReport, estimate: &BugEstimate, server: &str) -> Vec<String> {
    let mut notes = vec![
        format!(
            "judged by {} at {server}: {:.1} % found right by verdict alone; {}",
            report.model,
            100.0 * estimate.accuracy_by_verdict,
            describe(&report.usage)
        ),
        "the judge's rate is calibrated on nothing: the interval holds the choice of questions, not the judge's bias, and \
         is not conformal"
            .to_owned(),
    ];
    if !report.undecided.is_empty() {
        notes.push(format!(
            "without a verdict: {}; the estimate takes them to be like the others, the interval holds both possibilities",
            words(&report.undecided)
        ));
    }
    notes.extend(report.failed_by.as_ref().map(|why| format!("the first request that failed: {why}")));
    notes.extend(report.stopped_by.as_ref().map(|why| format!("the judge stopped before the end: {why}")));
    notes
}

/// How many have which reason.
pub(super) fn words(counts: &BTreeMap<String, usize>) -> String {
    counts.iter().map(|(reason, count)| format!("{count} {reason}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_what_is_undecided() {
        let estimate = BugEstimate {
            accuracy: 0.5,
            standard_error: Some(0.05),
            accuracy_by_verdict: 0.5,
            lowest: 0.4,
            highest: 0.6,
        };
        // 80 of 100 decided: 0.4 − 1.645 · 0.05 · 0.8 and 0.6 + the same.
        let interval = interval(&estimate, 80, 100, 0.9);
        assert!((interval.low - 0.334_206).abs() < 1e-5 && (interval.high - 0.665_794).abs() < 1e-5);
        let one = BugEstimate { standard_error: None, ..estimate };
        assert!(super::interval(&one, 1, 100, 0.9).low.abs() < f64::EPSILON);
    }
}
