//! # What a subquery of EXISTS returns
//!
//! ## What it does
//! Replaces the results of a subquery of EXISTS by the constant 1, and drops its DISTINCT, ORDER BY, LIMIT, and
//! GROUP BY without aggregates.
//!
//! ## Why it holds
//! EXISTS only asks whether there is a row. None of these makes a row appear or the last one disappear.
//!
//! ## Needs
//! LIMIT, if there is one, is a positive number without OFFSET; there is no HAVING and no aggregate.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE EXISTS (SELECT DISTINCT v FROM u WHERE t_id = id LIMIT 1)
//! SELECT name FROM t WHERE EXISTS (SELECT 1 FROM u WHERE t_id = id)
//! ```
//!
//! ## Does not hold when
//! The subquery aggregates without GROUP BY: it always has a row.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{Output, Query};

use crate::context::Position;
use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S10",
    name: "exists-of-anything",
    summary: "What EXISTS returns",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::ANY, query),
    cases: CASES,
    source: include_str!("exists_of_anything.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let positive = query.limit.as_ref().is_none_or(|limit| tools::as_integer(limit).is_some_and(|n| n > 0));
    if context.position != Position::Exists || query.offset.is_some() || !positive {
        return 0;
    }
    let Some(select) = query.as_select() else { return 0 };
    let aggregates = select.having.is_some()
        || select.outputs.iter().any(|output| sqlgauge_sql::derive::has_aggregate(&output.expr));
    let is_bare = matches!(select.outputs.as_slice(), [only] if only.expr == tools::one())
        && !select.distinct
        && select.group_by.is_empty()
        && query.order_by.is_empty()
        && query.limit.is_none();
    if is_bare || (aggregates && select.group_by.is_empty()) || select.having.is_some() {
        return 0;
    }
    query.order_by.clear();
    query.limit = None;
    let Some(select) = query.as_select_mut() else { return 0 };
    select.distinct = false;
    select.group_by.clear();
    select.outputs = vec![Output::of(tools::one())];
    1
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE EXISTS (SELECT DISTINCT v FROM u WHERE t_id = id LIMIT 1)",
        "SELECT name FROM t WHERE EXISTS (SELECT 1 FROM u WHERE t_id = id)",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE t_id = id)",
        "SELECT name FROM t WHERE NOT EXISTS (SELECT uid FROM u WHERE t_id = id ORDER BY v)",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE EXISTS (SELECT COUNT(*) FROM u WHERE t_id = id)",
        "SELECT name FROM t WHERE EXISTS (SELECT 1 FROM u WHERE t_id = id)",
    ),
];
