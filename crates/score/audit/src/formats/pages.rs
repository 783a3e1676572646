//! The formats for people: a terminal, a page, and Markdown for a repository or an issue. All say the same.

use std::io::{self, Write};

use sqlgauge_base::verb_for;
use sqlgauge_report::document::{Block, Cell, Column, Document, Entry, Section, Table, Text};
use sqlgauge_report::formats::TextTables;
use sqlgauge_report::words::{grouped, many};

use super::AuditFormat;
use crate::confidence::judged;
use crate::finding::{Evidence, Finding};
use crate::report::{AuditedItem, BenchmarkAudit, RuleCount};
use crate::rules::find;

/// The titles of the sections with counts.
const RULES: &str = "Rules";
const SILENT: &str = "Rules without a finding";
const IDLE: &str = "Rules that did not run";
const CONFIDENCE: &str = "percent: the estimated chance that the gold is wrong, by golds with such findings that people judged; certain: the finding is sure, the gold may still be right";

/// For a terminal. A query stays on one line, so that it can be copied.
pub struct Terminal(pub TextTables);

/// One page that needs nothing else.
pub struct Html;

/// For a page in a repository or an issue.
pub struct Markdown;

impl AuditFormat for Terminal {
    fn name(&self) -> &'static str {
        "text"
    }

    fn render(&self, audit: &BenchmarkAudit, out: &mut dyn Write) -> io::Result<()> {
        let mut document = document(audit);
        // What it comes to stands next to the prompt.
        [IDLE, SILENT, RULES].iter().for_each(|title| document.move_to_end(title));
        let title = Block::prose(format!("{}.", document.title));
        let lead = std::iter::once(title).chain(std::mem::take(&mut document.lead)).collect::<Vec<_>>();
        match document.sections.last_mut() {
            Some(last) => last.blocks.extend(lead),
            None => document.lead = lead,
        }
        out.write_all(document.text(self.0).as_bytes())
    }
}

impl AuditFormat for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn render(&self, audit: &BenchmarkAudit, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(document(audit).html().as_bytes())
    }
}

impl AuditFormat for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn render(&self, audit: &BenchmarkAudit, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(document(audit).markdown(usize::MAX).as_bytes())
    }
}

fn document(audit: &BenchmarkAudit) -> Document {
    let mut document = Document::new(format!("Audit of {}{}", part(audit), file(&audit.source)));
    let (idle, ran): (Vec<_>, Vec<_>) =
        audit.counts().into_iter().partition(|count| audit.why_idle(count).is_some());
    let (speak, silent): (Vec<_>, Vec<_>) =
        ran.into_iter().partition(|count| count.golds + count.allowed > 0);
    document.lead.extend([Block::lead(headline(audit)), Block::note(estimated(audit))]);
    document.add(Section {
        title: "Golds".to_owned(),
        note: CONFIDENCE.to_owned(),
        link: Some("Golds".to_owned()),
        entries: audit.ranked().into_iter().map(entry).collect(),
        ..Section::default()
    });
    document.add(Section::new(RULES, "how many golds each reports", counts(&speak)));
    document.add(Section::new(SILENT, "", counts(&silent)).folded());
    let why =
        |count: &RuleCount| vec![Cell::new(count.rule), Cell::new(audit.why_idle(count).unwrap_or_default())];
    document.add(Section::new(IDLE, "", Table::of(["rule", "why"], idle.iter().map(why))).folded());
    document.add(Section::new("Allowed", "with the reason", allowed(audit)));
    document
}

/// The name of the file with its folder.
fn file(path: &str) -> String {
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    parts[parts.len().saturating_sub(2)..].join("/")
}

/// `200 of 1,034 questions of `; empty where all were looked at.
fn part(audit: &BenchmarkAudit) -> String {
    match audit.audited() {
        all if all == audit.questions => String::new(),
        audited => format!("{} of {} of ", grouped(audited), many(audit.questions, "question")),
    }
}

/// How many golds were looked at, and how many have a finding.
fn headline(audit: &BenchmarkAudit) -> String {
    let (golds, count) = (audit.items.len(), audit.ranked().len());
    let unresolved = match audit.unresolved() {
        0 => String::new(),
        count => format!("; {count} could not be resolved"),
    };
    let wrong: f64 = audit.ranked().iter().map(|item| item.confidence()).sum();
    let wrong = if count == 0 {
        String::new()
    } else {
        format!("About {wrong:.0} wrong golds are expected among the {} with a finding. ", grouped(count))
    };
    let counts = audit.counts();
    let speaking = counts.iter().filter(|count| count.golds > 0).count();
    let ran = counts.iter().filter(|count| audit.why_idle(count).is_none()).count();
    format!(
        "{wrong}{} of {} {} a finding, by {} of {}{unresolved}.",
        grouped(count),
        many(golds, "gold"),
        verb_for(&count, ["has", "have"]),
        speaking,
        many(ran, "rule")
    )
}

/// What the number of golds that are probably wrong rests on.
fn estimated(audit: &BenchmarkAudit) -> &'static str {
    if audit.ranked().is_empty() {
        return "";
    }
    "The number is the sum of the percentages of all golds with a finding. They rest on three benchmarks in which people judged the golds: take it as an order of \
     magnitude. Golds without a finding may be wrong too."
}

fn counts(counts: &[RuleCount]) -> Table {
    let columns = ["rule", "reported", "allowed by you", "could not check"].map(Column::from);
    let mut table = Table::new(columns.into_iter().chain([Column::explanation("what it finds")]));
    for count in counts {
        let [golds, allowed, unchecked] =
            [count.golds, count.allowed, count.unchecked].map(|number| number.to_string());
        let summary = find(count.rule).map(|rule| rule.summary.to_owned()).unwrap_or_default();
        table.push([count.rule.to_owned(), golds, allowed, unchecked, summary]);
    }
    table
}

fn entry(item: &AuditedItem) -> Entry {
    let mut blocks: Vec<Block> = item.question.as_deref().map(Block::prose).into_iter().collect();
    blocks.push(Block::Sql(item.sql.clone()));
    item.audit.findings.iter().for_each(|one| finding(one, &mut blocks));
    let mut tags: Vec<String> = item.audit.findings.iter().map(|finding| finding.rule.to_owned()).collect();
    tags.sort_unstable();
    tags.dedup();
    let confidence = item.confidence();
    let judged = grouped(judged(confidence));
    let note = format!(
        "{}, {:.0} % (by {judged} judged golds): {}",
        item.db_id,
        100.0 * confidence,
        tags.join(", ")
    );
    Entry { title: item.id.clone(), note, blocks, tags }
}

fn finding(finding: &Finding, blocks: &mut Vec<Block>) {
    let standing = format!(", {}: ", finding.standing.name());
    blocks.push(Block::prose(Text::default().strong(finding.rule).soft(standing).plain(&finding.why)));
    if let Some(evidence) = &finding.evidence {
        let Evidence { title, columns, rows, left_out } = evidence;
        blocks.push(Block::note(format!("{title}:")));
        let rows = rows.iter().map(|row| row.iter().map(Cell::new).collect());
        blocks.push(Table::of(columns.iter().map(String::as_str), rows).into());
        if *left_out > 0 {
            blocks.push(Block::note(format!("… {left_out} more")));
        }
    }
    if let Some(rewrite) = &finding.rewrite {
        let verdict = rewrite.verdict.as_deref().map(verified).unwrap_or_default();
        blocks.push(Block::prose(format!("Proposed gold{verdict}:")));
        blocks.push(Block::Sql(rewrite.sql.clone()));
    }
}

/// What `verify` says of a proposal, for people.
fn verified(verdict: &str) -> String {
    match verdict {
        "different" => " (not equivalent to the gold)".to_owned(),
        "unknown" => " (not known whether it is equivalent to the gold)".to_owned(),
        _ => " (equivalent to the gold)".to_owned(),
    }
}

fn allowed(audit: &BenchmarkAudit) -> Block {
    let lines = audit.items.iter().flat_map(|item| {
        let line = |allowed: &crate::report::AllowedFinding| {
            Text::from(format!("{} on {}: {}", allowed.finding.rule, item.id, allowed.reason))
        };
        item.audit.allowed.iter().map(line)
    });
    Block::List(lines.collect())
}
