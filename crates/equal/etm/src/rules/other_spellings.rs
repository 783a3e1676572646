//! # Other spellings
//!
//! ## What it does
//! Writes the type of a CAST by its affinity, SUBSTRING as SUBSTR, IFNULL as COALESCE, `CASE x WHEN y` as `CASE
//! WHEN x = y`, and `1.0 * x` as a CAST to REAL.
//!
//! ## Why it holds
//! CAST converts by the affinity of the type name alone. The functions are synonyms in SQLite. A CASE with an
//! operand compares it with each value by `=`. Multiplying by one makes a floating point number of a value exactly
//! as CAST does, and gives NULL for NULL.
//!
//! ## Needs
//! For CASE: the operand is a column or constant, so that computing it again gives the same.
//!
//! ## Example
//! ```sql
//! SELECT CAST(age AS FLOAT) FROM t
//! SELECT CAST(age AS REAL) FROM t
//! ```
//!
//! ## Does not hold when
//! The types have different affinity: CAST to INTEGER cuts fractions off.
//!
//! ## Source
//! Ours; the parser of the paper's script treats REAL as FLOAT.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Affinity;
use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal, Real};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S17",
    name: "other-spellings",
    summary: "Other spellings of types and functions",
    profiles: Profiles::BOTH,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("other_spellings.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    if !context.is_sound() {
        return published(expr);
    }
    match expr {
        Expr::Cast { type_name, .. } => {
            let name = match Affinity::of_declared_type(Some(type_name)) {
                Affinity::Text => "TEXT",
                Affinity::Numeric => "NUMERIC",
                Affinity::Integer => "INTEGER",
                Affinity::Real => "REAL",
                Affinity::Blob => "BLOB",
            };
            let changed = type_name != name;
            if changed {
                name.clone_into(type_name);
            }
            changed
        }
        Expr::Function { function, .. } => respell(function),
        Expr::Aggregate(aggregate) => respell(&mut aggregate.function),
        Expr::Window(call) => respell(&mut call.function),
        Expr::Case { operand: Some(operand), branches, otherwise }
            if matches!(**operand, Expr::Column(_) | Expr::Literal(_)) =>
        {
            let branches = std::mem::take(branches);
            let compare = |(value, then): (Expr, Expr)| (Expr::equal(operand.as_ref().clone(), value), then);
            *expr = Expr::Case {
                operand: None,
                branches: branches.into_iter().map(compare).collect(),
                otherwise: otherwise.take(),
            };
            true
        }
        Expr::Case { otherwise, .. }
            if matches!(otherwise.as_deref(), Some(Expr::Literal(Literal::Null))) =>
        {
            *otherwise = None;
            true
        }
        Expr::Binary(BinaryOperator::Multiply, left, right) => {
            let is_one =
                |e: &Expr| matches!(e, Expr::Literal(Literal::Real(real)) if *real == Real::new(1.0));
            let value = if is_one(left) {
                right
            } else if is_one(right) {
                left
            } else {
                return false;
            };
            let value = std::mem::replace(value.as_mut(), tools::one());
            *expr = Expr::Cast { expr: Box::new(value), type_name: "REAL".to_owned() };
            true
        }
        _ => false,
    }
}

/// The parser of the paper's script takes REAL for FLOAT and ignores letter case.
fn published(expr: &mut Expr) -> bool {
    let Expr::Cast { type_name, .. } = expr else { return false };
    let upper = type_name.to_ascii_uppercase();
    let name = if upper == "REAL" { "FLOAT".to_owned() } else { upper };
    let changed = *type_name != name;
    *type_name = name;
    changed
}

/// One name of a function that has two.
fn respell(function: &mut Function) -> bool {
    *function = match function {
        Function::Substring => Function::Substr,
        Function::IfNull => Function::Coalesce,
        Function::StringAgg => Function::GroupConcat,
        _ => return false,
    };
    true
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT CAST(age AS FLOAT) FROM t", "SELECT CAST(age AS REAL) FROM t"),
    RuleCase::equal(SCHEMA, "SELECT SUBSTRING(name, 1, 2) FROM t", "SELECT SUBSTR(name, 1, 2) FROM t")
        .sound(),
    // A merged column has the affinity of the first of the two.
    RuleCase::differs(
        "CREATE TABLE a (x INT); CREATE TABLE b (x INT)",
        "SELECT x FROM a FULL JOIN b USING (x) WHERE x = '1'",
        "SELECT x FROM a FULL JOIN b USING (x) WHERE COALESCE(a.x, b.x) = '1'",
    )
    .sound()
    .witness("INSERT INTO a VALUES (1)"),
    RuleCase::equal(
        SCHEMA,
        "SELECT CASE age WHEN 1 THEN 'a' ELSE NULL END FROM t",
        "SELECT CASE WHEN age = 1 THEN 'a' END FROM t",
    )
    .sound(),
    RuleCase::equal(SCHEMA, "SELECT age * 1.0 / id FROM t", "SELECT CAST(age AS DOUBLE) / id FROM t").sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT CAST(age AS REAL) / 2 FROM t",
        "SELECT CAST(age AS INTEGER) / 2 FROM t",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x')"),
    RuleCase::differs(SCHEMA, "SELECT age * 1 / id FROM t", "SELECT CAST(age AS REAL) / id FROM t")
        .witness("INSERT INTO t VALUES (2, 'a', 'n', 1, 'x')"),
    RuleCase::differs(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT);
CREATE INDEX letter ON t (substr(name, 1, 1));",
        "SELECT name FROM t WHERE SUBSTRING(name, 1, 1) > 'a' LIMIT 1",
        "SELECT name FROM t WHERE SUBSTR(name, 1, 1) > 'a' LIMIT 1",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'c'), (2, 'b')"),
];
