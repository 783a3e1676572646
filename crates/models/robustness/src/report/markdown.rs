//! `markdown`: for a pull request or a step summary.

use super::RobustnessReport;
use super::sheets::{Cell, Sheet, sheets};
use sqlgauge_report::formats::markdown::{MarkdownPage, code, details, escape, table};

/// The report as GitHub-flavoured Markdown, of bounded size: whole sections that do not fit are left out, and it says so.
pub fn markdown(report: &RobustnessReport) -> String {
    let mut page = MarkdownPage::default();
    page.add("## Robustness to schema changes\n\n");
    for sheet in sheets(&report.robustness) {
        page.add(&section(&sheet));
    }
    let manifest = &report.robustness.manifest;
    let inputs = manifest
        .inputs
        .iter()
        .map(|input| vec![escape(&input.role), escape(&input.path), code(&input.sha256)]);
    let body = format!(
        "{}\n\nsqlgauge {}, {}.\n\n{}",
        code(&manifest.command.join(" ")),
        escape(&manifest.tool_version),
        escape(&manifest.engine),
        table(&["read as", "path", "SHA-256"].map(str::to_owned), inputs)
    );
    page.add(&details("How it was run", &body));
    page.finish()
}

fn section(sheet: &Sheet) -> String {
    let header: Vec<String> = sheet.header.iter().map(|name| escape(name)).collect();
    let cell = |cell: &Cell| {
        let text = escape(&cell.text);
        if cell.strong && !text.is_empty() { format!("**{text}**") } else { text }
    };
    let rows = table(&header, sheet.rows.iter().map(|row| row.iter().map(cell).collect()));
    if sheet.is_heat_map && sheet.id != "overview" {
        return details(&sheet.title, &format!("{rows}\n{}.", sheet.note));
    }
    format!("### {}\n\n{rows}\n{}.\n\n", escape(&sheet.title), capital(&sheet.note))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
