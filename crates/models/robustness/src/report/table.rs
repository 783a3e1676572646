//! `table`: for a terminal.

use std::fmt::Write as _;

use sqlgauge_base::printable;

use super::RobustnessReport;
use super::sheets::sheets;
use sqlgauge_report::formats::TextTables;

/// The report as text, `width` columns wide, with ANSI colours or without. What is by database is in the other formats.
pub fn table(report: &RobustnessReport, width: u16, colour: bool) -> String {
    let tables = TextTables { width, colour };
    let visible = sheets(&report.robustness).into_iter().filter(|drawn| !drawn.sheet.is_folded);
    let mut text: String = visible.map(|drawn| drawn.sheet.text(tables)).collect();
    if let Some(most) = report.max_drop {
        for (system, row) in report.failures() {
            let _infallible = writeln!(
                text,
                "{}: {} loses {} points of EX, more than {:.1}",
                printable(system),
                printable(&row.label),
                super::sheets::change(row, super::EX).replace('−', ""),
                100.0 * most
            );
        }
    }
    text
}
