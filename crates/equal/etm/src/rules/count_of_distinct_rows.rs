//! # Counting distinct rows
//!
//! ## What it does
//! Turns `SELECT COUNT(*) FROM (SELECT DISTINCT a FROM t)` into `SELECT COUNT(DISTINCT a) FROM t`.
//!
//! ## Why it holds
//! Both count the different values of `a`; COUNT(DISTINCT) passes over NULL, of which there is none.
//!
//! ## Needs
//! `a` is one column and not NULL.
//!
//! ## Example
//! ```sql
//! SELECT COUNT(*) FROM (SELECT DISTINCT born FROM t)
//! SELECT COUNT(DISTINCT born) FROM t
//! ```
//!
//! ## Does not hold when
//! `a` may be NULL: the subquery has a row for it.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Aggregate, Args, Body, Expr, Output, Query, RelationSource};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S20",
    name: "count-of-distinct-rows",
    summary: "COUNT(*) over DISTINCT as COUNT(DISTINCT …)",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::DERIVED, query),
    cases: CASES,
    source: include_str!("count_of_distinct_rows.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select() else { return 0 };
    let Some(relation) = tools::single_relation(select) else { return 0 };
    let RelationSource::Derived(inner) = &relation.source else { return 0 };
    let ([output], Some(inner_select)) = (select.outputs.as_slice(), tools::plain_select(inner)) else {
        return 0;
    };
    let counts = match tools::plain_aggregate(&output.expr) {
        Some((Function::Count, Expr::Column(column))) => column.relation == relation.id,
        _ => tools::is_count_star(&output.expr),
    };
    let bare = query.order_by.is_empty()
        && select.filter.is_none()
        && select.group_by.is_empty()
        && select.having.is_none();
    let [value] = inner_select.outputs.as_slice() else { return 0 };
    let not_null =
        !tools::is_count_star(&output.expr) || !context.facts.output_may_be_null(inner_select, &value.expr);
    if !counts || !bare || !inner_select.distinct || !tools::is_flat(inner_select) || !not_null {
        return 0;
    }
    let mut inner_select = inner_select.clone();
    inner_select.distinct = false;
    let plain = Aggregate::plain(Function::Count, Args::List(vec![value.expr.clone()]));
    let count = Expr::Aggregate(Box::new(Aggregate { distinct: true, ..plain }));
    inner_select.outputs = vec![Output::of(count)];
    query.body = Body::Select(Box::new(inner_select));
    1
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT COUNT(*) FROM (SELECT DISTINCT born FROM t)",
        "SELECT COUNT(DISTINCT born) FROM t",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT COUNT(name) FROM (SELECT DISTINCT name FROM t)",
        "SELECT COUNT(DISTINCT name) FROM t",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT COUNT(*) FROM (SELECT DISTINCT name FROM t)",
        "SELECT COUNT(DISTINCT name) FROM t",
    ),
];
