//! # IIF
//!
//! ## What it does
//! Turns `IIF(d, x, y)` into `CASE WHEN d THEN x ELSE y END`.
//!
//! ## Why it holds
//! SQLite defines IIF so.
//!
//! ## Needs
//! Nothing.
//!
//! ## Example
//! ```sql
//! SELECT IIF(age > 3, 1, 0) FROM t
//! SELECT CASE WHEN age > 3 THEN 1 ELSE 0 END FROM t
//! ```
//!
//! ## Does not hold when
//! The branches are exchanged: a condition that is NULL takes ELSE, so `IIF(d, x, y)` is not `IIF(NOT d, y, x)`. Or it
//! is a result of one SELECT of a set operation that another query reads: SQLite chooses the affinity of the column by
//! how its results are written.
//!
//! ## Source
//! Paper, Table 3, rule 24.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Args, Expr};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};

pub(super) static RULE: Rule = Rule {
    id: "24",
    name: "iif",
    summary: "IIF as CASE",
    profiles: Profiles::BOTH,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("iif.rs"),
};

fn expr(expr: &mut Expr, _context: &mut RuleContext<'_>) -> bool {
    let Expr::Function { function: Function::Iif | Function::If, args: Args::List(args) } = expr else {
        return false;
    };
    if !(2..=3).contains(&args.len()) {
        return false;
    }
    let mut args = std::mem::take(args).into_iter();
    let (Some(when), Some(then)) = (args.next(), args.next()) else { return false };
    *expr = Expr::Case { operand: None, branches: vec![(when, then)], otherwise: args.next().map(Box::new) };
    true
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT IIF(age > 3, 1, 0) FROM t",
        "SELECT CASE WHEN age > 3 THEN 1 ELSE 0 END FROM t",
    ),
    RuleCase::differs(SCHEMA, "SELECT IIF(age > 3, 1, 0) FROM t", "SELECT IIF(age <= 3, 0, 1) FROM t"),
    RuleCase::differs(SCHEMA, "SELECT IIF(age > 3, 1, 0) FROM t", "SELECT IIF(age > 3, 0, 1) FROM t"),
    // A call may be a text to SQLite, the CASE is a number, and so the column of the UNION is REAL.
    RuleCase::differs(
        SCHEMA,
        "SELECT q.c FROM (SELECT IIF(b.age, 9007199254740993, -1.0) AS c, a.age AS d FROM t AS a JOIN t AS b UNION ALL SELECT CAST(10 AS REAL), age FROM t) AS q",
        "SELECT q.c FROM (SELECT CASE WHEN b.age THEN 9007199254740993 ELSE -1.0 END AS c, a.age AS d FROM t AS a JOIN t AS b UNION ALL SELECT CAST(10 AS REAL), age FROM t) AS q",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT q.c FROM (SELECT CASE WHEN b.age THEN IIF(b.age, 9007199254740993, -1.0) ELSE 0 END AS c, a.age AS d FROM t AS a JOIN t AS b UNION ALL SELECT CAST(10 AS REAL), age FROM t) AS q",
        "SELECT q.c FROM (SELECT CASE WHEN b.age THEN CASE WHEN b.age THEN 9007199254740993 ELSE -1.0 END ELSE 0 END AS c, a.age AS d FROM t AS a JOIN t AS b UNION ALL SELECT CAST(10 AS REAL), age FROM t) AS q",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x')"),
    RuleCase::equal(
        SCHEMA,
        "SELECT IIF(age > 3, 1, 0) FROM t UNION ALL SELECT CAST(id AS REAL) FROM t",
        "SELECT CASE WHEN age > 3 THEN 1 ELSE 0 END FROM t UNION ALL SELECT CAST(id AS REAL) FROM t",
    )
    .sound(),
];
