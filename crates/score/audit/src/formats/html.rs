//! One page that needs nothing else, in the look of all reports.

#![expect(clippy::format_collect, reason = "a page is written once; what reads best wins")]

use std::io::{self, Write};

use sqlgauge_base::counted;
use sqlgauge_report::page::{Page, escape, section, table};

use super::{AuditFormat, CONFIDENCE, headline, share};
use crate::finding::{Evidence, Finding};
use crate::report::{AuditedItem, BenchmarkAudit, RuleCount};
use crate::rules::find;

/// See the head of this file.
pub struct Html;

const OWN_STYLE: &str = "\
article { border-top: 1px solid var(--hair); margin-top: 18px; padding-top: 6px; }
article h3 small { font-weight: 400; }
article table { width: auto; }
pre.sql { white-space: pre-wrap; }
th.name { white-space: normal; }
";

impl AuditFormat for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn render(&self, audit: &BenchmarkAudit, out: &mut dyn Write) -> io::Result<()> {
        let title = format!("Audit of {}", audit.source);
        let items: String = audit.ranked().into_iter().map(item).collect();
        let body = [
            format!("<h1>{}</h1>\n<p>{}.</p>\n", escape(&title), escape(&headline(audit))),
            section("rules", "Rules", "how many golds each reports", &rules(audit)),
            section("findings", "Findings", &format!("{CONFIDENCE}; the highest come first"), &items),
            allowed(audit),
        ];
        let nav = [("rules", "Rules"), ("findings", "Findings")];
        let page = Page {
            title,
            nav: nav.map(|(id, name)| (id.to_owned(), name.to_owned())).to_vec(),
            body: body.concat(),
            tool_version: env!("CARGO_PKG_VERSION"),
        };
        out.write_all(page.html(OWN_STYLE).as_bytes())
    }
}

/// The rules that have something to say, and folded the others.
fn rules(audit: &BenchmarkAudit) -> String {
    let (speak, silent): (Vec<_>, Vec<_>) =
        audit.counts().into_iter().partition(|count| count.golds + count.allowed > 0);
    let rest = match silent.len() {
        0 => String::new(),
        count => format!(
            "<details><summary>{} without a finding</summary>\n{}</details>\n",
            counted(count, "rule"),
            table_of(&silent)
        ),
    };
    format!("{}{rest}", if speak.is_empty() { String::new() } else { table_of(&speak) })
}

fn table_of(counts: &[RuleCount]) -> String {
    let row = |count: &RuleCount| {
        let numbers = [count.golds, count.allowed, count.unchecked];
        let cells: String = numbers.iter().map(|number| format!("<td class=\"num\">{number}</td>")).collect();
        let summary = find(count.rule).map(|rule| escape(rule.meta().summary)).unwrap_or_default();
        let name = format!("{}<br><span class=\"soft\">{summary}</span>", count.rule);
        format!("<tr><th scope=\"row\" class=\"name\">{name}</th>{cells}</tr>\n")
    };
    let rows: String = counts.iter().map(row).collect();
    table("", &[("", "rule"), ("num", "golds"), ("num", "allowed"), ("num", "not checked")], &rows)
}

fn item(item: &AuditedItem) -> String {
    let question = item.question.as_deref().unwrap_or_default();
    let findings: String = item.audit.findings.iter().map(finding).collect();
    format!(
        "<article><h3>{} <small class=\"soft\">{} · {}</small></h3>\n<p>{}</p>\n<pre class=\"sql\">{}</pre>\n{findings}</article>\n",
        escape(&item.id),
        escape(&item.db_id),
        share(item),
        escape(question),
        escape(&item.sql)
    )
}

fn finding(finding: &Finding) -> String {
    let (rule, standing) = (finding.rule, finding.standing.name());
    let mut text = format!(
        "<p><strong>{rule}</strong> <span class=\"soft\">{standing}</span> {}</p>\n",
        escape(&finding.why)
    );
    text.extend(finding.evidence.as_ref().map(evidence));
    if let Some(rewrite) = &finding.rewrite {
        let verdict = rewrite.verdict.as_deref().map(verified).unwrap_or_default();
        let sql = escape(&rewrite.sql);
        text +=
            &[format!("<p>Proposal{}:</p>\n", escape(&verdict)), format!("<pre class=\"sql\">{sql}</pre>\n")]
                .concat();
    }
    text
}

/// What `verify` says of a proposal, for people.
fn verified(verdict: &str) -> String {
    match verdict {
        "different" => ", whose result differs from the gold's on a database that verify gives".to_owned(),
        other => format!(", verify says {other}"),
    }
}

fn evidence(evidence: &Evidence) -> String {
    let header: Vec<(&str, &str)> = evidence.columns.iter().map(|name| ("", name.as_str())).collect();
    let row = |row: &Vec<String>| {
        let cells: String = row.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = evidence.rows.iter().map(row).collect();
    let more = match evidence.left_out {
        0 => String::new(),
        more => format!("<p class=\"soft\">… {more} more</p>\n"),
    };
    format!("<p class=\"soft\">{}</p>\n{}{more}", escape(&evidence.title), table("", &header, &rows))
}

fn allowed(audit: &BenchmarkAudit) -> String {
    let all =
        audit.items.iter().flat_map(|item| item.audit.allowed.iter().map(move |allowed| (item, allowed)));
    let line = |(item, allowed): (&AuditedItem, &crate::report::AllowedFinding)| {
        format!("<li>{} on {}: {}</li>\n", allowed.finding.rule, escape(&item.id), escape(&allowed.reason))
    };
    let lines: String = all.map(line).collect();
    if lines.is_empty() {
        return lines;
    }
    section("allowed", "Allowed", "with the reason", &format!("<ul>\n{lines}</ul>\n"))
}
