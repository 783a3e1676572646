//! `csv`: one row per system and example, by RFC 4180.
//!
//! A metric that does not apply is an empty field, never 0. Texts are written as they are: a program that
//! treats a field beginning with `=` as a formula should import the columns as text.

use std::io::Write;

use ::csv::{Terminator, WriterBuilder};

use super::Format;
use crate::{ItemView, Report, ReportError};

/// The items as comma-separated values with a header row.
pub struct Csv;

/// The columns before those of the metrics.
const LABELS: [&str; 7] = ["system", "id", "index", "db_id", "status", "hardness", "difficulty"];
/// The columns after them.
const TEXTS: [&str; 3] = ["question", "gold", "prediction"];

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extension(&self) -> &'static str {
        "csv"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
        let metrics = &report.summary.metrics;
        writer.write_record(LABELS.into_iter().chain(metrics.iter().map(String::as_str)).chain(TEXTS))?;
        report.items.for_each(|item| {
            writer.write_record(row(ItemView::new(item), metrics))?;
            Ok::<(), ReportError>(())
        })?;
        writer.flush()?;
        Ok(())
    }
}

fn row(view: ItemView<'_>, metrics: &[String]) -> Vec<String> {
    let item = view.item;
    let text = |found: Option<&str>| found.unwrap_or_default().to_owned();
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
