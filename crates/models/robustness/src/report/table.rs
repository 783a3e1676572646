//! `table`: for a terminal.

use std::fmt::Write as _;

use comfy_table::CellAlignment;
use sqlgauge_base::printable;
use unicode_width::UnicodeWidthStr;

use super::RobustnessReport;
use super::sheets::{Cell, Sheet, sheets};
use sqlgauge_report::Painter;
use sqlgauge_report::formats::TextTables;
use sqlgauge_report::formats::table::whole_numbers;

/// The report as text, `width` columns wide, with ANSI colours or without. What is by database is in the other formats.
pub fn table(report: &RobustnessReport, width: u16, colour: bool) -> String {
    let tables = TextTables { width, colour };
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

fn sheet_text(sheet: &Sheet, tables: TextTables) -> String {
    let painter = Painter { colour: tables.colour };
    let fits = |lines: &Vec<String>| lines.iter().all(|line| line.width() <= usize::from(tables.width));
    // A name that is broken letter by letter says less than a row without intervals.
    let lines = [Intervals::All, Intervals::OfAccuracy]
        .into_iter()
        .map(|shown| lines(sheet, tables, shown))
        .find(fits)
        .unwrap_or_else(|| lines(sheet, tables, Intervals::None));
    let mut text = format!("{}\n{}\n", painter.bold(&printable(&sheet.title)), painter.dim(&sheet.note));
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    text.push('\n');
    text
}

/// Which intervals are shown.
#[derive(Clone, Copy, PartialEq)]
enum Intervals {
    All,
    OfAccuracy,
    None,
}

impl Intervals {
    fn of(self, cell: &Cell) -> &str {
        let is_accuracy = cell.strong || cell.tone.is_some();
        match self {
            Self::All => &cell.text,
            Self::OfAccuracy if is_accuracy => &cell.text,
            _ => cell.text.split_once(" [").map_or(cell.text.as_str(), |(score, _)| score),
        }
    }
}

fn lines(sheet: &Sheet, tables: TextTables, intervals: Intervals) -> Vec<String> {
    let header: Vec<&str> = sheet.header.iter().map(String::as_str).collect();
    let mut table = tables.new_table(&header);
    for row in &sheet.rows {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let text = if at == 0 { &cell.text } else { intervals.of(cell) };
            let shown = comfy_table::Cell::new(printable(text));
            if at == 0 { shown } else { shown.set_alignment(CellAlignment::Right) }
        });
        table.add_row(cells.collect::<Vec<_>>());
    }
    // Names are not broken either, but for a table that fits in no other way.
    whole_numbers(&mut table, usize::from(intervals == Intervals::None));
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}
