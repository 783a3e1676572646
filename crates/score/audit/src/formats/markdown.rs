//! For a page in a repository or an issue.

use std::io::{self, Write};

use sqlgauge_base::markdown_text;

use super::{AuditFormat, CONFIDENCE, headline, share};
use crate::finding::{Evidence, Finding};
use crate::report::BenchmarkAudit;

/// See the head of this file.
pub struct Markdown;

impl AuditFormat for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn render(&self, audit: &BenchmarkAudit, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# Audit of {}\n\n{}. {CONFIDENCE}.\n", markdown_text(&audit.source), headline(audit))?;
        writeln!(out, "| rule | golds | allowed | not checked |\n|---|---|---|---|")?;
        for count in audit.counts() {
            writeln!(out, "| {} | {} | {} | {} |", count.rule, count.golds, count.allowed, count.unchecked)?;
        }
        for item in audit.ranked() {
            let (id, db_id) = (markdown_text(&item.id), markdown_text(&item.db_id));
            writeln!(out, "\n## {id} ({db_id}), {}\n", share(item))?;
            if let Some(question) = &item.question {
                writeln!(out, "{}\n", markdown_text(question))?;
            }
            write!(out, "{}", fenced(&item.sql))?;
            item.audit.findings.iter().try_for_each(|finding| self::finding(finding, out))?;
        }
        let mut heading = "\n## Allowed\n\n";
        for item in &audit.items {
            for allowed in &item.audit.allowed {
                let (id, reason) = (markdown_text(&item.id), markdown_text(&allowed.reason));
                writeln!(out, "{heading}- {} on {id}: {reason}", allowed.finding.rule)?;
                heading = "";
            }
        }
        Ok(())
    }
}

fn finding(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let (rule, standing) = (finding.rule, finding.standing.name());
    writeln!(out, "\n**{rule}** ({standing}): {}\n", markdown_text(&finding.why))?;
    if let Some(evidence) = &finding.evidence {
        table(evidence, out)?;
    }
    if let Some(rewrite) = &finding.rewrite {
        let verdict = rewrite.verdict.as_ref().map(|verdict| format!(" ({verdict})")).unwrap_or_default();
        write!(out, "\nProposal{verdict}:\n\n{}", fenced(&rewrite.sql))?;
    }
    Ok(())
}

fn table(evidence: &Evidence, out: &mut dyn Write) -> io::Result<()> {
    let row = |cells: &[String]| {
        format!("| {} |", cells.iter().map(|cell| markdown_text(cell)).collect::<Vec<_>>().join(" | "))
    };
    writeln!(out, "{}:\n\n{}", markdown_text(&evidence.title), row(&evidence.columns))?;
    writeln!(out, "|{}", "---|".repeat(evidence.columns.len()))?;
    evidence.rows.iter().try_for_each(|cells| writeln!(out, "{}", row(cells)))?;
    if evidence.left_out > 0 {
        writeln!(out, "\n… {} more", evidence.left_out)?;
    }
    Ok(())
}

/// A fence that is longer than any in the text.
fn fenced(sql: &str) -> String {
    let longest = sql.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}sql\n{sql}\n{fence}\n")
}
