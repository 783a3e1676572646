//! `table`: the estimates for a terminal.

#![expect(clippy::format_push_string, reason = "a page is written once; what reads best wins")]

use sqlgauge_base::printable;

use super::drift::{Gravity, Series};
use super::words::{NONE, by_metric, level, outside, percent};
use super::{Reliability, SystemEstimate, sheets};
use sqlgauge_report::Painter;
use sqlgauge_report::formats::TextTables;

/// Databases and kinds of question that are listed.
const LISTED_PARTS: usize = 8;
/// Predictions that are listed.
const LISTED_ANSWERS: usize = 5;
/// Cells of the bar from 0 to 100 %.
const BAR: usize = 40;
const LISTED_BATCHES: usize = 30;

/// The report as text, `width` columns wide, with ANSI colours or without.
pub fn table(report: &Reliability, width: u16, colour: bool) -> String {
    let writer = Writer { tables: TextTables { width, colour }, painter: Painter { colour } };
    let mut text = String::new();
    if report.estimates.len() == 1 {
        report.estimates.iter().for_each(|estimate| text.push_str(&writer.system(estimate, true)));
    } else {
        text.push_str(&writer.ranking(report));
        if report.estimates.len() <= 3 {
            report.estimates.iter().for_each(|estimate| text.push_str(&writer.system(estimate, false)));
        }
    }
    report.drift.iter().for_each(|series| text.push_str(&writer.drift(series)));
    text
}

struct Writer {
    tables: TextTables,
    painter: Painter,
}

impl Writer {
    fn ranking(&self, report: &Reliability) -> String {
        let mut sheet = sheets::ranking(report);
        if self.tables.width >= 100 {
            sheet.header.push("0 to 100 %".to_owned());
            for (row, estimate) in sheet.rows.iter_mut().zip(report.ranked()) {
                row.push(bar(estimate, BAR / 2).into());
            }
        }
        sheet.text(self.tables)
    }

    fn system(&self, estimate: &SystemEstimate, whole: bool) -> String {
        let head = format!("{}  {} %{}", estimate.system, percent(estimate.accuracy), by_metric(estimate));
        let interval = format!(
            "{} interval [{}, {}], method {}",
            level(estimate),
            percent(estimate.interval.low),
            percent(estimate.interval.high),
            estimate.method
        );
        let mut text = self.tables.heading(&head, &interval);
        text.push_str(&format!("0 {} 100\n", bar(estimate, BAR)));
        if estimate.outside {
            text.push_str(&format!("{}\n", self.painter.bad(&printable(&outside(estimate)))));
        } else {
            text.push_str(&format!("{}\n", outside(estimate)));
        }
        for note in &estimate.notes {
            text.push_str(&format!("note: {}\n", printable(note)));
        }
        text.push('\n');
        let mut list =
            vec![sheets::signals(estimate), sheets::parts("database", &estimate.by_database, LISTED_PARTS)];
        if whole {
            list.push(sheets::parts("kind of question", &estimate.by_kind, LISTED_PARTS));
            list.push(sheets::doubtful(estimate, LISTED_ANSWERS, false));
        }
        list.into_iter().flatten().for_each(|sheet| text.push_str(&sheet.text(self.tables)));
        text
    }

    fn drift(&self, series: &Series) -> String {
        let mut text = sheets::drift(series, LISTED_BATCHES).text(self.tables);
        for alarm in &series.alarms {
            let word = match alarm.gravity {
                Gravity::Alarm => self.painter.bad("alarm"),
                Gravity::Warning => "warning".to_owned(),
            };
            text.push_str(&format!(
                "{word}: {}, {}: {}\n",
                printable(&series.system),
                printable(&alarm.label),
                printable(&alarm.message)
            ));
        }
        text
    }
}

/// A bar of so many cells from 0 to 100 %: `····├──●──┤····`.
fn bar(estimate: &SystemEstimate, cells: usize) -> String {
    let values = [estimate.accuracy, estimate.interval.low, estimate.interval.high];
    if !values.iter().all(|value| value.is_finite()) {
        return NONE.to_owned();
    }
    let last = (cells - 1) as f64;
    let [dot, low, high] = values.map(|value| {
        let place = value.clamp(0.0, 1.0) * last;
        (0..cells).find(|cell| *cell as f64 + 0.5 > place).unwrap_or(cells - 1)
    });
    (0..cells)
        .map(|cell| match cell {
            cell if cell == dot => '●',
            cell if cell == low => '├',
            cell if cell == high => '┤',
            cell if low < cell && cell < high => '─',
            _ => '·',
        })
        .collect()
}
