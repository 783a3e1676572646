//! # A join that only filters distinct rows
//!
//! ## What it does
//! Under DISTINCT, moves the tables without a returned column, which may have several rows for one row of
//! the others, into EXISTS.
//!
//! ## Why it holds
//! DISTINCT makes the repetition that the join causes disappear, so it only matters whether there is a partner.
//!
//! ## Needs
//! SELECT DISTINCT, or an operand of UNION, INTERSECT or EXCEPT; inner joins; no grouping and no LIMIT; neither
//! results nor sort keys read the tables.
//!
//! ## Example
//! ```sql
//! SELECT DISTINCT t.id FROM t JOIN u ON t.id = u.t_id WHERE v > 1
//! SELECT DISTINCT t.id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE v > 1 AND u.t_id = t.id)
//! ```
//!
//! ## Does not hold when
//! There is no DISTINCT: the join then returns a row once for each partner.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::derive::Dependencies;
use sqlgauge_sql::tree::{ColumnRef, Expr, From, Output, Query, RelationId, Select};

use crate::context::Position;
use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S22",
    name: "distinct-join-as-exists",
    summary: "Tables joined only to filter distinct rows, as EXISTS",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::JOIN, query),
    cases: CASES,
    source: include_str!("distinct_join_as_exists.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select() else { return 0 };
    // Rule 13 takes what is in EXISTS for one join, DISTINCT or not.
    let hidden = match context.position {
        Position::Exists => false,
        Position::DistinctOperand => true,
        _ => select.distinct,
    };
    let inner = select.from.as_ref().is_some_and(From::is_inner);
    if !hidden || !inner || query.limit.is_some() || query.offset.is_some() || !tools::is_flat(select) {
        return 0;
    }
    let results =
        select.outputs.iter().map(|output| &output.expr).chain(query.order_by.iter().map(|term| &term.expr));
    let read: Vec<RelationId> = results.flat_map(tools::columns_of).map(|column| column.relation).collect();
    let all: Vec<RelationId> =
        select.from.iter().flat_map(From::relations).map(|relation| relation.id).collect();
    // For EXISTS the rows around it are fixed, so rule 13 would move back whatever these fix.
    let closure = Dependencies::of(select, &context.facts).closure_of_rows(&read);
    let keep =
        |id: &RelationId| read.contains(id) || closure.determines(&Expr::Column(ColumnRef::rowid(*id)));
    let moved: Vec<RelationId> = all.iter().copied().filter(|id| !keep(id)).collect();
    if moved.is_empty() || moved.len() == all.len() {
        return 0;
    }
    let Some(select) = query.as_select_mut() else { return 0 };
    split(select, &moved)
}

/// Moves relations into EXISTS, those that conditions connect into one.
fn split(select: &mut Select, moved: &[RelationId]) -> usize {
    let Some(from) = select.from.take() else { return 0 };
    let mut conjuncts = tools::take_conjuncts(&mut select.filter);
    let mut operands = Vec::new();
    tools::take_inner(from, &mut operands, &mut conjuncts);
    let mut places = 0;
    for group in connected(moved, &conjuncts) {
        let (from, filter) = tools::take_part(&mut operands, &mut conjuncts, &group);
        let inner = Select { from, filter, ..Select::of(vec![Output::of(tools::one())]) };
        let query = Box::new(Query::of_select(inner));
        conjuncts.push(Expr::Exists { query, negated: false });
        places += 1;
    }
    select.from = tools::join_all(operands);
    select.filter = tools::conjunction(conjuncts);
    places
}

/// The relations in groups that conditions connect.
fn connected(moved: &[RelationId], conjuncts: &[Expr]) -> Vec<Vec<RelationId>> {
    let mut groups: Vec<Vec<RelationId>> = moved.iter().map(|id| vec![*id]).collect();
    for conjunct in conjuncts {
        let touched: Vec<RelationId> =
            tools::columns_of(conjunct).iter().map(|column| column.relation).collect();
        let (linked, mut rest): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|id| touched.contains(id)));
        if !linked.is_empty() {
            rest.push(linked.concat());
        }
        groups = rest;
    }
    groups
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT DISTINCT t.id FROM t JOIN u ON t.id = u.t_id WHERE v > 1",
        "SELECT id FROM t WHERE id IN (SELECT t_id FROM u WHERE v > 1)",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT DISTINCT name FROM t JOIN u ON t.id = u.t_id",
        "SELECT DISTINCT name FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT t.id FROM t JOIN u ON t.id = u.t_id WHERE v > 1",
        "SELECT id FROM t WHERE id IN (SELECT t_id FROM u WHERE v > 1)",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT DISTINCT t.id, v FROM t JOIN u ON t.id = u.t_id",
        "SELECT DISTINCT t.id, 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)",
    ),
    // What has no affinity, or another collation, fixes a row and yet is not fixed by its own value.
    RuleCase::equal(
        "CREATE TABLE r (k, z INT); CREATE TABLE e (id INTEGER PRIMARY KEY, c TEXT NOT NULL UNIQUE);",
        "SELECT DISTINCT r.z FROM r JOIN e ON e.c = r.k",
        "SELECT DISTINCT z FROM r WHERE EXISTS (SELECT 1 FROM e WHERE e.c = r.k)",
    )
    .sound(),
    RuleCase::equal(
        "CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE TABLE u (must TEXT COLLATE RTRIM NOT NULL, v TEXT);",
        "SELECT u.v FROM t JOIN u ON t.id = u.must GROUP BY u.v",
        "SELECT DISTINCT v FROM u WHERE EXISTS (SELECT 1 FROM t WHERE t.id = u.must)",
    )
    .sound(),
    RuleCase::equal(
        "CREATE TABLE r (k, z INT); CREATE TABLE ship (sid INTEGER PRIMARY KEY);",
        "SELECT z FROM r JOIN ship ON r.k = ship.sid UNION SELECT z FROM r",
        "SELECT z FROM r WHERE EXISTS (SELECT 1 FROM ship WHERE ship.sid = r.k) UNION SELECT z FROM r",
    )
    .sound(),
];
