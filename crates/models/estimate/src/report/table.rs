//! `table`: the estimates for a terminal.

#![expect(clippy::format_push_string, reason = "a page is written once; what reads best wins")]

use comfy_table::{Cell, CellAlignment};

use sqlgauge_base::printable;

use super::drift::{Gravity, Series};
use super::words::{self, NONE, by_metric, level, optional, outside, percent, points, status, with_interval};
use super::{EstimatePart, Reliability, SystemEstimate};
use sqlgauge_report::Painter;
use sqlgauge_report::formats::TextTables;

/// Databases and kinds of question that are listed.
const LISTED_PARTS: usize = 8;
/// Predictions that are listed.
const LISTED_ANSWERS: usize = 5;
/// Cells of the bar from 0 to 100 %.
const BAR: usize = 40;
/// Batches that are listed.
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
    fn title(&self, text: &str, note: &str) -> String {
        let note = if note.is_empty() { String::new() } else { format!("  {}", self.painter.dim(note)) };
        format!("{}{note}\n", self.painter.bold(&printable(text)))
    }

    fn rows(&self, header: &[&str], rows: Vec<Vec<String>>) -> String {
        let mut table = self.tables.new_table(header);
        for row in rows {
            let cells = row.into_iter().enumerate().map(|(at, text)| {
                let cell = Cell::new(printable(&text));
                if at == 0 { cell } else { cell.set_alignment(CellAlignment::Right) }
            });
            table.add_row(cells.collect::<Vec<_>>());
        }
        let mut text = String::new();
        for line in table.lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text.push('\n');
        text
    }

    fn ranking(&self, report: &Reliability) -> String {
        let level = report.estimates.first().map(level).unwrap_or_default();
        let by = report.estimates.first().map(by_metric).unwrap_or_default();
        let mut text = self.title("Estimated accuracy", &format!("percent{by}, with {level} intervals"));
        let wide = self.tables.width >= 100;
        let mut header = vec!["system", "estimate", "known", "method", "outside"];
        if wide {
            header.push("0 to 100 %");
        }
        let rows = report.ranked().into_iter().map(|estimate| {
            let mut row = vec![
                estimate.system.clone(),
                with_interval(estimate),
                optional(estimate.known_accuracy()),
                estimate.method.clone(),
                if estimate.outside { "outside" } else { "" }.to_owned(),
            ];
            if wide {
                row.push(bar(estimate, BAR / 2));
            }
            row
        });
        text.push_str(&self.rows(&header, rows.collect()));
        text
    }

    fn system(&self, estimate: &SystemEstimate, whole: bool) -> String {
        let head = format!("{}  {} %{}", estimate.system, percent(estimate.accuracy), by_metric(estimate));
        let interval = format!(
            "{} interval [{}, {}], method {}",
            level(estimate),
            percent(estimate.interval.low),
            percent(estimate.interval.high),
            printable(&estimate.method)
        );
        let mut text = self.title(&head, &interval);
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
        text.push_str(&self.signals(estimate));
        text.push_str(&self.parts("By database", "database", &estimate.by_database));
        if whole {
            text.push_str(&self.parts("By kind of question", "kind", &estimate.by_kind));
            text.push_str(&self.doubtful(estimate));
        }
        text
    }

    fn signals(&self, estimate: &SystemEstimate) -> String {
        if estimate.signals.is_empty() {
            return String::new();
        }
        let row = |signal: &super::Signal| {
            vec![signal.name.clone(), optional(signal.known), optional(signal.target), points(signal.effect)]
        };
        let rows = estimate.signals.iter().map(row).collect();
        let mut text = self.title("What it follows from", "percent; effect on the estimate in points");
        text.push_str(&self.rows(&["signal", "labelled", "target", "effect"], rows));
        text
    }

    fn parts(&self, title: &str, what: &str, parts: &[EstimatePart]) -> String {
        if parts.is_empty() {
            return String::new();
        }
        let listed = words::sorted(parts);
        let note = if listed.len() > LISTED_PARTS {
            format!("{LISTED_PARTS} of {} that pull the estimate down most", listed.len())
        } else {
            "by their pull on the estimate, in points".to_owned()
        };
        let row = |part: &&EstimatePart| {
            vec![
                part.name.clone(),
                part.count.to_string(),
                percent(part.accuracy),
                percent(part.runs),
                points(part.pull),
            ]
        };
        let rows = listed.iter().take(LISTED_PARTS).map(row).collect();
        let mut text = self.title(title, &note);
        text.push_str(&self.rows(&[what, "questions", "estimate", "runs", "pull"], rows));
        text
    }

    fn doubtful(&self, estimate: &SystemEstimate) -> String {
        let listed = estimate.most_doubtful(LISTED_ANSWERS);
        if listed.is_empty() {
            return String::new();
        }
        let rows = listed.iter().map(|answer| {
            let reasons =
                if answer.reasons.is_empty() { status(&answer.status) } else { answer.reasons.join("; ") };
            vec![answer.id.clone(), percent(answer.probability), answer.db_id.clone(), reasons]
        });
        let mut text = self.title("Most likely wrong", "probability of being right, in percent");
        text.push_str(&self.rows(&["id", "right", "database", "why"], rows.collect()));
        text
    }

    fn drift(&self, series: &Series) -> String {
        let left = series.points.len().saturating_sub(LISTED_BATCHES);
        let note =
            if left > 0 { format!("the last {LISTED_BATCHES} batches") } else { "by batch".to_owned() };
        let mut text = self.title(&format!("Drift of {}", series.system), &note);
        let rows = series.points.iter().skip(left).map(|point| {
            vec![
                point.label.clone(),
                point.count.to_string(),
                percent(point.accuracy),
                format!("[{}, {}]", percent(point.low), percent(point.high)),
                if point.outside { "outside" } else { "" }.to_owned(),
                if series.rings_at(&point.label) { "ALARM" } else { "" }.to_owned(),
            ]
        });
        text.push_str(
            &self.rows(&["batch", "questions", "estimate", "interval", "outside", "alarm"], rows.collect()),
        );
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
