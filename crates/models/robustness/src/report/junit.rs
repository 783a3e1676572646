//! `junit`: one test suite per system, one test case per change, which fails where more execution accuracy is lost than
//! allowed; without a bar nothing fails.

use std::io::Write as _;

use crate::{RobustnessRow, SystemRobustness};

use super::document::{change, name, with_interval};
use super::{EX, RobustnessReport};
use sqlgauge_base::counted;
use sqlgauge_report::ReportError;
use sqlgauge_report::formats::junit::{CaseOutcome, SuiteTally, begin_suites, case};

/// The XML that CI servers read as `JUnit` results.
///
/// # Errors
/// If the text cannot be written.
pub fn junit(report: &RobustnessReport) -> Result<String, ReportError> {
    let suites: Vec<(SuiteTally, &SystemRobustness)> = report
        .robustness
        .systems
        .iter()
        .map(|system| {
            let mut tally = SuiteTally::default();
            system.rows.iter().for_each(|row| tally.count(&verdict(report, row)));
            (tally, system)
        })
        .collect();
    let mut out = Vec::new();
    begin_suites(suites.iter().map(|(tally, _)| tally), &mut out)?;
    for (tally, system) in &suites {
        tally.begin(&system.system, &mut out)?;
        for row in &system.rows {
            let cell = case(&system.system, &name(row, &system.rows), &verdict(report, row));
            out.write_all(cell.as_bytes())?;
        }
        out.write_all(b"  </testsuite>\n")?;
    }
    out.write_all(b"</testsuites>\n")?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn verdict(report: &RobustnessReport, row: &RobustnessRow) -> CaseOutcome {
    if !row.changes.contains_key(EX) {
        return CaseOutcome::Skipped("execution accuracy applies to no item on both schemas".to_owned());
    }
    if !report.is_failure(row) {
        return CaseOutcome::Passed;
    }
    let most = report.max_drop.unwrap_or_default();
    CaseOutcome::Failed {
        kind: EX.to_owned(),
        message: format!("EX changes by {} points; it may fall by {:.1}", change(row, EX), 100.0 * most),
        body: format!("EX is {} on {}", with_interval(row.scores.get(EX)), counted(row.items, "item")),
    }
}
