//! # Sorted the other way than the question says
//!
//! ## What it finds
//! A question that says only "highest", "most" or "largest" while the gold sorts in ascending order and takes the
//! first rows or takes MIN; or the reverse.
//!
//! ## Why it matters
//! The gold answers the opposite question.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player ORDER BY goals LIMIT 1   -- "Who has the most goals?"
//! ```
//!
//! ## When it is no defect
//! The number is small where the thing is great: ranks, times, dates of birth.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::Expr;

use crate::item::AuditSubject;
use crate::walk::scopes;

const UP: [&str; 9] =
    ["highest", "most", "largest", "biggest", "greatest", "maximum", "tallest", "longest", "heaviest"];
const DOWN: [&str; 8] =
    ["lowest", "least", "smallest", "fewest", "minimum", "shortest", "lightest", "cheapest"];
/// What turns the order round.
const OTHER: [&str; 15] = [
    "at most", "at least", "rank", "ranked", "top", "bottom", "first", "last", "fastest", "slowest",
    "oldest", "youngest", "latest", "earliest", "best",
];

pub(super) static RULE: AuditRule = AuditRule {
    name: "direction-of-question",
    summary: "the question asks for the highest and the gold takes the lowest, or the reverse",
    needs: Needs::Question,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("direction_of_question.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let mut directions = Vec::new();
    for scope in scopes(subject.query) {
        if scope.is_whole() && scope.query.limit.is_some() {
            directions.extend(scope.query.order_by.first().map(|term| term.descending));
        }
        for expr in scope.exprs() {
            match expr {
                Expr::Aggregate(call) if call.function == Function::Max => directions.push(true),
                Expr::Aggregate(call) if call.function == Function::Min => directions.push(false),
                _ => {}
            }
        }
    }
    let [descending] = directions[..] else { return };
    let Some(words) = subject.item.words(findings) else { return };
    let (up, down) = (words.any(&UP), words.any(&DOWN));
    if up == down || words.any(&OTHER) || up == descending {
        return;
    }
    let (end, got) = if up { ("highest", "lowest") } else { ("lowest", "highest") };
    findings.report(format!("the question asks for the {end}, and the gold takes the {got}"));
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM player ORDER BY goals LIMIT 1")
        .asked("Who has the most goals?")
        .of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT MAX(goals) FROM player").asked("What is the lowest number of goals?"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY goals DESC LIMIT 1")
        .asked("Who has the most goals?"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY goals LIMIT 1")
        .asked("Who has the highest rank?"),
];
