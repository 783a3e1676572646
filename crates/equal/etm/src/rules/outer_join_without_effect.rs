//! # An outer join that is an inner join
//!
//! ## What it does
//! Turns a LEFT JOIN into an inner join where no row without a partner is left in the end.
//!
//! ## Why it holds
//! If a condition of WHERE cannot be true when a column of the right side is NULL, it drops the rows that were
//! filled with NULL. If the left side refers to the right one by a foreign key that is NOT NULL, each row has a
//! partner.
//!
//! ## Needs
//! Either a condition that rejects NULL in a column of the right side; or ON is exactly the equality of a foreign
//! key, NOT NULL on the left, with its target, and SQLite checks that key as `=` compares.
//!
//! ## Example
//! ```sql
//! SELECT name, v FROM t LEFT JOIN u ON t.id = u.t_id WHERE v > 3
//! SELECT name, v FROM t JOIN u ON t.id = u.t_id WHERE v > 3
//! ```
//!
//! ## Does not hold when
//! The condition may be true of NULL (`v IS NULL`, `COALESCE(v, 4) > 3`), or the reference may be NULL.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::derive::{Facts, rejects_null};
use sqlgauge_sql::tree::{BinaryOperator, Expr, From, Join, JoinKind, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S4",
    name: "outer-join-without-effect",
    summary: "LEFT JOIN that keeps no row without a partner",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::JOIN, query),
    cases: CASES,
    source: include_str!("outer_join_without_effect.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select() else { return 0 };
    if select.from.as_ref().is_none_or(From::is_inner) {
        return 0;
    }
    let conditions: Vec<Expr> = sqlgauge_sql::derive::conjuncts(select).into_iter().cloned().collect();
    let Some(From::Join(_)) = &select.from else { return 0 };
    let Some(select) = query.as_select_mut() else { return 0 };
    let Some(from) = &mut select.from else { return 0 };
    let places = strengthen(from, &conditions, context);
    if places > 0 {
        mark_inner(from, &mut context.facts);
    }
    places
}

fn strengthen(from: &mut From, conditions: &[Expr], context: &RuleContext<'_>) -> usize {
    let From::Join(join) = from else { return 0 };
    let mut places = 0;
    if join.kind == JoinKind::Left {
        let ids: Vec<_> = join.right.relations().iter().map(|relation| relation.id).collect();
        let rejected = conditions.iter().any(|condition| {
            let columns = tools::columns_of(condition);
            columns.iter().any(|column| ids.contains(&column.relation) && rejects_null(condition, *column))
        });
        if rejected || always_finds(join, context) {
            join.kind = JoinKind::Inner;
            places += 1;
        }
    }
    match join.kind {
        JoinKind::Inner | JoinKind::Cross => {
            places
                + strengthen(&mut join.left, conditions, context)
                + strengthen(&mut join.right, conditions, context)
        }
        JoinKind::Left => places + strengthen(&mut join.left, conditions, context),
        JoinKind::Right | JoinKind::Full => places,
    }
}

/// Makes it known which relations no outer join fills any more; joins below others may still do.
fn mark_inner(from: &From, facts: &mut Facts<'_>) {
    match from {
        From::Relation(relation) => facts.set_null_extended(relation.id, false),
        From::Join(join) => {
            if !matches!(join.kind, JoinKind::Right | JoinKind::Full) {
                mark_inner(&join.left, facts);
            }
            if !matches!(join.kind, JoinKind::Left | JoinKind::Full) {
                mark_inner(&join.right, facts);
            }
        }
    }
}

fn always_finds(join: &Join, context: &RuleContext<'_>) -> bool {
    let (From::Relation(right), Some(Expr::Binary(BinaryOperator::Equal, a, b))) = (&join.right, &join.on)
    else {
        return false;
    };
    let (Expr::Column(a), Expr::Column(b)) = (a.as_ref(), b.as_ref()) else { return false };
    let (child, parent) = if a.relation == right.id { (*b, *a) } else { (*a, *b) };
    parent.relation == right.id
        && child.relation != right.id
        && context.refers_to(child, parent)
        && !context.facts.column(child).nullable
        && context.facts.equals_are_identical(&Expr::Column(child), &Expr::Column(parent))
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name, v FROM t LEFT JOIN u ON t.id = u.t_id WHERE v > 3",
        "SELECT name, v FROM t JOIN u ON t.id = u.t_id WHERE v > 3",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name, v FROM u LEFT JOIN t ON t.id = u.must",
        "SELECT name, v FROM u JOIN t ON t.id = u.must",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name, v FROM u LEFT JOIN t ON t.id = u.t_id",
        "SELECT name, v FROM u JOIN t ON t.id = u.t_id",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'); INSERT INTO u VALUES (1, NULL, 1, 1)"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name, v FROM t LEFT JOIN u ON t.id = u.t_id WHERE v IS NULL",
        "SELECT name, v FROM t JOIN u ON t.id = u.t_id WHERE v IS NULL",
    ),
    RuleCase::differs(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE u (uid INTEGER PRIMARY KEY, must INT NOT NULL REFERENCES t(id)); CREATE TABLE w (x INT, y INT NOT NULL);",
        "SELECT w.y, u.must, t.name FROM w LEFT JOIN u ON u.uid = w.x LEFT JOIN t ON t.id = u.must",
        "SELECT w.y, u.must, t.name FROM w LEFT JOIN u ON u.uid = w.x JOIN t ON t.id = u.must",
    )
    .witness("INSERT INTO w VALUES (1, 1)"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name, v FROM t LEFT JOIN u ON t.id = u.t_id WHERE NOT (v IN ())",
        "SELECT name, v FROM t JOIN u ON t.id = u.t_id",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x')"),
    RuleCase::differs(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE u (uid INTEGER PRIMARY KEY, must INT NOT NULL REFERENCES t(id)); CREATE TABLE w (x INT, y INT NOT NULL);",
        "SELECT t.name, u.must, w.y FROM t LEFT JOIN (u LEFT JOIN w ON w.x = u.uid) ON u.must = t.id WHERE u.uid > 0",
        "SELECT t.name, u.must, w.y FROM t JOIN (u JOIN w ON w.x = u.uid) ON u.must = t.id WHERE u.uid > 0",
    )
    .witness("INSERT INTO t VALUES (1, 'a'); INSERT INTO u VALUES (1, 1)"),
    RuleCase::differs(
        "CREATE TABLE p (k TEXT PRIMARY KEY NOT NULL); CREATE TABLE c (b NOT NULL REFERENCES p (k))",
        "SELECT p.k FROM c LEFT JOIN p ON c.b = p.k",
        "SELECT p.k FROM c JOIN p ON c.b = p.k",
    )
    .witness("INSERT INTO p VALUES ('0'); INSERT INTO c VALUES (0)"),
];
