//! # Grouping without aggregates
//!
//! ## What it does
//! Turns `SELECT a FROM t GROUP BY a` into `SELECT DISTINCT a FROM t`.
//!
//! ## Why it holds
//! There is one row per group, and the rows of two groups differ, because the results fix the keys; and a row shows
//! its group alone, because the keys fix the results.
//!
//! ## Needs
//! No aggregate and no HAVING; the results and the keys fix each other.
//!
//! ## Example
//! ```sql
//! SELECT age FROM t GROUP BY age
//! SELECT DISTINCT age FROM t
//! ```
//!
//! ## Does not hold when
//! A key is not among the results: two groups may then give the same row. Or a result is not fixed by the keys.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::derive::Dependencies;
use sqlgauge_sql::tree::{Expr, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S12",
    name: "group-by-as-distinct",
    summary: "GROUP BY without aggregates as DISTINCT",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::GROUP, query),
    cases: CASES,
    source: include_str!("group_by_as_distinct.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    if context.groups_show() && query.limit.is_some() {
        return 0;
    }
    let aggregates = query.order_by.iter().any(|term| sqlgauge_sql::derive::has_aggregate(&term.expr));
    let Some(select) = query.as_select() else { return 0 };
    if aggregates
        || select.having.is_some()
        || select.outputs.iter().any(|output| {
            sqlgauge_sql::derive::has_aggregate(&output.expr)
                || sqlgauge_sql::derive::has_window(&output.expr)
        })
    {
        return 0;
    }
    let outputs: Vec<Expr> = select.outputs.iter().map(|output| output.expr.clone()).collect();
    let dependencies = Dependencies::of(select, &context.facts);
    let (of_keys, of_outputs) = (dependencies.closure(&select.group_by), dependencies.closure(&outputs));
    let binary = outputs.iter().chain(&select.group_by).all(|expr| context.facts.is_identity(expr));
    let fits = binary
        && outputs.iter().all(|output| select.group_by.contains(output) || of_keys.determines(output))
        && select.group_by.iter().all(|key| outputs.contains(key) || of_outputs.determines(key));
    // A sort key that the keys do not fix shows one row of the group.
    let sorted = query.order_by.iter().all(|term| {
        let key = tools::order_expr(query, &term.expr);
        outputs.contains(key) || of_keys.determines(key)
    });
    if !fits || !sorted {
        return 0;
    }
    let Some(select) = query.as_select_mut() else { return 0 };
    select.group_by.clear();
    select.distinct = true;
    1
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT age FROM t GROUP BY age", "SELECT DISTINCT age FROM t").sound(),
    RuleCase::equal(SCHEMA, "SELECT name, age FROM t GROUP BY age, name", "SELECT DISTINCT name, age FROM t")
        .sound(),
    RuleCase::differs(SCHEMA, "SELECT age FROM t GROUP BY age, name", "SELECT DISTINCT age FROM t"),
    RuleCase::differs(SCHEMA, "SELECT age FROM t GROUP BY age HAVING COUNT(*) > 1", "SELECT DISTINCT age FROM t"),
    // SQLite passes DISTINCT in EXISTS over.
    RuleCase::differs(
        SCHEMA,
        "SELECT id FROM t WHERE NOT EXISTS (SELECT v FROM u GROUP BY v LIMIT 3 OFFSET 2)",
        "SELECT id FROM t WHERE NOT EXISTS (SELECT DISTINCT v FROM u LIMIT 3 OFFSET 2)",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'); INSERT INTO u VALUES (1, 1, 1, 5), (2, 1, 1, 5), (3, 1, 1, 6)"),
];
