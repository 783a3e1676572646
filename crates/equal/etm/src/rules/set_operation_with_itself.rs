//! # A set operation of a query with itself
//!
//! ## What it does
//! Turns `q UNION q` and `q INTERSECT q` into `q`, in `etm@1` into `q` with DISTINCT.
//!
//! ## Why it holds
//! A set united or intersected with itself is itself.
//!
//! ## Needs
//! Both operands are the same query. UNION and INTERSECT remove duplicate rows, so `q` must be DISTINCT, or have
//! none.
//!
//! ## Example
//! ```sql
//! SELECT id FROM t UNION SELECT id FROM t
//! SELECT id FROM t
//! ```
//!
//! ## Does not hold when
//! `q` returns a row twice: `SELECT name FROM t UNION SELECT name FROM t` returns it once. As published this is not
//! looked at.
//!
//! ## Source
//! Paper, Table 3, rule 21. Corrected: duplicates.

use sqlgauge_sql::tree::{Body, Query, SetOperator};

use crate::beside::keeps_any_of_equals;
use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "21",
    name: "set-operation-with-itself",
    summary: "A query with itself in UNION or INTERSECT",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::SET_OPERATION, query),
    cases: CASES,
    source: include_str!("set_operation_with_itself.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Body::SetOperation { operator, all: false, left, right } = &query.body else { return 0 };
    let fits = *operator != SetOperator::Except
        && tools::same_query(&Query::of(left.as_ref().clone()), &Query::of(right.as_ref().clone()));
    if !fits {
        return 0;
    }
    let mut body = left.as_ref().clone();
    if context.is_sound() {
        if !keeps_any_of_equals(&query.body, &context.facts) {
            return 0;
        }
        match &mut body {
            Body::Select(select) if !sqlgauge_sql::derive::is_aggregate_select(select) => {
                select.distinct = true;
            }
            Body::SetOperation { all: false, .. } => {}
            _ => return 0,
        }
    }
    query.body = body;
    1
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT id FROM t UNION SELECT id FROM t", "SELECT id FROM t"),
    RuleCase::equal(
        SCHEMA,
        "SELECT id FROM t WHERE age = 1 INTERSECT SELECT id FROM t WHERE age = 1",
        "SELECT id FROM t WHERE age = 1",
    ),
    RuleCase::equal(SCHEMA, "SELECT name FROM t UNION SELECT name FROM t", "SELECT DISTINCT name FROM t")
        .sound(),
    RuleCase::equal(SCHEMA, "SELECT name FROM t UNION SELECT name FROM t", "SELECT name FROM t").paper(),
    RuleCase::differs(SCHEMA, "SELECT name FROM t UNION SELECT name FROM t", "SELECT name FROM t").sound(),
    RuleCase::differs(SCHEMA, "SELECT id FROM t EXCEPT SELECT id FROM t", "SELECT id FROM t"),
    RuleCase::differs(SCHEMA, "SELECT id FROM t UNION ALL SELECT id FROM t", "SELECT id FROM t").sound(),
];
