//! # OR beside AND without parentheses
//!
//! ## What it finds
//! `a AND c = 1 OR c = 2`, or `c = 1 OR c = 2 AND a`: alternatives about the same column, of which only one stands under the other
//! conditions.
//!
//! ## Why it matters
//! AND binds closer than OR, so one of the alternatives need not fulfil `a`.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player WHERE goals > 7 AND club_id = 1 OR club_id = 2
//! ```
//!
//! ## When it is no defect
//! The query means it so: the question names the second group without the other condition.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::tree::{ColumnRef, Expr, Query};
use sqlgauge_sql::visit::change_exprs;

use crate::item::AuditSubject;
use crate::walk::scopes;

pub(super) static RULE: AuditRule = AuditRule {
    name: "or-beside-and",
    summary: "OR beside AND: one alternative lacks the conditions of the other",
    needs: Needs::Schema,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("or_beside_and.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        let condition = scope.select.filter.as_ref().filter(|condition| grouped(condition).is_some());
        if let Some(condition) = condition {
            let mut query: Query = subject.query.clone();
            change_exprs(&mut query, |expr| {
                if let Some(other) = grouped(expr) {
                    *expr = other;
                }
            });
            let why = format!(
                "in {} one alternative stands without the conditions of the other",
                subject.text(condition)
            );
            findings.propose(why, None, subject.print(&query));
        }
    }
}

/// The column that a condition compares with a constant.
fn compared(expr: &Expr) -> Option<ColumnRef> {
    match expr {
        Expr::Binary(operator, left, right) if operator.is_comparison() => match (&**left, &**right) {
            (Expr::Column(column), Expr::Literal(_)) => Some(*column),
            _ => None,
        },
        Expr::Like { expr, negated: false, .. } | Expr::IsNull { expr, negated: false } => match &**expr {
            Expr::Column(column) => Some(*column),
            _ => None,
        },
        _ => None,
    }
}

/// `a AND (c = 1 OR c = 2)` of `a AND c = 1 OR c = 2` and of `c = 1 OR c = 2 AND a`.
fn grouped(expr: &Expr) -> Option<Expr> {
    let Expr::Or(sides) = expr else { return None };
    let [first, last] = sides.as_slice() else { return None };
    let (end, before) = match first {
        Expr::And(parts) => parts.split_last()?,
        single => (single, [].as_slice()),
    };
    let (alternative, rest) = match last {
        Expr::And(parts) => parts.split_first()?,
        single => (single, [].as_slice()),
    };
    if before.is_empty() && rest.is_empty() {
        return None;
    }
    let column = compared(alternative)?;
    let repeats = |other: &Expr| compared(other) == Some(column);
    if compared(end) != Some(column) || before.iter().chain(rest).any(repeats) {
        return None;
    }
    // A condition that both sides state is meant for both.
    if rest.iter().any(|condition| before.iter().any(|other| same_column(condition, other))) {
        return None;
    }
    let mut all = before.to_vec();
    all.push(Expr::Or(vec![end.clone(), alternative.clone()]));
    all.extend(rest.iter().cloned());
    Some(Expr::And(all))
}

fn same_column(one: &Expr, other: &Expr) -> bool {
    compared(one).is_some_and(|column| compared(other) == Some(column))
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE goals > 7 AND club_id = 1 OR club_id = 2")
        .of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE goals < 8 OR goals >= 10 AND club_id = 1"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals < 8 OR goals > 9"),
    AuditCase::silent(
        CLUBS,
        "SELECT name FROM player WHERE club_id = 1 AND goals > 7 AND goals < 9 OR goals > 11",
    ),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals > 7 AND (club_id = 1 OR club_id = 2)"),
    AuditCase::silent(
        CLUBS,
        "SELECT name FROM player WHERE goals = 7 AND club_id = 1 OR goals = 8 AND club_id = 2",
    ),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals > 7 AND club_id = 1 OR name = 'Dua'"),
];
