//! For a terminal: the counts, and the golds with a finding, first those that a person should look at first.

use std::io::{self, Write};

use sqlgauge_base::{printable, printable_lines};

use super::{AuditFormat, CONFIDENCE, headline, share};
use crate::finding::{Evidence, Finding};
use crate::report::{AuditedItem, BenchmarkAudit};

/// See the head of this file.
pub struct Text;

impl AuditFormat for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn render(&self, audit: &BenchmarkAudit, out: &mut dyn Write) -> io::Result<()> {
        for item in audit.ranked() {
            self::item(item, out)?;
        }
        for item in &audit.items {
            for allowed in &item.audit.allowed {
                writeln!(
                    out,
                    "allowed: {} on {}: {}",
                    allowed.finding.rule,
                    printable(&item.id),
                    printable(&allowed.reason)
                )?;
            }
        }
        writeln!(out, "\n{:<28} {:>6} {:>8} {:>12}", "rule", "golds", "allowed", "not checked")?;
        for count in audit.counts() {
            writeln!(
                out,
                "{:<28} {:>6} {:>8} {:>12}",
                count.rule, count.golds, count.allowed, count.unchecked
            )?;
        }
        writeln!(out, "\n{}", headline(audit))?;
        if audit.ranked().is_empty() { Ok(()) } else { writeln!(out, "{CONFIDENCE}") }
    }
}

fn item(item: &AuditedItem, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{} ({}), {}", printable(&item.id), printable(&item.db_id), share(item))?;
    if let Some(question) = &item.question {
        writeln!(out, "  {}", printable(question))?;
    }
    writeln!(out, "  {}", printable(&item.sql))?;
    item.audit.findings.iter().try_for_each(|finding| self::finding(finding, out))
}

fn finding(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {} [{}]: {}", finding.standing.name(), finding.rule, printable(&finding.why))?;
    if let Some(evidence) = &finding.evidence {
        write!(out, "{}", printable_lines(&table(evidence)))?;
    }
    if let Some(rewrite) = &finding.rewrite {
        let verdict = rewrite.verdict.as_ref().map(|verdict| format!(" ({verdict})")).unwrap_or_default();
        writeln!(out, "    proposal{verdict}: {}", printable(&rewrite.sql))?;
    }
    Ok(())
}

/// The rows with their columns below each other.
fn table(evidence: &Evidence) -> String {
    let cells = || std::iter::once(&evidence.columns).chain(&evidence.rows);
    let width = |at: usize| cells().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..evidence.columns.len()).map(|at| width(at).unwrap_or_default()).collect();
    let line = |row: &Vec<String>| {
        let cells =
            row.iter().zip(&widths).map(|(cell, width)| format!("{:<width$}", cell.replace('\n', " ")));
        format!("      {}\n", cells.collect::<Vec<_>>().join(" | ").trim_end())
    };
    let mut text =
        [format!("    {}:\n", evidence.title)].into_iter().chain(cells().map(line)).collect::<String>();
    if evidence.left_out > 0 {
        text.push_str("      … ");
        text.push_str(&evidence.left_out.to_string());
        text.push_str(" more\n");
    }
    text
}
