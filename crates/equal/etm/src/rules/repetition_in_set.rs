//! # Repetition that does not show
//!
//! ## What it does
//! Drops DISTINCT, and GROUP BY without aggregates, from a subquery of IN and from an operand of UNION, INTERSECT
//! or EXCEPT.
//!
//! ## Why it holds
//! There only matters which rows there are, not how often.
//!
//! ## Needs
//! No LIMIT, no HAVING, no aggregate; the results are fixed by the group keys.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE id IN (SELECT DISTINCT t_id FROM u)
//! SELECT name FROM t WHERE id IN (SELECT t_id FROM u)
//! ```
//!
//! ## Does not hold when
//! There is a LIMIT: it counts rows.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::Query;

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};

pub(super) static RULE: Rule = Rule {
    id: "S11",
    name: "repetition-in-set",
    summary: "DISTINCT and GROUP BY where repetition does not show",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::ANY, query),
    cases: CASES,
    source: include_str!("repetition_in_set.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    if !context.position.is_set()
        || query.limit.is_some()
        || query.offset.is_some()
        || !query.order_by.is_empty()
    {
        return 0;
    }
    let Some(select) = query.as_select_mut() else { return 0 };
    let mut places = 0;
    if select.distinct {
        select.distinct = false;
        places += 1;
    }
    let aggregates = select.having.is_some()
        || select.outputs.iter().any(|output| sqlgauge_sql::derive::has_aggregate(&output.expr));
    if !select.group_by.is_empty() && !aggregates {
        select.group_by.clear();
        places += 1;
    }
    places
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE id IN (SELECT DISTINCT t_id FROM u)",
        "SELECT name FROM t WHERE id IN (SELECT t_id FROM u)",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age IN (SELECT v FROM u GROUP BY v)",
        "SELECT name FROM t WHERE age IN (SELECT v FROM u)",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT DISTINCT name FROM t UNION SELECT code FROM t",
        "SELECT name FROM t UNION SELECT code FROM t",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age IN (SELECT v FROM u GROUP BY v HAVING COUNT(*) > 1)",
        "SELECT name FROM t WHERE age IN (SELECT v FROM u)",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT DISTINCT name FROM t UNION ALL SELECT code FROM t",
        "SELECT name FROM t UNION ALL SELECT code FROM t",
    ),
];
