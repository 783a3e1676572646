//! `markdown`: for a pull request or a GitHub step summary, which takes at most 1 MiB.
//!
//! Texts from outside are written with HTML entities for every character that Markdown or HTML would obey.

use std::fmt::Write as _;
use std::io::Write;

use sqlgauge_run::{Comparison, SystemSummary};

use super::Format;
use super::table::{group_score, groups, shown_pairs};
use crate::{ItemView, Nature, Report, ReportError, number};

/// GitHub-flavoured Markdown.
pub struct Markdown;

/// GitHub refuses a step summary above 1,048,576 bytes; other steps may add to it.
const MAX_BYTES: usize = 900_000;
/// Failed items listed per system.
const MAX_FAILURES: usize = 50;
/// Characters of a query or question in a table cell.
const MAX_TEXT: usize = 400;
/// Groups of a breakdown above which it is folded.
const MAX_OPEN_GROUPS: usize = 6;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let mut page = Page::default();
        page.add(&leaderboard(report));
        page.add(&gates(report));
        page.add(&comparisons(report));
        page.add(&counts(report));
        for dimension in ["hardness", "difficulty", "feature", "db_id", "turn", "interaction"] {
            page.add(&breakdown(report, dimension));
        }
        for system in &report.summary.systems {
            page.add(&failures(report, system));
        }
        page.add(&provenance(report));
        out.write_all(page.finish().as_bytes())?;
        Ok(())
    }
}

/// Whole sections as long as they fit.
#[derive(Default)]
pub(crate) struct Page {
    text: String,
    dropped: usize,
}

impl Page {
    pub(crate) fn add(&mut self, section: &str) {
        if self.text.len() + section.len() <= MAX_BYTES {
            self.text.push_str(section);
        } else {
            self.dropped += 1;
        }
    }

    pub(crate) fn finish(mut self) -> String {
        if self.dropped > 0 {
            let note = "sections did not fit into the size of a step summary: see the html report.";
            let _infallible = writeln!(self.text, "\n> {} {note}", self.dropped);
        }
        self.text
    }
}

fn leaderboard(report: &Report) -> String {
    let mut header = vec!["system".to_owned()];
    header.extend(report.summary.metrics.iter().map(|metric| escape(metric)));
    let rows = report.summary.systems.iter().map(|system| {
        let scores = report.summary.metrics.iter().map(|metric| {
            system.scores.get(metric).map_or_else(
                || number::NOT_APPLICABLE.to_owned(),
                |score| escape(&number::interval(score, Nature::of(metric))),
            )
        });
        std::iter::once(escape(&system.system)).chain(scores).collect()
    });
    let note = "Percent (vm-steps, ves: ratios) with 95 % intervals.";
    format!("## Text-to-SQL scores\n\n{}\n{note}\n\n", table(&header, rows))
}

fn gates(report: &Report) -> String {
    if report.gates.is_empty() {
        return String::new();
    }
    let header = ["gate", "system", "wanted", "is", "result"].map(str::to_owned);
    let rows = report.gate_outcomes().into_iter().map(|outcome| {
        let is = outcome.mean.map_or_else(|| number::NOT_APPLICABLE.to_owned(), |mean| format!("{mean:.4}"));
        let result = if outcome.passed { "passed" } else { "**failed**" };
        vec![
            escape(&outcome.gate.metric),
            escape(&outcome.system),
            format!("≥ {}", outcome.gate.minimum),
            is,
            result.to_owned(),
        ]
    });
    format!("### Gates\n\n{}\n", table(&header, rows))
}

fn comparisons(report: &Report) -> String {
    let shown = shown_pairs(report);
    if shown.is_empty() {
        return String::new();
    }
    let header = ["pair", "metric", "difference [95 %]", "p", "only first", "only second"].map(str::to_owned);
    let rows = shown.iter().map(|comparison| comparison_row(comparison));
    let body = table(&header, rows);
    let rest = report.summary.comparisons.len() - shown.len();
    let more =
        if rest > 0 { format!("\n{rest} more comparisons are in the html report.\n") } else { String::new() };
    let note = "Paired by item; bold where p < 0.05, not adjusted for the number of pairs.";
    details("Pairwise differences", &format!("{body}\n{note}\n{more}"))
}

fn comparison_row(comparison: &Comparison) -> Vec<String> {
    let nature = Nature::of(&comparison.metric);
    let difference = |value| number::difference(value, nature);
    let p = escape(&number::p_value(comparison.p_value));
    vec![
        format!("{} − {}", escape(&comparison.first), escape(&comparison.second)),
        escape(&comparison.metric),
        format!(
            "{} &#91;{}, {}&#93;",
            difference(comparison.difference),
            difference(comparison.low),
            difference(comparison.high)
        ),
        if comparison.p_value < 0.05 { format!("**{p}**") } else { p },
        comparison.only_first.to_string(),
        comparison.only_second.to_string(),
    ]
}

fn counts(report: &Report) -> String {
    let header = ["system", "requested", "scored", "missing", "gold failed", "statuses"].map(str::to_owned);
    let rows = report.summary.systems.iter().map(|system| {
        let counts = system.counts;
        let statuses: Vec<_> =
            system.statuses.iter().map(|(name, n)| format!("{} {n}", escape(name))).collect();
        let mut row = vec![escape(&system.system)];
        row.extend(
            [counts.requested, counts.scored, counts.missing, counts.gold_failed].map(|n| n.to_string()),
        );
        row.push(statuses.join(", "));
        row
    });
    details("Items and statuses", &table(&header, rows))
}

fn breakdown(report: &Report, dimension: &str) -> String {
    let groups = groups(&report.summary.systems, dimension);
    let Some(metric) = report.deciding_metric().filter(|_| !groups.is_empty()) else {
        return String::new();
    };
    let nature = Nature::of(metric);
    let mut header = vec![escape(dimension), "items".to_owned()];
    header.extend(report.summary.systems.iter().map(|system| escape(&system.system)));
    let rows = groups.iter().map(|group| {
        let scores: Vec<_> =
            report.summary.systems.iter().map(|s| group_score(s, dimension, group, metric)).collect();
        let count = scores.iter().flatten().map(|score| score.count).max().unwrap_or(0);
        let means = scores.iter().map(|score| number::score(score.and_then(|s| s.mean), nature));
        [escape(group), count.to_string()].into_iter().chain(means).collect()
    });
    let body = table(&header, rows);
    let title = format!("By {}: {}", escape(dimension), escape(metric));
    if groups.len() > MAX_OPEN_GROUPS { details(&title, &body) } else { format!("### {title}\n\n{body}\n") }
}

fn failures(report: &Report, system: &SystemSummary) -> String {
    let Some(metric) = report.deciding_metric() else { return String::new() };
    let failed: Vec<ItemView<'_>> = report
        .items_of(&system.system)
        .into_iter()
        .filter(|view| view.score(metric).is_some_and(|score| score < 1.0))
        .collect();
    if failed.is_empty() {
        return String::new();
    }
    let header = ["id", "database", "question", "gold", "prediction", "reason"].map(str::to_owned);
    let rows = failed.iter().take(MAX_FAILURES).map(|view| {
        vec![
            escape(&view.item.id),
            escape(&view.item.db_id),
            escape(&clip(view.question().unwrap_or_default())),
            code(view.golds().first().copied().unwrap_or_default()),
            code(view.prediction().unwrap_or_default()),
            escape(&clip(&view.reason(metric).unwrap_or_default())),
        ]
    });
    let rest = failed.len().saturating_sub(MAX_FAILURES);
    let more = if rest > 0 { format!("\n{rest} more are in the html report.\n") } else { String::new() };
    let title = format!("{}: {} items not right by {}", escape(&system.system), failed.len(), escape(metric));
    details(&title, &format!("{}{more}", table(&header, rows)))
}

fn provenance(report: &Report) -> String {
    let manifest = &report.manifest;
    let header = ["input", "file", "SHA-256"].map(str::to_owned);
    let rows = manifest
        .inputs
        .iter()
        .map(|input| vec![escape(&input.role), escape(&input.path), format!("`{}`", escape(&input.sha256))]);
    let versions = format!("sqlgauge {}, {}\n\n", escape(&manifest.tool_version), escape(&manifest.engine));
    let command = format!("{}\n\n", code(&manifest.command.join(" ")));
    details("How it was run", &format!("{versions}{command}{}", table(&header, rows)))
}

fn details(title: &str, body: &str) -> String {
    format!("<details>\n<summary>{title}</summary>\n\n{body}\n</details>\n\n")
}

pub(crate) fn table(header: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", header.join(" | "), " --- |".repeat(header.len()));
    for row in rows {
        let _infallible = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

pub(crate) fn code(sql: &str) -> String {
    if sql.is_empty() { String::new() } else { format!("<code>{}</code>", escape(&clip(sql))) }
}

fn clip(text: &str) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(MAX_TEXT).collect();
    if chars.next().is_some() { format!("{head}…") } else { head }
}

/// Every character that Markdown, GitHub or HTML gives a meaning to becomes an entity; line ends become
/// spaces, since a table row is one line.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '<' | '>' | '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '#' | '@' | '$' | '"'
            | '\'' => {
                let _infallible = write!(escaped, "&#{};", u32::from(c));
            }
            c => escaped.push(crate::style::visible(c)),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_markdown_obeys_gets_through() {
        assert_eq!(
            escape("a|b `c` <img src=x> *d*\n@all"),
            "a&#124;b &#96;c&#96; &#60;img src=x&#62; &#42;d&#42; &#64;all"
        );
    }
}
