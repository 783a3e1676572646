//! # Negation
//!
//! ## What it does
//! Moves NOT inwards: through AND and OR, into IN, LIKE, BETWEEN, IS NULL and EXISTS; drops two in a row.
//!
//! ## Why it holds
//! In three-valued logic NOT exchanges TRUE and FALSE and keeps NULL, so De Morgan's laws hold, and `NOT (x IN …)`
//! is what `x NOT IN …` means.
//!
//! ## Needs
//! Two NOT in a row are dropped only where the value decides whether a row passes, or is a truth value.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE NOT (age = 3 OR name IS NULL)
//! SELECT name FROM t WHERE age <> 3 AND name IS NOT NULL
//! ```
//!
//! ## Does not hold when
//! The value is used as a number: `NOT NOT 5` is 1.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{Expr, UnaryOperator};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S16",
    name: "negation",
    summary: "NOT before AND, OR, IN, LIKE, IS NULL, EXISTS",
    profiles: Profiles::SOUND,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("negation.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    let Expr::Unary(UnaryOperator::Not, inner) = expr else { return false };
    let not = |e: Expr| Expr::Unary(UnaryOperator::Not, Box::new(e));
    let inner = std::mem::replace(inner.as_mut(), tools::one());
    let (new, changed) = match inner {
        Expr::And(list) => (Expr::Or(list.into_iter().map(not).collect()), true),
        Expr::Or(list) => (Expr::And(list.into_iter().map(not).collect()), true),
        Expr::Unary(UnaryOperator::Not, only) if context.is_condition => (*only, true),
        // As a sort key a number is the place of a result.
        Expr::Literal(sqlgauge_sql::tree::Literal::Integer(n)) if context.is_condition => {
            (tools::truth(n == 0), true)
        }
        mut other => match other.negated_mut() {
            Some(negated) => {
                *negated = !*negated;
                (other, true)
            }
            None => (not(other), false),
        },
    };
    *expr = new;
    changed
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE NOT (age = 3 OR name IS NULL)",
        "SELECT name FROM t WHERE age <> 3 AND name IS NOT NULL",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE NOT name LIKE 'x%'",
        "SELECT name FROM t WHERE name NOT LIKE 'x%'",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE NOT (age IN (1, 2))",
        "SELECT name FROM t WHERE age NOT IN (1, 2)",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE NOT (age = 3 AND id = 1)",
        "SELECT name FROM t WHERE age <> 3 AND id <> 1",
    ),
    RuleCase::differs(SCHEMA, "SELECT NOT NOT age FROM t", "SELECT age FROM t"),
    RuleCase::differs(
        "CREATE TABLE e (k INT UNIQUE, v INT)",
        "SELECT v FROM e WHERE NOT k NOT IN (1, 2) LIMIT 1",
        "SELECT v FROM e WHERE k IN (1, 2) LIMIT 1",
    )
    .sound()
    .witness("INSERT INTO e VALUES (2, 5), (1, 6)"),
    RuleCase::equal(
        "CREATE TABLE e (k INT UNIQUE, v INT)",
        "SELECT v FROM e WHERE NOT k IN (1, 2)",
        "SELECT v FROM e WHERE k NOT IN (1, 2)",
    )
    .sound(),
];
