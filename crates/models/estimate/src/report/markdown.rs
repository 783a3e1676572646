//! `markdown`: for a pull request or a step summary.

#![expect(clippy::format_push_string, reason = "a page is written once; what reads best wins")]

use super::drift::Gravity;
use super::words::{
    self, against_known, by_metric, claim, descriptor, descriptor_meaning, level, many, optional, outside,
    percent, points, status, with_interval,
};
use super::{EstimatePart, LISTED_PREDICTIONS, Reliability, SystemEstimate};
use sqlgauge_report::formats::markdown::{MarkdownPage, code, details, escape, table};

/// The report as GitHub-flavoured Markdown, at most 900,000 bytes: whole sections that do not fit are left out, and it
/// says so.
pub fn markdown(report: &Reliability) -> String {
    let mut page = MarkdownPage::default();
    page.add(&format!(
        "## Estimated accuracy\n\n{} of {}.\n\n",
        many(report.manifest.examples, "question"),
        escape(&report.target)
    ));
    page.add(&ranking(report));
    page.add(&drift(report));
    for estimate in &report.estimates {
        page.add(&system(estimate));
    }
    for estimate in &report.estimates {
        page.add(&doubtful(estimate));
    }
    page.add(&provenance(report));
    page.finish()
}

fn cells(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn ranking(report: &Reliability) -> String {
    let level = report.estimates.first().map(level).unwrap_or_default();
    let rows = report.ranked().into_iter().map(|estimate| {
        vec![
            escape(&estimate.system),
            format!("**{}** {}", percent(estimate.accuracy), interval(estimate)),
            optional(estimate.known_accuracy()),
            escape(&estimate.method),
            if estimate.outside { "outside" } else { "inside" }.to_owned(),
        ]
    });
    let header = cells(&["system", "estimate", "known", "method", "what is labelled"]);
    let by = report.estimates.first().map(|one| escape(&by_metric(one))).unwrap_or_default();
    format!("{}\nPercent{by}, with {level} intervals.\n\n", table(&header, rows))
}

fn interval(estimate: &SystemEstimate) -> String {
    let text = with_interval(estimate);
    text.split_once(' ').map(|(_, interval)| interval.to_owned()).unwrap_or_default()
}

fn system(estimate: &SystemEstimate) -> String {
    let mut text = format!(
        "### {}\n\n{} {}",
        escape(&estimate.system),
        escape(&claim(estimate)),
        escape(&outside(estimate))
    );
    if let Some(known) = against_known(estimate) {
        text.push_str(&format!(" {known}"));
    }
    text.push_str("\n\n");
    for note in &estimate.notes {
        text.push_str(&format!("- {}\n", escape(note)));
    }
    if !estimate.notes.is_empty() {
        text.push('\n');
    }
    if !estimate.signals.is_empty() {
        let rows = estimate.signals.iter().map(|signal| {
            let (known, target) = (optional(signal.known), optional(signal.target));
            vec![escape(&signal.name), known, target, points(signal.effect)]
        });
        text.push_str(&table(&cells(&["signal", "labelled, %", "target, %", "effect, points"]), rows));
        text.push('\n');
    }
    text.push_str(&parts("database", &estimate.by_database));
    text.push_str(&parts("kind of question", &estimate.by_kind));
    if !estimate.descriptors.is_empty() {
        let rows = estimate
            .descriptors
            .iter()
            .map(|(name, value)| vec![escape(name), descriptor(*value), descriptor_meaning(name).to_owned()]);
        let rows = table(&cells(&["shift", "value", "what it is"]), rows);
        text.push_str(&details("Shift", &rows));
    }
    text
}

fn parts(what: &str, parts: &[EstimatePart]) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let rows = words::sorted(parts).into_iter().map(|part| {
        vec![
            escape(&part.name),
            part.count.to_string(),
            percent(part.accuracy),
            percent(part.runs),
            points(part.pull),
        ]
    });
    let header = cells(&[what, "questions", "estimate, %", "runs, %", "pull, points"]);
    details(&format!("By {what}"), &table(&header, rows))
}

fn doubtful(estimate: &SystemEstimate) -> String {
    let listed = estimate.most_doubtful(LISTED_PREDICTIONS);
    if listed.is_empty() {
        return String::new();
    }
    let rows = listed.iter().map(|answer| {
        let reasons =
            if answer.reasons.is_empty() { status(&answer.status) } else { answer.reasons.join("; ") };
        vec![
            escape(&answer.id),
            escape(&answer.db_id),
            percent(answer.probability),
            escape(&reasons),
            escape(&answer.question),
            code(&answer.prediction),
        ]
    });
    let header = cells(&["id", "database", "right, %", "why", "question", "prediction"]);
    details(&format!("Most likely wrong: {}", estimate.system), &table(&header, rows))
}

fn drift(report: &Reliability) -> String {
    let mut text = String::new();
    for series in &report.drift {
        let rows = series.points.iter().map(|point| {
            vec![
                escape(&point.label),
                point.count.to_string(),
                format!("{} [{}, {}]", percent(point.accuracy), percent(point.low), percent(point.high)),
                if point.outside { "outside" } else { "" }.to_owned(),
                if series.rings_at(&point.label) { "**alarm**" } else { "" }.to_owned(),
            ]
        });
        let rows = table(&cells(&["batch", "questions", "estimate, %", "what is labelled", "alarm"]), rows);
        text.push_str(&format!("### Drift of {}\n\n{rows}\n", escape(&series.system)));
        for alarm in &series.alarms {
            let word = if alarm.gravity == Gravity::Alarm { "**alarm**" } else { "warning" };
            text.push_str(&format!("- {word}: {}: {}\n", escape(&alarm.label), escape(&alarm.message)));
        }
        text.push('\n');
    }
    text
}

fn provenance(report: &Reliability) -> String {
    let inputs = report
        .manifest
        .inputs
        .iter()
        .map(|input| vec![escape(&input.role), escape(&input.path), code(&input.sha256)]);
    let body = format!(
        "{}\n\nsqlgauge {}, {}.\n\n{}",
        code(&report.manifest.command.join(" ")),
        escape(&report.manifest.tool_version),
        escape(&report.manifest.engine),
        table(&cells(&["read as", "path", "SHA-256"]), inputs)
    );
    details("How it was run", &body)
}
