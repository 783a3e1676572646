//! # A result that depends on the plan
//!
//! ## What it finds
//! A gold whose rows change when SQLite reads unordered rows in reverse. It may return either
//! result, and a new version, an index or another row order may choose the other.
//!
//! ## Why it matters
//! A right prediction is marked wrong because SQLite happened to read the rows in another order.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player WHERE goals = 10 LIMIT 1   -- there are two
//! ```
//!
//! ## When it is no defect
//! Never, unless the metric accepts each of the results.

use crate::finding::Evidence;
use crate::finding::Findings;
use crate::item::AuditItem;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};

pub(super) static RULE: AuditRule = AuditRule {
    name: "depends-on-plan",
    summary: "if SQLite reads the rows in reverse order, the gold returns other rows",
    needs: Needs::Rows,
    standing: RuleStanding::Certain,
    check: Check::of_item(check).only_in(&["sqlite"]),
    cases: CASES,
    source: include_str!("depends_on_plan.rs"),
};

fn check(item: &AuditItem<'_>, findings: &mut Findings) {
    let Some(rows) = item.rows(findings) else { return };
    if item.gold.depends_on.chance {
        return;
    }
    let turned = item.data.run_turned(item.sql);
    let Some(other) = turned.rows() else {
        findings.unchecked("the gold does not run with its rows in reverse order");
        return;
    };
    if rows.fingerprint() != other.fingerprint() {
        let new = other.rows().filter(|row| !rows.rows().any(|first| first == *row));
        let evidence = Evidence::of_rows("rows of the reversed run only", &other.columns, new);
        findings
            .report_with("if SQLite reads the rows in reverse order, the gold returns other rows", evidence);
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE goals = 10 LIMIT 1").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT id FROM club WHERE city = 'Lisbon' LIMIT 1"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals = 10"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY id LIMIT 1"),
];
