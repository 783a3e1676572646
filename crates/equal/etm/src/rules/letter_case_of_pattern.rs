//! # Letter case of LIKE patterns
//!
//! ## What it does
//! Writes the ASCII letters of a constant LIKE pattern in lower case.
//!
//! ## Why it holds
//! LIKE ignores the case of ASCII letters in SQLite.
//!
//! ## Needs
//! The operator is LIKE, without ESCAPE; the pattern is a constant.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE name LIKE '%Al%'
//! SELECT name FROM t WHERE name LIKE '%al%'
//! ```
//!
//! ## Does not hold when
//! The operator is GLOB or `=`, or the letters are not ASCII.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{Expr, LikeOperator, Literal};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};

pub(super) static RULE: Rule = Rule {
    id: "S24",
    name: "letter-case-of-pattern",
    summary: "LIKE patterns in another letter case",
    profiles: Profiles::SOUND,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("letter_case_of_pattern.rs"),
};

fn expr(expr: &mut Expr, _context: &mut RuleContext<'_>) -> bool {
    let Expr::Like { operator: LikeOperator::Like, pattern, escape: None, .. } = expr else {
        return false;
    };
    let Expr::Literal(Literal::Text(text)) = pattern.as_mut() else { return false };
    let has_upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
    text.make_ascii_lowercase();
    has_upper
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE name LIKE '%Al%'",
        "SELECT name FROM t WHERE name LIKE '%al%'",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE name GLOB '*Al*'",
        "SELECT name FROM t WHERE name GLOB '*al*'",
    ),
    RuleCase::differs(SCHEMA, "SELECT name FROM t WHERE name = 'Al'", "SELECT name FROM t WHERE name = 'al'"),
];
