//! # A value that the question does not name
//!
//! ## What it finds
//! A text that a condition compares with `=` or IN, of which neither the question nor the evidence of the benchmark has a word; and such a
//! number from 2 on that neither of them has.
//!
//! ## Why it matters
//! The gold is about something else than the question.
//!
//! ## Example
//! ```sql
//! SELECT name FROM club WHERE city = 'Porto'   -- "Which clubs are in Lisbon?"
//! ```
//!
//! ## When it is no defect
//! The value is a code for what the question says: 'M' for men.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::tree::{Expr, Literal};

use crate::item::AuditSubject;
use crate::walk::{all_exprs, equalities, whole};

/// From how many letters on a text is no code.
const LONG: usize = 4;

pub(super) static RULE: AuditRule = AuditRule {
    name: "literal-not-asked",
    summary: "a condition compares with a text or number that neither question nor evidence has",
    needs: Needs::Question,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("literal_not_asked.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let literals: Vec<_> = all_exprs(subject.query)
        .into_iter()
        .flat_map(equalities)
        .filter_map(|(column, value)| Some((subject.as_column(column)?.0, value)))
        .filter(|(_, value)| says_something(value))
        .collect();
    if literals.is_empty() || subject.item.words(findings).is_none() {
        return;
    }
    let words = subject.item.all_words();
    for (column, value) in literals {
        let is_known = match value {
            Expr::Literal(Literal::Text(text)) => words.mentions(text) || words.mentions_words_of(text),
            other => whole(other).is_none_or(|number| words.states(number)),
        };
        if !is_known {
            findings.report(format!(
                "neither question nor evidence has {}, which {} is compared with",
                subject.text(value),
                subject.name(column)
            ));
        }
    }
}

/// Whether a literal is no code: a text of some letters, or a number that is no truth value.
fn says_something(value: &Expr) -> bool {
    match value {
        Expr::Literal(Literal::Text(text)) => text.chars().filter(|c| c.is_alphabetic()).count() >= LONG,
        other => whole(other).is_some_and(|number| number > 1),
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM club WHERE city = 'Porto'")
        .asked("Which clubs are in Lisbon?")
        .of_benchmark(),
    AuditCase::silent(CLUBS, "SELECT name FROM club WHERE city = 'Lisbon'")
        .asked("Which clubs are in Lisbon?"),
    AuditCase::silent(CLUBS, "SELECT name FROM club WHERE city = 'M'").asked("Which clubs are for men?"),
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE club_id = 2").asked("Who plays for Forest?"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals = 2 AND club_id = 1")
        .asked("Who has the second goal?"),
    AuditCase::silent(CLUBS, "SELECT title FROM award WHERE year = 2010")
        .asked("Which awards are of the 2010s?"),
];
