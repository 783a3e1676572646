//! # EXCEPT as NOT IN
//!
//! ## What it does
//! Turns `SELECT c FROM t EXCEPT q` into `SELECT c FROM t WHERE c NOT IN (q)`. In `etm@1` the new SELECT is
//! DISTINCT (rule 2 drops that where it can) and the subquery loses its NULLs.
//!
//! ## Why it holds
//! Where neither side is NULL, a value is in the difference if and only if it is not in `q`; EXCEPT returns each
//! value once. A NULL in `q` takes nothing away from values that are not NULL, so `q` may be filtered by `IS NOT
//! NULL`, without which NOT IN would never be true.
//!
//! ## Needs
//! `c` is not NULL. As published also: `c` is UNIQUE. In `etm@1`: values of the two columns that compare equal are
//! identical (no text meets a number, no 1 meets 1.0, texts compare byte by byte), because EXCEPT applies no affinity
//! and NOT IN does.
//!
//! ## Example
//! ```sql
//! SELECT id FROM t EXCEPT SELECT must FROM u
//! SELECT id FROM t WHERE id NOT IN (SELECT must FROM u)
//! ```
//!
//! ## Does not hold when
//! The subquery may return NULL: `c NOT IN (…, NULL)` is never true, but EXCEPT goes on. This is the case as
//! published.
//!
//! ## Source
//! Paper, Table 2, rule 5. Corrected: NULLs of the subquery; affinity.

use sqlgauge_sql::derive::{has_window, is_aggregate_select};
use sqlgauge_sql::tree::{Body, Expr, Query, Select, SetOperator};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "5",
    name: "except-of-column",
    summary: "EXCEPT as NOT IN",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::SET_OPERATION, query),
    cases: CASES,
    source: include_str!("except_of_column.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Body::SetOperation { operator: SetOperator::Except, left, right, .. } = &query.body else {
        return 0;
    };
    let (Body::Select(outer), [_]) = (left.as_ref(), query.outputs().unwrap_or_default()) else {
        return 0;
    };
    let Some(select) = difference(outer, right, context) else { return 0 };
    query.body = Body::Select(Box::new(select));
    if !context.is_sound() {
        query.order_by.clear();
    }
    1
}

fn difference(outer: &Select, inner: &Body, context: &RuleContext<'_>) -> Option<Select> {
    let value = &outer.outputs.first()?.expr;
    let column = tools::as_column(value)?;
    let mut inner = inner.clone();
    if context.is_sound() {
        let Body::Select(select) = &mut inner else { return None };
        let other = select.outputs.first()?.expr.clone();
        let stored = context.facts.equals_are_identical(value, &other) && context.facts.is_identity(value);
        if is_aggregate_select(outer) || !stored || context.facts.output_may_be_null(outer, value) {
            return None;
        }
        if context.facts.output_may_be_null(select, &other) {
            if is_aggregate_select(select) || has_window(&other) {
                return None;
            }
            tools::add_conjunct(&mut select.filter, Expr::IsNull { expr: Box::new(other), negated: true });
        }
    } else if !context.is_unique_as_published(column) || !context.is_not_null_as_published(column) {
        return None;
    }
    let mut select = outer.clone();
    select.distinct |= context.is_sound();
    let query = Box::new(Query::of(inner));
    tools::add_conjunct(
        &mut select.filter,
        Expr::InQuery { expr: Box::new(value.clone()), query, negated: true },
    );
    Some(select)
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT id FROM t EXCEPT SELECT must FROM u",
        "SELECT id FROM t WHERE id NOT IN (SELECT must FROM u)",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT id FROM t EXCEPT SELECT t_id FROM u",
        "SELECT id FROM t WHERE id NOT IN (SELECT t_id FROM u WHERE t_id IS NOT NULL)",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT id FROM t EXCEPT SELECT t_id FROM u",
        "SELECT id FROM t WHERE id NOT IN (SELECT t_id FROM u)",
    )
    .paper(),
    RuleCase::differs(
        SCHEMA,
        "SELECT id FROM t EXCEPT SELECT t_id FROM u",
        "SELECT id FROM t WHERE id NOT IN (SELECT t_id FROM u)",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'b', 1, 'x'); INSERT INTO u VALUES (1, NULL, 1, 1)"),
    RuleCase::equal(
        SCHEMA,
        "SELECT born FROM t EXCEPT SELECT name FROM t WHERE name > 'b'",
        "SELECT DISTINCT born FROM t WHERE born NOT IN (SELECT name FROM t WHERE name > 'b')",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT born FROM t EXCEPT SELECT code FROM t WHERE age > 1",
        "SELECT born FROM t WHERE born NOT IN (SELECT code FROM t WHERE age > 1)",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t EXCEPT SELECT code FROM t",
        "SELECT DISTINCT name FROM t WHERE name NOT IN (SELECT code FROM t)",
    ),
    // A window function cannot stand in WHERE.
    RuleCase::equal(
        SCHEMA,
        "SELECT id FROM t EXCEPT SELECT LAG(must) OVER (ORDER BY uid) FROM u",
        "SELECT t.id FROM t EXCEPT SELECT LAG(u.must) OVER (ORDER BY u.uid) FROM u",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT id FROM t EXCEPT SELECT ROW_NUMBER() OVER (ORDER BY v) FROM u",
        "SELECT id FROM t EXCEPT SELECT ROW_NUMBER() OVER (ORDER BY v) FROM u WHERE v IS NOT NULL",
    ),
];
