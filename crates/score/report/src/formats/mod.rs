//! The registry of report formats. To add one: write its file, add it to [`all`].

pub mod csv;
mod html;
mod json;
mod jsonl;
pub mod junit;
mod latex;
pub mod markdown;
pub mod table;

use std::io::Write;
use std::path::Path;

use sqlgauge_run::write_atomically;

use crate::{Report, ReportError};

pub use csv::Csv;
pub use html::{FramedHtml, Html, ServedHtml};
pub use json::Json;
pub use jsonl::Jsonl;
pub use junit::Junit;
pub use latex::Latex;
pub use markdown::Markdown;
pub use table::TextTables;

/// One way to write a report.
pub trait ReportFormat: Send + Sync {
    /// The name that a user types: `html`.
    fn name(&self) -> &'static str;

    /// The extension of a file of that format, without the dot.
    fn extension(&self) -> &'static str;

    /// Writes the report.
    ///
    /// # Errors
    /// If `out` does not take the bytes or the data cannot be encoded.
    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError>;

    /// Writes the report to a file, whole or not at all; beside it what one file should not hold.
    ///
    /// # Errors
    /// As [`ReportFormat::render`].
    fn write_file(&self, report: &Report, path: &Path) -> Result<(), ReportError> {
        write_atomically(path, |out| self.render(report, out))
    }
}

/// Every format, for people first, then for programs.
pub fn all() -> &'static [&'static dyn ReportFormat] {
    const ALL: &[&dyn ReportFormat] = &[
        &TextTables { width: 120, colour: false },
        &Html,
        &Markdown,
        &Latex,
        &Json,
        &Jsonl,
        &Csv { raw: false },
        &Junit { items: false },
    ];
    ALL
}

/// The format of that name.
///
/// # Errors
/// [`ReportError::UnknownFormat`], which names those that exist.
pub fn find(name: &str) -> Result<&'static dyn ReportFormat, ReportError> {
    all().iter().copied().find(|format| format.name() == name).ok_or_else(|| ReportError::UnknownFormat {
        name: name.to_owned(),
        formats: all().iter().map(|format| format.name()).collect::<Vec<_>>().join(", "),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        let names: BTreeSet<_> = all().iter().map(|format| format.name()).collect();
        assert_eq!(names.len(), all().len());
        for name in names {
            assert_eq!(find(name).unwrap().name(), name);
        }
    }

    #[test]
    fn an_unknown_name_is_told_what_exists() {
        let error = find("pdf").err().unwrap().to_string();
        assert_eq!(
            error,
            "unknown report format `pdf`; the formats are table, html, markdown, latex, json, jsonl, csv, junit"
        );
    }
}
