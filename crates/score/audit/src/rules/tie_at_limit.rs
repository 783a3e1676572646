//! # A tie at a LIMIT
//!
//! ## What it finds
//! ORDER BY … LIMIT n where the data have a tie: row n and row n + 1 agree on every sort key and differ in what
//! is returned.
//!
//! ## Why it matters
//! SQLite may return any of the tied rows. A prediction that takes another one, or all of them, is as right.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player ORDER BY goals DESC LIMIT 1   -- two players have 10 goals
//! ```
//!
//! ## When it is no defect
//! The question asks for any one of them.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_engine::{ResultSet, Value};
use sqlgauge_sql::tree::{Expr, Literal};
use sqlgauge_sql::{Ordered, ordered};

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::{scopes, whole};

/// Rows beyond the limit that are read.
const BEYOND: i64 = 20;

pub(super) static RULE: AuditRule = AuditRule {
    name: "tie-at-limit",
    summary: "the rows on both sides of a LIMIT have the same sort key",
    needs: Needs::Rows,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("tie_at_limit.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        let Some(limit) =
            scope.query.limit.as_ref().and_then(whole).filter(|limit| (1..10_000).contains(limit))
        else {
            continue;
        };
        if !scope.is_whole() || scope.query.order_by.is_empty() {
            continue;
        }
        let Some(mut ordered) = ordered(scope.query) else { continue };
        if ordered.keys.len() < scope.query.order_by.len() {
            findings.unchecked("DISTINCT rows are sorted by what they do not return");
            continue;
        }
        ordered.query.limit = Some(Expr::Literal(Literal::Integer(limit + BEYOND)));
        let Some(rows) = subject.run(&ordered.query, findings) else { continue };
        report(limit, &ordered, &rows, findings);
    }
}

fn report(limit: i64, ordered: &Ordered, rows: &ResultSet, findings: &mut Findings) {
    let Some((last, next)) =
        usize::try_from(limit).ok().and_then(|at| Some((rows.row(at - 1)?, rows.row(at)?)))
    else {
        return;
    };
    let same_key = |row: &[Value]| ordered.keys.iter().all(|&key| row.get(key) == last.get(key));
    if !same_key(next) {
        return;
    }
    let tied: Vec<&[Value]> = rows.rows().filter(|row| same_key(row)).collect();
    let Some((first, others)) = tied.split_first() else { return };
    if others.iter().all(|row| row[..ordered.width] == first[..ordered.width]) {
        return;
    }
    let why =
        format!("rows on both sides of LIMIT {limit} have the same sort key, so any of them may be returned");
    findings.report_with(why, Evidence::of_rows("tied rows", &rows.columns, tied));
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player ORDER BY goals DESC LIMIT 1").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT title FROM award ORDER BY year LIMIT 1"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY goals DESC, name LIMIT 1"),
    AuditCase::silent(CLUBS, "SELECT goals FROM player ORDER BY goals DESC LIMIT 1"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY goals DESC LIMIT 2"),
];
