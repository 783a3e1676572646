//! # BETWEEN
//!
//! ## What it does
//! Turns `c BETWEEN x AND y` into `c >= x AND c <= y`, and NOT BETWEEN into `c < x OR c > y`.
//!
//! ## Why it holds
//! SQLite defines BETWEEN so, and the negation of an AND in three-valued logic is the OR of the negations.
//!
//! ## Needs
//! `c` has the same value each time that it is computed.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE age BETWEEN 1 AND 5
//! SELECT name FROM t WHERE age >= 1 AND age <= 5
//! ```
//!
//! ## Does not hold when
//! The bounds are swapped. The paper writes `x/y` for both bounds; `BETWEEN 5 AND 1` is never true, while `age >= 1
//! AND age <= 5` is.
//!
//! ## Source
//! Paper, Table 3, rule 22, read with the bounds in their order, as its script does.

use sqlgauge_sql::tree::{BinaryOperator, Expr};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "22",
    name: "between",
    summary: "BETWEEN as two comparisons",
    profiles: Profiles::BOTH,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("between.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    let Expr::Between { expr: value, low, high, negated } = expr else { return false };
    let may_be_copied = tools::is_deterministic(value) && !sqlgauge_sql::derive::has_subquery(value);
    if context.is_sound() && !may_be_copied {
        return false;
    }
    let (above, below) = if *negated {
        (BinaryOperator::Less, BinaryOperator::Greater)
    } else {
        (BinaryOperator::GreaterEqual, BinaryOperator::LessEqual)
    };
    let parts = vec![
        Expr::Binary(above, value.clone(), low.clone()),
        Expr::Binary(below, value.clone(), high.clone()),
    ];
    *expr = if *negated { Expr::Or(parts) } else { Expr::And(parts) };
    true
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age BETWEEN 1 AND 5",
        "SELECT name FROM t WHERE age >= 1 AND age <= 5",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age NOT BETWEEN 1 AND 5",
        "SELECT name FROM t WHERE age < 1 OR age > 5",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age BETWEEN 5 AND 1",
        "SELECT name FROM t WHERE age >= 1 AND age <= 5",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 3, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age BETWEEN 1 AND 5",
        "SELECT name FROM t WHERE age > 1 AND age <= 5",
    ),
];
