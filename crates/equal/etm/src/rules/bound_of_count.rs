//! # A count compared with a number
//!
//! ## What it does
//! Turns `COUNT(*) > 1` into `COUNT(*) >= 2`, and `COUNT(*) < 3` into `COUNT(*) <= 2`; with GROUP BY drops
//! `COUNT(*) >= 1`.
//!
//! ## Why it holds
//! A count is a whole number. A group has at least one row.
//!
//! ## Needs
//! The operator compares and the other side is an integer constant.
//!
//! ## Example
//! ```sql
//! SELECT age FROM t GROUP BY age HAVING COUNT(*) > 1
//! SELECT age FROM t GROUP BY age HAVING COUNT(*) >= 2
//! ```
//!
//! ## Does not hold when
//! The value may have a fraction, as a column or an average may. Or the operator computes: `5 - COUNT(*)` is not
//! `COUNT(*) - 5`.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S23",
    name: "bound-of-count",
    summary: "COUNT compared with neighbouring integers",
    profiles: Profiles::SOUND,
    stage: RuleStage::Everywhere(expr, query),
    cases: CASES,
    source: include_str!("bound_of_count.rs"),
};

fn expr(expr: &mut Expr, _context: &mut RuleContext<'_>) -> bool {
    let Expr::Binary(operator, left, right) = expr else { return false };
    if !operator.is_comparison() {
        return false;
    }
    let (count, bound, flipped) = match (left.as_ref(), right.as_ref()) {
        (count, Expr::Literal(Literal::Integer(n))) if is_count(count) => (count, *n, false),
        (Expr::Literal(Literal::Integer(n)), count) if is_count(count) => (count, *n, true),
        _ => return false,
    };
    let operator = match (*operator, flipped) {
        (BinaryOperator::Less, true) => BinaryOperator::Greater,
        (BinaryOperator::LessEqual, true) => BinaryOperator::GreaterEqual,
        (BinaryOperator::Greater, true) => BinaryOperator::Less,
        (BinaryOperator::GreaterEqual, true) => BinaryOperator::LessEqual,
        (other, _) => other,
    };
    let (operator, bound) = match operator {
        BinaryOperator::Greater => (BinaryOperator::GreaterEqual, bound.checked_add(1)),
        BinaryOperator::Less => (BinaryOperator::LessEqual, bound.checked_sub(1)),
        other if flipped => (other, Some(bound)),
        _ => return false,
    };
    let Some(bound) = bound else { return false };
    *expr = Expr::Binary(operator, Box::new(count.clone()), Box::new(Expr::Literal(Literal::Integer(bound))));
    true
}

fn query(query: &mut Query, _context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select_mut() else { return 0 };
    if select.group_by.is_empty() {
        return 0;
    }
    let mut conjuncts = tools::take_conjuncts(&mut select.having);
    let before = conjuncts.len();
    conjuncts.retain(|conjunct| !is_always_true(conjunct));
    let places = before - conjuncts.len();
    select.having = tools::conjunction(conjuncts);
    places
}

/// `COUNT(*) >= 1` of a group.
fn is_always_true(condition: &Expr) -> bool {
    let Expr::Binary(BinaryOperator::GreaterEqual, count, bound) = condition else { return false };
    tools::is_count_star(count) && tools::as_integer(bound).is_some_and(|n| n <= 1)
}

fn is_count(expr: &Expr) -> bool {
    tools::own_aggregate(expr).is_some_and(|aggregate| aggregate.function == Function::Count)
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT age FROM t GROUP BY age HAVING COUNT(*) > 1",
        "SELECT age FROM t GROUP BY age HAVING COUNT(*) >= 2",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT age FROM t GROUP BY age HAVING 3 > COUNT(name)",
        "SELECT age FROM t GROUP BY age HAVING COUNT(name) <= 2",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT age FROM t GROUP BY age HAVING COUNT(*) >= 1",
        "SELECT age FROM t GROUP BY age",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT age FROM t GROUP BY age HAVING AVG(id) > 1",
        "SELECT age FROM t GROUP BY age HAVING AVG(id) >= 2",
    ),
    RuleCase::differs(SCHEMA, "SELECT COUNT(*) FROM t HAVING COUNT(*) >= 1", "SELECT COUNT(*) FROM t"),
    RuleCase::differs(SCHEMA, "SELECT 5 - COUNT(*) FROM t", "SELECT COUNT(*) - 5 FROM t"),
    RuleCase::differs(SCHEMA, "SELECT 5 / COUNT(*) FROM t", "SELECT COUNT(*) / 5 FROM t"),
    RuleCase::differs(SCHEMA, "SELECT 5 % COUNT(*) FROM t", "SELECT COUNT(*) % 5 FROM t"),
    RuleCase::differs(SCHEMA, "SELECT 5 || COUNT(*) FROM t", "SELECT COUNT(*) || 5 FROM t"),
    RuleCase::differs(SCHEMA, "SELECT 5 << COUNT(*) FROM t", "SELECT COUNT(*) << 5 FROM t"),
    RuleCase::equal(
        SCHEMA,
        "SELECT age FROM t GROUP BY age HAVING 2 = COUNT(*)",
        "SELECT age FROM t GROUP BY age HAVING COUNT(*) = 2",
    ),
];
