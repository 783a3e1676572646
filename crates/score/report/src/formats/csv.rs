//! `csv`: one row per system and example, by RFC 4180.
//!
//! A run of a part of its benchmark has one more column with the part. A metric that does not apply is an empty field, never 0.
//! A text that a spreadsheet would take for a formula gets an apostrophe before it, the sign for "this is text"; numbers stay numbers.
//! Control characters are shown by their pictures. [`Csv::raw`] writes texts as they are.

use std::borrow::Cow;
use std::io::Write;

use ::csv::{Terminator, WriterBuilder};

use sqlgauge_base::printable_lines;

use super::ReportFormat;
use crate::{ItemView, Report, ReportError};

/// The items as comma-separated values with a header row.
pub struct Csv {
    /// Texts as they are: for a program that needs them byte for byte and takes no field for a formula.
    pub raw: bool,
}

/// The columns before those of the metrics.
const LABELS: [&str; 7] = ["system", "id", "index", "db_id", "status", "hardness", "difficulty"];
/// The columns after them.
const TEXTS: [&str; 3] = ["question", "gold", "prediction"];
/// The last column of a run of a part.
const PART: &str = "part";

impl ReportFormat for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extension(&self) -> &'static str {
        "csv"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
        let metrics = &report.summary.metrics;
        let part = crate::part(&report.manifest);
        let header = LABELS.into_iter().chain(metrics.iter().map(String::as_str)).chain(TEXTS);
        writer.write_record(header.chain(part.as_ref().map(|_| PART)))?;
        report.items.for_each(|item| {
            let mut row = row(ItemView::new(item), metrics);
            row.extend(part.clone());
            if self.raw {
                writer.write_record(row)?;
            } else {
                writer.write_record(row.iter().map(|cell| harmless(cell).into_owned()))?;
            }
            Ok::<(), ReportError>(())
        })?;
        writer.flush()?;
        Ok(())
    }
}

fn row(view: ItemView<'_>, metrics: &[String]) -> Vec<String> {
    let item = view.item;
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let mut fields = vec![
        item.system.clone(),
        item.id.clone(),
        item.index.to_string(),
        item.db_id.clone(),
        item.status.clone(),
        text(view.hardness()),
        text(view.difficulty()),
    ];
    fields.extend(metrics.iter().map(|metric| view.score(metric).map(|s| s.to_string()).unwrap_or_default()));
    fields.push(text(view.question()));
    fields.push(text(view.golds().first().copied()));
    fields.push(text(view.prediction()));
    fields
}

/// The cell so that no spreadsheet computes it and no terminal obeys it.
pub fn harmless(cell: &str) -> Cow<'_, str> {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let printed = printable_lines(cell);
    // Every way of writing a number that spreadsheets and Rust share.
    if is_formula && cell.parse::<f64>().is_err() { Cow::Owned(format!("'{printed}")) } else { printed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_texts_and_numbers_stay_numbers() {
        for (cell, expected) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+cmd", "'+cmd"),
            ("-- a comment", "'-- a comment"),
            ("\tx", "'\tx"),
            ("\r=x", "'\u{240d}=x"),
            ("-inf+cmd", "'-inf+cmd"),
            ("-3", "-3"),
            ("+1.5e3", "+1.5e3"),
            ("SELECT 1 = 1", "SELECT 1 = 1"),
            ("a\u{1b}[31m\nb", "a\u{241b}[31m\nb"),
            ("", ""),
        ] {
            assert_eq!(harmless(cell), expected, "{cell:?}");
        }
    }
}
