//! EX and EX-SpotIt: how many answers that are right on the benchmark's own database no other database refutes.
//!
//! # Contract
//! For a run with `verify@1` and an execution metric; the first execution metric of the run is EX. EX-SpotIt is the share
//! of the same items that are right by EX and not told from the gold by a counterexample. Intervals are Wilson's, 95 %;
//! a rank is one more than the number of systems that are better.
//!
//! Source: "SpotIt: Evaluating Text-to-SQL Evaluation with Formal Verification", ICLR 2026, the table of EX-Test and
//! EX-SpotIt.

use sqlgauge_base::stats::wilson;
use sqlgauge_metrics::is_execution_accuracy;
use sqlgauge_run::{RunError, ScoreSummary};

use crate::system_table::SystemTable;
use crate::{ItemView, Nature, Report, ReportError, number};

const VERIFY: &str = "verify@";
const LEVEL: f64 = 0.95;

/// One system's row.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    system: String,
    ex: ScoreSummary,
    ex_rank: usize,
    spotit: ScoreSummary,
    spotit_rank: usize,
    /// Answers that are right by EX and were refuted.
    refuted: usize,
    /// Answers that are right by EX and of which nobody knows.
    unknown: usize,
}

/// The rows of the table in the order of the run, and the metric that is EX; nothing for a run without both metrics.
fn rows(report: &Report) -> Result<Option<(String, Vec<Row>)>, ReportError> {
    let metrics = &report.summary.metrics;
    let verify = metrics.iter().find(|metric| metric.starts_with(VERIFY));
    let ex = metrics.iter().find(|metric| is_execution_accuracy(metric));
    let (Some(verify), Some(ex)) = (verify, ex) else { return Ok(None) };
    let systems = &report.summary.systems;
    let mut counts = vec![Count::default(); systems.len()];
    report.items.for_each(|item| {
        let at = systems.iter().position(|system| system.system == item.system);
        if let Some(count) = at.and_then(|at| counts.get_mut(at)) {
            count.add(ItemView::new(item), ex, verify);
        }
        Ok::<(), RunError>(())
    })?;
    let better = |of: fn(&Count) -> usize, own: &Count| {
        // The shares have different denominators only where a gold fails for one system alone.
        1 + counts.iter().filter(|other| of(other) * own.items > of(own) * other.items).count()
    };
    let row = |(system, own): (&sqlgauge_run::SystemSummary, &Count)| Row {
        system: system.system.clone(),
        ex: share(own.right, own.items),
        ex_rank: better(|count| count.right, own),
        spotit: share(own.kept, own.items),
        spotit_rank: better(|count| count.kept, own),
        refuted: own.right - own.kept,
        unknown: own.unknown,
    };
    Ok(Some((ex.clone(), systems.iter().zip(&counts).map(row).collect())))
}

/// The table; nothing for a run without both metrics.
pub(crate) fn table(report: &Report) -> Result<Option<SystemTable>, ReportError> {
    let Some((ex, rows)) = rows(report)? else { return Ok(None) };
    let header = ["system", &format!("EX ({ex})"), "rank", "EX-SpotIt", "rank", "refuted", "unknown"];
    Ok(Some(SystemTable {
        title: "EX and EX-SpotIt",
        note: note(report),
        header: header.map(str::to_owned).into(),
        rows: rows.iter().map(|row| (row.system.clone(), row.cells(&ex).into())).collect(),
    }))
}

/// What the table says under its title: what the columns are, and how the run verified.
fn note(report: &Report) -> String {
    let option = |name: &str| report.manifest.options.get(name);
    let rows = match option("verify_semantics").and_then(serde_json::Value::as_str) {
        Some("set") => "; rows are compared as sets, as ex-bird does",
        Some("bag") => "; rows are compared as bags",
        Some("list") => "; rows are compared in their order",
        Some(_) => "; rows are compared as ex@1 does",
        None => "",
    };
    let bound = option("verify_bound").and_then(serde_json::Value::as_u64);
    let has_solver = option("verify_solver").and_then(serde_json::Value::as_bool).unwrap_or(true);
    let bound = match bound {
        Some(rows) if has_solver => format!("; bounded proofs up to {rows} rows of each table"),
        Some(_) => "; no bounded proofs, since there was no solver".to_owned(),
        None => String::new(),
    };
    format!(
        "percent: right on the database, and of these not refuted on another; refuted, unknown: of the answers right by EX\
         {rows}{bound}"
    )
}

impl Row {
    /// The cells after the name. A rank that moved shows how far.
    fn cells(&self, ex: &str) -> [String; 6] {
        let nature = Nature::of(ex);
        let moved = match self.spotit_rank.cmp(&self.ex_rank) {
            std::cmp::Ordering::Less => format!(" ▲{}", self.ex_rank - self.spotit_rank),
            std::cmp::Ordering::Equal => String::new(),
            std::cmp::Ordering::Greater => format!(" ▼{}", self.spotit_rank - self.ex_rank),
        };
        [
            number::interval(&self.ex, nature),
            self.ex_rank.to_string(),
            number::interval(&self.spotit, nature),
            format!("{}{moved}", self.spotit_rank),
            self.refuted.to_string(),
            self.unknown.to_string(),
        ]
    }
}

#[derive(Debug, Clone, Default)]
struct Count {
    items: usize,
    right: usize,
    kept: usize,
    unknown: usize,
}

impl Count {
    fn add(&mut self, item: ItemView<'_>, ex: &str, verify: &str) {
        let Some(score) = item.score(ex) else { return };
        self.items += 1;
        if score < 1.0 {
            return;
        }
        self.right += 1;
        self.kept += usize::from(item.score(verify) != Some(0.0));
        let verdict = item.item.details.verdict.as_ref();
        let is_unknown = verdict.is_none_or(|record| record.verdict == "unknown");
        self.unknown += usize::from(is_unknown && item.score(verify) != Some(0.0));
    }
}

fn share(right: usize, items: usize) -> ScoreSummary {
    let interval = wilson(right as u64, items as u64, LEVEL);
    let known = items > 0;
    ScoreSummary {
        mean: known.then(|| right as f64 / items as f64),
        low: known.then_some(interval.low),
        high: known.then_some(interval.high),
        count: items,
    }
}
