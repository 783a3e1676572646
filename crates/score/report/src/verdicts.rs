//! How many pairs of a run got which verdict of a metric that verifies.
//!
//! # Contract
//! For each metric of the run that verifies (`verify@3`, `verify-set@3`, …): per system the number of items by verdict, of `unknown` also by reason, the most frequent
//! first. An item without a verdict is one of a text that SQLite refuses, or without a prediction.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sqlgauge_metrics::is_verify;
use sqlgauge_run::RunError;
use sqlgauge_verify::{NO_SOLVER, SOLVER_REMEDY, VerdictRecord};

use crate::system_table::SystemTable;
use crate::{Report, ReportError, words};

/// The verdicts, as the records name them, in the order of the table.
const VERDICTS: [&str; 4] = ["equivalent", "equivalent_up_to", "different", "unknown"];

/// What the table says under its title.
const NOTE: &str = "Equivalent: proved. Up to bound: proved for a few rows per table. No verdict: the query does not run, or is missing";

/// What the table says under its title, with the remedy where a solver was missed.
fn note(metric: &str, all: &[Verdicts]) -> String {
    let missed: usize = all.iter().filter_map(|of_system| of_system.reasons.get(NO_SOLVER)).sum();
    let left = words::many(missed, "pair");
    let left = (missed > 0).then(|| format!(". {left} left for a solver: {SOLVER_REMEDY}"));
    format!("{metric}. {NOTE}{}", left.unwrap_or_default())
}

/// The header of the table.
const HEADER: [&str; 7] =
    ["system", "equivalent", "up to bound", "different", "unknown", "no verdict", "unknown why"];

/// The verdicts on one system's answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdicts {
    pub system: String,
    /// Items by verdict.
    pub verdicts: BTreeMap<String, usize>,
    /// Undecided items by reason.
    pub reasons: BTreeMap<String, usize>,
    /// Items without a verdict.
    pub none: usize,
}

impl Verdicts {
    /// The verdicts of a run by system, in its order, of the first metric that verifies; `None` for a run without one.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn of(report: &Report) -> Result<Option<Vec<Self>>, ReportError> {
        let first = report.summary.metrics.iter().find(|metric| is_verify(metric));
        first.map(|metric| Self::by(report, metric)).transpose()
    }

    fn by(report: &Report, metric: &str) -> Result<Vec<Self>, ReportError> {
        let empty =
            |system: &sqlgauge_run::SystemSummary| Self { system: system.system.clone(), ..Self::default() };
        let mut counts: Vec<Self> = report.summary.systems.iter().map(empty).collect();
        report.items.for_each(|item| {
            if let Some(of_system) = counts.iter_mut().find(|of_system| of_system.system == item.system) {
                of_system.count(item.details.verdict_by(metric, &report.summary.metrics));
            }
            Ok::<(), RunError>(())
        })?;
        Ok(counts)
    }

    fn count(&mut self, verdict: Option<&VerdictRecord>) {
        match verdict {
            Some(record) => *self.verdicts.entry(record.verdict.clone()).or_default() += 1,
            None => self.none += 1,
        }
        if let Some(reason) = verdict.and_then(|record| record.reason.clone()) {
            *self.reasons.entry(reason).or_default() += 1;
        }
    }

    /// A table for each metric that verifies.
    pub(crate) fn tables(report: &Report) -> Result<Vec<SystemTable>, ReportError> {
        let table = |metric: &String, all: Vec<Self>| SystemTable {
            title: "Verdicts",
            note: note(metric, &all),
            header: HEADER.map(str::to_owned).into(),
            rows: all
                .into_iter()
                .map(|of_system| (of_system.system.clone(), of_system.cells().into()))
                .collect(),
            bars: None,
        };
        let verifying = report.summary.metrics.iter().filter(|metric| is_verify(metric));
        verifying.map(|metric| Ok(table(metric, Self::by(report, metric)?))).collect()
    }

    fn cells(&self) -> [String; 6] {
        let count = |name: &str| self.verdicts.get(name).copied().unwrap_or(0).to_string();
        let plain = |reason: &str| reason.replace("nondeterministic", "result depends on chance");
        let mut reasons: Vec<(&String, &usize)> = self.reasons.iter().collect();
        reasons.sort_by_key(|(name, count)| (Reverse(**count), *name));
        let reasons: Vec<String> =
            reasons.into_iter().map(|(name, count)| format!("{} {count}", plain(name))).collect();
        let [equivalent, up_to, different, unknown] = VERDICTS.map(count);
        [equivalent, up_to, different, unknown, self.none.to_string(), reasons.join(", ")]
    }

    /// The counts as JSON: `verdicts` with every verdict there is, `reasons` of `unknown`, `no_verdict`.
    pub fn to_json(&self) -> Value {
        let count = |name: &str| self.verdicts.get(name).copied().unwrap_or(0);
        let verdicts: Map<String, Value> =
            VERDICTS.iter().map(|name| ((*name).to_owned(), count(name).into())).collect();
        serde_json::json!({"verdicts": verdicts, "reasons": self.reasons, "no_verdict": self.none})
    }
}
