//! # A gold that does not run
//!
//! ## What it finds
//! A gold that the database refuses, or that does not end within the limits.
//!
//! ## Why it matters
//! No prediction can be right for it under an execution metric, so the item counts against every system, or is
//! left out without a word.
//!
//! ## Example
//! ```sql
//! SELECT nam FROM club   -- the column is called name
//! ```
//!
//! ## When it is no defect
//! The gold is written for another engine, or its database is not the one at hand. A gold that only takes long
//! ends with a higher `--timeout`.

use crate::finding::Findings;
use crate::item::AuditItem;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};

pub(super) static RULE: AuditRule = AuditRule {
    name: "does-not-run",
    summary: "the gold fails on its database",
    needs: Needs::Schema,
    standing: RuleStanding::Certain,
    check: Check::of_item(check),
    cases: CASES,
    source: include_str!("does_not_run.rs"),
};

fn check(item: &AuditItem<'_>, findings: &mut Findings) {
    if let Some(failure) = item.gold.outcome.failure() {
        findings.report(format!("the gold does not run: {failure}"));
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT nam FROM club").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM club WHERE"),
    AuditCase::silent(CLUBS, "SELECT name FROM club"),
];
