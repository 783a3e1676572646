//! `table`: for a terminal.

use std::fmt::Write as _;

use comfy_table::CellAlignment;
use sqlgauge_base::printable;

use super::RobustnessReport;
use super::sheets::{Sheet, sheets};
use crate::formats::Table;
use crate::formats::table::whole_numbers;
use crate::style::Painter;

/// The report as text, `width` columns wide, with ANSI colours or without. What is by database is in the other formats.
pub fn table(report: &RobustnessReport, width: u16, colour: bool) -> String {
    let tables = Table { width, colour };
    let shown = sheets(&report.robustness).into_iter().filter(|sheet| !sheet.id.starts_with("databases"));
    let mut text: String = shown.map(|sheet| sheet_text(&sheet, tables)).collect();
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

fn sheet_text(sheet: &Sheet, tables: Table) -> String {
    let painter = Painter { colour: tables.colour };
    let header: Vec<&str> = sheet.header.iter().map(String::as_str).collect();
    let mut table = tables.new_table(&header);
    for row in &sheet.rows {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let shown = comfy_table::Cell::new(printable(&cell.text));
            if at == 0 { shown } else { shown.set_alignment(CellAlignment::Right) }
        });
        table.add_row(cells.collect::<Vec<_>>());
    }
    whole_numbers(&mut table, 1);
    let mut text = format!("{}\n{}\n", painter.bold(&printable(&sheet.title)), painter.dim(&sheet.note));
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push('\n');
    text
}
