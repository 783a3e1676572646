//! # The NULL group of a subquery of IN
//!
//! ## What it does
//! Where it decides whether a row passes, adds `f IS NOT NULL` to `x IN (SELECT f FROM t GROUP BY f …)`. `COUNT(f)`
//! then is `COUNT(*)` (rule 6).
//!
//! ## Why it holds
//! A row with NULL in the subquery makes IN true of no value; at most it makes it NULL instead of FALSE, which lets
//! a row pass as little.
//!
//! ## Needs
//! The subquery groups by the column that it returns, and shows no single row of a group; IN is not negated.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE age IN (SELECT v FROM u GROUP BY v HAVING COUNT(v) > 1)
//! SELECT name FROM t WHERE age IN (SELECT v FROM u GROUP BY v HAVING COUNT(*) > 1)
//! ```
//!
//! ## Does not hold when
//! It is NOT IN: a NULL in the subquery makes it never true. Or the subquery stands alone: its NULL group is a row.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::Expr;

use crate::context::{Position, RuleContext};
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::sensitive::is_settled_by_data;
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S29",
    name: "null-group-in-in",
    summary: "The NULL group of a subquery of IN",
    profiles: Profiles::SOUND,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("null_group_in_in.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    let Expr::InQuery { query, negated: false, .. } = expr else { return false };
    let settled = is_settled_by_data(query, Position::In, &context.facts);
    if !context.is_condition || tools::plain_select(query).is_none() || !settled {
        return false;
    }
    let Some(select) = query.as_select_mut() else { return false };
    let [output] = select.outputs.as_slice() else { return false };
    let value = output.expr.clone();
    let groups = tools::as_column(&value).is_some() && select.group_by == [value.clone()];
    // Rule S1 takes conditions beside a false one away again.
    let is_empty = select.filter.as_ref().is_some_and(|filter| tools::is_truth(filter, false));
    if !groups || is_empty || !context.facts.output_may_be_null(select, &value) {
        return false;
    }
    tools::add_conjunct(&mut select.filter, Expr::IsNull { expr: Box::new(value), negated: true });
    true
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age IN (SELECT v FROM u GROUP BY v HAVING COUNT(v) > 1)",
        "SELECT name FROM t WHERE age IN (SELECT v FROM u GROUP BY v HAVING COUNT(*) > 1)",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age NOT IN (SELECT v FROM u GROUP BY v HAVING COUNT(v) > 1)",
        "SELECT name FROM t WHERE age NOT IN (SELECT v FROM u GROUP BY v HAVING COUNT(*) > 1)",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT v FROM u GROUP BY v HAVING COUNT(v) > 1",
        "SELECT v FROM u GROUP BY v HAVING COUNT(*) > 1",
    ),
];
