//! # A gold that returns nothing
//!
//! ## What it finds
//! A gold that returns no row, or a single row of NULLs, on a database with rows.
//!
//! ## Why it matters
//! Any query with an impossible condition scores like a right answer, so the item cannot tell systems apart;
//! often a literal is misspelt.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player WHERE name = 'ana'   -- the player is called Ana
//! ```
//!
//! ## When it is no defect
//! The question has no answer in the data on purpose, as "which clubs have no player?" may.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_engine::Value;

use crate::item::AuditItem;

pub(super) static RULE: AuditRule = AuditRule {
    name: "empty-result",
    summary: "the gold returns no row, or one NULL",
    needs: Needs::Rows,
    standing: RuleStanding::Likely,
    check: Check::of_item(check),
    cases: CASES,
    source: include_str!("empty_result.rs"),
};

fn check(item: &AuditItem<'_>, findings: &mut Findings) {
    let Some(rows) = item.rows(findings) else { return };
    if rows.is_empty() {
        findings.report("the gold returns no row");
    } else if rows.len() == 1 && rows.values().iter().all(|value| matches!(value, Value::Null)) {
        findings.report("the gold returns one row of NULL");
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE name = 'ana'").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT MAX(goals) FROM player WHERE id > 9"),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM player WHERE id > 9"),
    AuditCase::silent(CLUBS, "SELECT goals FROM player WHERE id >= 4 - 1"),
];
