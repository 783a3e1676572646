//! # The average as a sum divided by a count
//!
//! ## What it does
//! Turns `CAST(SUM(c) AS REAL) / COUNT(*)` into `AVG(c)`.
//!
//! ## Why it holds
//! SQLite computes AVG as the sum as a floating point number divided by the number of values that are not NULL. Of
//! an empty group both forms are NULL: the sum is.
//!
//! ## Needs
//! The sum is cast to a real type, so that the division is not one of integers. The count is of the rows in which
//! `c` is not NULL: `COUNT(c)`, or `COUNT(*)` where `c` is not NULL. A sum of integers that leaves the range of 64
//! bits is an error for SUM and not for AVG; that case is left out.
//!
//! ## Example
//! ```sql
//! SELECT CAST(SUM(id) AS REAL) / COUNT(*) FROM t
//! SELECT AVG(id) FROM t
//! ```
//!
//! ## Does not hold when
//! There is no cast: 3 / 2 is 1 and the average 1.5. Or `c` may be NULL, so that `COUNT(*)` counts more rows than
//! AVG does.
//!
//! ## Source
//! Paper, Table 2, rule 8.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Affinity;
use sqlgauge_sql::tree::{Args, BinaryOperator, Expr};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "8",
    name: "average-by-sum-and-count",
    summary: "SUM divided by COUNT as AVG",
    profiles: Profiles::BOTH,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("average_by_sum_and_count.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    let Expr::Binary(BinaryOperator::Divide, numerator, denominator) = expr else { return false };
    let Expr::Cast { expr: sum, type_name } = numerator.as_ref() else { return false };
    let Some((Function::Sum, Expr::Column(column))) = tools::plain_aggregate(sum) else { return false };
    if Affinity::of_declared_type(Some(type_name)) != Affinity::Real {
        return false;
    }
    let value = Expr::Column(*column);
    let counts = if context.is_sound() {
        (tools::is_count_star(denominator) && !context.is_nullable_in_row(&value))
            || matches!(tools::plain_aggregate(denominator), Some((Function::Count, counted)) if *counted == value)
    } else {
        tools::is_count_star(denominator) && context.is_not_null_as_published(*column)
    };
    if counts {
        *expr = Expr::aggregate(Function::Avg, Args::List(vec![value]));
    }
    counts
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT CAST(SUM(id) AS FLOAT) / COUNT(*) FROM t", "SELECT AVG(id) FROM t"),
    RuleCase::equal(SCHEMA, "SELECT CAST(SUM(must) AS REAL) / COUNT(*) FROM u", "SELECT AVG(must) FROM u"),
    RuleCase::equal(SCHEMA, "SELECT CAST(SUM(age) AS REAL) / COUNT(age) FROM t", "SELECT AVG(age) FROM t")
        .sound(),
    RuleCase::differs(SCHEMA, "SELECT CAST(SUM(age) AS REAL) / COUNT(*) FROM t", "SELECT AVG(age) FROM t")
        .witness("INSERT INTO t VALUES (1, 'a', 'b', NULL, 'x'), (2, 'b', 'b', 1, 'x')"),
    RuleCase::differs(SCHEMA, "SELECT SUM(id) / COUNT(*) FROM t", "SELECT AVG(id) FROM t")
        .witness("INSERT INTO t VALUES (1, 'a', 'b', 1, 'x'), (2, 'b', 'b', 1, 'x')"),
];
