//! # A condition that is always true or always false
//!
//! ## What it finds
//! A comparison with NULL by `=`, two different values demanded of one column at once, a comparison of constants.
//!
//! ## Why it matters
//! A condition that is never true makes every query with an empty result right; one that is always true is not
//! the condition that the question states.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player WHERE goals = NULL   -- IS NULL
//! ```
//!
//! ## When it is no defect
//! The constants stand for what a program puts in their place.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::derive::conjuncts;
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal};

use crate::item::AuditSubject;
use crate::walk::scopes;

pub(super) static RULE: AuditRule = AuditRule {
    name: "constant-condition",
    summary: "a condition cannot be true, or cannot be false",
    needs: Needs::Schema,
    standing: RuleStanding::Certain,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("constant_condition.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        for expr in [scope.exprs(), scope.conditions()].concat() {
            if let Expr::Binary(operator, left, right) = expr
                && operator.is_comparison()
                && !matches!(operator, BinaryOperator::Is | BinaryOperator::IsNot)
                && [left, right].iter().any(|side| matches!(***side, Expr::Literal(Literal::Null)))
            {
                findings.report(format!("{} is never true: nothing equals NULL", subject.text(expr)));
            }
        }
        let conjuncts = conjuncts(scope.select);
        contradictions(subject, &conjuncts, findings);
        for condition in conjuncts {
            if let Expr::Binary(operator, left, right) = condition
                && operator.is_comparison()
                && is_constant(left)
                && is_constant(right)
            {
                findings.report(format!("{} compares constants", subject.text(condition)));
            }
        }
    }
}

/// A constant other than NULL, of which more is said.
fn is_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(value) if *value != Literal::Null)
}

/// The column and the constant that an equality demands of it.
fn demanded(expr: &Expr) -> Option<(&Expr, &Literal)> {
    let Expr::Binary(BinaryOperator::Equal, left, right) = expr else { return None };
    match (&**left, &**right) {
        (column @ Expr::Column(_), Expr::Literal(value))
        | (Expr::Literal(value), column @ Expr::Column(_)) => Some((column, value)),
        _ => None,
    }
}

fn contradictions(subject: &AuditSubject<'_>, conjuncts: &[&Expr], findings: &mut Findings) {
    let demands: Vec<_> = conjuncts.iter().filter_map(|expr| demanded(expr)).collect();
    for (at, (column, value)) in demands.iter().enumerate() {
        let same_class = |other: &Literal| std::mem::discriminant(other) == std::mem::discriminant(*value);
        if demands[..at].iter().any(|(other, first)| other == column && first != value && same_class(first)) {
            findings.report(format!("{} is to have two values at once", subject.text(column)));
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE goals = NULL").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM club WHERE city = 'Lisbon' AND city = 'Porto'"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals IS NULL"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals > 1"),
    AuditCase::silent(CLUBS, "SELECT name FROM club WHERE city = 'Lisbon' OR city = 'Porto'"),
];
