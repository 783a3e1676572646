//! # An aggregate over a constant text
//!
//! ## What it finds
//! COUNT, SUM, AVG, MIN or MAX of a text in quotes, by which a column was meant.
//!
//! ## Why it matters
//! `COUNT(DISTINCT 'voice-actor')` is 1 whatever the rows.
//!
//! ## Example
//! ```sql
//! SELECT COUNT(DISTINCT 'name') FROM player
//! ```
//!
//! ## When it is no defect
//! Never.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::tree::{Expr, Literal};

use crate::item::AuditSubject;
use crate::walk::scopes;

pub(super) static RULE: AuditRule = AuditRule {
    name: "constant-aggregated",
    summary: "an aggregate takes a text, and there is a column of that name",
    needs: Needs::Schema,
    standing: RuleStanding::Certain,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("constant_aggregated.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for expr in scopes(subject.query).iter().flat_map(crate::walk::Scope::exprs) {
        if let Expr::Aggregate(call) = expr
            && let [Expr::Literal(Literal::Text(text))] = call.args.as_slice()
        {
            findings.report(format!("{} is over the text '{text}' and over no column", subject.text(expr)));
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT COUNT(DISTINCT 'name') FROM player").of_benchmark(),
    AuditCase::silent(CLUBS, "SELECT COUNT(DISTINCT name) FROM player"),
    AuditCase::silent(CLUBS, "SELECT COUNT(1) FROM player"),
];
