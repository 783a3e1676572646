//! What the solver decides alone, bound by bound: the tables of `SpotIt` on coverage, bounds and confirmed counterexamples.
//!
//! # Contract
//! Only for runs in which the solver decides alone. *Encoded* are pairs with an encoding, *exactly* those in which every term says what
//! SQLite computes. Each bound has the number of pairs with a counterexample there and with none before. *Equal* are those without one
//! up to the last bound. *Confirmed* is the share of the databases that the solver proposes on which SQLite shows a difference.
//!
//! Source: "SpotIt: Evaluating Text-to-SQL Evaluation with Formal Verification", ICLR 2026.

use std::collections::BTreeMap;

use sqlgauge_metrics::is_verify;
use sqlgauge_run::RunError;
use sqlgauge_verify::VerdictRecord;

use crate::system_table::SystemTable;
use crate::{Report, ReportError};

const NOTE: &str = "Pairs by what the solver says with 1, 2, 3, … rows per table. Exactly: every term says what SQLite computes. \
    Different at k: a counterexample with k rows, none with fewer. Confirmed: of the solver's databases, those that SQLite confirms";

#[derive(Debug, Clone, Default)]
struct Count {
    pairs: usize,
    encoded: usize,
    exact: usize,
    different: BTreeMap<usize, usize>,
    equal: usize,
    candidates: usize,
    confirmed: usize,
}

impl Count {
    fn add(&mut self, record: &VerdictRecord) {
        let Some(work) = &record.solver else { return };
        self.pairs += 1;
        self.encoded += usize::from(work.encoded);
        self.exact += usize::from(work.is_exact());
        self.candidates += work.candidates;
        self.confirmed += work.confirmed;
        match (record.verdict.as_str(), work.bound) {
            ("different", Some(bound)) => *self.different.entry(bound).or_default() += 1,
            ("equivalent_up_to", _) if record.wanted_bound.is_none() => self.equal += 1,
            _ => {}
        }
    }

    fn cells(&self, bound: usize) -> Vec<String> {
        let share = |part: usize, whole: usize| {
            if whole == 0 { "–".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
        };
        let decided: usize = self.different.values().sum::<usize>() + self.equal;
        let at = |k: usize| self.different.get(&k).copied().unwrap_or_default().to_string();
        let mut cells =
            vec![self.pairs.to_string(), share(self.encoded, self.pairs), share(self.exact, self.pairs)];
        cells.extend((1..=bound).map(at));
        cells.extend([
            self.equal.to_string(),
            (self.pairs - decided).to_string(),
            share(self.confirmed, self.candidates),
        ]);
        cells
    }
}

/// A table for each metric that verifies, in a run in which the solver decides alone.
pub(crate) fn tables(report: &Report) -> Result<Vec<SystemTable>, ReportError> {
    let option = |name: &str| report.manifest.options.get(name);
    if option("verify_only").is_none() {
        return Ok(Vec::new());
    }
    let bound = option("verify_bound").and_then(serde_json::Value::as_u64).unwrap_or_default();
    let bound = usize::try_from(bound).unwrap_or_default();
    let verifying = report.summary.metrics.iter().filter(|metric| is_verify(metric));
    verifying.map(|metric| table(report, metric, bound)).collect()
}

fn table(report: &Report, metric: &str, bound: usize) -> Result<SystemTable, ReportError> {
    let systems = &report.summary.systems;
    let mut counts = vec![Count::default(); systems.len()];
    report.items.for_each(|item| {
        let at = systems.iter().position(|system| system.system == item.system);
        let verdict = item.details.verdict_by(metric, &report.summary.metrics);
        if let (Some(count), Some(verdict)) = (at.and_then(|at| counts.get_mut(at)), verdict) {
            count.add(verdict);
        }
        Ok::<(), RunError>(())
    })?;
    let mut header: Vec<String> = ["system", "pairs", "encoded", "exactly"].map(str::to_owned).into();
    header.extend((1..=bound).map(|k| format!("different at {k}")));
    header.extend(["equal", "open", "confirmed"].map(str::to_owned));
    let rows = systems.iter().zip(&counts).map(|(system, count)| (system.system.clone(), count.cells(bound)));
    Ok(SystemTable {
        title: "The solver alone",
        note: format!("{metric}. {NOTE}"),
        header,
        rows: rows.collect(),
        bars: None,
    })
}
