//! # A literal spelled otherwise than the question
//!
//! ## What it finds
//! A text that a condition compares with `=` or IN, where question or evidence has the same letters in quotes, with other spaces or
//! punctuation.
//!
//! ## Why it matters
//! `=` compares every character, so the rows that are asked for do not fit.
//!
//! ## Example
//! ```sql
//! SELECT id FROM club WHERE name = 'Ajax , Amsterdam'   -- "How old is 'Ajax, Amsterdam'?"
//! ```
//!
//! ## When it is no defect
//! The rows have the spelling of the gold: with rows at hand, the rule looks.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, EMPTY, Needs, RuleStanding};
use sqlgauge_sql::tree::{ColumnRef, Expr, Literal};

use crate::evidence::quoted;
use crate::item::AuditSubject;
use crate::walk::{all_exprs, equalities};
use crate::words::packed;

pub(super) static RULE: AuditRule = AuditRule {
    name: "literal-spelled-otherwise",
    summary: "a condition spells a text differently from question and evidence (spaces, punctuation)",
    needs: Needs::Question,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("literal_spelled_otherwise.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let literals: Vec<(ColumnRef, &str)> = all_exprs(subject.query)
        .into_iter()
        .flat_map(equalities)
        .filter_map(|(column, value)| match value {
            Expr::Literal(Literal::Text(text)) => Some((subject.as_column(column)?.0, text.as_str())),
            _ => None,
        })
        .collect();
    if literals.is_empty() || subject.item.words(findings).is_none() {
        return;
    }
    let texts_of_question = format!(
        "{} {}",
        subject.item.question.unwrap_or_default(),
        subject.item.evidence.unwrap_or_default()
    );
    let texts = quoted(&texts_of_question);
    for (column, literal) in literals {
        let is_other = |text: &&&str| packed(text) == packed(literal) && !text.eq_ignore_ascii_case(literal);
        let Some(text) = texts.iter().find(is_other).filter(|_| packed(literal).len() > 1) else {
            continue;
        };
        if !texts_of_question.contains(literal) && !is_there(subject, column, literal) {
            findings.report(format!(
                "{} is compared with '{literal}', and the question has '{text}'",
                subject.name(column)
            ));
        }
    }
}

/// Whether a row has the literal, as far as rows are at hand.
fn is_there(subject: &AuditSubject<'_>, column: ColumnRef, literal: &str) -> bool {
    let Some((table, definition)) = subject.column(column).filter(|_| subject.item.data.has_rows()) else {
        return false;
    };
    subject.item.data.texts(table, definition).is_none_or(|texts| texts.iter().any(|text| text == literal))
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(EMPTY, "SELECT id FROM club WHERE name = 'Ajax , Amsterdam'")
        .asked("How old is 'Ajax, Amsterdam'?")
        .of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT id FROM club WHERE name IN ('Har bour', 'Forest')")
        .asked("Which clubs are the two?")
        .hinted("the two refer to name IN ('Harbour', 'Forest')"),
    AuditCase::silent(CLUBS, "SELECT id FROM club WHERE name = 'Harbour'").asked("How old is 'Har-bour'?"),
    AuditCase::silent(EMPTY, "SELECT id FROM club WHERE name = 'ajax'").asked("How old is 'Ajax'?"),
    AuditCase::silent(EMPTY, "SELECT id FROM club WHERE name = 'Ajax, Amsterdam'")
        .asked("How old is 'Ajax, Amsterdam'?"),
];
