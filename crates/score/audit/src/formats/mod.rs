//! The registry of formats. To add one: write its file, add it to [`all`].

mod jsonl;
mod pages;
mod sarif;

use std::io::{self, Write};

use sqlgauge_report::formats::TextTables;

use crate::report::BenchmarkAudit;

pub use jsonl::Jsonl;
pub use pages::{Html, Markdown, Terminal};
pub use sarif::Sarif;

/// One way to write what was found.
pub trait AuditFormat: Send + Sync {
    /// The name that a user types.
    fn name(&self) -> &'static str;

    /// Writes it.
    ///
    /// # Errors
    /// If `out` does not take the bytes.
    fn render(&self, audit: &BenchmarkAudit, out: &mut dyn Write) -> io::Result<()>;
}

/// Every format, for people first, then for programs.
pub fn all() -> &'static [&'static dyn AuditFormat] {
    &[&Terminal(TextTables { width: 120, colour: false }), &Html, &Markdown, &Jsonl, &Sarif]
}

pub fn find(name: &str) -> Option<&'static dyn AuditFormat> {
    all().iter().copied().find(|format| format.name() == name)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::finding::{Evidence, Finding, Proposal, Unchecked};
    use crate::report::{AllowedFinding, AuditedItem, ItemAudit};
    use crate::rule::RuleStanding;

    /// An audit with everything that a format must show, and with what must not be obeyed.
    pub(crate) fn sample() -> BenchmarkAudit {
        let finding = Finding {
            rule: "tie-at-limit",
            standing: RuleStanding::Likely,
            why: "the last row of LIMIT 1 ties <b>".to_owned(),
            evidence: Some(Evidence {
                title: "tied rows".to_owned(),
                columns: vec!["name".to_owned()],
                rows: vec![vec!["a|b".to_owned()]],
                left_out: 2,
            }),
            rewrite: Some(Proposal {
                sql: "SELECT 1".to_owned(),
                verdict: Some("different".to_owned()),
                difference: None,
            }),
        };
        let allowed =
            AllowedFinding { finding: finding.clone(), reason: "any is right".to_owned(), inline: true };
        let unchecked = Unchecked { rule: "empty-result", reason: "no rows".to_owned() };
        let item = |id: &str, findings: Vec<Finding>| AuditedItem {
            id: id.to_owned(),
            index: 0,
            gold: 0,
            db_id: "clubs".to_owned(),
            question: Some("Which <club> is oldest?".to_owned()),
            sql: "SELECT name FROM club\nLIMIT 1".to_owned(),
            audit: ItemAudit {
                findings,
                allowed: vec![allowed.clone()],
                unchecked: vec![unchecked.clone()],
                unresolved: None,
            },
        };
        BenchmarkAudit {
            source: "my golds/dev.json".to_owned(),
            questions: 40,
            rules: vec!["tie-at-limit", "empty-result"],
            items: vec![item("1", vec![finding.clone()]), item("2", Vec::new())],
        }
    }

    pub(crate) fn rendered(format: &dyn AuditFormat) -> String {
        let mut bytes = Vec::new();
        format.render(&sample(), &mut bytes).expect("memory takes bytes");
        String::from_utf8(bytes).expect("formats write UTF-8")
    }

    #[test]
    fn every_format_has_a_name_and_shows_finding_rows_rewrite_and_reason() {
        let mut names: Vec<_> = all().iter().map(|format| format.name()).collect();
        for format in all() {
            // SQL is coloured word by word on a page.
            let text = ["<span class=\"kw\">", "<span class=\"nu\">", "</span>"]
                .iter()
                .fold(rendered(*format), |text, tag| text.replace(tag, ""));
            for part in ["tie-at-limit", "the last row of LIMIT 1", "SELECT 1", "any is right"] {
                assert!(text.contains(part), "{}: {part} in {text}", format.name());
            }
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().len());
    }

    #[test]
    fn a_part_and_rules_that_did_not_run_are_said() {
        for format in [&Terminal(TextTables { width: 200, colour: false }) as &dyn AuditFormat, &Html] {
            let text = rendered(format);
            let head = "Audit of 2 of 40 questions of my golds/dev.json";
            for part in [head, "1 of 2 golds has a finding, by 1 of 1 rule", "Rules that did not run"] {
                assert!(text.contains(part), "{part} in {text}");
            }
        }
    }

    #[test]
    fn pages_do_not_obey_what_they_quote() {
        assert!(!rendered(&Html).contains("<b>") && !rendered(&Html).contains("<club>"));
        assert!(!rendered(&Markdown).contains(" a|b "));
    }
}
