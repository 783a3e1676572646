//! # IS NOT NULL of the value that is aggregated
//!
//! ## What it does
//! Drops `c IS NOT NULL` from a SELECT without GROUP BY whose results are all aggregates of `c`.
//!
//! ## Why it holds
//! Aggregates pass over NULL, and without GROUP BY there is one result row whether rows pass or not.
//!
//! ## Needs
//! Every result is COUNT, SUM, TOTAL, AVG, MIN or MAX of `c` itself, with or without DISTINCT; there is no GROUP BY
//! and no HAVING.
//!
//! ## Example
//! ```sql
//! SELECT MAX(age) FROM t WHERE age IS NOT NULL
//! SELECT MAX(age) FROM t
//! ```
//!
//! ## Does not hold when
//! There is a `COUNT(*)`, a GROUP BY, or a result that reads another column.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{ColumnRef, Expr, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S27",
    name: "not-null-of-aggregated",
    summary: "IS NOT NULL of an aggregated value",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::FILTER, query),
    cases: CASES,
    source: include_str!("not_null_of_aggregated.rs"),
};

fn query(query: &mut Query, _context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select_mut() else { return 0 };
    if !select.group_by.is_empty() || select.having.is_some() || select.outputs.is_empty() {
        return 0;
    }
    let aggregated: Option<Vec<ColumnRef>> =
        select.outputs.iter().map(|output| argument(&output.expr)).collect();
    let Some(aggregated) = aggregated else { return 0 };
    let first = aggregated[0];
    if aggregated.iter().any(|column| *column != first) {
        return 0;
    }
    let mut conjuncts = tools::take_conjuncts(&mut select.filter);
    let before = conjuncts.len();
    let tests =
        |e: &Expr| matches!(e, Expr::IsNull { expr, negated: true } if tools::as_column(expr) == Some(first));
    conjuncts.retain(|conjunct| !tests(conjunct));
    let places = before - conjuncts.len();
    select.filter = tools::conjunction(conjuncts);
    places
}

fn argument(expr: &Expr) -> Option<ColumnRef> {
    let aggregate = tools::own_aggregate(expr)?;
    let skips_null = matches!(
        aggregate.function,
        Function::Count | Function::Sum | Function::Total | Function::Avg | Function::Min | Function::Max
    );
    let plain = skips_null && aggregate.filter.is_none();
    match aggregate.args.as_slice() {
        [Expr::Column(column)] if plain => Some(*column),
        _ => None,
    }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT MAX(age) FROM t WHERE age IS NOT NULL", "SELECT MAX(age) FROM t").sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT COUNT(DISTINCT t.id) FROM t JOIN u ON t.id = u.t_id",
        "SELECT COUNT(DISTINCT t_id) FROM u",
    )
    .sound(),
    RuleCase::differs(SCHEMA, "SELECT COUNT(*) FROM t WHERE age IS NOT NULL", "SELECT COUNT(*) FROM t"),
    RuleCase::differs(
        SCHEMA,
        "SELECT MAX(age), MAX(id) FROM t WHERE age IS NOT NULL",
        "SELECT MAX(age), MAX(id) FROM t",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT MAX(age) FROM t WHERE age IS NOT NULL GROUP BY name",
        "SELECT MAX(age) FROM t GROUP BY name",
    ),
];
