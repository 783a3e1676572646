//! # A real number beside a product or a quotient
//!
//! ## What it does
//! Writes `x * 100.0` as `CAST(x AS REAL) * 100` and `x / 12.0` as `CAST(x AS REAL) / 12`. In a quotient it casts the
//! dividend alone: `x / CAST(y AS REAL)` and `CAST(x AS REAL) / CAST(y AS REAL)` are `CAST(x AS REAL) / y`.
//!
//! ## Why it holds
//! If one side of a product or a quotient is a real number, SQLite makes a real number of the other side as CAST does: NULL stays NULL, an
//! integer becomes the nearest real number, and of a text its beginning counts. So one side that is real is enough.
//!
//! ## Needs
//! The constant is a whole number, not 0, and below 2^53: there an integer and a real number are exactly equal. The other side
//! is not a constant.
//!
//! ## Example
//! ```sql
//! SELECT SUM(age) * 100.0 / COUNT(*) FROM t
//! SELECT CAST(SUM(age) AS REAL) * 100 / COUNT(*) FROM t
//! ```
//!
//! ## Does not hold when
//! Neither side is real: `7 / 2` is 3.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::schema::Affinity;
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S32",
    name: "real-factor",
    summary: "A real number beside a product or a quotient",
    profiles: Profiles::SOUND,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("real_factor.rs"),
};

/// The first whole number that not all reals reach.
const FIRST_INEXACT: f64 = 9_007_199_254_740_992.0;

fn expr(expr: &mut Expr, _context: &mut RuleContext<'_>) -> bool {
    match expr {
        Expr::Binary(BinaryOperator::Multiply, left, right) => {
            as_integer(left, right, false) || as_integer(right, left, false)
        }
        Expr::Binary(BinaryOperator::Divide, left, right) => {
            as_integer(right, left, true) || divided_alone(left, right)
        }
        _ => false,
    }
}

/// Makes an integer of a real constant, and the other side real. A factor of 1.0 is rule S17's.
#[expect(clippy::cast_possible_truncation, clippy::float_cmp, reason = "a whole number below 2^53 is exact")]
fn as_integer(constant: &mut Expr, other: &mut Expr, may_be_one: bool) -> bool {
    let Expr::Literal(Literal::Real(real)) = constant else { return false };
    let value = real.get();
    let is_whole = value.fract() == 0.0 && value != 0.0 && value.abs() < FIRST_INEXACT;
    if !is_whole || (value == 1.0 && !may_be_one) || matches!(other, Expr::Literal(_)) {
        return false;
    }
    *constant = Expr::Literal(Literal::Integer(value as i64));
    make_real(other);
    true
}

/// Of a quotient of which one side is cast, casts what is divided alone.
fn divided_alone(left: &mut Expr, right: &mut Expr) -> bool {
    let Some(divisor) = cast_to_real(right) else { return false };
    *right = divisor;
    make_real(left);
    true
}

fn cast_to_real(expr: &Expr) -> Option<Expr> {
    let Expr::Cast { expr, type_name } = expr else { return None };
    (Affinity::of_declared_type(Some(type_name)) == Affinity::Real).then(|| expr.as_ref().clone())
}

fn make_real(expr: &mut Expr) {
    if cast_to_real(expr).is_none() {
        let value = std::mem::replace(expr, tools::one());
        *expr = Expr::Cast { expr: Box::new(value), type_name: "REAL".to_owned() };
    }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT SUM(age) * 100.0 / COUNT(*) FROM t",
        "SELECT CAST(SUM(age) AS REAL) * 100 / COUNT(*) FROM t",
    )
    .sound(),
    RuleCase::equal(SCHEMA, "SELECT COUNT(*) / 12.0 FROM t", "SELECT CAST(COUNT(*) AS REAL) / 12 FROM t")
        .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT CAST(age AS FLOAT) / CAST(id AS REAL) FROM t",
        "SELECT age / CAST(id AS REAL) FROM t",
    )
    .sound(),
    RuleCase::differs(SCHEMA, "SELECT age / 2.0 FROM t", "SELECT age / 2 FROM t")
        .sound()
        .witness("INSERT INTO t VALUES (1, 'a', 'n', 7, 'x')"),
    RuleCase::differs(SCHEMA, "SELECT age * 2.5 FROM t", "SELECT CAST(age AS REAL) * 2 FROM t")
        .witness("INSERT INTO t VALUES (1, 'a', 'n', 7, 'x')"),
    RuleCase::differs(SCHEMA, "SELECT typeof(age * 2.0) FROM t", "SELECT typeof(age * 2) FROM t")
        .sound()
        .witness("INSERT INTO t VALUES (1, 'a', 'n', 7, 'x')"),
    // The quotient of the two is cut before it is multiplied.
    RuleCase::differs(
        SCHEMA,
        "SELECT CAST(age AS REAL) / id * 100 FROM t",
        "SELECT CAST(age / id AS REAL) * 100 FROM t",
    )
    .witness("INSERT INTO t VALUES (2, 'a', 'n', 7, 'x')"),
];
