//! # A computation of the evidence that the gold does not do
//!
//! ## What it finds
//! Evidence with `DIVIDE(…)`, `SUBTRACT(…)`, `MAX(…)`, `MIN(…)`, `SUM(…)`, `COUNT(…)`, `AVG(…)`, "distinct" or `* 100`, while the gold
//! does nothing of the kind; `MAX(COUNT(…))` where the gold sorts by a column; and `MAX(column)` where it sorts by that column upwards.
//!
//! ## Why it matters
//! The benchmark says how to compute the answer, and the gold computes another one.
//!
//! ## Example
//! ```sql
//! SELECT name FROM player ORDER BY wage DESC LIMIT 1   -- evidence: "the most awards refers to MAX(COUNT(award.id))"
//! ```
//!
//! ## When it is no defect
//! The rows hold the computed number, or the gold computes the same by other means.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{BinaryOperator, Expr, OrderTerm, RelationSource};

use crate::evidence::{calls, names};
use crate::item::AuditSubject;
use crate::walk::{Scope, all_exprs, number, scopes, takes_extreme};

pub(super) static RULE: AuditRule = AuditRule {
    name: "evidence-not-computed",
    summary: "the evidence names a computation, and the gold does not do it",
    needs: Needs::Evidence,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("evidence_not_computed.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    let Some(evidence) = subject.item.evidence(findings) else { return };
    let done = Done::of(subject);
    let computations = [
        ("divide", done.divides),
        ("subtract", done.subtracts),
        ("max", done.takes_extreme),
        ("min", done.takes_extreme),
        ("sum", done.adds || done.counts),
        ("count", done.adds || done.counts),
        ("avg", done.divides),
    ];
    for (name, is_done) in computations {
        if !is_done && !calls(evidence, name).is_empty() {
            findings.report(format!("the evidence has {name}(…), and the gold computes nothing of the kind"));
        }
    }
    let packed: String = evidence.to_lowercase().split_whitespace().collect();
    if packed.contains("*100") && !done.has_hundred {
        findings.report("the evidence multiplies by 100, and the gold does not");
    }
    if packed.contains("distinct") && !done.is_distinct {
        findings.report("the evidence says distinct, and the gold counts and returns what is repeated");
    }
    order(subject, evidence, findings);
}

/// What the first term of the outermost ORDER BY with LIMIT says against the evidence.
fn order(subject: &AuditSubject<'_>, evidence: &str, findings: &mut Findings) {
    let Some(scope) = scopes(subject.query).into_iter().find(|scope| scope.is_outermost) else { return };
    let Some(term) = scope.query.order_by.first().filter(|_| scope.query.limit.is_some()) else { return };
    let (up, down) = (calls(evidence, "max"), calls(evidence, "min"));
    let counts = |argument: &&str| !calls(argument, "count").is_empty() || !calls(argument, "sum").is_empty();
    if up.iter().chain(&down).any(counts) && is_plain(&scope, term) {
        findings.report("the evidence takes the extreme of a count or a sum, and the gold sorts by a column");
    }
    let Some((_, _, column)) = subject.as_column(&term.expr) else { return };
    let is_of = |argument: &&str| names(&format!("of({argument})"), &column.name, false);
    let other = if term.descending { (&down, &up, "MIN", "highest") } else { (&up, &down, "MAX", "lowest") };
    if other.0.iter().any(is_of) && other.1.is_empty() {
        findings.report(format!(
            "the evidence has {}({}), and the gold takes the {}",
            other.2, column.name, other.3
        ));
    }
}

/// Whether rows are sorted by a column as a table has it.
fn is_plain(scope: &Scope<'_>, term: &OrderTerm) -> bool {
    let expr = match &term.expr {
        Expr::Output(at) => scope.select.outputs.get(*at as usize).map(|output| &output.expr),
        other => Some(other),
    };
    let Some(Expr::Column(column)) = expr else { return false };
    let relations = scope.relations();
    let relation = relations.iter().find(|relation| relation.id == column.relation);
    relation.is_some_and(|relation| matches!(relation.source, RelationSource::Table(_)))
}

#[expect(clippy::struct_excessive_bools, reason = "each is something that a query does or not")]
#[derive(Default)]
struct Done {
    divides: bool,
    subtracts: bool,
    takes_extreme: bool,
    adds: bool,
    counts: bool,
    has_hundred: bool,
    is_distinct: bool,
}

impl Done {
    fn of(subject: &AuditSubject<'_>) -> Self {
        let mut done = Self { takes_extreme: takes_extreme(subject.query), ..Self::default() };
        done.is_distinct = scopes(subject.query)
            .iter()
            .any(|scope| scope.select.distinct || !scope.select.group_by.is_empty());
        for expr in all_exprs(subject.query) {
            match expr {
                Expr::Aggregate(call) => {
                    done.is_distinct |= call.distinct;
                    done.divides |= call.function == Function::Avg;
                    done.counts |= matches!(call.function, Function::Count | Function::Avg);
                    done.adds |= matches!(call.function, Function::Sum | Function::Total);
                }
                Expr::Window(_) => (done.counts, done.divides, done.adds) = (true, true, true),
                Expr::Binary(BinaryOperator::Divide, ..) => done.divides = true,
                Expr::Binary(BinaryOperator::Subtract, ..) => done.subtracts = true,
                Expr::Binary(BinaryOperator::Add, ..) => done.adds = true,
                Expr::Function { function, .. } => {
                    done.subtracts |=
                        matches!(function.name(), "julianday" | "strftime" | "unixepoch" | "timediff");
                }
                other => done.has_hundred |= number(other) == Some(100.0),
            }
        }
        done
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT SUM(goals = 10) FROM player")
        .hinted("share = DIVIDE(COUNT(goals = 10), COUNT(id))")
        .of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name FROM player ORDER BY wage DESC LIMIT 1")
        .hinted("the most awards refers to MAX(COUNT(award.id))"),
    AuditCase::fires(CLUBS, "SELECT name FROM player ORDER BY goals LIMIT 1")
        .hinted("best refers to MAX(goals)"),
    AuditCase::fires(CLUBS, "SELECT AVG(goals > 7) FROM player")
        .hinted("percentage = COUNT(goals > 7) / COUNT(id) * 100"),
    AuditCase::silent(CLUBS, "SELECT name FROM player ORDER BY goals DESC LIMIT 1")
        .hinted("best refers to MAX(goals)"),
    AuditCase::silent(CLUBS, "SELECT AVG(goals) FROM player").hinted("DIVIDE(SUM(goals), COUNT(id))"),
    AuditCase::silent(CLUBS, "SELECT player_id FROM award GROUP BY player_id ORDER BY COUNT(*) DESC LIMIT 1")
        .hinted("MAX(COUNT(player_id))"),
];
