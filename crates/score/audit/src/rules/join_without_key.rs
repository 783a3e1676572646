//! # A join along no key
//!
//! ## What it finds
//! Tables that no condition links; and an equality between columns that no foreign key links, where a foreign key
//! links the two tables by other columns or both columns are keys, or references to keys, of different tables.
//!
//! ## Why it matters
//! Rows meet that have nothing to do with each other: player 3 and club 3.
//!
//! ## Example
//! ```sql
//! SELECT p.name FROM player AS p JOIN club AS c ON p.id = c.id
//! ```
//!
//! ## When it is no defect
//! The schema does not declare its foreign keys, or the query compares everything with everything on purpose.

use crate::finding::Findings;
use crate::rule::{AuditCase, AuditRule, CLUBS, Check, Needs, RuleStanding};
use sqlgauge_sql::derive::conjuncts;
use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::{BinaryOperator, ColumnRef, Expr, Query, RelationId};
use sqlgauge_sql::visit::change_exprs;

use crate::item::AuditSubject;
use crate::walk::{Scope, joined_scopes, relations_read};

pub(super) static RULE: AuditRule = AuditRule {
    name: "join-without-key",
    summary: "two tables are joined by columns that no key links, or by nothing",
    needs: Needs::Schema,
    standing: RuleStanding::Likely,
    check: Check::of_query(check),
    cases: CASES,
    source: include_str!("join_without_key.rs"),
};

fn check(subject: &AuditSubject<'_>, findings: &mut Findings) {
    for scope in joined_scopes(subject.query) {
        apart(subject, &scope, findings);
        let mut conditions = conjuncts(scope.select);
        conditions.extend(scope.joins());
        for condition in conditions {
            let Expr::Binary(BinaryOperator::Equal, left, right) = condition else { continue };
            if let (Expr::Column(left), Expr::Column(right)) = (&**left, &**right) {
                along_no_key(subject, condition, *left, *right, findings);
            }
        }
    }
}

/// Reports relations that no condition links to the others.
fn apart(subject: &AuditSubject<'_>, scope: &Scope<'_>, findings: &mut Findings) {
    let is_table = |relation: &RelationId| subject.facts.table_of(*relation).is_some();
    let relations: Vec<RelationId> =
        scope.relations().iter().map(|relation| relation.id).filter(is_table).collect();
    let mut linked: Vec<RelationId> = relations.first().copied().into_iter().collect();
    let conditions = conjuncts(scope.select).into_iter().chain(scope.joins());
    let mut groups: Vec<Vec<RelationId>> = conditions.map(relations_read).collect();
    while let Some(at) = groups.iter().position(|group| group.iter().any(|id| linked.contains(id))) {
        linked.extend(groups.swap_remove(at));
    }
    for relation in relations.iter().filter(|relation| !linked.contains(relation)) {
        let Some(table) = subject.facts.table_of(*relation).and_then(|id| subject.schema.table(id)) else {
            continue;
        };
        findings.report(format!("no condition links {} to the other tables", table.name));
    }
}

/// The columns by which a foreign key of one table refers to the other.
fn keys(schema: &Schema, from: TableId, to: TableId) -> Vec<(u32, u32)> {
    let Some(table) = schema.table(from) else { return Vec::new() };
    let single = |key: &sqlgauge_sql::schema::ForeignKey| {
        let (referred, columns) = schema.resolve_foreign_key(key)?;
        match (key.columns.as_slice(), columns.as_slice()) {
            ([column], [other]) if referred == to => Some((*column, *other)),
            _ => None,
        }
    };
    table.foreign_keys.iter().filter_map(single).collect()
}

/// What a column refers to by a foreign key: itself, if to nothing.
fn origin(schema: &Schema, table: TableId, column: u32) -> (TableId, u32) {
    let Some(definition) = schema.table(table) else { return (table, column) };
    for key in &definition.foreign_keys {
        if key.columns == [column]
            && let Some((referred, columns)) = schema.resolve_foreign_key(key)
            && let [other] = columns.as_slice()
        {
            return (referred, *other);
        }
    }
    (table, column)
}

fn along_no_key(
    subject: &AuditSubject<'_>,
    condition: &Expr,
    left: ColumnRef,
    right: ColumnRef,
    findings: &mut Findings,
) {
    let table =
        |column: ColumnRef| Some((subject.facts.table_of(column.relation)?, column.column.position()?));
    let (Some((l, lc)), Some((r, rc))) = (table(left), table(right)) else { return };
    let schema = subject.schema;
    if left.relation == right.relation || l == r || origin(schema, l, lc) == origin(schema, r, rc) {
        return;
    }
    // A primary key, or a reference to one.
    let is_anchored = |id: TableId, column: u32| {
        let is_key = schema.table(id).is_some_and(|table| table.primary_key == [column]);
        is_key || origin(schema, id, column) != (id, column)
    };
    let forth = keys(schema, l, r);
    let back: Vec<(u32, u32)> =
        keys(schema, r, l).into_iter().map(|(column, other)| (other, column)).collect();
    let all: Vec<(u32, u32)> = forth.into_iter().chain(back).collect();
    if let [(lk, rk)] = all.as_slice() {
        let (to_left, to_right) = (ColumnRef::at(left.relation, *lk), ColumnRef::at(right.relation, *rk));
        let why = format!(
            "{} links no key; the foreign key links {} and {}",
            subject.text(condition),
            subject.name(to_left),
            subject.name(to_right)
        );
        let mut query: Query = subject.query.clone();
        let new = Expr::Binary(
            BinaryOperator::Equal,
            Box::new(Expr::Column(to_left)),
            Box::new(Expr::Column(to_right)),
        );
        change_exprs(&mut query, |expr| {
            if expr == condition {
                *expr = new.clone();
            }
        });
        findings.propose(why, None, subject.print(&query));
    } else if is_anchored(l, lc) && is_anchored(r, rc) {
        findings.report(format!("{} equates the keys of different things", subject.text(condition)));
    }
}

const CASES: &[AuditCase] = &[
    AuditCase::fires(CLUBS, "SELECT p.name FROM player AS p JOIN club AS c ON p.id = c.id").of_benchmark(),
    AuditCase::fires(CLUBS, "SELECT p.name FROM player AS p, club AS c WHERE c.city = 'Lisbon'"),
    AuditCase::fires(CLUBS, "SELECT a.title FROM award AS a JOIN club AS c ON a.id = c.id"),
    AuditCase::fires(CLUBS, "SELECT a.title FROM award AS a JOIN club AS c ON a.player_id = c.id"),
    AuditCase::silent(CLUBS, "SELECT p.name FROM player AS p JOIN club AS c ON p.club_id = c.id"),
    AuditCase::silent(CLUBS, "SELECT a.title FROM award AS a JOIN club AS c ON a.title = c.name"),
];
