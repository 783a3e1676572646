//! # The first value in order
//!
//! ## What it does
//! Turns `SELECT c FROM t ORDER BY c DESC LIMIT 1` into `SELECT MAX(c) FROM t`, and ascending order into MIN. In
//! `etm@1` only for a subquery that is used as a value.
//!
//! ## Why it holds
//! The first value in descending order is the greatest one, NULL coming last. A subquery used as a value is NULL if
//! it has no row, and so is MAX over no rows.
//!
//! ## Needs
//! `LIMIT 1`, one sort key, which is the result column. In `etm@1` also: the query stands as a value, it does not
//! group, and for ascending order `c` is not NULL (NULL comes first, and MIN passes over it). A subquery brings the
//! affinity of its column into a comparison and MAX none, so the value is computed with, is a result of the
//! statement, or is compared with a value of the same class of affinity.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE age < (SELECT age FROM t ORDER BY age DESC LIMIT 1)
//! SELECT name FROM t WHERE age < (SELECT MAX(age) FROM t)
//! ```
//!
//! ## Does not hold when
//! The table is empty, or no row passes WHERE: then the first form has no row, and `SELECT MAX(c)` has one with
//! NULL. The condition "t1 is not empty" that the paper states cannot be checked against a schema, so the rule is
//! not used for a statement in `etm@1`. Or a text is compared with a number: `'5' = (SELECT age …)` converts the
//! text, `'5' = (SELECT MAX(age) …)` does not.
//!
//! ## Source
//! Paper, Table 2, rule 10. Corrected: only in a subquery used as a value.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Affinity;
use sqlgauge_sql::tree::{Args, Expr, OrderTerm, Query};

use crate::context::Position;
use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "10",
    name: "extremum-by-order",
    summary: "The first value in order, or MIN and MAX",
    profiles: Profiles::BOTH,
    stage: RuleStage::Everywhere(expr, query),
    cases: CASES,
    source: include_str!("extremum_by_order.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    if !context.is_sound() {
        return usize::from(published(query));
    }
    // Of a result of the statement nothing is asked but its value.
    if context.position != Position::Top {
        return 0;
    }
    let Some(select) = query.as_select_mut() else { return 0 };
    let outputs = select.outputs.iter_mut().map(|output| &mut output.expr);
    outputs.map(|expr| usize::from(corrected(expr, context))).sum()
}

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    if !context.is_sound() {
        return false;
    }
    let facts = &context.facts;
    match expr {
        Expr::Binary(operator, left, right) if operator.is_comparison() => {
            let compared = [&*left, &*right].map(|side| facts.affinity(side).known().flatten());
            let [left, right] =
                [left, right].map(|side| converts_nothing(compared) && corrected(side, context));
            left || right
        }
        Expr::Binary(_, left, right) => {
            let left = corrected(left, context);
            corrected(right, context) || left
        }
        Expr::Between { expr, low, high, .. } => {
            let of_value = facts.affinity(expr).known().flatten();
            let mut changed = false;
            for bound in [low, high] {
                changed |= converts_nothing([of_value, facts.affinity(bound).known().flatten()])
                    && corrected(bound, context);
            }
            changed
        }
        _ => false,
    }
}

/// Whether a comparison of operands of these affinities compares them as they are, also if one has none: then the
/// values of the other are already what its affinity makes of them.
fn converts_nothing([left, right]: [Option<Affinity>; 2]) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            (left.is_numeric() && right.is_numeric()) || (left == Affinity::Text && right == Affinity::Text)
        }
        _ => false,
    }
}

/// The sort key and its direction, if the query has one and takes the first row.
fn first_in_order(query: &Query) -> Option<(&OrderTerm, bool)> {
    let ([term], Some(limit), None) = (query.order_by.as_slice(), &query.limit, &query.offset) else {
        return None;
    };
    let fits = tools::as_integer(limit) == Some(1) && term.nulls_first.is_none() && query.ctes.is_empty();
    fits.then_some((term, term.descending))
}

fn published(query: &mut Query) -> bool {
    // The script does not see through an alias here.
    let Some((term, descending)) = first_in_order(query) else { return false };
    let key = term.expr.clone();
    let Some(select) = query.as_select() else { return false };
    let fits = select.outputs.iter().any(|output| output.expr == key);
    if fits {
        put_extremum(query, &key, descending);
    }
    fits
}

/// Rewrites a subquery that is used as a value.
fn corrected(expr: &mut Expr, context: &RuleContext<'_>) -> bool {
    let Expr::Scalar(query) = expr else { return false };
    let Some((term, descending)) = first_in_order(query) else { return false };
    let key = tools::order_expr(query, &term.expr).clone();
    let Some(select) = query.as_select() else { return false };
    let fits = matches!(select.outputs.as_slice(), [only] if only.expr == key)
        && tools::is_flat(select)
        && select.from.is_some()
        && context.facts.is_identity(&key)
        && (descending || !context.facts.output_may_be_null(select, &key));
    if fits {
        put_extremum(query, &key, descending);
    }
    fits
}

fn put_extremum(query: &mut Query, key: &Expr, descending: bool) {
    query.order_by.clear();
    query.limit = None;
    let Some(select) = query.as_select_mut() else { return };
    select.distinct = false;
    for output in select.outputs.iter_mut().filter(|output| output.expr == *key) {
        let function = if descending { Function::Max } else { Function::Min };
        output.expr = Expr::aggregate(function, Args::List(vec![output.expr.clone()]));
    }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age < (SELECT age FROM t ORDER BY age DESC LIMIT 1)",
        "SELECT name FROM t WHERE age < (SELECT MAX(age) FROM t)",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE id > (SELECT id FROM t WHERE age = 1 ORDER BY id LIMIT 1)",
        "SELECT name FROM t WHERE id > (SELECT MIN(id) FROM t WHERE age = 1)",
    ),
    RuleCase::equal(SCHEMA, "SELECT age FROM t ORDER BY age DESC LIMIT 1", "SELECT MAX(age) FROM t").paper(),
    RuleCase::differs(SCHEMA, "SELECT age FROM t ORDER BY age DESC LIMIT 1", "SELECT MAX(age) FROM t")
        .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age IS (SELECT age FROM t ORDER BY age LIMIT 1)",
        "SELECT name FROM t WHERE age IS (SELECT MIN(age) FROM t)",
    )
    .sound(),
    RuleCase::differs(SCHEMA, "SELECT age FROM t ORDER BY age DESC LIMIT 2", "SELECT MAX(age) FROM t"),
    RuleCase::differs(
        SCHEMA,
        "SELECT id FROM t WHERE code = (SELECT age FROM t ORDER BY age DESC LIMIT 1)",
        "SELECT id FROM t WHERE code = (SELECT MAX(age) FROM t)",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, '05', 'n', 5, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT id FROM t WHERE '5' = (SELECT age FROM t ORDER BY age DESC LIMIT 1)",
        "SELECT id FROM t WHERE '5' = (SELECT MAX(age) FROM t)",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT id FROM t WHERE 2 * age > 3 + (SELECT age FROM t ORDER BY age DESC LIMIT 1)",
        "SELECT id FROM t WHERE 2 * age > 3 + (SELECT MAX(age) FROM t)",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT name, (SELECT v FROM u ORDER BY v DESC LIMIT 1) FROM t",
        "SELECT name, (SELECT MAX(v) FROM u) FROM t",
    ),
];
