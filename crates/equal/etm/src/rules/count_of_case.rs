//! # Counting rows that satisfy a condition
//!
//! ## What it does
//! Brings `COUNT(CASE WHEN d THEN c END)` and `SUM(CASE WHEN d THEN 1 ELSE 0 END)` to one form.
//!
//! ## Why it holds
//! Both count the rows of the group in which `d` is true. They differ for a group without rows: COUNT gives 0, SUM
//! gives NULL.
//!
//! ## Needs
//! `c` is a constant other than NULL, or not NULL. In `etm@1` also: the group has a row. With GROUP BY it always
//! has; without, only a quotient by `COUNT(*)` of the same rows hides the difference, since `NULL / 0` and `0 / 0`
//! are both NULL.
//!
//! ## Example
//! ```sql
//! SELECT name, COUNT(CASE WHEN age > 3 THEN 1 END) FROM t GROUP BY name
//! SELECT name, SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END) FROM t GROUP BY name
//! ```
//!
//! ## Does not hold when
//! The table is empty, or no row passes WHERE, and there is no GROUP BY. As published this is not looked at.
//!
//! ## Source
//! Paper, Table 2, rule 9. Corrected: groups without rows.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Args, BinaryOperator, Expr, Literal, Query, UnaryOperator};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "9",
    name: "count-of-case",
    summary: "COUNT(CASE …) and SUM(CASE … 1 ELSE 0)",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::ANY, query),
    cases: CASES,
    source: include_str!("count_of_case.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select() else { return 0 };
    let grouped = !select.group_by.is_empty();
    let sound = context.is_sound();
    let mut places = 0;
    tools::for_own_exprs(query, &mut |expr| {
        places += if !sound {
            usize::from(published(expr, context))
        } else if grouped {
            usize::from(as_count(expr)) + usize::from(simple_count(expr, context))
        } else {
            let quotient = match expr {
                Expr::Binary(BinaryOperator::Divide, numerator, denominator) if counts_rows(denominator) => {
                    in_product(numerator)
                }
                _ => 0,
            };
            quotient + usize::from(simple_count(expr, context))
        };
    });
    places
}

/// A CASE of one condition with its two results; a missing ELSE is NULL.
fn single_case(expr: &Expr) -> Option<(&Expr, &Expr, &Expr)> {
    const NULL: &Expr = &Expr::Literal(Literal::Null);
    let Expr::Case { operand: None, branches, otherwise } = expr else { return None };
    match branches.as_slice() {
        [(when, then)] => Some((when, then, otherwise.as_deref().unwrap_or(NULL))),
        _ => None,
    }
}

fn case(when: Expr, otherwise: Option<Expr>) -> Expr {
    Expr::Case { operand: None, branches: vec![(when, tools::one())], otherwise: otherwise.map(Box::new) }
}

/// `COUNT(CASE WHEN d THEN 1/c [ELSE NULL] END)` as `SUM(CASE WHEN d THEN 1 ELSE 0 END)`.
fn published(expr: &mut Expr, context: &RuleContext<'_>) -> bool {
    let Some((Function::Count, value)) = tools::plain_aggregate(expr) else { return false };
    let Some((when, then, Expr::Literal(Literal::Null))) = single_case(value) else { return false };
    let counts = tools::as_integer(then) == Some(1)
        || tools::as_column(then).is_some_and(|column| context.is_not_null_as_published(column));
    if counts {
        let zero = Expr::Literal(Literal::Integer(0));
        *expr = Expr::aggregate(Function::Sum, Args::List(vec![case(when.clone(), Some(zero))]));
    }
    counts
}

/// `SUM(CASE WHEN d THEN 1 ELSE 0 END)` as `COUNT(CASE WHEN d THEN 1 END)`: right for a group with rows.
fn as_count(expr: &mut Expr) -> bool {
    let Some((Function::Sum, value)) = tools::plain_aggregate(expr) else { return false };
    let Some((when, then, otherwise)) = single_case(value) else { return false };
    let counts = is_integer(then, 1) && is_integer(otherwise, 0);
    if counts {
        *expr = Expr::aggregate(Function::Count, Args::List(vec![case(when.clone(), None)]));
    }
    counts
}

fn is_integer(expr: &Expr, value: i64) -> bool {
    *expr == Expr::Literal(Literal::Integer(value))
}

/// Any result that is not NULL counts the same.
fn simple_count(expr: &mut Expr, context: &RuleContext<'_>) -> bool {
    let Some((Function::Count, value)) = tools::plain_aggregate(expr) else { return false };
    let Some((when, then, Expr::Literal(Literal::Null))) = single_case(value) else { return false };
    let plain = is_integer(then, 1) && matches!(value, Expr::Case { otherwise: None, .. });
    if plain || context.facts.is_nullable(then) {
        return false;
    }
    *expr = Expr::aggregate(Function::Count, Args::List(vec![case(when.clone(), None)]));
    true
}

/// Whether the expression is a count of all rows, perhaps cast: zero exactly for a group without rows.
fn counts_rows(expr: &Expr) -> bool {
    match expr {
        Expr::Cast { expr, .. } => counts_rows(expr),
        other => tools::is_count_star(other),
    }
}

/// Rewrites the sums among the factors of a numerator, which is NULL or a number whichever of the two they are.
fn in_product(expr: &mut Expr) -> usize {
    match expr {
        Expr::Cast { expr, .. } | Expr::Unary(UnaryOperator::Minus, expr) => in_product(expr),
        Expr::Binary(BinaryOperator::Multiply, left, right) => in_product(left) + in_product(right),
        other => usize::from(as_count(other)),
    }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name, COUNT(CASE WHEN age > 3 THEN 1 END) FROM t GROUP BY name",
        "SELECT name, SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END) FROM t GROUP BY name",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT name, COUNT(CASE WHEN age > 3 THEN id ELSE NULL END) FROM t GROUP BY name",
        "SELECT name, SUM(IIF(age > 3, 1, 0)) FROM t GROUP BY name",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT CAST(COUNT(CASE WHEN age > 3 THEN 1 END) AS REAL) * 100 / COUNT(*) FROM t",
        "SELECT CAST(SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(*) FROM t",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT COUNT(CASE WHEN age > 3 THEN 1 END) FROM t",
        "SELECT SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END) FROM t",
    )
    .paper(),
    RuleCase::differs(
        SCHEMA,
        "SELECT COUNT(CASE WHEN age > 3 THEN 1 END) FROM t",
        "SELECT SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END) FROM t",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name, COUNT(CASE WHEN age > 3 THEN name END) FROM t GROUP BY name",
        "SELECT name, SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END) FROM t GROUP BY name",
    ),
];
