//! # Conditions that decide nothing
//!
//! ## What it does
//! Removes TRUE from AND and FALSE from OR, flattens AND inside AND, compares equal constants, drops WHERE TRUE. In
//! `etm@1` also repeated operands, and an operand that another one contains: `a AND (a OR b)` is `a`.
//!
//! ## Why it holds
//! AND is the minimum and OR the maximum of FALSE < NULL < TRUE, so both have neutral elements, are idempotent, and
//! absorb each other. Where a condition only decides whether a row passes, NULL is as good as FALSE.
//!
//! ## Needs
//! In `etm@1`: what falls away calls no aggregate.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE 1 = 1 AND age = 3
//! SELECT name FROM t WHERE age = 3
//! ```
//!
//! ## Does not hold when
//! The value of the connective is used as a number: `5 AND 1` is 1, not 5. Or the operand holds the aggregate for
//! which the query has one row: `SELECT COUNT(*) > 3 OR 1 FROM t` does not return 1 for every row.
//!
//! ## Source
//! Ours; the script of the paper removes `1 = 1` as well.

use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S1",
    name: "trivial-conditions",
    summary: "Conditions that decide nothing",
    profiles: Profiles::BOTH,
    stage: RuleStage::Everywhere(expr, query),
    cases: CASES,
    source: include_str!("trivial_conditions.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    let sound = context.is_sound();
    match expr {
        Expr::And(list) => {
            let changed = simplify(list, true, context.is_condition, sound);
            collapse(expr, true, context.is_condition) || changed
        }
        Expr::Or(list) => {
            let changed = simplify(list, false, context.is_condition, sound);
            collapse(expr, false, context.is_condition) || changed
        }
        Expr::Binary(BinaryOperator::Equal, left, right) => {
            let same = matches!((left.as_ref(), right.as_ref()),
                (Expr::Literal(Literal::Integer(a)), Expr::Literal(Literal::Integer(b))) if a == b)
                || matches!((left.as_ref(), right.as_ref()),
                (Expr::Literal(Literal::Real(a)), Expr::Literal(Literal::Real(b))) if a == b)
                || matches!((left.as_ref(), right.as_ref()),
                (Expr::Literal(Literal::Text(a)), Expr::Literal(Literal::Text(b))) if a == b);
            if same {
                *expr = tools::truth(true);
            }
            same
        }
        _ => false,
    }
}

fn query(query: &mut Query, _context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select_mut() else { return 0 };
    let mut places = 0;
    if select.filter.as_ref().is_some_and(|filter| tools::is_truth(filter, true)) {
        select.filter = None;
        places += 1;
    }
    if !select.group_by.is_empty()
        && select.having.as_ref().is_some_and(|having| tools::is_truth(having, true))
    {
        select.having = None;
        places += 1;
    }
    places
}

/// Puts the operands of an AND inside AND, or an OR inside OR, into its place.
fn flatten(list: &mut Vec<Expr>, conjunction: bool) -> bool {
    let nested = |e: &Expr| matches!((e, conjunction), (Expr::And(_), true) | (Expr::Or(_), false));
    let changed = list.iter().any(nested);
    if changed {
        for operand in std::mem::take(list) {
            match operand {
                Expr::And(inner) if conjunction => list.extend(inner),
                Expr::Or(inner) if !conjunction => list.extend(inner),
                other => list.push(other),
            }
        }
    }
    changed
}

/// Flattens and shortens the operands of AND (`conjunction`) or OR.
fn simplify(list: &mut Vec<Expr>, conjunction: bool, is_condition: bool, sound: bool) -> bool {
    let changed = flatten(list, conjunction);
    let before = list.len();
    let all = (!is_condition).then(|| list.clone());
    list.retain(|operand| !tools::is_truth(operand, conjunction));
    let decided = list.iter().any(|operand| tools::is_truth(operand, !conjunction)) && list.len() > 1;
    if decided && !(sound && list.iter().any(tools::calls_aggregate)) {
        *list = vec![tools::truth(!conjunction)];
    }
    if is_condition {
        list.retain(|operand| conjunction || !matches!(operand, Expr::Literal(Literal::Null)));
    }
    if sound && list.len() < MAX_COMPARED {
        repeated(list);
        absorbed(list, conjunction);
    }
    // `5 AND 1` is 1, which no single operand is.
    if let (Some(all), [only]) = (all, list.as_slice())
        && !is_boolean(only)
    {
        *list = all;
    }
    changed || list.len() != before
}

/// Above this many operands they are not compared with each other.
const MAX_COMPARED: usize = 400;

fn repeated(list: &mut Vec<Expr>) {
    let mut place = 1;
    while place < list.len() {
        let (before, rest) = list.split_at(place);
        if before.iter().any(|other| tools::same_expr(other, &rest[0])) && tools::is_deterministic(&rest[0]) {
            list.remove(place);
        } else {
            place += 1;
        }
    }
}

fn absorbed(list: &mut Vec<Expr>, conjunction: bool) {
    let contains = |operand: &Expr, other: &Expr| match (operand, conjunction) {
        (Expr::Or(inner), true) | (Expr::And(inner), false) => inner.contains(other),
        _ => false,
    };
    let mut place = 0;
    while place < list.len() {
        let swallowed =
            list.iter().enumerate().any(|(other, operand)| other != place && contains(&list[place], operand))
                && !tools::calls_aggregate(&list[place]);
        if swallowed {
            list.remove(place);
        } else {
            place += 1;
        }
    }
}

/// A connective with one operand is that operand, where its value is a truth value or only decides.
fn collapse(expr: &mut Expr, conjunction: bool, is_condition: bool) -> bool {
    let (Expr::And(list) | Expr::Or(list)) = expr else { return false };
    let new = match list.as_mut_slice() {
        [] => tools::truth(conjunction),
        [only] if is_condition || is_boolean(only) => std::mem::replace(only, tools::one()),
        _ => return false,
    };
    *expr = new;
    true
}

fn is_boolean(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(operator, ..) => operator.is_comparison(),
        Expr::And(_) | Expr::Or(_) => true,
        Expr::Literal(Literal::Integer(n)) => *n == 0 || *n == 1,
        other => other.negated().is_some(),
    }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT name FROM t WHERE 1 = 1 AND age = 3", "SELECT name FROM t WHERE age = 3"),
    RuleCase::equal(SCHEMA, "SELECT name FROM t WHERE age = 3 AND age = 3", "SELECT name FROM t WHERE age = 3")
        .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age = 3 AND (name = 'x' OR age = 3)",
        "SELECT name FROM t WHERE age = 3",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE (age = 3 AND name = 'x') OR age = 3",
        "SELECT name FROM t WHERE age = 3",
    )
    .sound(),
    RuleCase::differs(SCHEMA, "SELECT name FROM t WHERE age = 3 OR 1 = 1", "SELECT name FROM t WHERE age = 3"),
    RuleCase::differs(SCHEMA, "SELECT age AND 1 FROM t", "SELECT age FROM t"),
    RuleCase::differs(SCHEMA, "SELECT age AND age FROM t", "SELECT age FROM t"),
    RuleCase::equal(SCHEMA, "SELECT age AND 1 FROM t", "SELECT 1 AND age FROM t"),
    RuleCase::differs(SCHEMA, "SELECT COUNT(*) > 3 OR 1 FROM t", "SELECT 1 FROM t").sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t GROUP BY age HAVING MAX(id) > 0 OR 1",
        "SELECT name FROM t GROUP BY age",
    )
    .sound()
    .witness("INSERT INTO t VALUES (2, 'a', 'n', 1, 'x'), (1, 'b', 'm', 1, 'x'), (3, 'c', 'o', 1, 'x'), (0, 'd', 'p', 1, 'x')"),
];
