//! # A number of the question that the gold does not use
//!
//! ## What it finds
//! A number of two digits or more in the question, or a text in quotes, that the gold has in no form.
//!
//! ## Why it matters
//! A condition of the question is missing.
//!
//! ## Example
//! ```sql
//! SELECT title FROM award   -- "Which awards were won in 2010?"
//! ```
//!
//! ## When it is no defect
//! The evidence of the benchmark says otherwise what is meant, or the number is part of a name.

use crate::finding::Findings;
use crate::item::AuditSubject;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use crate::words::Words;

pub(super) static RULE: AuditRule = AuditRule {
    name: "value-not-used",
    summary: "the question states a number that the gold does not have",
    needs: Needs::Question,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("value_not_used.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let Some(words) = subject.item.words(findings) else { return };
    let question = subject.item.question.unwrap_or_default();
    let sql = Words::of(subject.item.sql);
    let evidence = Words::of(subject.item.evidence.unwrap_or_default());
    let numbers = words.numbers().into_iter().filter(|number| *number >= 10).map(|number| number.to_string());
    for value in numbers.chain(quoted(question)) {
        if !sql.mentions(&value) && !evidence.mentions(&value) {
            findings.report(format!("the question states {value}, which the gold does not have"));
        }
    }
}

/// The texts in double quotes.
fn quoted(question: &str) -> impl Iterator<Item = String> + '_ {
    let even: Vec<&str> = question.split(['"', '“', '”']).collect();
    let count = even.len();
    let inner = even.into_iter().skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    inner.into_iter().filter(move |text| count % 2 == 1 && text.len() > 1)
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT title FROM award").asked("Which awards were won in 2010?").of_benchmark(),
    AuditCase::silent(CLUBS, "SELECT title FROM award WHERE year = 2010")
        .asked("Which awards were won in 2010?"),
    AuditCase::silent(CLUBS, "SELECT title FROM award WHERE year = 2010 AND title = 'Boot'")
        .asked("Was \"Boot\" won in 2010?"),
];
