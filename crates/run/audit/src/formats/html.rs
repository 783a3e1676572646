//! One page that needs nothing else.

use std::io::{self, Write};

use super::{AuditFormat, headline};
use crate::finding::{Evidence, Finding};
use crate::report::BenchmarkAudit;

/// See the head of this file.
pub struct Html;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1d2733;background:#fff}\
table{border-collapse:collapse;margin:.5rem 0}th,td{border:1px solid #c9d1d9;padding:.15rem .5rem;text-align:left}\
pre{background:#f3f5f7;padding:.6rem;overflow-x:auto;white-space:pre-wrap}article{border-top:1px solid #c9d1d9;margin-top:1.5rem}\
.certain{color:#a40e26}.likely{color:#7d4e00}.hint{color:#4b5662}\
@media(prefers-color-scheme:dark){body{color:#dbe2ea;background:#14191f}pre{background:#1e252d}th,td,article{border-color:#3a444f}\
.certain{color:#ff8a8a}.likely{color:#e9b35b}.hint{color:#a7b1bb}}";

impl AuditFormat for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn render(&self, audit: &BenchmarkAudit, out: &mut dyn Write) -> io::Result<()> {
        let title = format!("Audit of {}", escaped(&audit.source));
        writeln!(
            out,
            "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>{title}</title><style>{STYLE}</style>\n<h1>{title}</h1>\n<p>{}.</p>",
            headline(audit)
        )?;
        writeln!(out, "<table><tr><th>rule<th>golds<th>allowed<th>not checked")?;
        for count in audit.counts() {
            let (golds, allowed, unchecked) = (count.golds, count.allowed, count.unchecked);
            writeln!(out, "<tr><td>{}<td>{golds}<td>{allowed}<td>{unchecked}", count.rule)?;
        }
        writeln!(out, "</table>")?;
        for item in audit.ranked() {
            writeln!(out, "<article><h2>{} <small>{}</small></h2>", escaped(&item.id), escaped(&item.db_id))?;
            writeln!(out, "<p>{}</p>", escaped(item.question.as_deref().unwrap_or_default()))?;
            writeln!(out, "<pre>{}</pre>", escaped(&item.sql))?;
            item.audit.findings.iter().try_for_each(|finding| self::finding(finding, out))?;
            writeln!(out, "</article>")?;
        }
        allowed(audit, out)
    }
}

fn allowed(audit: &BenchmarkAudit, out: &mut dyn Write) -> io::Result<()> {
    let all: Vec<_> =
        audit.items.iter().flat_map(|item| item.audit.allowed.iter().map(move |own| (item, own))).collect();
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>Allowed</h2><ul>")?;
    for (item, own) in all {
        writeln!(out, "<li>{} on {}: {}", own.finding.rule, escaped(&item.id), escaped(&own.reason))?;
    }
    writeln!(out, "</ul>")
}

fn finding(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let (rule, standing) = (finding.rule, finding.standing.name());
    writeln!(out, "<p><b class=\"{standing}\">{rule}</b> ({standing}): {}</p>", escaped(&finding.why))?;
    if let Some(evidence) = &finding.evidence {
        table(evidence, out)?;
    }
    if let Some(rewrite) = &finding.rewrite {
        let verdict = rewrite.verdict.as_ref().map(|verdict| format!(" ({verdict})")).unwrap_or_default();
        writeln!(out, "<p>Proposal{}:</p><pre>{}</pre>", escaped(&verdict), escaped(&rewrite.sql))?;
    }
    Ok(())
}

fn table(evidence: &Evidence, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<table><caption>{}</caption><tr>", escaped(&evidence.title))?;
    evidence.columns.iter().try_for_each(|name| write!(out, "<th>{}", escaped(name)))?;
    for row in &evidence.rows {
        write!(out, "\n<tr>")?;
        row.iter().try_for_each(|cell| write!(out, "<td>{}", escaped(cell)))?;
    }
    writeln!(out, "</table>")?;
    match evidence.left_out {
        0 => Ok(()),
        more => writeln!(out, "<p>… {more} more</p>"),
    }
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}
