//! # BETWEEN the wrong way round
//!
//! ## What it finds
//! BETWEEN with constants of which the first is greater than the second.
//!
//! ## Why it matters
//! The condition is never true, and NOT BETWEEN is true for every value.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player WHERE goals BETWEEN 10 AND 7
//! ```
//!
//! ## When it is no defect
//! Never.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::tree::{Expr, Literal, Query};
use sqlgauge_sql::visit::change_exprs;

use crate::item::AuditSubject;
use crate::walk::{number, scopes};

pub(super) static RULE: AuditRule = AuditRule {
    name: "reversed-between",
    summary: "the lower bound of BETWEEN is above the upper",
    needs: Needs::Schema,
    standing: RuleStanding::Certain,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("reversed_between.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        for expr in [scope.exprs(), scope.conditions()].concat() {
            let Expr::Between { low, high, .. } = expr else { continue };
            if is_above(low, high) {
                let mut query: Query = subject.query.clone();
                change_exprs(&mut query, |expr| {
                    if let Expr::Between { low, high, .. } = expr
                        && is_above(low, high)
                    {
                        std::mem::swap(low, high);
                    }
                });
                let why = format!("{} begins above its end", subject.text(expr));
                findings.propose(why, None, subject.print(&query));
            }
        }
    }
}

fn is_above(low: &Expr, high: &Expr) -> bool {
    match (low, high) {
        (Expr::Literal(Literal::Text(low)), Expr::Literal(Literal::Text(high))) => low > high,
        _ => number(low).zip(number(high)).is_some_and(|(low, high)| low > high),
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE goals BETWEEN 10 AND 7").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM player WHERE born NOT BETWEEN '1995-01-01' AND '1990-01-01'"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals BETWEEN 7 AND 10"),
];
