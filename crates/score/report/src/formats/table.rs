//! `table`: the report for a terminal.

use std::io::Write;

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, TableStyle, Width, presets::UTF8_HORIZONTAL_ONLY,
};
use sqlgauge_base::printable;
use unicode_width::UnicodeWidthStr;

use super::ReportFormat;
use crate::style::Painter;
use crate::{Report, ReportError, overview};

#[derive(Debug, Clone, Copy)]
pub struct TextTables {
    /// Columns of the terminal; at least 40 are used.
    pub width: u16,
    /// Whether to use ANSI colours.
    pub colour: bool,
}

/// Characters of a name that a narrow terminal keeps together.
const LEAST_NAME: u16 = 12;
/// Characters of a word in the name of a column that are kept together.
const LONGEST_WORD: u16 = 24;
/// Terminal cells that a column takes beyond its content.
pub(crate) const PADDING: u16 = 3;
const BOOK_STYLE: TableStyle = UTF8_HORIZONTAL_ONLY;

impl ReportFormat for TextTables {
    fn name(&self) -> &'static str {
        "table"
    }

    fn extension(&self) -> &'static str {
        "txt"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let mut document = overview::document(report)?;
        // What decides stands next to the prompt.
        document.move_to_end(overview::GATES);
        Ok(out.write_all(document.text(*self).as_bytes())?)
    }
}

impl TextTables {
    pub(crate) fn columns(self) -> u16 {
        self.width.max(40)
    }

    pub(crate) fn painter(self) -> Painter {
        Painter { colour: self.colour }
    }

    /// A title with a note behind or below it, as lines.
    pub(crate) fn heading(self, title: &str, note: &str) -> String {
        let (title, note, painter) = (printable(title), printable(note), self.painter());
        let width = usize::from(self.columns());
        if note.is_empty() {
            return format!("{}\n", painter.bold(&title));
        }
        if title.width() + 2 + note.width() <= width {
            return format!("{}  {}\n", painter.bold(&title), painter.dim(&note));
        }
        let lines = wrapped(&note, width).into_iter().map(|line| painter.dim(&line));
        let lines: Vec<String> = std::iter::once(painter.bold(&title)).chain(lines).collect();
        lines.join("\n") + "\n"
    }

    /// An empty table: its first column is of names, the others are of numbers.
    pub(crate) fn new_table(self, header: &[&str]) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        let mut style = BOOK_STYLE;
        style.row_separator = comfy_table::LineStyle::none();
        table.load_style(style);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(self.columns());
        table.set_header(header.iter().map(|name| self.painter().strong(&printable(name))));
        for (at, (column, name)) in table.column_iter_mut().zip(header).enumerate() {
            column.set_constraint(whole_words(name));
            column.set_cell_alignment(if at == 0 { CellAlignment::Left } else { CellAlignment::Right });
        }
        table
    }
}

/// Adds a sentence in lines of that width.
pub(crate) fn push_wrapped(text: &mut String, sentence: &str, width: usize) {
    *text += &(wrapped(sentence, width).join("\n") + "\n");
}

/// The words of a text in lines of that width; a longer word has a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.width() + 1 + word.width() <= width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A column that breaks no word of its name.
fn whole_words(name: &str) -> ColumnConstraint {
    let longest = printable(name).split_whitespace().map(UnicodeWidthStr::width).max().unwrap_or(0);
    ColumnConstraint::LowerBoundary(Width::Fixed(
        u16::try_from(longest).unwrap_or(u16::MAX).min(LONGEST_WORD) + PADDING - 1,
    ))
}

/// Numbers are not broken over lines: the first columns give way, as far as a name can still be read.
pub(crate) fn whole_numbers(table: &mut comfy_table::Table, first: usize) {
    let widths = table.column_max_content_widths();
    for (place, (column, width)) in table.column_iter_mut().zip(widths).enumerate() {
        column.set_constraint(if place < first {
            ColumnConstraint::LowerBoundary(Width::Fixed(width.min(LEAST_NAME) + PADDING))
        } else {
            ColumnConstraint::ContentWidth
        });
    }
}
