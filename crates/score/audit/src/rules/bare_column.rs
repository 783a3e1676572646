//! # A bare column beside an aggregate
//!
//! ## What it finds
//! A SELECT with an aggregate that also returns a column which is neither grouped by nor fixed by the group.
//!
//! ## Why it matters
//! SQLite takes the value of some row of the group; other engines refuse the query. A prediction with another row
//! is as right.
//!
//! ## Example
//! ```sql
//! SELECT club_id, name, COUNT(*) FROM player GROUP BY club_id   -- which player?
//! ```
//!
//! ## When it is no defect
//! The column has one value in every group, which the schema does not say: with rows at hand, the rule looks.
//! Beside a single MIN or MAX, SQLite takes the row of the extremum.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::derive::{Dependencies, is_aggregate_select};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Aggregate, Args, Body, ColumnRef, Expr, Output, Query, Select};
use sqlgauge_sql::visit::children;

use crate::finding::Evidence;
use crate::item::AuditSubject;
use crate::walk::{Scope, scopes};

pub(super) static RULE: AuditRule = AuditRule {
    name: "bare-column",
    summary: "a column that is neither grouped nor aggregated is returned",
    needs: Needs::Schema,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("bare_column.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        if !is_aggregate_select(scope.select) || takes_row_of_extremum(&scope) {
            continue;
        }
        let dependencies = Dependencies::of(scope.select, &subject.facts);
        let fixed = dependencies.closure(&scope.select.group_by);
        let mut bare = Vec::new();
        for output in &scope.select.outputs {
            collect(&output.expr, &scope.select.group_by, &mut bare);
        }
        bare.sort_unstable();
        bare.dedup();
        for column in bare.into_iter().filter(|column| !fixed.contains(*column)) {
            report(subject, scope.select, column, findings);
        }
    }
}

/// Whether SQLite takes the bare columns from the row of the only MIN or MAX.
fn takes_row_of_extremum(scope: &Scope<'_>) -> bool {
    let exprs = scope.exprs();
    let aggregates = exprs.iter().filter_map(|expr| match expr {
        Expr::Aggregate(aggregate) => Some(&aggregate.function),
        _ => None,
    });
    aggregates.filter(|function| matches!(function, Function::Min | Function::Max)).count() == 1
}

/// The columns outside of aggregates and of what is grouped by.
fn collect(expr: &Expr, groups: &[Expr], columns: &mut Vec<ColumnRef>) {
    match expr {
        _ if groups.contains(expr) => {}
        Expr::Aggregate(_) | Expr::Window(_) => {}
        Expr::Column(column) => columns.push(*column),
        other => children(other, &mut |child| collect(child, groups, columns)),
    }
}

fn report(subject: &AuditSubject<'_>, select: &Select, column: ColumnRef, findings: &mut Findings) {
    let name = subject.name(column);
    let why = format!("{name} is neither grouped nor aggregated, so SQLite picks the row that it comes from");
    if !subject.item.data.has_rows() {
        findings.report(why);
        return;
    }
    let output = |expr: Expr, alias: &str| Output { expr, alias: Some(alias.to_owned()) };
    let count = Expr::Aggregate(Box::new(Aggregate {
        distinct: true,
        ..Aggregate::plain(Function::Count, Args::List(vec![Expr::Column(column)]))
    }));
    let mut outputs: Vec<Output> =
        select.group_by.iter().map(|key| output(key.clone(), &subject.text(key))).collect();
    outputs.push(output(count, &format!("different {name}")));
    let probe = Query::of(Body::Select(Box::new(Select { distinct: false, outputs, ..select.clone() })));
    let Some(rows) = subject.run(&probe, findings) else { return };
    let several: Vec<_> = rows
        .rows()
        .filter(|row| row.last().and_then(crate::data::integer).is_some_and(|count| count > 1))
        .collect();
    if !several.is_empty() {
        findings.report_with(why, Evidence::of_rows("groups with several values", &rows.columns, several));
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT club_id, name, COUNT(*) FROM player GROUP BY club_id").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT name, AVG(goals) FROM player"),
    AuditCase::silent(
        CLUBS,
        "SELECT club_id, goals, COUNT(*) FROM player WHERE club_id = 1 GROUP BY club_id",
    ),
    AuditCase::silent(
        CLUBS,
        "SELECT c.name, COUNT(*) FROM club AS c JOIN player AS p ON p.club_id = c.id GROUP BY c.id",
    ),
    AuditCase::silent(CLUBS, "SELECT name, MAX(id) FROM player"),
];
