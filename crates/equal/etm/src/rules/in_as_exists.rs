//! # IN with a subquery
//!
//! ## What it does
//! Where it decides whether a row passes, turns `x IN (SELECT y FROM t WHERE d)` into `EXISTS (SELECT 1 FROM t
//! WHERE d AND y = x)`.
//!
//! ## Why it holds
//! IN is true if and only if a row of the subquery equals the value; where it is NULL instead of FALSE, the row
//! does not pass either.
//!
//! ## Needs
//! The subquery only filters and joins: no grouping, LIMIT or set operation. The value holds no aggregate.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE id IN (SELECT t_id FROM u WHERE v = 1)
//! SELECT name FROM t WHERE EXISTS (SELECT 1 FROM u WHERE v = 1 AND u.t_id = t.id)
//! ```
//!
//! ## Does not hold when
//! The value of IN itself is used, or it is negated: NOT IN over a NULL is NULL.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{Body, Expr, Query};

use crate::beside::equals_are_identical;
use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S8",
    name: "in-as-exists",
    summary: "IN with a subquery as EXISTS",
    profiles: Profiles::SOUND,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("in_as_exists.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    let Expr::InQuery { expr: value, query, negated: false } = expr else { return false };
    if !context.is_condition || !tools::may_become_exists(value, query, &context.facts) {
        return false;
    }
    // DISTINCT keeps one of what its collation takes for equal, which IN may tell apart.
    let is_distinct = query.as_select().is_some_and(|select| select.distinct);
    if is_distinct && !equals_are_identical(&query.body, &context.facts) {
        return false;
    }
    let mut query = std::mem::replace(query, Box::new(Query::of(Body::Values(Vec::new()))));
    tools::link(&mut query, value);
    *expr = Expr::Exists { query, negated: false };
    true
}

const CASES: &[RuleCase] = &[
    // IN converts both to REAL, which rounds.
    RuleCase::differs(
        "CREATE TABLE a (r REAL); CREATE TABLE b (x INT)",
        "SELECT r FROM a WHERE r IN (SELECT +x FROM b)",
        "SELECT r FROM a WHERE EXISTS (SELECT 1 FROM b WHERE +x = r)",
    )
    .sound()
    .witness("INSERT INTO a VALUES (9007199254740992.0); INSERT INTO b VALUES (9007199254740993)"),
    RuleCase::differs(
        "CREATE TABLE t (a TEXT COLLATE NOCASE, b TEXT NOT NULL)",
        "SELECT b FROM t WHERE b IN (SELECT DISTINCT s.a FROM t AS s)",
        "SELECT b FROM t WHERE EXISTS (SELECT 1 FROM t AS s WHERE t.b = s.a)",
    )
    .sound()
    .witness("INSERT INTO t VALUES ('A', 'X'), ('a', 'x'), ('1', 'a')"),
    // SQLite finds 'X', the first of what NOCASE takes for one, in the index of `k`, which tells them apart.
    RuleCase::differs(
        "CREATE TABLE n (k TEXT PRIMARY KEY)",
        "SELECT 1 FROM n AS a WHERE a.k IN (SELECT b.k COLLATE NOCASE FROM n AS b)",
        "SELECT 1 FROM n AS a WHERE EXISTS (SELECT 1 FROM n AS b WHERE a.k = b.k COLLATE NOCASE)",
    )
    .sound()
    .witness("INSERT INTO n VALUES ('X'), ('x')"),
    // For IN, SQLite sorts before it takes two rows.
    RuleCase::differs(
        "CREATE TABLE q (n INT); CREATE TABLE t (born INT)",
        "SELECT n FROM q WHERE n IN (SELECT b.born FROM (SELECT a.born FROM (SELECT born FROM t LIMIT 2) a ORDER BY 1) b)",
        "SELECT n FROM q WHERE EXISTS (SELECT 1 FROM (SELECT a.born FROM (SELECT born FROM t LIMIT 2) a ORDER BY 1) b WHERE n = b.born)",
    )
    .sound()
    .witness("INSERT INTO q VALUES (3); INSERT INTO t VALUES (3), (2), (-1)"),
    RuleCase::equal(
        "CREATE TABLE a (r REAL); CREATE TABLE b (x INT)",
        "SELECT r FROM a WHERE r IN (SELECT x FROM b)",
        "SELECT r FROM a WHERE EXISTS (SELECT 1 FROM b WHERE x = r)",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE id IN (SELECT t_id FROM u WHERE v = 1)",
        "SELECT name FROM t WHERE EXISTS (SELECT 1 FROM u WHERE v = 1 AND u.t_id = t.id)",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age = 1 OR id IN (SELECT t_id FROM u)",
        "SELECT name FROM t WHERE age = 1 OR EXISTS (SELECT * FROM u WHERE u.t_id = t.id)",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT age IN (SELECT v FROM u) FROM t",
        "SELECT EXISTS (SELECT 1 FROM u WHERE v = age) FROM t",
    ),
];
