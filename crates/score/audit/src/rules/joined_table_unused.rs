//! # A joined table that is not used
//!
//! ## What it finds
//! A table of FROM of which nothing is read but the columns that join it.
//!
//! ## Why it matters
//! It is either superfluous, or it multiplies and leaves out rows that the question does not ask about.
//!
//! ## Example
//! ```sql
//! SELECT p.name FROM player AS p JOIN award AS a ON a.player_id = p.id
//! ```
//!
//! ## When it is no defect
//! The join is the condition: players who have an award. The rule is silent where rows of the join are counted, added up or made
//! distinct and the question speaks of the table.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::derive::{collect_columns, conjuncts};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Args, BinaryOperator, ColumnRef, Expr};

use crate::item::AuditSubject;
use crate::walk::{Scope, scopes};
use crate::words::{split, stem};

pub(super) static RULE: AuditRule = AuditRule {
    name: "joined-table-unused",
    summary: "a table is joined and used nowhere else",
    needs: Needs::Schema,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("joined_table_unused.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in scopes(subject.query) {
        let relations = scope.relations();
        if relations.len() < 2 || counts_rows(&scope) {
            continue;
        }
        let (used, joins) = read(subject, &scope);
        let restricts = is_read_by_rows(&scope);
        for relation in relations {
            let Some(table) = subject.facts.table_of(relation.id).and_then(|id| subject.schema.table(id))
            else {
                continue;
            };
            let of_it = joins
                .iter()
                .filter(|(left, right)| left.relation == relation.id || right.relation == relation.id);
            let is_unused = of_it.count() == 1 && !used.iter().any(|column| column.relation == relation.id);
            if is_unused && !(restricts && is_meant(subject, &table.name)) {
                findings.report(format!("{} is joined, and only filters rows", table.name));
            }
        }
    }
}

/// Whether the rows of the join are counted.
fn counts_rows(scope: &Scope<'_>) -> bool {
    scope.exprs().into_iter().any(|expr| matches!(expr, Expr::Aggregate(call) if call.args == Args::Star))
}

/// Whether it matters only which rows have a partner, or how many: rows are made distinct, counted or added up.
fn is_read_by_rows(scope: &Scope<'_>) -> bool {
    let adds = |expr: &&Expr| {
        let Expr::Aggregate(call) = expr else { return false };
        matches!(call.function, Function::Count | Function::Sum | Function::Total | Function::Avg)
    };
    scope.select.distinct || scope.exprs().iter().any(adds)
}

/// Whether question or evidence speak of a table: then the join is a condition, such as having an award.
fn is_meant(subject: &AuditSubject<'_>, table: &str) -> bool {
    let words: Vec<String> = subject.item.all_words().iter().map(stem).collect();
    split(table).iter().any(|word| word.len() > 2 && words.contains(&stem(word)))
}

/// The columns that are read outside of equalities of columns, and those equalities.
fn read(subject: &AuditSubject<'_>, scope: &Scope<'_>) -> (Vec<ColumnRef>, Vec<(ColumnRef, ColumnRef)>) {
    let (mut used, mut joins) = (Vec::new(), Vec::new());
    let mut conditions = conjuncts(scope.select);
    conditions.extend(scope.joins().into_iter().filter(|on| !matches!(on, Expr::And(_))));
    conditions.dedup();
    for condition in conditions {
        match condition {
            Expr::Binary(BinaryOperator::Equal, left, right) => match (&**left, &**right) {
                (Expr::Column(left), Expr::Column(right)) if left.relation != right.relation => {
                    if !joins.contains(&(*left, *right)) {
                        joins.push((*left, *right));
                    }
                }
                _ => collect_columns(condition, &mut used),
            },
            other => collect_columns(other, &mut used),
        }
    }
    let select = scope.select;
    let outputs = select.outputs.iter().map(|output| &output.expr);
    for expr in outputs.chain(&select.group_by).chain(&select.having) {
        collect_columns(expr, &mut used);
    }
    if scope.is_whole() {
        scope.query.order_by.iter().for_each(|term| collect_columns(&term.expr, &mut used));
    }
    let inner = scopes(subject.query);
    let others = inner.iter().filter(|other| !std::ptr::eq(other.select, select));
    others
        .flat_map(|other| [other.exprs(), other.conditions()].concat())
        .for_each(|expr| collect_columns(expr, &mut used));
    (used, joins)
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT p.name FROM player AS p JOIN award AS a ON a.player_id = p.id")
        .of_benchmark(),
    AuditCase::silent(CLUBS, "SELECT p.name, a.title FROM player AS p JOIN award AS a ON a.player_id = p.id"),
    AuditCase::silent(
        CLUBS,
        "SELECT p.name FROM player AS p JOIN award AS a ON a.player_id = p.id WHERE a.year = 2010",
    ),
    AuditCase::fires(
        CLUBS,
        "SELECT COUNT(DISTINCT p.id) FROM player AS p JOIN award AS a ON a.player_id = p.id JOIN club AS c ON p.club_id = c.id \
         WHERE a.year = 2010",
    )
    .asked("How many players won an award in 2010?"),
    AuditCase::silent(
        CLUBS,
        "SELECT COUNT(DISTINCT p.id) FROM player AS p JOIN award AS a ON a.player_id = p.id",
    )
    .asked("How many players have won awards?"),
    AuditCase::silent(CLUBS, "SELECT DISTINCT p.name FROM player AS p JOIN award AS a ON a.player_id = p.id")
        .asked("Which players have an award?"),
];
