//! # A value of the evidence that the gold does not have
//!
//! ## What it finds
//! Evidence with a comparison (`status = 'C'`, `year > 2010`) whose text or number stands nowhere in the gold, and a comparison of the
//! same column and value by another operator.
//!
//! ## Why it matters
//! The gold filters by something else than the benchmark means.
//!
//! ## Example
//! ```sql
//! SELECT title FROM award WHERE year = 2011   -- evidence: "year = 2010"
//! ```
//!
//! ## When it is no defect
//! The evidence explains more than the question needs, or the gold says the same by another column.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditMeta, AuditRule, CLUBS, Needs, RuleStanding};
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal};

use crate::evidence::{Stated, comparisons};
use crate::item::AuditSubject;
use crate::walk::{all_exprs, number};
use crate::words::Words;

pub(super) struct EvidenceValueUnused;

static META: AuditMeta = AuditMeta {
    name: "evidence-value-unused",
    summary: "the evidence compares with a value, and the gold does not",
    needs: Needs::Evidence,
    standing: RuleStanding::Likely,
    cases: CASES,
    source: include_str!("evidence_value_unused.rs"),
};

impl AuditRule for EvidenceValueUnused {
    fn meta(&self) -> &'static AuditMeta {
        &META
    }

    fn check(&self, subject: &AuditSubject<'_>, findings: &mut Findings) {
        let Some(evidence) = subject.item.evidence(findings) else { return };
        let stated = comparisons(evidence);
        let words = Words::of(subject.item.sql);
        let exprs = all_exprs(subject.query);
        for own in &stated {
            let has_it = if own.is_number {
                numbers(subject.item.sql).any(|other| Some(other) == own.value.parse().ok())
            } else {
                words.mentions(own.value)
            };
            if !has_it {
                let Stated { column, operator, value, .. } = own;
                findings.report(format!(
                    "the evidence says {column} {operator} {value}, and the gold does not have {value}"
                ));
            }
        }
        for expr in exprs {
            let Expr::Binary(operator, left, right) = expr else { continue };
            let Some((_, _, column)) = subject.as_column(left) else { continue };
            let same: Vec<&Stated<'_>> = stated
                .iter()
                .filter(|own| own.column.eq_ignore_ascii_case(&column.name) && is_value(right, own))
                .collect();
            if let (Some(used), Some(first)) = (sign(*operator), same.first())
                && !same.iter().any(|own| is_sign(&own.operator, used))
            {
                findings.report(format!(
                    "the evidence says {} {} {}, and the gold compares by {used}",
                    first.column, first.operator, first.value
                ));
            }
        }
    }
}

/// The numbers of a text.
fn numbers(text: &str) -> impl Iterator<Item = f64> + '_ {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .filter_map(|part| part.trim_matches('.').parse().ok())
}

fn is_value(expr: &Expr, stated: &Stated<'_>) -> bool {
    match expr {
        Expr::Literal(Literal::Text(text)) => text == stated.value,
        other => number(other).is_some() && number(other) == stated.value.parse().ok(),
    }
}

/// An operator that compares, as the evidence writes it.
fn sign(operator: BinaryOperator) -> Option<&'static str> {
    Some(match operator {
        BinaryOperator::Equal => "=",
        BinaryOperator::NotEqual => "!=",
        BinaryOperator::Less => "<",
        BinaryOperator::LessEqual => "<=",
        BinaryOperator::Greater => ">",
        BinaryOperator::GreaterEqual => ">=",
        _ => return None,
    })
}

fn is_sign(stated: &str, used: &str) -> bool {
    stated == used || matches!((stated, used), ("<>", "!=") | ("==", "=") | ("=<", "<=") | ("=>", ">="))
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT title FROM award WHERE year = 2011")
        .hinted("then refers to year = 2010")
        .from_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM club WHERE city = 'Porto'")
        .hinted("the capital refers to city = 'Lisbon'"),
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE goals > 7").hinted("good refers to goals >= 7"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals >= 7").hinted("good refers to goals > = 7"),
    AuditCase::silent(CLUBS, "SELECT name FROM club WHERE city LIKE 'Lisbon%'")
        .hinted("the capital refers to city = 'Lisbon'"),
    AuditCase::silent(CLUBS, "SELECT AVG(goals) FROM player").hinted("mean = SUM(goals) / COUNT(id)"),
];
