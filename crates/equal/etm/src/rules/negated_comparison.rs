//! # NOT before a comparison
//!
//! ## What it does
//! Turns `NOT c = x` into `c <> x`, `NOT c > x` into `c <= x`, and so on.
//!
//! ## Why it holds
//! SQLite orders all values that are not NULL, whatever their types, so exactly one of `<`, `=`, `>` holds; if one
//! side is NULL, the comparison and its negation are NULL.
//!
//! ## Needs
//! Single values, no row values.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE NOT age > 3
//! SELECT name FROM t WHERE age <= 3
//! ```
//!
//! ## Does not hold when
//! One expects rows with NULL: `NOT age > 3` does not return them, and neither does `age <= 3`.
//!
//! ## Source
//! Paper, Table 3, rule 23.

use sqlgauge_sql::tree::{BinaryOperator, Expr, UnaryOperator};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};

pub(super) static RULE: Rule = Rule {
    id: "23",
    name: "negated-comparison",
    summary: "NOT before a comparison",
    profiles: Profiles::BOTH,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("negated_comparison.rs"),
};

fn expr(expr: &mut Expr, _context: &mut RuleContext<'_>) -> bool {
    let Expr::Unary(UnaryOperator::Not, inner) = expr else { return false };
    let Expr::Binary(operator, left, right) = inner.as_mut() else { return false };
    if matches!(**left, Expr::Row(_)) {
        return false;
    }
    let negated = match operator {
        BinaryOperator::Equal => BinaryOperator::NotEqual,
        BinaryOperator::NotEqual => BinaryOperator::Equal,
        BinaryOperator::Less => BinaryOperator::GreaterEqual,
        BinaryOperator::LessEqual => BinaryOperator::Greater,
        BinaryOperator::Greater => BinaryOperator::LessEqual,
        BinaryOperator::GreaterEqual => BinaryOperator::Less,
        BinaryOperator::Is => BinaryOperator::IsNot,
        BinaryOperator::IsNot => BinaryOperator::Is,
        _ => return false,
    };
    *expr = Expr::Binary(negated, left.clone(), right.clone());
    true
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT name FROM t WHERE NOT age > 3", "SELECT name FROM t WHERE age <= 3"),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE NOT name = 'x'",
        "SELECT name FROM t WHERE name <> 'x'",
    ),
    RuleCase::differs(SCHEMA, "SELECT name FROM t WHERE NOT age > 3", "SELECT name FROM t WHERE age < 3"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE NOT age = 3",
        "SELECT name FROM t WHERE age <> 3 OR age IS NULL",
    ),
    RuleCase::differs(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, age INT);
CREATE INDEX other ON t (age);",
        "SELECT name FROM t WHERE NOT age < 5 LIMIT 1",
        "SELECT name FROM t WHERE age >= 5 LIMIT 1",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'c', 9), (2, 'b', 8)"),
    RuleCase::differs(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, age INT);
CREATE INDEX other ON t (age) WHERE age >= 5;",
        "SELECT name FROM t WHERE NOT age < 5 LIMIT 1",
        "SELECT name FROM t WHERE age >= 5 LIMIT 1",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'c', 9), (2, 'b', 8)"),
    RuleCase::differs(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, age INT);
CREATE INDEX other ON t (lower(name));",
        "SELECT name FROM t WHERE NOT lower(name) < 'a' LIMIT 1",
        "SELECT name FROM t WHERE lower(name) >= 'a' LIMIT 1",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'c', 9), (2, 'b', 8)"),
];
