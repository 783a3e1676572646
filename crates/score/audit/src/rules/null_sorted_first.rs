//! # A NULL that sorts first
//!
//! ## What it finds
//! ORDER BY … LIMIT in ascending order whose first row has a NULL as its key. SQLite sorts NULL before every
//! value.
//!
//! ## Why it matters
//! The gold returns the row of which nothing is known instead of the one with the least value.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player ORDER BY goals LIMIT 1   -- the goals of Dua are not known
//! ```
//!
//! ## When it is no defect
//! NULL means "none" in that column, so that it is the least value.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_engine::Value;
use sqlgauge_sql::ordered;
use sqlgauge_sql::tree::{Body, Expr, Query};

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::scopes;

pub(super) static RULE: AuditRule = AuditRule {
    name: "null-sorted-first",
    summary: "the row that comes first is there because its sort key is NULL",
    needs: Needs::Rows,
    standing: RuleStanding::Certain,
    check: Check::of_query(check).only_in(&["sqlite", "mysql"]),
    cases: CASES,
    source: include_str!("null_sorted_first.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        let query = scope.query;
        let Some(term) = query.order_by.first().filter(|_| scope.is_whole() && query.limit.is_some()) else {
            continue;
        };
        if term.nulls_first.unwrap_or(!term.descending) && subject.facts.is_nullable(&term.expr) {
            let Some(ordered) = ordered(query) else { continue };
            let Some(rows) = subject.run(&ordered.query, findings) else { continue };
            let key = ordered.keys.first().copied().unwrap_or_default();
            if !matches!(rows.row(0).and_then(|row| row.get(key)), Some(Value::Null)) {
                continue;
            }
            let text = match &term.expr {
                Expr::Output(at) => query
                    .outputs()
                    .and_then(|all| all.get(*at as usize))
                    .map(|output| subject.text(&output.expr)),
                expr => Some(subject.text(expr)),
            };
            let why = format!(
                "the first row by {} has NULL there, which sorts before every value",
                text.unwrap_or_default()
            );
            let rewrite = if scope.is_outermost { without_null(query, &term.expr) } else { None };
            let rewrite = rewrite.and_then(|query| subject.print(&query));
            findings.propose(why, Some(Evidence::of("first rows", &rows)), rewrite);
        }
    }
}

/// The query without the rows whose key is NULL.
fn without_null(query: &Query, key: &Expr) -> Option<Query> {
    let mut query = query.clone();
    let Body::Select(select) = &mut query.body else { return None };
    let key = match key {
        Expr::Output(at) => select.outputs.get(*at as usize)?.expr.clone(),
        expr => expr.clone(),
    };
    if sqlgauge_sql::derive::has_aggregate(&key) || sqlgauge_sql::derive::has_window(&key) {
        return None;
    }
    let condition = Expr::IsNull { expr: Box::new(key), negated: true };
    select.filter = Some(match select.filter.take() {
        Some(Expr::And(mut list)) => {
            list.push(condition);
            Expr::And(list)
        }
        Some(other) => Expr::And(vec![other, condition]),
        None => condition,
    });
    Some(query)
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player ORDER BY goals LIMIT 1").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE club_id = 2 ORDER BY goals ASC LIMIT 1"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY goals DESC LIMIT 1"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals IS NOT NULL ORDER BY goals LIMIT 1"),
];
