//! # A number in quotes
//!
//! ## What it does
//! Treats `c = '5'`, `c = 5` and `c = 5.0` as one comparison. In `etm@1` the constant is written as the affinity of
//! the other operand makes it.
//!
//! ## Why it holds
//! Before a comparison SQLite converts a text that looks like a number if the other operand has numeric affinity,
//! and a number to text if the other has TEXT affinity and the constant has none.
//!
//! ## Needs
//! In `etm@1`: the other operand has an affinity. With numeric affinity the text is a well-formed decimal number;
//! with TEXT affinity the number is an integer. An integer and an equal real number are the same constant, except
//! beside TEXT affinity.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE age = '5'
//! SELECT name FROM t WHERE age = 5
//! ```
//!
//! ## Does not hold when
//! The column has no affinity (no declared type, or BLOB): the number 5 and the text `5` are then two values. The
//! column has TEXT affinity and the number a fraction of zero: `5.0` becomes the text `5.0`, which is not `5`. `IS
//! TRUE` is no comparison with 1: every number but zero is true. As
//! published, all numbers that do not start with a zero are the same, whatever the column.
//!
//! ## Source
//! Paper, Table 2, rule 12. Corrected: affinity decides.

use sqlgauge_sql::derive::{Fact, ValueDomain};
use sqlgauge_sql::schema::Affinity;
use sqlgauge_sql::tree::{Expr, Literal, Real};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};

pub(super) static RULE: Rule = Rule {
    id: "12",
    name: "quoted-number",
    summary: "A number with or without quotes",
    profiles: Profiles::BOTH,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("quoted_number.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    if !context.is_sound() {
        return matches!(expr, Expr::Literal(_)) && published(expr);
    }
    match expr {
        // `x IS TRUE` asks for a truth value, and not for the number 1.
        Expr::Binary(operator, _, right) if operator.truth_asked(right).is_some() => false,
        Expr::Binary(operator, left, right) if operator.is_comparison() => {
            let (a, b) = (Comparand::of(left, context), Comparand::of(right, context));
            // A text constant has no affinity of its own, so each side is looked at with the other's.
            let changed = adapt(right, a);
            adapt(left, b) || changed
        }
        Expr::InList { expr, list, .. } => {
            let comparand = Comparand::of(expr, context);
            list.iter_mut().filter_map(|element| adapt(element, comparand).then_some(())).count() > 0
        }
        Expr::Between { expr, low, high, .. } => {
            let comparand = Comparand::of(expr, context);
            let changed = adapt(low, comparand);
            adapt(high, comparand) || changed
        }
        _ => false,
    }
}

/// As the paper's script: every constant that reads as a number and does not start with a zero is a real one.
fn published(expr: &mut Expr) -> bool {
    let Expr::Literal(literal) = expr else { return false };
    let value = match literal {
        Literal::Integer(n) if *n != 0 => *n as f64,
        Literal::Text(text) if !text.starts_with('0') => match decimal(text.trim()) {
            Some(value) => value,
            None => return false,
        },
        _ => return false,
    };
    *expr = Expr::Literal(Literal::Real(Real::new(value)));
    true
}

/// What a constant is compared with.
#[derive(Clone, Copy)]
struct Comparand {
    /// Its affinity; unknown beside another constant, which is left as it is.
    affinity: Fact<Option<Affinity>>,
    may_be_number: bool,
}

impl Comparand {
    fn of(expr: &Expr, context: &RuleContext<'_>) -> Self {
        let is_constant = matches!(expr, Expr::Literal(_));
        Self {
            affinity: if is_constant { Fact::Unknown } else { context.facts.affinity(expr) },
            may_be_number: context.facts.values(expr).may_be(ValueDomain::NUMBER),
        }
    }
}

/// Writes a constant as a comparison with that operand takes it.
fn adapt(constant: &mut Expr, comparand: Comparand) -> bool {
    let (Expr::Literal(literal), Fact::Known(affinity)) = (constant, comparand.affinity) else {
        return false;
    };
    let new = match (&*literal, affinity) {
        (Literal::Text(text), Some(affinity)) if affinity.is_numeric() => match text.parse::<i64>() {
            Ok(n) if decimal(text).is_some() => Literal::Integer(n),
            _ => match decimal(text) {
                Some(value) => whole(value).unwrap_or(Literal::Real(Real::new(value))),
                None => return false,
            },
        },
        (Literal::Integer(n), Some(Affinity::Text)) if !comparand.may_be_number => {
            Literal::Text(n.to_string())
        }
        (Literal::Real(real), affinity) if affinity != Some(Affinity::Text) => match whole(real.get()) {
            Some(integer) => integer,
            None => return false,
        },
        (Literal::Boolean(value), affinity) if affinity != Some(Affinity::Text) => {
            Literal::Integer(i64::from(*value))
        }
        _ => return false,
    };
    *literal = new;
    true
}

/// The integer that a real number is, within the range in which all integers are exact.
fn whole(value: f64) -> Option<Literal> {
    #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
    (value.fract() == 0.0 && value.abs() < 9e15).then_some(Literal::Integer(value as i64))
}

/// The value of a plain decimal number: digits, perhaps a sign, a fraction, an exponent.
fn decimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let plain = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.ends_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+'));
    if plain { text.parse::<f64>().ok().filter(|value| value.is_finite()) } else { None }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT name FROM t WHERE age = '5'", "SELECT name FROM t WHERE age = 5"),
    RuleCase::equal(SCHEMA, "SELECT name FROM t WHERE age > 5.0", "SELECT name FROM t WHERE age > 5"),
    RuleCase::equal(SCHEMA, "SELECT name FROM t WHERE code = 5", "SELECT name FROM t WHERE code = '5'"),
    RuleCase::equal(SCHEMA, "SELECT name FROM t WHERE code = 5", "SELECT name FROM t WHERE code = 5.0")
        .paper(),
    RuleCase::differs(SCHEMA, "SELECT name FROM t WHERE code = 5", "SELECT name FROM t WHERE code = 5.0")
        .sound()
        .witness("INSERT INTO t VALUES (1, '5', 'b', 1, 'x')"),
    RuleCase::differs(SCHEMA, "SELECT name FROM t WHERE code = '05'", "SELECT name FROM t WHERE code = '5'"),
    RuleCase::equal("CREATE TABLE n (a)", "SELECT a FROM n WHERE a = 5", "SELECT a FROM n WHERE a = '5'")
        .paper(),
    RuleCase::differs("CREATE TABLE n (a)", "SELECT a FROM n WHERE a = 5", "SELECT a FROM n WHERE a = '5'")
        .sound()
        .witness("INSERT INTO n VALUES (5)"),
    RuleCase::differs(SCHEMA, "SELECT id FROM t WHERE age IS TRUE", "SELECT id FROM t WHERE age IS 1"),
    RuleCase::differs(SCHEMA, "SELECT age IS NOT FALSE FROM t", "SELECT age IS NOT 0 FROM t"),
    RuleCase::differs(SCHEMA, "SELECT id FROM t WHERE age IS TRUE", "SELECT id FROM t WHERE TRUE IS age"),
    RuleCase::equal(SCHEMA, "SELECT id FROM t WHERE age = TRUE", "SELECT id FROM t WHERE age = 1").sound(),
    RuleCase::equal(SCHEMA, "SELECT id FROM t WHERE TRUE IS age", "SELECT id FROM t WHERE age IS 1").sound(),
];
