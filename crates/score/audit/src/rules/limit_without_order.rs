//! # LIMIT without ORDER BY
//!
//! ## What it finds
//! A gold that returns some of its rows, and nothing says which. With rows at hand, only where LIMIT cuts some off.
//!
//! ## Why it matters
//! Another plan of the same query returns other rows, and so does a prediction that is as right.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player LIMIT 2
//! ```
//!
//! ## When it is no defect
//! The question asks for any of them, and every permitted result is accepted.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, EMPTY, Needs, RuleStanding};
use sqlgauge_sql::derive::{Dependencies, is_aggregate_select};
use sqlgauge_sql::tree::{Expr, Literal, Query};

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::{scopes, whole};

pub(super) static RULE: AuditRule = AuditRule {
    name: "limit-without-order",
    summary: "LIMIT without ORDER BY: nothing says which rows are kept",
    needs: Needs::Schema,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("limit_without_order.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let query = subject.query;
    let limit = query.limit.as_ref().and_then(whole).filter(|limit| *limit > 0);
    let Some(limit) = limit.filter(|_| query.order_by.is_empty() && !returns_one_row(subject)) else {
        return;
    };
    let why = format!("LIMIT {limit} takes some of the rows, and no ORDER BY says which");
    if !subject.item.data.has_rows() {
        findings.report(why);
        return;
    }
    let mut longer: Query = query.clone();
    longer.limit = Some(Expr::Literal(Literal::Integer(limit.saturating_add(1))));
    let Some(rows) = subject.run(&longer, findings) else { return };
    let is_cut = usize::try_from(limit).is_ok_and(|limit| rows.len() > limit);
    if is_cut && rows.rows().any(|row| Some(row) != rows.row(0)) {
        findings
            .report_with(why, Evidence::of(format!("rows with LIMIT {}", limit.saturating_add(1)), &rows));
    }
}

/// Whether there is at most one row before LIMIT.
fn returns_one_row(subject: &AuditSubject<'_>) -> bool {
    scopes(subject.query).into_iter().filter(|scope| scope.is_outermost).any(|scope| {
        (is_aggregate_select(scope.select) && scope.select.group_by.is_empty())
            || Dependencies::of(scope.select, &subject.facts).closure(&[]).is_complete()
    })
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player LIMIT 2").of_benchmark(),
    AuditCase::fires(EMPTY, "SELECT name FROM player WHERE goals = 7 LIMIT 1"),
    AuditCase::silent(CLUBS, "SELECT name FROM player LIMIT 4"),
    AuditCase::silent(EMPTY, "SELECT name FROM player ORDER BY id LIMIT 2"),
    AuditCase::silent(EMPTY, "SELECT COUNT(*) FROM player LIMIT 1"),
    AuditCase::silent(EMPTY, "SELECT name FROM player WHERE id = 7 LIMIT 1"),
];
