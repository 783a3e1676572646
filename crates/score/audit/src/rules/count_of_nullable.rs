//! # COUNT of a column with NULLs
//!
//! ## What it finds
//! COUNT(column) where the column is NULL in rows that are counted, so that COUNT(*) is larger. A column that an
//! outer join fills is left out: there it is meant.
//!
//! ## Why it matters
//! "How many players" then leaves out the players whose goals are not known.
//!
//! ## Example
//! ```sql
//! SELECT COUNT(goals) FROM player   -- 3 of 4 players
//! ```
//!
//! ## When it is no defect
//! The question asks in how many rows the value is known.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Args, Expr, Query};
use sqlgauge_sql::visit::change_exprs;

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::scopes;

pub(super) static RULE: AuditRule = AuditRule {
    name: "count-of-nullable",
    summary: "COUNT leaves out rows whose column is NULL",
    needs: Needs::Rows,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("count_of_nullable.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        for expr in scope.exprs() {
            let Expr::Aggregate(call) = expr else { continue };
            let [arg @ Expr::Column(column)] = call.args.as_slice() else { continue };
            if call.function != Function::Count
                || call.distinct
                || subject.facts.is_null_extended(column.relation)
                || !subject.facts.is_nullable(arg)
            {
                continue;
            }
            let mut query: Query = subject.query.clone();
            change_exprs(&mut query, |expr| {
                if let Expr::Aggregate(same) = expr
                    && same == call
                {
                    same.args = Args::Star;
                }
            });
            if subject.same_rows(&query, findings) == Some(false) {
                let rows = subject.run(&query, findings);
                let why = format!(
                    "{} leaves out rows in which {} is NULL",
                    subject.text(expr),
                    subject.name(*column)
                );
                findings.propose(
                    why,
                    rows.map(|rows| Evidence::of("with COUNT(*)", &rows)),
                    subject.print(&query),
                );
            }
        }
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT COUNT(goals) FROM player").of_benchmark(),
    AuditCase::silent(CLUBS, "SELECT COUNT(name) FROM player"),
    AuditCase::silent(CLUBS, "SELECT COUNT(goals) FROM player WHERE goals > 1"),
    AuditCase::silent(
        CLUBS,
        "SELECT c.name, COUNT(p.id) FROM club AS c LEFT JOIN player AS p ON p.club_id = c.id GROUP BY c.id",
    ),
];
