//! # A column of the evidence that the gold does not read
//!
//! ## What it finds
//! Evidence that names a column of the schema ("salary refers to `wage`", `MAX(goals)`, `year = 2010`) which stands nowhere in the gold.
//!
//! ## Why it matters
//! The gold returns, filters or sorts by another column than the one that the benchmark means.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player WHERE id = 1   -- "What does player 1 earn?", evidence: "to earn refers to wage"
//! ```
//!
//! ## When it is no defect
//! The evidence explains more than the question needs, or the gold reads a column with the same values. The rule is silent about a column that
//! the evidence only counts, where the gold counts rows.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::Expr;

use crate::evidence::names;
use crate::item::AuditSubject;
use crate::walk::all_exprs;

pub(super) static RULE: AuditRule = AuditRule {
    name: "evidence-column-unused",
    summary: "the evidence names a column that the gold does not read",
    needs: Needs::Evidence,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("evidence_column_unused.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let Some(evidence) = subject.item.evidence(findings) else { return };
    let sql = subject.item.sql.to_lowercase();
    let counts = all_exprs(subject.query).into_iter().any(counts_rows);
    let mut seen: Vec<&str> = Vec::new();
    for column in subject.schema.tables().iter().flat_map(|table| &table.columns) {
        let is_new = !seen.iter().any(|other| other.eq_ignore_ascii_case(&column.name));
        if is_new && !sql.contains(&column.name.to_lowercase()) && names(evidence, &column.name, counts) {
            seen.push(&column.name);
        }
    }
    if !seen.is_empty() {
        findings.report(format!("the evidence names {}, which the gold does not read", seen.join(", ")));
    }
}

/// Whether an aggregate counts rows, be it by adding up truth values.
fn counts_rows(expr: &Expr) -> bool {
    let Expr::Aggregate(call) = expr else { return false };
    let adds = matches!(call.function, Function::Sum | Function::Total | Function::Avg);
    call.function == Function::Count || (adds && !matches!(call.args.as_slice(), [Expr::Column(_)]))
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE id = 1")
        .hinted("to earn refers to wage")
        .of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM player ORDER BY wage DESC LIMIT 1")
        .hinted("best refers to MAX(goals)"),
    AuditCase::silent(CLUBS, "SELECT wage FROM player WHERE id = 1").hinted("to earn refers to wage"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE id = 1")
        .hinted("the goals of a player do not count"),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM award WHERE title = 'Cup'")
        .hinted("COUNT(player_id) where title = 'Cup'"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE born LIKE '1990%'")
        .hinted("then refers to year(born) = 1990"),
];
