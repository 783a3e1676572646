//! # A value that the question does not name
//!
//! ## What it finds
//! A text in a condition of which neither the question nor the evidence of the benchmark has a word.
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
//! The text is a code for what the question says: 'M' for men.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditMeta, AuditRule, CLUBS, Needs, RuleStanding};
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal};

use crate::item::AuditSubject;
use crate::walk::scopes;

/// From how many letters on a text is no code.
const LONG: usize = 4;

pub(super) struct LiteralNotAsked;

static META: AuditMeta = AuditMeta {
    name: "literal-not-asked",
    summary: "a condition compares with a text that neither question nor evidence has",
    needs: Needs::Question,
    standing: RuleStanding::Likely,
    cases: CASES,
    source: include_str!("literal_not_asked.rs"),
};

impl AuditRule for LiteralNotAsked {
    fn meta(&self) -> &'static AuditMeta {
        &META
    }

    fn check(&self, subject: &AuditSubject<'_>, findings: &mut Findings) {
        let mut literals = Vec::new();
        for scope in scopes(subject.query) {
            for expr in [scope.exprs(), scope.conditions()].concat() {
                match expr {
                    Expr::Binary(BinaryOperator::Equal, left, right) => {
                        literals.extend([(&**left, &**right), (&**right, &**left)]);
                    }
                    Expr::InList { expr, list, .. } => {
                        literals.extend(list.iter().map(|value| (&**expr, value)));
                    }
                    _ => {}
                }
            }
        }
        let texts: Vec<_> = literals
            .into_iter()
            .filter_map(|(column, value)| match value {
                Expr::Literal(Literal::Text(text)) => subject.as_column(column).map(|(own, ..)| (own, text)),
                _ => None,
            })
            .filter(|(_, text)| text.chars().filter(|c| c.is_alphabetic()).count() >= LONG)
            .collect();
        if texts.is_empty() || subject.item.words(findings).is_none() {
            return;
        }
        let known = subject.item.all_words();
        for (column, text) in texts {
            if !known.mentions(text) && !known.mentions_words_of(text) {
                findings.report(format!(
                    "neither question nor evidence has '{text}', which {} is compared with",
                    subject.name(column)
                ));
            }
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM club WHERE city = 'Porto'")
        .asked("Which clubs are in Lisbon?")
        .from_benchmark(),
    AuditCase::silent(CLUBS, "SELECT name FROM club WHERE city = 'Lisbon'")
        .asked("Which clubs are in Lisbon?"),
    AuditCase::silent(CLUBS, "SELECT name FROM club WHERE city = 'M'").asked("Which clubs are for men?"),
];
