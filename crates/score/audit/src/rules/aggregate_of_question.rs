//! # An aggregate that the question does not ask for, or that is missing
//!
//! ## What it finds
//! "How many" or "number of" without COUNT or SUM or a column that holds a number of that kind; "average" without
//! AVG or a division; "percentage" or "ratio" without a division; AVG where neither an average nor a share is asked for.
//!
//! ## Why it matters
//! The gold answers another question.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player   -- "How many players are there?"
//! ```
//!
//! ## When it is no defect
//! A column holds what the question asks to compute.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::derive::collect_columns;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{BinaryOperator, Expr};

use crate::evidence::calls;
use crate::item::AuditSubject;
use crate::walk::{number, scopes};
use crate::words::Words;

const AVERAGE: [&str; 5] = ["average", "averages", "averaged", "avg", "the mean"];
const SHARE: [&str; 4] = ["percentage", "percent", "ratio", "proportion"];
/// They may ask for a share, which an average of a condition is, and need not.
const PERHAPS_SHARE: [&str; 3] = ["share", "fraction", "rate"];

pub(super) static RULE: AuditRule = AuditRule {
    name: "aggregate-of-question",
    summary: "the question asks how many, for an average or a share, and the gold computes something else",
    needs: Needs::Question,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("aggregate_of_question.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let Some(words) = subject.item.words(findings) else { return };
    let all_words = subject.item.all_words();
    let computes = Computes::of(subject);
    if words.begins(&[
        "how many",
        "count",
        "count the",
        "what is the number of",
        "what is the total number of",
    ]) && !computes.counts
        && !computes.names_number
    {
        findings.report("the question asks how many, and the gold neither counts nor adds up");
    }
    if all_words.any(&AVERAGE) && !computes.average && !computes.divides && !computes.names_average {
        findings.report("the question asks for an average, and the gold computes none");
    }
    if words.any(&SHARE) && !computes.divides && !computes.average && !computes.names_share {
        findings.report("the question asks for a share, and the gold divides nothing");
    }
    let of_hundred = words.any(&["percentage", "percent"]) && computes.divides && !computes.has_hundred;
    if of_hundred && !computes.names_share {
        findings.report("the question asks for a percentage, and the gold computes a share of 1");
    }
    let asks_average = all_words.any(&AVERAGE) || all_words.any(&["mean"]) || all_words.mentions("avg");
    let asks_share = all_words.any(&SHARE) || all_words.any(&PERHAPS_SHARE);
    if computes.average && !asks_average && !asks_share {
        findings.report("the gold computes an average, and the question asks for none");
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is something that a query computes or not")]
#[derive(Default)]
struct Computes {
    counts: bool,
    average: bool,
    divides: bool,
    has_hundred: bool,
    names_number: bool,
    names_average: bool,
    names_share: bool,
}

impl Computes {
    fn of(subject: &AuditSubject<'_>) -> Self {
        let mut computes = Self::default();
        let mut columns = Vec::new();
        for scope in scopes(subject.query) {
            for expr in [scope.exprs(), scope.conditions()].concat() {
                match expr {
                    Expr::Aggregate(call) => {
                        computes.counts |=
                            matches!(call.function, Function::Count | Function::Sum | Function::Total);
                        computes.average |= call.function == Function::Avg;
                    }
                    Expr::Window(_) => computes.counts = true,
                    other if number(other) == Some(100.0) => computes.has_hundred = true,
                    Expr::Binary(BinaryOperator::Divide, ..) => computes.divides = true,
                    Expr::Binary(BinaryOperator::Subtract | BinaryOperator::Add, ..) => {
                        computes.counts = true;
                    }
                    _ => {}
                }
                collect_columns(expr, &mut columns);
            }
        }
        for column in columns {
            let Some((_, column)) = subject.column(column) else { continue };
            let name = Words::of(&crate::words::split(&column.name).join(" "));
            computes.names_average |= name.any(&AVERAGE)
                || name.mentions("average")
                || name.mentions("avg")
                || is_stored_average(subject, &column.name);
            computes.names_share |=
                ["percent", "rate", "ratio", "share", "pct"].iter().any(|part| name.mentions(part));
        }
        computes.names_number = returns_number(subject);
        computes
    }
}

/// Whether the gold returns a column that may hold numbers: one without a type may.
fn returns_number(subject: &AuditSubject<'_>) -> bool {
    let mut columns = Vec::new();
    let outputs = subject.query.outputs().unwrap_or_default();
    outputs.iter().for_each(|output| collect_columns(&output.expr, &mut columns));
    let columns = columns.into_iter().filter_map(|column| subject.column(column));
    columns.into_iter().any(|(_, column)| column.affinity.is_numeric() || column.declared_type.is_none())
}

/// Whether the evidence says that the column holds averages: "A11 refers to the average salary".
fn is_stored_average(subject: &AuditSubject<'_>, column: &str) -> bool {
    let evidence = subject.item.evidence.unwrap_or_default();
    let (column, computes) = (column.to_lowercase(), |piece: &str| {
        ["avg", "divide", "sum"].iter().any(|name| !calls(piece, name).is_empty())
    });
    evidence.split([';', ',']).any(|piece| {
        let words = Words::of(piece);
        words.any(&AVERAGE) && words.any(&[&column]) && !computes(piece)
    })
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT name FROM club").asked("How many clubs are there?").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT AVG(goals) FROM player").asked("What are the most goals of a player?"),
    AuditCase::fires(CLUBS, "SELECT SUM(goals) FROM player").asked("What is the average number of goals?"),
    AuditCase::silent(CLUBS, "SELECT COUNT(*) FROM club").asked("How many clubs are there?"),
    AuditCase::silent(CLUBS, "SELECT wage FROM player WHERE id = 1")
        .asked("What is the average pay of player 1?")
        .hinted("wage refers to the average pay"),
    AuditCase::silent(CLUBS, "SELECT name FROM player WHERE goals = 10")
        .asked("Who scored ten goals?")
        .hinted("ten goals mean goals = 10"),
    AuditCase::silent(CLUBS, "SELECT AVG(goals > 10) FROM player")
        .asked("What share of the players scored more than ten goals?"),
    AuditCase::silent(CLUBS, "SELECT goals FROM player WHERE id = 1").asked("How many goals has player 1?"),
    AuditCase::silent(CLUBS, "SELECT SUM(goals) * 1.0 / COUNT(*) FROM player")
        .asked("What is the average number of goals?"),
];
