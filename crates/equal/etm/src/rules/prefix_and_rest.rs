//! # A prefix and a comparison of the rest
//!
//! ## What it does
//! Turns `SUBSTR(c, 1, a) = 'x' AND SUBSTR(c, b, n) > 'y'` into `c > 'xy'`, and so for `<`, `>=`, `<=`. Only in
//! `etm-paper@1`.
//!
//! ## Why it holds
//! The paper takes it that texts of one length that start with `x` are ordered by what follows.
//!
//! ## Needs
//! `a + 1 = b`, both texts constants. No condition that a schema can state makes the rule sound, so `etm@1` leaves
//! it out.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE SUBSTR(code, 1, 4) = '2012' AND SUBSTR(code, 5, 2) > '08'
//! SELECT name FROM t WHERE code > '201208'
//! ```
//!
//! ## Does not hold when
//! `c` does not start with `x`: the text `z` is greater than `xy`, and its first letter is not `x`. One row with
//! such a text tells the two apart.
//!
//! ## Source
//! Paper, Table 2, rule 15. Unsound as published.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "15",
    name: "prefix-and-rest",
    summary: "A prefix and a comparison of the rest as one comparison",
    profiles: Profiles::PAPER,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("prefix_and_rest.rs"),
};

fn expr(expr: &mut Expr, _context: &mut RuleContext<'_>) -> bool {
    let Expr::And(list) = expr else { return false };
    let prefixes: Vec<(usize, Expr, i64, String)> = list
        .iter()
        .enumerate()
        .filter_map(|(place, e)| {
            let (operator, column, start, length, text) = part(e)?;
            (operator == BinaryOperator::Equal && start == 1).then_some((place, column, length, text))
        })
        .collect();
    let mut used = Vec::new();
    let mut changed = false;
    for condition in list.iter_mut() {
        let Some((operator, column, start, _, text)) = part(condition) else { continue };
        let Some((at, _, _, prefix)) = prefixes.iter().find(|(_, prefix_column, length, _)| {
            operator != BinaryOperator::Equal && *prefix_column == column && length + 1 == start
        }) else {
            continue;
        };
        let whole = Expr::Literal(Literal::Text(format!("{prefix}{text}")));
        *condition = Expr::Binary(operator, Box::new(column), Box::new(whole));
        used.push(*at);
        changed = true;
    }
    let mut place = 0;
    list.retain(|_| {
        place += 1;
        !used.contains(&(place - 1))
    });
    if changed && list.len() == 1 {
        *expr = list.remove(0);
    }
    changed
}

/// A comparison of `SUBSTR(value, start, length)` with a constant.
fn part(expr: &Expr) -> Option<(BinaryOperator, Expr, i64, i64, String)> {
    let Expr::Binary(operator, left, right) = expr else { return None };
    let Expr::Function { function: Function::Substr | Function::Substring, args } = left.as_ref() else {
        return None;
    };
    let [value, start, length] = args.as_slice() else { return None };
    let text = match right.as_ref() {
        Expr::Literal(Literal::Text(text)) => text.clone(),
        Expr::Literal(Literal::Integer(n)) => n.to_string(),
        Expr::Literal(Literal::Real(real)) if real.get().fract() == 0.0 => format!("{}", real.get()),
        _ => return None,
    };
    Some((*operator, value.clone(), tools::as_integer(start)?, tools::as_integer(length)?, text))
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE SUBSTR(code, 1, 2) = 'ab' AND SUBSTR(code, 3, 2) > 'cd'",
        "SELECT name FROM t WHERE code > 'abcd'",
    )
    .paper(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE SUBSTR(code, 1, 2) = 'ab' AND SUBSTR(code, 3, 2) > 'cd'",
        "SELECT name FROM t WHERE code > 'abcd'",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'z', 'b', 1, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE SUBSTR(code, 1, 2) = 'ab' AND SUBSTR(code, 4, 2) > 'cd'",
        "SELECT name FROM t WHERE code > 'abcd'",
    ),
];
