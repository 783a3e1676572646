//! # An extreme value that is taken by LIMIT 1
//!
//! ## What it finds
//! ORDER BY … LIMIT 1 by a key that the schema lets several rows share, where no rows are at hand. With rows,
//! `tie-at-limit` says whether the data have a tie, and this rule is silent.
//!
//! ## Why it matters
//! Where several rows have the extreme value, LIMIT 1 returns one of them, and a prediction that returns all is
//! marked wrong. People who correct benchmarks often write `= (SELECT MAX(…))` instead.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player ORDER BY goals DESC LIMIT 1
//! ```
//!
//! ## When it is no defect
//! The data have one such row, or the question asks for any one of them.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, EMPTY, Needs, RuleStanding};
use sqlgauge_sql::derive::Dependencies;
use sqlgauge_sql::tree::Expr;

use crate::item::AuditSubject;
use crate::walk::{scopes, whole};

pub(super) static RULE: AuditRule = AuditRule {
    name: "tie-possible-at-limit",
    summary: "the extreme row is taken by LIMIT 1, and the schema does not rule out a tie",
    needs: Needs::Schema,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("tie_possible_at_limit.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    if subject.item.data.has_rows() {
        return;
    }
    for scope in scopes(subject.query) {
        let query = scope.query;
        let is_first = query.limit.as_ref().and_then(whole) == Some(1) && !query.order_by.is_empty();
        if !scope.is_outermost || !is_first || scope.relations().is_empty() {
            continue;
        }
        let keys: Vec<Expr> = query.order_by.iter().filter_map(|term| key(subject, &term.expr)).collect();
        let fixed = Dependencies::of(scope.select, &subject.facts).closure(&keys);
        let is_grouped = !scope.select.group_by.is_empty();
        let is_fixed = if is_grouped {
            scope.select.group_by.iter().all(|group| fixed.determines(group))
        } else {
            fixed.is_complete()
        };
        let returns_key = scope.select.outputs.iter().all(|output| keys.contains(&output.expr));
        if !is_fixed && !returns_key {
            findings
                .report("LIMIT 1 returns one row of those with the extreme value, and several may have it");
        }
    }
}

/// What a term sorts by.
fn key(subject: &AuditSubject<'_>, term: &Expr) -> Option<Expr> {
    match term {
        Expr::Output(at) => Some(subject.query.outputs()?.get(*at as usize)?.expr.clone()),
        other => Some(other.clone()),
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(EMPTY, "SELECT name FROM player ORDER BY goals DESC LIMIT 1").of_benchmark(),
    AuditCase::fires(EMPTY, "SELECT club_id FROM player GROUP BY club_id ORDER BY COUNT(*) DESC LIMIT 1"),
    AuditCase::silent(EMPTY, "SELECT name FROM player ORDER BY id DESC LIMIT 1"),
    AuditCase::silent(EMPTY, "SELECT goals FROM player ORDER BY goals DESC LIMIT 1"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY goals DESC LIMIT 1"),
];
