//! # IN with a list of constants
//!
//! ## What it does
//! Turns `c IN (x, y)` into `c = x OR c = y`, and NOT IN into `c <> x AND c <> y`.
//!
//! ## Why it holds
//! SQLite defines IN with a list as these comparisons, NULLs included. The elements of a list have no affinity, and
//! constants have none anyway.
//!
//! ## Needs
//! In `etm@1`: the elements are constants. A column as an element would bring its affinity into `=` and not into
//! IN.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE age IN (1, 2)
//! SELECT name FROM t WHERE age = 1 OR age = 2
//! ```
//!
//! ## Does not hold when
//! The list has columns of another affinity, or the value on the left is not the same each time that it is
//! computed.
//!
//! ## Source
//! Paper, Table 3, rule 18.

use sqlgauge_sql::tree::{BinaryOperator, Expr};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "18",
    name: "in-list",
    summary: "IN with a list as comparisons",
    profiles: Profiles::BOTH,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("in_list.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    let Expr::InList { expr: value, list, negated } = expr else { return false };
    let constant = |e: &Expr| matches!(e, Expr::Literal(_));
    if context.is_sound()
        && !(list.iter().all(constant) && !matches!(**value, Expr::Row(_)) && tools::is_deterministic(value))
    {
        return false;
    }
    // What is computed once must not be written twice.
    let copies = list.len() > 1 && sqlgauge_sql::derive::has_subquery(value);
    if context.is_sound() && (copies || (list.is_empty() && tools::calls_aggregate(value))) {
        return false;
    }
    if list.is_empty() {
        *expr = tools::truth(*negated);
        return true;
    }
    let operator = if *negated { BinaryOperator::NotEqual } else { BinaryOperator::Equal };
    let compare = |element: Expr| Expr::Binary(operator, value.clone(), Box::new(element));
    let mut parts: Vec<Expr> = std::mem::take(list).into_iter().map(compare).collect();
    *expr = match (parts.len(), *negated) {
        (1, _) => parts.remove(0),
        (_, true) => Expr::And(parts),
        (_, false) => Expr::Or(parts),
    };
    true
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age IN (1, 2)",
        "SELECT name FROM t WHERE age = 1 OR age = 2",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE name NOT IN ('x', 'y', 'z')",
        "SELECT name FROM t WHERE name != 'x' AND name <> 'y' AND name != 'z'",
    ),
    RuleCase::equal(SCHEMA, "SELECT name FROM t WHERE age IN (1)", "SELECT name FROM t WHERE age = 1"),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age IN (2, 1, 2)",
        "SELECT name FROM t WHERE age IN (1, 2)",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age NOT IN (1, 2)",
        "SELECT name FROM t WHERE age <> 1 OR age <> 2",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age IN (1, 2)",
        "SELECT name FROM t WHERE age IN (1, 3)",
    ),
];
