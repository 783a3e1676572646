//! # INTERSECT and UNION of two filters
//!
//! ## What it does
//! Turns `SELECT x FROM t WHERE a INTERSECT SELECT x FROM t WHERE b` into `SELECT x FROM t WHERE a AND b`, and
//! UNION into OR. In `etm@1` FROM may be a join, the results may be any expressions, and the new SELECT is DISTINCT
//! (rule 2 drops that where it can).
//!
//! ## Why it holds
//! UNION: a row is in the union if it comes from a row of FROM that satisfies one of the conditions, each row once;
//! NULL OR TRUE is TRUE, so a condition that is NULL does no harm. INTERSECT: if the results contain a key, two
//! equal result rows come from one and the same row of FROM, which then satisfies both conditions.
//!
//! ## Needs
//! Both sides read the same tables by the same joins and return the same expressions. For INTERSECT: the results
//! fix a UNIQUE and NOT NULL set of columns of every table.
//!
//! ## Example
//! ```sql
//! SELECT id FROM t WHERE age = 1 UNION SELECT id FROM t WHERE age = 2
//! SELECT id FROM t WHERE age = 1 OR age = 2
//! ```
//!
//! ## Does not hold when
//! INTERSECT over a column that is not a key: with two singers of one name, one young and one famous, INTERSECT
//! finds the name and AND does not. With UNIQUE alone (as published) a NULL in the column is such a name, and UNION
//! removes the second of two NULLs.
//!
//! ## Source
//! Paper, Table 2, rule 3. Corrected: NOT NULL.

use sqlgauge_sql::derive::Dependencies;
use sqlgauge_sql::tree::{Body, Expr, Query, Select, SetOperator};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "3",
    name: "set-operation-of-filters",
    summary: "INTERSECT or UNION of two filters of one table",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::SET_OPERATION, query),
    cases: CASES,
    source: include_str!("set_operation_of_filters.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let before = std::mem::replace(&mut query.body, Body::Values(Vec::new()));
    let (after, places) = merge(before, context);
    query.body = after;
    if places > 0 && !context.is_sound() && matches!(query.body, Body::Select(_)) {
        // As the script does it: what ordered the compound is lost.
        query.order_by.clear();
        query.limit = None;
    }
    places
}

fn merge(body: Body, context: &RuleContext<'_>) -> (Body, usize) {
    let Body::SetOperation { operator, all, left, right } = body else { return (body, 0) };
    let (left, below) = merge(*left, context);
    match (operator, all, left, *right) {
        (SetOperator::Union | SetOperator::Intersect, false, Body::Select(left), Body::Select(right)) => {
            if let Some(select) = merged(operator, &left, &right, context) {
                (Body::Select(Box::new(select)), below + 1)
            } else {
                let (left, right) = (Box::new(Body::Select(left)), Box::new(Body::Select(right)));
                (Body::SetOperation { operator, all, left, right }, below)
            }
        }
        (operator, all, left, right) => {
            (Body::SetOperation { operator, all, left: Box::new(left), right: Box::new(right) }, below)
        }
    }
}

fn merged(operator: SetOperator, left: &Select, right: &Select, context: &RuleContext<'_>) -> Option<Select> {
    if !tools::is_flat(left) || !tools::is_flat(right) || left.outputs.len() != right.outputs.len() {
        return None;
    }
    let pairs = tools::same_from(left.from.as_ref(), right.from.as_ref())?;
    let same = |(a, b): (&sqlgauge_sql::tree::Output, &sqlgauge_sql::tree::Output)| {
        a.expr == tools::renamed(&b.expr, &pairs)
    };
    if !left.outputs.iter().zip(&right.outputs).all(same) {
        return None;
    }
    let theirs = right.filter.as_ref().map(|filter| tools::renamed(filter, &pairs));
    let mut merged = left.clone();
    if context.is_sound() {
        if left.outputs.iter().any(|output| {
            sqlgauge_sql::derive::has_subquery(&output.expr)
                || !tools::is_deterministic(&output.expr)
                || !context.facts.is_identity(&output.expr)
        }) {
            return None;
        }
        merged.distinct = true;
    } else {
        let [output] = left.outputs.as_slice() else { return None };
        let unique =
            tools::as_column(&output.expr).is_some_and(|column| context.is_unique_as_published(column));
        // Equal operands are for rule 21.
        if !unique || left.filter.is_none() || theirs.is_none() || left.filter == theirs {
            return None;
        }
    }
    merged.filter = if operator == SetOperator::Union {
        Some(Expr::Or(vec![left.filter.clone()?, theirs?]))
    } else {
        if context.is_sound() && !has_key(left, context) {
            return None;
        }
        tools::conjunction(left.filter.clone().into_iter().chain(theirs).collect())
    };
    Some(merged)
}

fn has_key(select: &Select, context: &RuleContext<'_>) -> bool {
    // Only what both sides promise counts: the conditions of one side alone do not.
    let bare = Select { filter: None, ..select.clone() };
    let outputs: Vec<Expr> = select.outputs.iter().map(|output| output.expr.clone()).collect();
    Dependencies::of(&bare, &context.facts).closure(&outputs).is_complete()
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT id FROM t WHERE age = 1 UNION SELECT id FROM t WHERE age = 2",
        "SELECT id FROM t WHERE age = 1 OR age = 2",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT id FROM t WHERE age = 1 INTERSECT SELECT id FROM t WHERE name = 'x'",
        "SELECT id FROM t WHERE age = 1 AND name = 'x'",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age = 1 UNION SELECT name FROM t WHERE age = 2",
        "SELECT DISTINCT name FROM t WHERE age = 1 OR age = 2",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age = 1 UNION SELECT name FROM t WHERE age = 2",
        "SELECT name FROM t WHERE age = 1 OR age = 2",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age = 1 INTERSECT SELECT name FROM t WHERE code = 'x'",
        "SELECT name FROM t WHERE age = 1 AND code = 'x'",
    ),
    RuleCase::equal(
        "CREATE TABLE n (a INT UNIQUE, b INT)",
        "SELECT a FROM n WHERE b = 1 INTERSECT SELECT a FROM n WHERE b = 2",
        "SELECT a FROM n WHERE b = 1 AND b = 2",
    )
    .paper(),
    RuleCase::differs(
        "CREATE TABLE n (a INT UNIQUE, b INT)",
        "SELECT a FROM n WHERE b = 1 INTERSECT SELECT a FROM n WHERE b = 2",
        "SELECT a FROM n WHERE b = 1 AND b = 2",
    )
    .sound()
    .witness("INSERT INTO n VALUES (NULL, 1), (NULL, 2)"),
    RuleCase::differs(
        SCHEMA,
        "SELECT id FROM t WHERE age = 1 UNION ALL SELECT id FROM t WHERE age = 2 OR age = 1",
        "SELECT id FROM t WHERE age = 1 OR age = 2",
    ),
    // What is read twice SQLite computes once and does not move the comparison into.
    RuleCase::differs(
        "CREATE TABLE p (a REAL, b TEXT NOT NULL)",
        "WITH q(x) AS (SELECT b FROM p EXCEPT SELECT a FROM p) SELECT x FROM q INTERSECT SELECT x FROM q WHERE x > 2.0",
        "WITH q(x) AS (SELECT b FROM p EXCEPT SELECT a FROM p) SELECT DISTINCT x FROM q WHERE x > 2.0",
    )
    .sound()
    .witness("INSERT INTO p VALUES (3.0, '')"),
];
