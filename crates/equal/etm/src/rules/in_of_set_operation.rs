//! # IN with a set operation
//!
//! ## What it does
//! Turns `x NOT IN (q1 UNION q2)` into `x NOT IN (q1) AND x NOT IN (q2)`, `x IN (q1 UNION q2)` into OR, and `x IN
//! (q1 INTERSECT q2)`, where it decides whether a row passes, into AND.
//!
//! ## Why it holds
//! A value is in a union if it is in one of the sets. NOT IN is true if neither set holds the value or a NULL,
//! false if one holds the value, and NULL otherwise: so is the AND of the two. A value is in an intersection if it
//! is in both.
//!
//! ## Needs
//! The columns of both operands have the same affinity class as the value and compare byte by byte, so that it
//! makes no difference which affinity SQLite takes for a compound. The value is a column.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE id NOT IN (SELECT t_id FROM u UNION SELECT must FROM u)
//! SELECT name FROM t WHERE id NOT IN (SELECT t_id FROM u) AND id NOT IN (SELECT must FROM u)
//! ```
//!
//! ## Does not hold when
//! The set operation is INTERSECT under NOT IN with NULLs on one side, or EXCEPT.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::derive::{Conversion, Fact, Facts, OperandComparison};
use sqlgauge_sql::schema::{Affinity, Collation};
use sqlgauge_sql::tree::{Body, Expr, Query, SetOperator};

use crate::context::{Position, RuleContext};
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::sensitive::is_settled_by_data;
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S26",
    name: "in-of-set-operation",
    summary: "IN with a UNION or INTERSECT as several IN",
    profiles: Profiles::SOUND,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("in_of_set_operation.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    let Expr::InQuery { expr: value, query, negated } = expr else { return false };
    if !query.ctes.is_empty()
        || query.limit.is_some()
        || query.offset.is_some()
        || tools::as_column(value).is_none()
    {
        return false;
    }
    let Body::SetOperation { operator, left, right, .. } = &query.body else { return false };
    let conjunction = match (operator, *negated) {
        (SetOperator::Union, negated) => negated,
        (SetOperator::Intersect, false) if context.is_condition => true,
        _ => return false,
    };
    let facts = &context.facts;
    let is_settled =
        |body: &Body| is_settled_by_data(&Query::of(body.clone()), Position::DistinctOperand, facts);
    let plain = OperandComparison {
        conversion: Fact::Known(Conversion::None),
        collation: Fact::Known(Collation::Binary),
    };
    let fits = |body: &Body| match body {
        Body::Select(select) => {
            is_settled(body)
                && select.outputs.iter().all(|output| {
                    facts.comparison(value, &output.expr) == plain && facts.is_identity(&output.expr)
                })
        }
        Body::SetOperation { .. } | Body::Values(_) => false,
    };
    if !(fits(left) && fits(right) && converts_alike(value, [left, right], facts)) {
        return false;
    }
    let test = |body: &Body| Expr::InQuery {
        expr: value.clone(),
        query: Box::new(Query::of(body.clone())),
        negated: *negated,
    };
    let parts = vec![test(left), test(right)];
    *expr = if conjunction { Expr::And(parts) } else { Expr::Or(parts) };
    true
}

/// Whether IN does the same to the results of both operands: of a set operation it takes the affinity of the last SELECT
/// for all.
fn converts_alike(value: &Expr, operands: [&Body; 2], facts: &Facts<'_>) -> bool {
    let results = operands.into_iter().filter_map(Body::first_select).flat_map(|select| &select.outputs);
    let affinities: Vec<Fact<Option<Affinity>>> =
        results.map(|output| facts.affinity(&output.expr)).collect();
    let has_one = |affinity: &Fact<Option<Affinity>>| matches!(affinity, Fact::Known(Some(_)));
    let are_equal =
        affinities.windows(2).all(|pair| pair[0] == pair[1]) && !affinities.contains(&Fact::Unknown);
    are_equal || (has_one(&facts.affinity(value)) && affinities.iter().all(has_one))
}

const CASES: &[RuleCase] = &[
    RuleCase::differs(
        "CREATE TABLE a (r REAL); CREATE TABLE b (x INT)",
        "SELECT 1 FROM a WHERE r IN (SELECT x FROM b UNION SELECT 1 FROM b)",
        "SELECT 1 FROM a WHERE r IN (SELECT x FROM b) OR r IN (SELECT 1 FROM b)",
    )
    .sound()
    .witness("INSERT INTO a VALUES (9007199254740992.0); INSERT INTO b VALUES (9007199254740993)"),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE id NOT IN (SELECT t_id FROM u UNION SELECT must FROM u)",
        "SELECT name FROM t WHERE id NOT IN (SELECT t_id FROM u) AND id NOT IN (SELECT must FROM u)",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE id IN (SELECT t_id FROM u INTERSECT SELECT must FROM u)",
        "SELECT name FROM t WHERE id IN (SELECT t_id FROM u) AND id IN (SELECT must FROM u)",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE id IN (SELECT t_id FROM u UNION SELECT must FROM u)",
        "SELECT name FROM t WHERE id IN (SELECT t_id FROM u) AND id IN (SELECT must FROM u)",
    ),
];
