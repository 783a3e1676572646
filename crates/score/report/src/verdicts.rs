//! How many pairs of a run got which verdict of `verify@2`.
//!
//! # Contract
//! For a run with `verify@2`: per system the number of items by verdict, of `unknown` also by reason, the most frequent
//! first. An item without a verdict is one of a text that SQLite refuses, or without a prediction.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sqlgauge_run::RunError;
use sqlgauge_verify::{NO_SOLVER, SOLVER_REMEDY, VerdictRecord};

use crate::system_table::SystemTable;
use crate::{Report, ReportError, words};

/// The verdicts, as the records name them, in the order of the table.
const VERDICTS: [&str; 4] = ["equivalent", "equivalent_up_to", "different", "unknown"];

/// What the table says under its title.
const NOTE: &str = "equivalent: proved by rules; up to bound: by a solver, for few rows per table; no verdict: a text that SQLite refuses, or none";

/// What the table says under its title, with the remedy where a solver was missed.
fn note(all: &[Verdicts]) -> String {
    let missed: usize = all.iter().filter_map(|of_system| of_system.reasons.get(NO_SOLVER)).sum();
    if missed == 0 {
        return NOTE.to_owned();
    }
    format!("{NOTE}; {} left for a solver: {SOLVER_REMEDY}", words::many(missed, "pair"))
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
    /// Items of which nobody knows, by reason.
    pub reasons: BTreeMap<String, usize>,
    /// Items without a verdict.
    pub none: usize,
}

impl Verdicts {
    /// The verdicts of a run by system, in its order; `None` for a run without `verify@2`.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn of(report: &Report) -> Result<Option<Vec<Self>>, ReportError> {
        if !report.summary.metrics.iter().any(|metric| metric.starts_with("verify@")) {
            return Ok(None);
        }
        let empty =
            |system: &sqlgauge_run::SystemSummary| Self { system: system.system.clone(), ..Self::default() };
        let mut counts: Vec<Self> = report.summary.systems.iter().map(empty).collect();
        report.items.for_each(|item| {
            if let Some(of_system) = counts.iter_mut().find(|of_system| of_system.system == item.system) {
                of_system.count(item.details.verdict.as_ref());
            }
            Ok::<(), RunError>(())
        })?;
        Ok(Some(counts))
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

    /// The table; nothing for a run without `verify@2`.
    pub(crate) fn table(report: &Report) -> Result<Option<SystemTable>, ReportError> {
        let table = |all: Vec<Self>| SystemTable {
            title: "Verdicts",
            note: note(&all),
            header: HEADER.map(str::to_owned).into(),
            rows: all
                .into_iter()
                .map(|of_system| (of_system.system.clone(), of_system.cells().into()))
                .collect(),
        };
        Ok(Self::of(report)?.map(table))
    }

    fn cells(&self) -> [String; 6] {
        let count = |name: &str| self.verdicts.get(name).copied().unwrap_or(0).to_string();
        let mut reasons: Vec<(&String, &usize)> = self.reasons.iter().collect();
        reasons.sort_by_key(|(name, count)| (Reverse(**count), *name));
        let reasons: Vec<String> =
            reasons.into_iter().map(|(name, count)| format!("{name} {count}")).collect();
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
