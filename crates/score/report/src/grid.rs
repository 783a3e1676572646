//! Rows of a result or of a table, drawn for a terminal.

use std::fmt::Write as _;

use comfy_table::{ContentArrangement, LineStyle, presets::UTF8_HORIZONTAL_ONLY};
use sqlgauge_base::{printable, visible};
use sqlgauge_engine::{ResultSet, Value};
use sqlgauge_verify::ResultTable;
use unicode_width::UnicodeWidthStr;

use crate::ShowOptions;
use crate::style::Painter;

/// Characters of a value in a table.
const MAX_VALUE: usize = 60;

/// The beginning of a result as text.
pub(crate) struct Shown {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    total: usize,
    is_beginning: bool,
}

impl Shown {
    pub(crate) fn of(result: &ResultSet, rows: usize) -> Self {
        Self {
            columns: result.columns.clone(),
            rows: result.rows().take(rows).map(|row| row.iter().map(value).collect()).collect(),
            total: result.len(),
            is_beginning: result.is_beginning(),
        }
    }

    pub(crate) fn kept(result: &ResultTable, rows: usize) -> Self {
        let text = |value: &serde_json::Value| match value {
            serde_json::Value::Null => "NULL".to_owned(),
            serde_json::Value::String(text) => words(text),
            other => clip(&other.to_string()),
        };
        Self {
            columns: result.columns.iter().map(|name| clip(name)).collect(),
            rows: result.rows.iter().take(rows).map(|row| row.iter().map(text).collect()).collect(),
            total: result.total_rows.unwrap_or(result.rows.len()),
            is_beginning: result.beginning,
        }
    }

    pub(crate) fn single(&self) -> Option<&str> {
        match self.rows.as_slice() {
            [row] if self.total == 1 && !self.is_beginning && row.len() == 1 => {
                row.first().map(String::as_str)
            }
            _ => None,
        }
    }

    pub(crate) fn write(self, options: ShowOptions, text: &mut String) {
        let note = self.note();
        if !self.rows.is_empty() {
            append(&self.table(options), text);
        }
        let _infallible = writeln!(text, "{}\n", Painter { colour: options.colour }.dim(&note));
    }

    /// The lines of the table, without colours; of one without rows a line that says so.
    fn lines(self, options: ShowOptions) -> Vec<String> {
        let note = self.note();
        if self.rows.is_empty() {
            return vec![note];
        }
        let table = self.table(options);
        table.lines().map(|line| line.trim_end().to_owned()).chain([note]).collect()
    }

    fn table(self, options: ShowOptions) -> comfy_table::Table {
        let mut table = book_table(options);
        table.set_header(self.columns.iter().map(|name| printable(name)).collect::<Vec<_>>());
        for row in self.rows {
            table.add_row(row);
        }
        table
    }

    /// How many rows there are.
    fn note(&self) -> String {
        let rows = self.rows.len();
        let note = match (self.total, self.total.saturating_sub(rows)) {
            (0, _) => "no rows".to_owned(),
            (1, 0) => "1 row".to_owned(),
            (total, 0) => format!("{total} rows"),
            (total, rest) => format!("{total} rows, {rest} not shown"),
        };
        if self.is_beginning { format!("at least {note}: not run to the end") } else { note }
    }
}

/// The columns between two tables that stand beside each other.
const GAP: usize = 3;

/// Two tables with their titles: beside each other where the terminal is wide enough for both, else one under the
/// other.
pub(crate) fn beside(left: (&str, Shown), right: (&str, Shown), options: ShowOptions, text: &mut String) {
    let painter = Painter { colour: options.colour };
    let [(left, left_lines), (right, right_lines)] =
        [left, right].map(|(title, side)| (title, side.lines(options)));
    let width = |title: &str, lines: &[String]| {
        lines.iter().map(|line| line.width()).chain([title.width()]).max().unwrap_or_default()
    };
    let column = width(left, &left_lines);
    if column + GAP + width(right, &right_lines) > usize::from(options.width.max(40)) {
        for (title, lines) in [(left, left_lines), (right, right_lines)] {
            let _infallible = writeln!(text, "{}\n{}\n", painter.bold(title), lines.join("\n"));
        }
        return;
    }
    let padded = |line: &str| " ".repeat(column + GAP - line.width());
    let _infallible = writeln!(text, "{}{}{}", painter.bold(left), padded(left), painter.bold(right));
    for at in 0..left_lines.len().max(right_lines.len()) {
        let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_default();
        let (l, r) = (line(&left_lines), line(&right_lines));
        let _infallible = writeln!(text, "{}", format!("{l}{}{r}", padded(&l)).trim_end());
    }
    text.push('\n');
}

/// A table without lines between its rows, as wide as it needs to be and no wider than the terminal.
pub(crate) fn book_table(options: ShowOptions) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    let mut style = UTF8_HORIZONTAL_ONLY;
    style.row_separator = LineStyle::none();
    table.load_style(style);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(options.width.max(40));
    table
}

/// Adds the lines of the table to the text.
pub(crate) fn append(table: &comfy_table::Table, text: &mut String) {
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// A value as a reader sees it: NULL is told apart from text by its case, a blob by its quotes.
fn value(value: &Value) -> String {
    let full = match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(i) => i.to_string(),
        Value::Real(r) => format!("{r:?}"),
        Value::Text(bytes) => return words(&String::from_utf8_lossy(bytes)),
        Value::Decimal(decimal) => decimal.to_string(),
        Value::Blob(bytes) => {
            bytes.iter().take(MAX_VALUE / 2).fold("x'".to_owned(), |text, byte| format!("{text}{byte:02X}"))
                + "'"
        }
    };
    clip(&full)
}

/// A text; an empty one in quotes, so that it can be seen.
fn words(text: &str) -> String {
    if text.is_empty() { "''".to_owned() } else { clip(text) }
}

fn clip(text: &str) -> String {
    let mut chars = text.chars().map(visible);
    let head: String = chars.by_ref().take(MAX_VALUE).collect();
    if chars.next().is_some() { format!("{head}…") } else { head }
}
