//! # HAVING about group keys
//!
//! ## What it does
//! Moves a condition of HAVING that reads only group keys to WHERE.
//!
//! ## Why it holds
//! All rows of a group agree in its keys, so the condition is true of all of them or of none; a group without rows
//! does not exist.
//!
//! ## Needs
//! There is a GROUP BY; the condition holds no aggregate and no subquery, and reads only keys that are compared
//! byte by byte.
//!
//! ## Example
//! ```sql
//! SELECT age, COUNT(*) FROM t GROUP BY age HAVING age > 3
//! SELECT age, COUNT(*) FROM t WHERE age > 3 GROUP BY age
//! ```
//!
//! ## Does not hold when
//! The condition reads a column that is no key: in HAVING it is the value of some row of the group.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{Expr, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S13",
    name: "having-as-where",
    summary: "HAVING without aggregates as WHERE",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::GROUP.and(Shape::HAVING), query),
    cases: CASES,
    source: include_str!("having_as_where.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select_mut() else { return 0 };
    let keys = select.group_by.clone();
    let mut moved = Vec::new();
    let mut rest = Vec::new();
    for conjunct in tools::take_conjuncts(&mut select.having) {
        let columns = tools::columns_of(&conjunct);
        let fits = !sqlgauge_sql::derive::has_aggregate(&conjunct)
            && !sqlgauge_sql::derive::has_subquery(&conjunct)
            && !columns.is_empty()
            && columns.iter().all(|column| {
                let key = Expr::Column(*column);
                keys.contains(&key) && context.facts.is_identity(&key)
            });
        if fits { moved.push(conjunct) } else { rest.push(conjunct) }
    }
    select.having = tools::conjunction(rest);
    let places = moved.len();
    for conjunct in moved {
        tools::add_conjunct(&mut select.filter, conjunct);
    }
    places
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT age, COUNT(*) FROM t GROUP BY age HAVING age > 3",
        "SELECT age, COUNT(*) FROM t WHERE age > 3 GROUP BY age",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT age, COUNT(*) FROM t GROUP BY age HAVING COUNT(*) > 3",
        "SELECT age, COUNT(*) FROM t WHERE age > 3 GROUP BY age",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT age, COUNT(*) FROM t GROUP BY age HAVING id > 1",
        "SELECT age, COUNT(*) FROM t WHERE id > 1 GROUP BY age",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'), (2, 'b', 'm', 1, 'x')"),
];
