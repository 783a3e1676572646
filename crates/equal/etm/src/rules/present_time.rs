//! # The present time in other words
//!
//! ## What it does
//! Writes `CURRENT_TIMESTAMP`, `DATETIME('now')`, `CURRENT_DATE` and `DATE('now')` as `'now'` where `STRFTIME`, `DATE`, `TIME` or
//! `DATETIME` takes from them nothing that `'now'` has not.
//!
//! ## Why it holds
//! SQLite asks for the time once in each step of a query, so that all of these are the same moment there. `CURRENT_TIMESTAMP` and
//! `DATETIME('now')` are it to the second, the other two to the day. A format that shows year, month and day alone does not
//! show the rest, and one that shows hours, minutes and seconds besides cuts off their fraction.
//!
//! ## Needs
//! No modifier. For `STRFTIME` a format of `%Y`, `%m` and `%d`, or, of what is known to the second, also `%H`, `%M` and `%S`.
//!
//! ## Example
//! ```sql
//! SELECT STRFTIME('%Y', CURRENT_TIMESTAMP) - age FROM t
//! SELECT STRFTIME('%Y', 'now') - age FROM t
//! ```
//!
//! ## Does not hold when
//! More is shown than is known: `STRFTIME('%H', CURRENT_DATE)` is `00`.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Args, Expr, Literal};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};

pub(super) static RULE: Rule = Rule {
    id: "S31",
    name: "present-time",
    summary: "The present time in other words",
    profiles: Profiles::SOUND,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("present_time.rs"),
};

/// How much of a moment is known, or shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precision {
    Day,
    Second,
}

fn expr(expr: &mut Expr, _context: &mut RuleContext<'_>) -> bool {
    let Expr::Function { function, args: Args::List(args) } = expr else { return false };
    let (precision, time) = match (&*function, args.as_mut_slice()) {
        (Function::Strftime, [format, time]) => (shown_by(format), time),
        (Function::Date, [time]) => (Some(Precision::Day), time),
        (Function::Time | Function::DateTime, [time]) => (Some(Precision::Second), time),
        _ => return false,
    };
    let is_shown = precision.zip(known_of(time)).is_some_and(|(precision, limit)| precision <= limit);
    if is_shown {
        *time = Expr::Literal(Literal::Text("now".into()));
    }
    is_shown
}

/// How much of the present moment an expression knows, which is in other words than `'now'`.
fn known_of(time: &Expr) -> Option<Precision> {
    let Expr::Function { function, args } = time else { return None };
    let is_of_now = match args {
        Args::Bare => matches!(function, Function::CurrentDate | Function::CurrentTimestamp),
        Args::List(list) => list.is_empty() || matches!(list.as_slice(), [only] if is_now(only)),
        Args::Star => false,
    };
    match function {
        Function::CurrentDate | Function::Date if is_of_now => Some(Precision::Day),
        Function::CurrentTimestamp | Function::DateTime if is_of_now => Some(Precision::Second),
        _ => None,
    }
}

fn is_now(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(Literal::Text(text)) if text.eq_ignore_ascii_case("now"))
}

/// How much of a moment a format shows; `None` where that is not known.
fn shown_by(format: &Expr) -> Option<Precision> {
    let Expr::Literal(Literal::Text(format)) = format else { return None };
    let (mut precision, mut letters) = (Precision::Day, format.chars());
    while let Some(letter) = letters.next() {
        if letter == '%' {
            precision = precision.max(match letters.next()? {
                'Y' | 'm' | 'd' => Precision::Day,
                'H' | 'M' | 'S' => Precision::Second,
                _ => return None,
            });
        }
    }
    Some(precision)
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT STRFTIME('%Y', CURRENT_TIMESTAMP) - age FROM t",
        "SELECT STRFTIME('%Y', 'now') - age FROM t",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT id FROM t WHERE born < STRFTIME('%Y-%m-%d', DATE('now'))",
        "SELECT id FROM t WHERE born < STRFTIME('%Y-%m-%d', CURRENT_TIMESTAMP)",
    )
    .sound(),
    RuleCase::equal(SCHEMA, "SELECT DATE(CURRENT_TIMESTAMP) FROM t", "SELECT DATE('now') FROM t").sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT STRFTIME('%Y', CURRENT_TIMESTAMP) FROM t",
        "SELECT STRFTIME('%m', 'now') FROM t",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT STRFTIME('%Y', DATE('now', '+1 year')) FROM t",
        "SELECT STRFTIME('%Y', 'now') FROM t",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x')"),
    // A day does not know its hour.
    RuleCase::differs(
        SCHEMA,
        "SELECT length(STRFTIME('%H.%f', 'now')) FROM t",
        "SELECT length(STRFTIME('%H', CURRENT_DATE)) FROM t",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x')"),
];
