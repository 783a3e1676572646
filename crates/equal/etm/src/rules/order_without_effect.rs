//! # Sorting that changes nothing
//!
//! ## What it does
//! Drops sort keys that are constant, repeated, or fixed by earlier keys; ORDER BY without LIMIT in a subquery;
//! ORDER BY and LIMIT of a query that returns one row; NULLS FIRST and LAST on keys that are never NULL.
//!
//! ## Why it holds
//! A key decides only among rows that agree in the keys before it. A subquery without LIMIT is a bag of rows; SQL
//! gives its order no meaning.
//!
//! ## Needs
//! As said.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t ORDER BY id, age
//! SELECT name FROM t ORDER BY id
//! ```
//!
//! ## Does not hold when
//! The earlier key may be NULL in several rows, although it is UNIQUE.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::derive::{Dependencies, is_aggregate_select};
use sqlgauge_sql::tree::{Expr, Query};

use crate::context::Position;
use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S7",
    name: "order-without-effect",
    summary: "Sort keys and limits that change nothing",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::ANY, query),
    cases: CASES,
    source: include_str!("order_without_effect.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    if query.order_by.is_empty() && query.limit.is_none() {
        return 0;
    }
    let mut places = 0;
    let single = returns_one_row(query, context);
    // The value of a subquery is that of its first row.
    let free = !matches!(context.position, Position::Top | Position::Scalar)
        && query.limit.is_none()
        && query.offset.is_none();
    if (single || free) && !query.order_by.is_empty() && query.offset.is_none() {
        query.order_by.clear();
        places += 1;
    }
    if single
        && query.offset.is_none()
        && query.limit.as_ref().is_some_and(|limit| tools::as_integer(limit).is_some_and(|n| n > 0))
    {
        query.limit = None;
        places += 1;
    }
    places + drop_keys(query, context)
}

fn returns_one_row(query: &Query, context: &RuleContext<'_>) -> bool {
    let Some(select) = query.as_select() else { return false };
    if is_aggregate_select(select) {
        return select.group_by.is_empty();
    }
    let pinned = || Dependencies::of(select, &context.facts).closure(&[]).is_complete();
    select.from.is_none() || (select.filter.is_some() && pinned())
}

fn drop_keys(query: &mut Query, context: &RuleContext<'_>) -> usize {
    let Some(select) = query.as_select() else { return 0 };
    if query.order_by.is_empty() {
        return 0;
    }
    let dependencies = Dependencies::of(select, &context.facts);
    let mut keys: Vec<Expr> = Vec::new();
    let mut places = 0;
    let mut keep = Vec::new();
    for term in &query.order_by {
        let key = tools::order_expr(query, &term.expr);
        let binary = context.facts.is_identity(key);
        // The rows of a group agree in its keys, but not in what a bare column shows.
        let grouped = is_aggregate_select(select) && !select.group_by.contains(key);
        let fixed = matches!(key, Expr::Literal(_))
            || (keys.contains(key) && binary)
            || (!grouped && binary && dependencies.closure(&keys).determines(key));
        if fixed && tools::is_deterministic(key) {
            places += 1;
            keep.push(false);
        } else {
            keys.push(key.clone());
            keep.push(true);
        }
    }
    let nullable: Vec<bool> = query
        .order_by
        .iter()
        .map(|term| context.facts.output_may_be_null(select, tools::order_expr(query, &term.expr)))
        .collect();
    for (term, nullable) in query.order_by.iter_mut().zip(nullable) {
        if !nullable && term.nulls_first.take().is_some() {
            places += 1;
        }
    }
    let mut keep = keep.into_iter();
    query.order_by.retain(|_| keep.next().unwrap_or(true));
    places
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT name FROM t ORDER BY id, age", "SELECT name FROM t ORDER BY id").sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age = 3 ORDER BY age, name",
        "SELECT name FROM t WHERE age = 3 ORDER BY name",
    )
    .sound(),
    RuleCase::equal(SCHEMA, "SELECT MAX(age) FROM t ORDER BY MAX(age) LIMIT 1", "SELECT MAX(age) FROM t")
        .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT COUNT(*) FROM (SELECT name FROM t ORDER BY age)",
        "SELECT COUNT(*) FROM (SELECT name FROM t)",
    )
    .sound(),
    RuleCase::differs(SCHEMA, "SELECT name FROM t ORDER BY age, id", "SELECT name FROM t ORDER BY age, name"),
    RuleCase::differs(SCHEMA, "SELECT name FROM t ORDER BY age", "SELECT name FROM t ORDER BY age DESC"),
    // `ORDER BY a.k` makes SQLite compute the subquery for each row, and not look its results up in the index of `k`.
    RuleCase::differs(
        "CREATE TABLE n (k TEXT PRIMARY KEY)",
        "SELECT 1 FROM n AS a WHERE a.k IN (SELECT b.k COLLATE NOCASE FROM n AS b ORDER BY b.k, a.k)",
        "SELECT 1 FROM n AS a WHERE a.k IN (SELECT b.k COLLATE NOCASE FROM n AS b)",
    )
    .sound()
    .witness("INSERT INTO n VALUES ('X'), ('x')"),
];
