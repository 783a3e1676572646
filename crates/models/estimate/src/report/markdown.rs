//! `markdown`: for a pull request or a step summary.

#![expect(clippy::format_push_string, reason = "a page is written once; what reads best wins")]

use super::drift::Gravity;
use super::words::{against_known, claim, descriptor, descriptor_meaning, many, outside};
use super::{LISTED_PREDICTIONS, Reliability, SystemEstimate, sheets};
use sqlgauge_report::formats::markdown::{MarkdownPage, details, escape, provenance, table};
use sqlgauge_report::sheet::Sheet;

/// The report as GitHub-flavoured Markdown, at most 900,000 bytes: whole sections that do not fit are left out, and it
/// says so.
pub fn markdown(report: &Reliability) -> String {
    let mut page = MarkdownPage::default();
    page.add(&format!(
        "## Estimated accuracy\n\n{} of {}.\n\n",
        many(report.manifest.examples, "question"),
        escape(&report.target)
    ));
    page.add(&Sheet { title: String::new(), ..sheets::ranking(report) }.markdown());
    page.add(&drift(report));
    for estimate in &report.estimates {
        page.add(&system(estimate));
    }
    for estimate in &report.estimates {
        page.add(&doubtful(estimate));
    }
    page.add(&provenance(&report.manifest));
    page.finish()
}

fn system(estimate: &SystemEstimate) -> String {
    let mut text = format!(
        "### {}\n\n{} {}",
        escape(&estimate.system),
        escape(&claim(estimate)),
        escape(&outside(estimate))
    );
    if let Some(sentence) = against_known(estimate) {
        text.push_str(&format!(" {sentence}"));
    }
    text.push_str("\n\n");
    for note in &estimate.notes {
        text.push_str(&format!("- {}\n", escape(note)));
    }
    if !estimate.notes.is_empty() {
        text.push('\n');
    }
    let by_database = sheets::parts("database", &estimate.by_database, usize::MAX);
    let by_kind = sheets::parts("kind of question", &estimate.by_kind, usize::MAX);
    for sheet in [sheets::signals(estimate), by_database, by_kind].into_iter().flatten() {
        text.push_str(&sheet.markdown());
    }
    if !estimate.descriptors.is_empty() {
        let rows = estimate
            .descriptors
            .iter()
            .map(|(name, value)| vec![escape(name), descriptor(*value), descriptor_meaning(name).to_owned()]);
        let rows = table(&["shift", "value", "what it is"].map(str::to_owned), rows);
        text.push_str(&details("Shift", &rows));
    }
    text
}

fn doubtful(estimate: &SystemEstimate) -> String {
    sheets::doubtful(estimate, LISTED_PREDICTIONS, true).map_or_else(String::new, |sheet| {
        Sheet { title: format!("{}: {}", sheet.title, estimate.system), ..sheet }.markdown()
    })
}

fn drift(report: &Reliability) -> String {
    let mut text = String::new();
    for series in &report.drift {
        text.push_str(&sheets::drift(series, usize::MAX).markdown());
        for alarm in &series.alarms {
            let word = if alarm.gravity == Gravity::Alarm { "**alarm**" } else { "warning" };
            text.push_str(&format!("- {word}: {}: {}\n", escape(&alarm.label), escape(&alarm.message)));
        }
        text.push('\n');
    }
    text
}
