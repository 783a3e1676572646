//! # OR beside AND without parentheses
//!
//! ## What it finds
//! `a AND c = 1 OR c = 2`: an alternative about the same column as the last condition of the AND before it, which
//! AND then does not narrow.
//!
//! ## Why it matters
//! AND binds closer than OR, so the rows with `c = 2` need not fulfil `a`.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player WHERE goals > 7 AND club_id = 1 OR club_id = 2
//! ```
//!
//! ## When it is no defect
//! The query means it so: the question names the second group without the other condition.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditMeta, AuditRule, CLUBS, Needs, RuleStanding};
use sqlgauge_sql::tree::{BinaryOperator, ColumnRef, Expr, Query};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};

use crate::item::AuditSubject;
use crate::walk::scopes;

pub(super) struct OrBesideAnd;

static META: AuditMeta = AuditMeta {
    name: "or-beside-and",
    summary: "an OR takes a row that fulfils none of the conditions before it",
    needs: Needs::Schema,
    standing: RuleStanding::Likely,
    cases: CASES,
    source: include_str!("or_beside_and.rs"),
};

impl AuditRule for OrBesideAnd {
    fn meta(&self) -> &'static AuditMeta {
        &META
    }

    fn check(&self, subject: &AuditSubject<'_>, findings: &mut Findings) {
        for scope in scopes(subject.query) {
            let condition = scope.select.filter.as_ref().filter(|condition| grouped(condition).is_some());
            if let Some(condition) = condition {
                let mut query: Query = subject.query.clone();
                rewrite_query(&mut Grouped, &mut query);
                let why = format!(
                    "in {} the last alternative stands without the conditions before it",
                    subject.text(condition)
                );
                findings.propose(why, None, subject.print(&query));
            }
        }
    }
}

/// The column that a condition compares with a constant.
fn compared(expr: &Expr) -> Option<ColumnRef> {
    match expr {
        Expr::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
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

/// `a AND (c = 1 OR c = 2)` of `a AND c = 1 OR c = 2`, and of the same with more conditions after the last.
fn grouped(expr: &Expr) -> Option<Expr> {
    let Expr::Or(sides) = expr else { return None };
    let [Expr::And(first), last] = sides.as_slice() else { return None };
    let (alternative, rest) = match last {
        Expr::And(more) => more.split_first()?,
        single => (single, [].as_slice()),
    };
    let (end, before) = first.split_last()?;
    let column = compared(alternative)?;
    let repeats = |other: &Expr| compared(other) == Some(column);
    if compared(end) != Some(column) || before.iter().chain(rest).any(repeats) {
        return None;
    }
    // A condition that both sides state is meant for both.
    if rest.iter().any(|own| before.iter().any(|other| same_column(own, other))) {
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

struct Grouped;

impl Rewriter for Grouped {
    fn expr(&mut self, expr: &mut Expr) {
        if let Some(other) = grouped(expr) {
            *expr = other;
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE goals > 7 AND club_id = 1 OR club_id = 2")
        .from_benchmark(),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals > 7 AND (club_id = 1 OR club_id = 2)"),
    AuditCase::silent(
        CLUBS,
        "SELECT name FROM player WHERE goals = 7 AND club_id = 1 OR goals = 8 AND club_id = 2",
    ),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals > 7 AND club_id = 1 OR name = 'Dua'"),
];
