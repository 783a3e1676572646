//! # A count for each group where one is asked for
//!
//! ## What it finds
//! A SELECT with GROUP BY whose only result columns are counts, without LIMIT, as the whole query.
//!
//! ## Why it matters
//! The numbers stand in no order and without a name, so nobody can tell whose they are. Often the number of
//! groups is meant.
//!
//! ## Example
//! ```sql
//! SELECT COUNT(*) FROM player GROUP BY club_id HAVING COUNT(*) > 1   -- how many clubs?
//! ```
//!
//! ## When it is no defect
//! The condition leaves one group.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::derive::Dependencies;
use sqlgauge_sql::tree::Expr;

use crate::item::AuditSubject;
use crate::walk::scopes;

pub(super) static RULE: AuditRule = AuditRule {
    name: "count-per-group",
    summary: "GROUP BY returns a count for each group without the group",
    needs: Needs::Schema,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("count_per_group.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let Some(scope) = scopes(subject.query).into_iter().find(|scope| scope.is_outermost) else { return };
    let select = scope.select;
    let is_count = |expr: &Expr| matches!(expr, Expr::Aggregate(call) if call.function == sqlgauge_sql::functions::Function::Count);
    if select.group_by.is_empty()
        || subject.query.limit.is_some()
        || !select.outputs.iter().all(|output| is_count(&output.expr))
    {
        return;
    }
    let fixed = Dependencies::of(select, &subject.facts).closure(&[]);
    if select.group_by.iter().all(|key| fixed.determines(key)) {
        return;
    }
    let several =
        subject.item.gold.rows().filter(|_| subject.item.data.has_rows()).map(|rows| rows.len() > 1);
    if several.unwrap_or(true) {
        findings.report("the gold returns a count for each group and not which group it is of");
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT COUNT(*) FROM player GROUP BY club_id HAVING COUNT(*) > 1")
        .asked("How many clubs have more than one player?")
        .of_benchmark(),
    AuditCase::silent(CLUBS, "SELECT club_id, COUNT(*) FROM player GROUP BY club_id"),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM player WHERE club_id = 1 GROUP BY club_id"),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM player GROUP BY club_id ORDER BY COUNT(*) DESC LIMIT 1"),
];
