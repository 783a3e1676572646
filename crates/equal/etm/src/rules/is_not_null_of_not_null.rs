//! # IS NOT NULL of a value that is never NULL
//!
//! ## What it does
//! Replaces `c IS NOT NULL` by TRUE (and `c IS NULL` by FALSE), which then falls away.
//!
//! ## Why it holds
//! The test is true of every row.
//!
//! ## Needs
//! `c` is declared NOT NULL, no outer join fills it with NULL, and there is a row of it: the results of an aggregate
//! without GROUP BY are asked for even over no rows.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE born IS NOT NULL
//! SELECT name FROM t
//! ```
//!
//! ## Does not hold when
//! The column is on the right side of a LEFT JOIN: there the test picks the rows that found a partner. Or it is a
//! primary key that SQLite lets be NULL.
//!
//! ## Source
//! Paper, Table 2, rule 7. Corrected: NULLs of outer joins and of primary keys.

use sqlgauge_sql::tree::Expr;

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "7",
    name: "is-not-null-of-not-null",
    summary: "IS NOT NULL of a value that is never NULL",
    profiles: Profiles::BOTH,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("is_not_null_of_not_null.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    let Expr::IsNull { expr: operand, negated } = expr else { return false };
    if !context.is_condition {
        return false;
    }
    let never_null = if context.is_sound() {
        !context.facts.is_nullable(operand) && !tools::calls_aggregate(operand)
    } else {
        *negated && tools::as_column(operand).is_some_and(|column| context.is_not_null_as_published(column))
    };
    if never_null {
        *expr = tools::truth(*negated);
    }
    never_null
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT name FROM t WHERE born IS NOT NULL", "SELECT name FROM t"),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age > 1 AND id IS NOT NULL",
        "SELECT name FROM t WHERE age > 1",
    ),
    RuleCase::differs(SCHEMA, "SELECT name FROM t WHERE age IS NOT NULL", "SELECT name FROM t"),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t LEFT JOIN u ON t.id = t_id WHERE uid IS NOT NULL",
        "SELECT name FROM t LEFT JOIN u ON t.id = t_id",
    )
    .paper(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t LEFT JOIN u ON t.id = t_id WHERE uid IS NOT NULL",
        "SELECT name FROM t LEFT JOIN u ON t.id = t_id",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'b', 1, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT COUNT(*), CASE WHEN id IS NULL THEN 'none' ELSE 'some' END FROM t",
        "SELECT COUNT(*), 'some' FROM t",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT CASE WHEN COUNT(*) IS NOT NULL THEN 1 END FROM t",
        "SELECT CASE WHEN 1 THEN 1 END FROM t",
    ),
];
