//! # A join that multiplies the rows under an aggregate
//!
//! ## What it finds
//! COUNT of a key, or SUM and AVG of a column of one table, over a join that repeats the rows of that table,
//! without DISTINCT.
//!
//! ## Why it matters
//! A player with three awards counts three times.
//!
//! ## Example
//! ```sql
//! SELECT COUNT(p.id) FROM player AS p JOIN award AS a ON a.player_id = p.id WHERE a.year > 2000
//! ```
//!
//! ## When it is no defect
//! The question is about the pairs: how many awards players have won; the rule is silent where it says so. With rows at hand, the rule is silent where
//! nothing is repeated.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::derive::Dependencies;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Aggregate, ColumnRef, Expr, Query, RelationId};

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::{Scope, joined_scopes, make_distinct, relations_read};
use crate::words::{Words, names};

pub(super) static RULE: AuditRule = AuditRule {
    name: "join-multiplies",
    summary: "an aggregate counts a row once for each partner that a join gives it",
    needs: Needs::Schema,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("join_multiplies.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in joined_scopes(subject.query) {
        for expr in scope.exprs() {
            if let Expr::Aggregate(call) = expr {
                aggregate(subject, &scope, call, findings);
            }
        }
    }
}

fn aggregate(subject: &AuditSubject<'_>, scope: &Scope<'_>, call: &Aggregate, findings: &mut Findings) {
    let is_count = call.function == Function::Count;
    if call.distinct
        || !(is_count || matches!(call.function, Function::Sum | Function::Avg | Function::Total))
    {
        return;
    }
    let [arg] = call.args.as_slice() else { return };
    let [relation] = relations_read(arg)[..] else { return };
    let Some((key, table)) = subject.facts.table_of(relation).and_then(|id| {
        let table = subject.schema.table(id)?;
        Some((table.primary_key.clone(), table))
    }) else {
        return;
    };
    let is_key =
        key.len() == 1 && key.first().is_some_and(|at| *arg == Expr::Column(ColumnRef::at(relation, *at)));
    if key.is_empty() || (is_count && !is_key) || (!is_count && !is_value(arg)) {
        return;
    }
    let mut determinants: Vec<Expr> =
        key.iter().map(|at| Expr::Column(ColumnRef::at(relation, *at))).collect();
    determinants.extend(scope.select.group_by.iter().cloned());
    if Dependencies::of(scope.select, &subject.facts).closure(&determinants).is_complete() {
        return;
    }
    if is_count && counts_partners(subject, scope, relation, &table.name) {
        return;
    }
    let text = subject.text(&Expr::Aggregate(Box::new(call.clone())));
    let why = format!("{text} takes a row of {} as often as the join repeats it", table.name);
    report(subject, call, why, findings);
}

/// Whether the question counts another table of which the join has each row once: "how many awards" for `COUNT(player.id)`.
fn counts_partners(subject: &AuditSubject<'_>, scope: &Scope<'_>, relation: RelationId, name: &str) -> bool {
    let Some(counted) = subject.item.question.and_then(|question| Words::of(question).counted()) else {
        return false;
    };
    let is_once = |relation: RelationId| {
        Dependencies::of(scope.select, &subject.facts).closure_of_rows(&[relation]).is_complete()
    };
    let is_meant = |relation: RelationId| {
        let table = subject.facts.table_of(relation).and_then(|id| subject.schema.table(id));
        table.is_some_and(|table| names(&table.name, &counted))
    };
    let mut others = scope.relations().into_iter().map(|relation| relation.id).filter(|id| *id != relation);
    !names(name, &counted) && others.any(|id| is_meant(id) && is_once(id))
}

/// Whether a sum is over a column, or computed of columns, and does not count cases.
fn is_value(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) | Expr::Literal(_) => true,
        Expr::Binary(operator, left, right) => !operator.is_comparison() && is_value(left) && is_value(right),
        Expr::Cast { expr, .. } => is_value(expr),
        _ => false,
    }
}

fn report(subject: &AuditSubject<'_>, call: &Aggregate, why: String, findings: &mut Findings) {
    let mut query: Query = subject.query.clone();
    make_distinct(&mut query, call);
    let is_count = call.function == Function::Count;
    let sql = if is_count { subject.print(&query) } else { None };
    if !subject.item.data.has_rows() {
        findings.propose(why, None, sql);
        return;
    }
    // For a sum the rows show at least whether any value is repeated.
    if subject.same_rows(&query, findings) == Some(false) {
        let rows = subject.run(&query, findings);
        findings.propose(why, rows.map(|rows| Evidence::of("with DISTINCT", &rows)), sql);
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(
        CLUBS,
        "SELECT COUNT(p.id) FROM player AS p JOIN award AS a ON a.player_id = p.id WHERE a.year > 2000",
    )
    .of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT AVG(p.goals) FROM player AS p JOIN award AS a ON a.player_id = p.id"),
    AuditCase::silent(
        CLUBS,
        "SELECT COUNT(DISTINCT p.id) FROM player AS p JOIN award AS a ON a.player_id = p.id",
    ),
    AuditCase::silent(
        CLUBS,
        "SELECT COUNT(p.id) FROM player AS p JOIN award AS a ON a.player_id = p.id WHERE a.year > 2000",
    )
    .asked("How many awards were won by players after 2000?"),
    AuditCase::silent(CLUBS, "SELECT COUNT(a.id) FROM player AS p JOIN award AS a ON a.player_id = p.id"),
    AuditCase::silent(
        CLUBS,
        "SELECT COUNT(p.id) FROM player AS p JOIN award AS a ON a.player_id = p.id WHERE a.year = 2010",
    ),
];
