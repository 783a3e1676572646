//! # LIKE with a prefix
//!
//! ## What it does
//! Turns `c LIKE 'x%'` into `SUBSTR(c, 1, n) = 'x'` where `n` is the length of `x`. Only in `etm-paper@1`.
//!
//! ## Why it holds
//! Both ask whether the text starts with `x`, were it not for the letters.
//!
//! ## Needs
//! The only `%` of the pattern is its last character. What would make the rule sound (no letter and no `_` in `x`,
//! and a column that cannot hold a BLOB, which only a STRICT table forbids) no schema in use has, so `etm@1` leaves
//! it out.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE name LIKE 'ab%'
//! SELECT name FROM t WHERE SUBSTR(name, 1, 2) = 'ab'
//! ```
//!
//! ## Does not hold when
//! LIKE ignores the case of ASCII letters in SQLite: `'ABC' LIKE 'ab%'` is true. `_` stands for any character. And
//! LIKE takes the bytes of a BLOB for text, while SUBSTR of a BLOB is a BLOB, which is no text.
//!
//! ## Source
//! Paper, Table 2, rule 16. Unsound as published.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Args, BinaryOperator, Expr, LikeOperator, Literal};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};

pub(super) static RULE: Rule = Rule {
    id: "16",
    name: "like-prefix",
    summary: "LIKE with a prefix as SUBSTR",
    profiles: Profiles::PAPER,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("like_prefix.rs"),
};

fn expr(expr: &mut Expr, _context: &mut RuleContext<'_>) -> bool {
    let Expr::Like { operator: LikeOperator::Like, expr: value, pattern, escape: None, negated } = expr
    else {
        return false;
    };
    let Expr::Literal(Literal::Text(text)) = pattern.as_ref() else { return false };
    let Some(prefix) = text.strip_suffix('%').filter(|prefix| !prefix.contains('%')) else {
        return false;
    };
    let Ok(length) = i64::try_from(prefix.chars().count()) else { return false };
    let integer = |n: i64| Expr::Literal(Literal::Real(sqlgauge_sql::tree::Real::new(n as f64)));
    let args = Args::List(vec![value.as_ref().clone(), integer(1), integer(length)]);
    let start = Expr::Function { function: Function::Substr, args };
    let operator = if *negated { BinaryOperator::NotEqual } else { BinaryOperator::Equal };
    let prefix = Expr::Literal(Literal::Text(prefix.to_owned()));
    *expr = Expr::Binary(operator, Box::new(start), Box::new(prefix));
    true
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE name LIKE 'ab%'",
        "SELECT name FROM t WHERE SUBSTR(name, 1, 2) = 'ab'",
    )
    .paper(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE name LIKE 'ab%'",
        "SELECT name FROM t WHERE SUBSTR(name, 1, 2) = 'ab'",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'ABC', 1, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE name LIKE '%ab%'",
        "SELECT name FROM t WHERE SUBSTR(name, 1, 2) = 'ab'",
    ),
];
