//! `csv`: one row per system, benchmark and measure, by RFC 4180; what does not apply is an empty field.

use crate::{AccuracyChange, METRICS, SystemRobustness};
use ::csv::{Terminator, WriterBuilder};
use sqlgauge_run::ScoreSummary;

use super::RobustnessReport;
use super::document::averages;
use sqlgauge_report::ReportError;
use sqlgauge_report::formats::csv::harmless;

const HEADER: [&str; 17] = [
    "system",
    "benchmark",
    "intensity",
    "step",
    "measure",
    "count",
    "mean",
    "low",
    "high",
    "original_mean",
    "paired_count",
    "difference",
    "difference_low",
    "difference_high",
    "p_value",
    "gained",
    "lost",
];
/// The measure of abstentions.
const ABSTAINS: &str = "abstains";

/// The report as comma-separated values with a header row.
///
/// # Errors
/// If the data cannot be turned into CSV.
pub fn csv(report: &RobustnessReport) -> Result<String, ReportError> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    writer.write_record(HEADER)?;
    for system in &report.robustness.systems {
        for row in rows(system) {
            writer.write_record(row.iter().map(|cell| harmless(cell).into_owned()))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| ReportError::Write(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn rows(system: &SystemRobustness) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let name = &system.system;
    for metric in METRICS {
        rows.extend(
            system
                .original
                .get(metric)
                .map(|score| row([name, "original", "", ""], metric, score, None, None)),
        );
    }
    rows.push(row([name, "original", "", ""], ABSTAINS, &system.false_positives, None, None));
    for changed in &system.rows {
        let (intensity, step) =
            (changed.intensity.to_string(), changed.step.map_or_else(String::new, |step| step.to_string()));
        let fixed = [name.as_str(), &changed.label, &intensity, &step];
        for metric in METRICS {
            let original = changed.original.get(metric).and_then(|score| score.mean);
            let score = changed.scores.get(metric);
            rows.extend(score.map(|score| row(fixed, metric, score, original, changed.changes.get(metric))));
        }
        rows.push(row(fixed, ABSTAINS, &changed.false_positives, None, None));
    }
    for (label, scores) in averages(system) {
        let of = |metric| row([name, label, "", ""], metric, &scores[metric], None, None);
        rows.extend(METRICS.into_iter().filter(|metric| scores.contains_key(*metric)).map(of));
    }
    for changed in &system.out_of_scope {
        let intensity = changed.intensity.to_string();
        rows.push(row([name, &changed.label, &intensity, ""], ABSTAINS, &changed.true_positives, None, None));
    }
    rows
}

fn row(
    fixed: [&str; 4],
    measure: &str,
    score: &ScoreSummary,
    original: Option<f64>,
    change: Option<&AccuracyChange>,
) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let count =
        |of: fn(&AccuracyChange) -> usize| change.map_or_else(String::new, |change| of(change).to_string());
    let of = |of: fn(&AccuracyChange) -> f64| number(change.map(of));
    let mut row: Vec<String> = fixed.iter().map(|text| (*text).to_owned()).collect();
    row.extend([
        measure.to_owned(),
        score.count.to_string(),
        number(score.mean),
        number(score.low),
        number(score.high),
        number(original),
        count(|change| change.count),
        of(|change| change.difference),
        of(|change| change.low),
        of(|change| change.high),
        of(|change| change.p_value),
        count(|change| change.gained),
        count(|change| change.lost),
    ]);
    row
}
