//! # ORDER BY or LIMIT on a single row
//!
//! ## What it finds
//! A SELECT with an aggregate and without GROUP BY that has ORDER BY or LIMIT.
//!
//! ## Why it matters
//! It returns one row whatever the order, so the order that the question asks for is lost: the aggregate is over
//! all rows and not over the first.
//!
//! ## Example
//! ```sql
//! SELECT COUNT(id) FROM player ORDER BY goals DESC LIMIT 1
//! ```
//!
//! ## When it is no defect
//! LIMIT 1 alone is a habit without effect; the rule is silent then.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::derive::is_aggregate_select;

use crate::item::AuditSubject;
use crate::walk::scopes;

pub(super) static RULE: AuditRule = AuditRule {
    name: "limit-on-one-row",
    summary: "an aggregate without GROUP BY is sorted or limited",
    needs: Needs::Schema,
    standing: RuleStanding::Certain,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("limit_on_one_row.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        let is_one_row = scope.select.group_by.is_empty() && is_aggregate_select(scope.select);
        let mut terms = scope.query.order_by.iter().map(|term| &term.expr);
        let is_bare = |expr: &sqlgauge_sql::tree::Expr| {
            !sqlgauge_sql::derive::has_aggregate(expr) && !matches!(expr, sqlgauge_sql::tree::Expr::Output(_))
        };
        if scope.is_whole() && is_one_row && terms.any(is_bare) {
            findings.report("ORDER BY sorts the single row of an aggregate over all rows");
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT COUNT(id) FROM player ORDER BY goals DESC LIMIT 1").of_benchmark(),
    AuditCase::silent(CLUBS, "SELECT COUNT(id) FROM player LIMIT 1"),
    AuditCase::silent(
        CLUBS,
        "SELECT club_id, COUNT(id) FROM player GROUP BY club_id ORDER BY club_id LIMIT 1",
    ),
];
