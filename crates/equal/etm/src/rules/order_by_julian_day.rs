//! # Sorting by the day number of a date
//!
//! ## What it does
//! Turns `ORDER BY JULIANDAY(c)` into `ORDER BY c`. Only in `etm-paper@1`.
//!
//! ## Why it holds
//! Dates written as `YYYY-MM-DD` have the same order as texts and as day numbers.
//!
//! ## Needs
//! Every value of `c` is a date of that form. No declared type in SQLite enforces it, so `etm@1` leaves the rule
//! out.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t ORDER BY JULIANDAY(born)
//! SELECT name FROM t ORDER BY born
//! ```
//!
//! ## Does not hold when
//! The column holds something else: `JULIANDAY('x')` is NULL, and so all such values are equal in one order and
//! different in the other.
//!
//! ## Source
//! Paper, Table 3, rule 17. Unsound as published.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Expr, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};

pub(super) static RULE: Rule = Rule {
    id: "17",
    name: "order-by-julian-day",
    summary: "ORDER BY JULIANDAY(c) as ORDER BY c",
    profiles: Profiles::PAPER,
    stage: RuleStage::Query(Shape::ORDER, query),
    cases: CASES,
    source: include_str!("order_by_julian_day.rs"),
};

fn query(query: &mut Query, _context: &mut RuleContext<'_>) -> usize {
    let [term] = query.order_by.as_mut_slice() else { return 0 };
    let Expr::Function { function: Function::JulianDay, args } = &term.expr else { return 0 };
    let [only] = args.as_slice() else { return 0 };
    term.expr = only.clone();
    1
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t ORDER BY JULIANDAY(born)",
        "SELECT name FROM t ORDER BY born",
    )
    .paper(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t ORDER BY JULIANDAY(born)",
        "SELECT name FROM t ORDER BY born",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'y'), (2, 'b', 'm', 1, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t ORDER BY JULIANDAY(born)",
        "SELECT name FROM t ORDER BY born DESC",
    ),
];
