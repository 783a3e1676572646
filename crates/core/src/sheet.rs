//! A report of plain tables, written once for the terminal, Markdown and HTML.

use std::fmt::Write as _;
use std::path::Path;

use sqlgauge_base::markdown_text;
use sqlgauge_base::stats::{Interval, wilson};
use sqlgauge_report::page::{self, Page, escape};
use sqlgauge_report::write_together;

use crate::error::Error;

/// A table: the first column has names, the others numbers or short texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// Title.
    pub title: String,
    /// What its numbers are, in a sentence.
    pub note: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows, as long as the header.
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// An empty table.
    pub fn new(title: &str, note: &str, header: &[&str]) -> Self {
        let header = header.iter().map(|name| (*name).to_owned()).collect();
        Self { title: title.to_owned(), note: note.to_owned(), header, rows: Vec::new() }
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| markdown_text(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = format!("|---|{}\n", "---:|".repeat(self.header.len().saturating_sub(1)));
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!(
            "## {}\n\n{}\n\n{}{rule}{rows}\n",
            markdown_text(&self.title),
            markdown_text(&self.note),
            line(&self.header)
        )
    }

    fn html(&self, at: usize) -> String {
        let header: Vec<(&str, &str)> = self.header.iter().map(|name| ("", name.as_str())).collect();
        let mut rows = String::new();
        for row in &self.rows {
            rows.push_str("<tr>");
            for (column, cell) in row.iter().enumerate() {
                let tag = if column == 0 { "th scope=\"row\"" } else { "td" };
                let end = if column == 0 { "th" } else { "td" };
                let _infallible = write!(rows, "<{tag}>{}</{end}>", escape(cell));
            }
            rows.push_str("</tr>");
        }
        page::section(&format!("table-{at}"), &self.title, &self.note, &page::table("", &header, &rows))
    }
}

/// The tables as one Markdown document.
pub fn sheets_to_markdown(title: &str, sheets: &[Sheet]) -> String {
    let tables: String = sheets.iter().map(Sheet::markdown).collect();
    format!("# {}\n\n{tables}", markdown_text(title))
}

/// The tables as one HTML page.
pub fn sheets_to_html(title: &str, sheets: &[Sheet]) -> String {
    let nav = sheets.iter().enumerate().map(|(at, sheet)| (format!("table-{at}"), sheet.title.clone()));
    let body = sheets.iter().enumerate().map(|(at, sheet)| sheet.html(at)).collect();
    let page =
        Page { title: title.to_owned(), nav: nav.collect(), body, tool_version: env!("CARGO_PKG_VERSION") };
    page.html("")
}

/// Writes `NAME.json`, `NAME.md` and `NAME.html` into a folder, all or none.
pub(crate) fn write_sheets(
    folder: &Path,
    name: &str,
    title: &str,
    sheets: &[Sheet],
    json: &serde_json::Value,
) -> Result<(), Error> {
    let [of_json, of_markdown, of_html] = ["json", "md", "html"].map(|ending| format!("{name}.{ending}"));
    let files = [
        (of_json.as_str(), format!("{json:#}\n")),
        (of_markdown.as_str(), sheets_to_markdown(title, sheets)),
        (of_html.as_str(), sheets_to_html(title, sheets)),
    ];
    Ok(write_together(folder, files)?)
}

/// `82.9 [80.5, 85.1]`: a share in percent with its Wilson interval of 95 %; a dash without trials.
pub(crate) fn share(right: usize, of: usize) -> String {
    if of == 0 {
        return "–".to_owned();
    }
    let Interval { low, high } = wilson(right as u64, of as u64, 0.95);
    format!("{:.1} [{:.1}, {:.1}]", percent(right as f64 / of as f64), percent(low), percent(high))
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> f64 {
    100.0 * share
}
