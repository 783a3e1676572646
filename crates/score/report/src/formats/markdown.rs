//! `markdown`: for a pull request or a GitHub step summary, which takes at most 1 MiB.
//!
//! Texts from outside show as they are: queries stand in code spans, and elsewhere a backslash stands before what
//! Markdown, GitHub or HTML would obey, and before nothing else, so that the source reads well too.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write;

pub use sqlgauge_base::markdown_text as escape;
use sqlgauge_base::visible;
use sqlgauge_run::{Comparison, Manifest, SystemSummary};

use super::ReportFormat;
use super::breakdown::{coverage, group_score, groups, says_little};
use super::table::shown_pairs;
use crate::system_table::system_tables;
use crate::words::{many, torn};
use crate::{ItemView, Nature, Report, ReportError, notes, number, warnings};

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

impl ReportFormat for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let mut page = MarkdownPage::default();
        page.add(&leaderboard(report));
        system_tables(report)?.iter().for_each(|table| page.add(&table.sheet().markdown()));
        page.add(&gates(report));
        page.add(&comparisons(report));
        page.add(&counts(report));
        for dimension in ["difficulty", "hardness", "feature", "db_id", "turn", "interaction"] {
            page.add(&breakdown(report, dimension));
        }
        for section in failures(report)? {
            page.add(&section);
        }
        page.add(&provenance(&report.manifest));
        out.write_all(page.finish().as_bytes())?;
        Ok(())
    }
}

/// Whole sections as long as they fit.
#[derive(Default)]
pub struct MarkdownPage {
    text: String,
    dropped: usize,
}

impl MarkdownPage {
    /// Adds a section if it fits.
    pub fn add(&mut self, section: &str) {
        if self.text.len() + section.len() <= MAX_BYTES {
            self.text.push_str(section);
        } else {
            self.dropped += 1;
        }
    }

    /// The text, with a note about the sections that did not fit.
    pub fn finish(mut self) -> String {
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
                |score| number::interval(score, Nature::of(metric)),
            )
        });
        std::iter::once(escape(&system.system)).chain(scores).collect()
    });
    let note =
        "Percent (vm-steps, ves: ratios) with 95 % intervals; n: the items that a number is the mean of.";
    let part = crate::part(&report.manifest);
    let part = part.map_or_else(String::new, |part| format!("> {}\n\n", escape(&part)));
    let warnings = warnings(&report.summary);
    let warnings: Vec<String> =
        warnings.iter().map(|text| format!("> **Warning:** {}\n\n", escape(text))).collect();
    format!("## Text-to-SQL scores\n\n{}\n{note}\n\n{part}{}", table(&header, rows), warnings.concat())
}

fn gates(report: &Report) -> String {
    if report.gates.is_empty() {
        return String::new();
    }
    let header = ["gate", "system", "wanted", "is", "n", "result"].map(str::to_owned);
    let rows = report.gate_outcomes().into_iter().map(|outcome| {
        let gate = &outcome.gate;
        let (is, wanted) = gate.written(outcome.mean.unwrap_or_default());
        let is = if outcome.mean.is_some() { is } else { number::NOT_APPLICABLE.to_owned() };
        let n = report.count_of(&outcome.system, &gate.metric);
        let result = if outcome.passed { "passed" } else { "**failed**" };
        vec![
            escape(&gate.metric),
            escape(&outcome.system),
            format!("≥ {wanted}"),
            is,
            n.to_string(),
            result.to_owned(),
        ]
    });
    format!("### Gates\n\n{}\n", table(&header, rows))
}

fn comparisons(report: &Report) -> String {
    let pairs = shown_pairs(report);
    if pairs.is_empty() {
        return String::new();
    }
    let header =
        ["pair", "metric", "n", "difference [95 %]", "p", "only first", "only second"].map(str::to_owned);
    let rows = pairs.iter().map(|comparison| comparison_row(comparison));
    let body = table(&header, rows);
    let rest = report.summary.comparisons.len() - pairs.len();
    let more =
        if rest > 0 { format!("\n{rest} more comparisons are in the html report.\n") } else { String::new() };
    let note = format!(
        "Paired by item, over the n items that both were scored on; bold where p < 0.05, not adjusted for the number of \
         pairs{}.",
        torn(pairs.iter().copied())
    );
    details("Pairwise differences", &format!("{body}\n{note}\n{more}"))
}

fn comparison_row(comparison: &Comparison) -> Vec<String> {
    let nature = Nature::of(&comparison.metric);
    let difference = |value| number::difference(value, nature);
    let p = number::p_value(comparison.p_value);
    vec![
        format!("{} − {}", escape(&comparison.first), escape(&comparison.second)),
        escape(&comparison.metric),
        comparison.count.to_string(),
        format!(
            "{} [{}, {}]",
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
    let notes = notes(&report.summary).iter().fold(String::new(), |all, note| all + "\n" + note + ".\n");
    details("Items and statuses", &(table(&header, rows) + &notes))
}

fn breakdown(report: &Report, dimension: &str) -> String {
    let groups = groups(&report.summary.systems, dimension);
    let Some(metric) = report.deciding_metric().filter(|_| !groups.is_empty()) else {
        return String::new();
    };
    if says_little(report, dimension, metric) {
        return String::new();
    }
    let nature = Nature::of(metric);
    let mut header = vec![escape(dimension)];
    header.extend(report.summary.systems.iter().map(|system| escape(&system.system)));
    let rows = groups.iter().map(|group| {
        let scores = report
            .summary
            .systems
            .iter()
            .map(|system| number::with_count(group_score(system, dimension, group, metric), nature));
        std::iter::once(escape(group)).chain(scores).collect()
    });
    let covered = coverage(report, dimension, metric).map(|note| format!("\n{note}\n")).unwrap_or_default();
    let body = format!("{}{covered}", table(&header, rows));
    let title = format!("By {dimension}: {metric}, mean (n)");
    if groups.len() > MAX_OPEN_GROUPS {
        details(&title, &body)
    } else {
        format!("### {}\n\n{body}\n", escape(&title))
    }
}

/// Per system the items that are not right, the first of them listed.
fn failures(report: &Report) -> Result<Vec<String>, ReportError> {
    let Some(metric) = report.deciding_metric() else { return Ok(Vec::new()) };
    let mut failed: HashMap<String, (usize, Vec<Vec<String>>)> = HashMap::new();
    report.items.for_each(|item| {
        let view = ItemView::new(item);
        if view.score(metric).is_some_and(|score| score < 1.0) {
            let (count, rows) = failed.entry(item.system.clone()).or_default();
            *count += 1;
            if rows.len() < MAX_FAILURES {
                rows.push(failure(view, metric));
            }
        }
        Ok::<(), ReportError>(())
    })?;
    let section = |system: &SystemSummary| {
        let (count, rows) = failed.remove(&system.system)?;
        let header = ["id", "database", "question", "gold", "prediction", "reason"].map(str::to_owned);
        let rest = count - rows.len();
        let more = if rest > 0 { format!("\n{rest} more are in the html report.\n") } else { String::new() };
        let title = format!("{}: {} not right by {metric}", system.system, many(count, "item"));
        Some(details(&title, &format!("{}{more}", table(&header, rows.into_iter()))))
    };
    Ok(report.summary.systems.iter().filter_map(section).collect())
}

fn failure(view: ItemView<'_>, metric: &str) -> Vec<String> {
    vec![
        escape(&view.item.id),
        escape(&view.item.db_id),
        escape(&clip(view.question().unwrap_or_default())),
        code(view.golds().first().copied().unwrap_or_default()),
        code(view.prediction().unwrap_or_default()),
        escape(&clip(&view.reason(metric).unwrap_or_default())),
    ]
}

/// How it was run: versions, command and inputs.
pub fn provenance(manifest: &Manifest) -> String {
    let header = ["input", "file", "SHA-256"].map(str::to_owned);
    let rows = manifest
        .inputs
        .iter()
        .map(|input| vec![escape(&input.role), escape(&input.path), code(&input.sha256)]);
    let versions = format!("sqlgauge {}, {}\n\n", escape(&manifest.tool_version), escape(&manifest.engine));
    let command = format!("{}\n\n", code(&manifest.command.join(" ")));
    details("How it was run", &format!("{versions}{command}{}", table(&header, rows)))
}

/// A folded section. A summary is HTML, in which Markdown is not read.
pub fn details(title: &str, body: &str) -> String {
    let title: String = title.chars().map(visible).collect();
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    format!("<details>\n<summary>{title}</summary>\n\n{body}\n</details>\n\n")
}

/// A table; the cells are Markdown.
pub fn table(header: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", header.join(" | "), " --- |".repeat(header.len()));
    for row in rows {
        let _infallible = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

/// A query as a code span.
pub fn code(sql: &str) -> String {
    if sql.is_empty() {
        return String::new();
    }
    let text: String = clip(sql).chars().map(visible).collect();
    // In a table no writing of a code span holds a backslash before a bar.
    if text.contains("\\|") {
        return format!("<code>{}</code>", escape(&text));
    }
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}

fn longest_run(text: &str, wanted: char) -> usize {
    text.split(|c| c != wanted).map(str::len).max().unwrap_or(0)
}

fn clip(text: &str) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(MAX_TEXT).collect();
    if chars.next().is_some() { format!("{head}…") } else { head }
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    use super::*;

    /// The cells of the only row of a table, as a Markdown reader shows them.
    fn shown(cells: &[String]) -> Vec<String> {
        let header: Vec<String> = cells.iter().map(|_| "h".to_owned()).collect();
        let page = format!("text\n\n{}\n", table(&header, std::iter::once(cells.to_vec())));
        let (mut shown_cells, mut current, mut in_body) = (Vec::new(), None, false);
        for event in Parser::new_ext(&page, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
            match event {
                Event::End(TagEnd::TableHead) => in_body = true,
                Event::Start(Tag::TableCell) if in_body => current = Some(String::new()),
                Event::End(TagEnd::TableCell) => shown_cells.extend(current.take()),
                Event::Text(text) | Event::Code(text) => {
                    if let Some(cell) = &mut current {
                        cell.push_str(&text);
                    }
                }
                Event::InlineHtml(html) if ["<!-- -->", "<code>", "</code>"].contains(&&*html) => {}
                Event::Start(
                    Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell | Tag::Paragraph,
                )
                | Event::End(TagEnd::Table | TagEnd::TableRow | TagEnd::Paragraph) => {}
                other => panic!("{other:?} in {page}"),
            }
        }
        shown_cells
    }

    const TEXTS: [&str; 20] = [
        "a|b `c` <img src=x> *d* @all",
        "snake_case and _emphasis_ and __more__ _",
        "[link](http://example.invalid) ![image](x)",
        "\\ and \\| and \\\\| and \\` and ``two`` and `",
        "&amp; &#64; & x &",
        "~~gone~~ ~a~",
        "# heading",
        "- item",
        "> quote",
        "a < b and a<b and </td> and <!-- c --> and <?x?>",
        "$x$ costs 5 $",
        "#12 and user/repo#12",
        "SELECT '\\' || x FROM t WHERE a = \"b\" AND c LIKE '%\\|%'",
        "`starts and ends`",
        "| || |",
        "**a**b**c***d*",
        "a*b*c _a*b_c*",
        "日本語 é \u{1f600}",
        "<!--",
        "ex-spider@1",
    ];

    #[test]
    fn a_markdown_reader_shows_every_text_as_it_is() {
        for text in TEXTS {
            assert_eq!(shown(&[escape(text), "x".to_owned()]), [text, "x"], "{}", escape(text));
            assert_eq!(shown(&[code(text), "x".to_owned()]), [text, "x"], "{}", code(text));
        }
    }

    /// Every text of up to four of the characters that something obeys.
    #[test]
    fn no_mixture_of_what_markdown_obeys_gets_through() {
        let signs = ['\\', '`', '*', '_', '|', '<', '[', ']', '~', '&', '#', '@', '!', '(', 'a', ' '];
        let mut texts: Vec<String> = signs.iter().map(char::to_string).collect();
        for _ in 0..3 {
            texts = texts.iter().flat_map(|text| signs.iter().map(move |c| format!("{text}{c}"))).collect();
            for text in texts.iter().filter(|text| text.trim() == *text && !text.contains("  ")) {
                assert_eq!(shown(&[escape(text), "x".to_owned()]), [text, "x"], "{}", escape(text));
                assert_eq!(shown(&[code(text), "x".to_owned()]), [text, "x"], "{}", code(text));
            }
        }
    }

    #[test]
    fn what_nothing_obeys_stays_as_it_is() {
        for text in ["ex-spider@1", "railway_museum", "82.9 (1034)", "it's \"so\"", "a < 3 & b > 4", "-3"] {
            assert_eq!(escape(text), text);
        }
        assert_eq!(code("SELECT count(*) FROM owner_of"), "`SELECT count(*) FROM owner_of`");
    }
}
