//! `markdown`: for a pull request or a step summary.

use super::RobustnessReport;
use super::sheets::sheets;
use sqlgauge_report::formats::markdown::{MarkdownPage, provenance};

/// The report as GitHub-flavoured Markdown, of bounded size: whole sections that do not fit are left out, and it says so.
pub fn markdown(report: &RobustnessReport) -> String {
    let mut page = MarkdownPage::default();
    page.add("## Robustness to schema changes\n\n");
    for drawn in sheets(&report.robustness) {
        page.add(&drawn.sheet.markdown());
    }
    page.add(&provenance(&report.robustness.manifest));
    page.finish()
}
