//! # A comparison with the value of at most one row
//!
//! ## What it does
//! Where it decides whether a row passes, turns `x = (SELECT y FROM t WHERE d)` into `EXISTS (SELECT 1 FROM t WHERE
//! d AND y = x)`.
//!
//! ## Why it holds
//! If the subquery has no row, its value is NULL and the comparison is not true; if it has one, the comparison is
//! with that row.
//!
//! ## Needs
//! The conditions of the subquery fix a UNIQUE column set of each of its tables; it does not group.
//!
//! ## Example
//! ```sql
//! SELECT v FROM u WHERE t_id = (SELECT id FROM t WHERE code = 'x')
//! SELECT v FROM u WHERE EXISTS (SELECT 1 FROM t WHERE code = 'x' AND id = t_id)
//! ```
//!
//! ## Does not hold when
//! The subquery may have several rows: its value is that of the first, whichever SQLite reads first.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::derive::{Dependencies, Fact};
use sqlgauge_sql::tree::{BinaryOperator, Expr};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S21",
    name: "value-of-single-row",
    summary: "= with a subquery of at most one row as EXISTS",
    profiles: Profiles::SOUND,
    stage: RuleStage::Expression(expr),
    cases: CASES,
    source: include_str!("value_of_single_row.rs"),
};

fn expr(expr: &mut Expr, context: &mut RuleContext<'_>) -> bool {
    let Expr::Binary(BinaryOperator::Equal, left, right) = expr else { return false };
    if !context.is_condition {
        return false;
    }
    let ((value, Expr::Scalar(query)) | (Expr::Scalar(query), value)) = (left.as_ref(), right.as_ref())
    else {
        return false;
    };
    let single = query.as_select().is_some_and(|select| {
        Dependencies::of(select, &context.facts).closure(&[]).is_complete()
            && select.outputs.iter().all(|output| {
                // The subquery brings no collation, its column may.
                let there = context.facts.comparison(left, right);
                let inside = context.facts.comparison(value, &output.expr);
                there == inside && there.collation != Fact::Unknown && there.conversion != Fact::Unknown
            })
    });
    if !single || !tools::may_become_exists(value, query, &context.facts) {
        return false;
    }
    let mut inner = query.clone();
    tools::link(&mut inner, value);
    *expr = Expr::Exists { query: inner, negated: false };
    true
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT v FROM u WHERE t_id = (SELECT id FROM t WHERE code = 'x')", "SELECT v FROM u WHERE EXISTS (SELECT 1 FROM t WHERE code = 'x' AND id = t_id)").sound(),
    RuleCase::equal(SCHEMA, "SELECT v FROM u WHERE t_id = (SELECT id FROM t WHERE code = 'x')", "SELECT v FROM u JOIN t ON t.id = u.t_id WHERE code = 'x'").sound(),
    RuleCase::differs(SCHEMA, "SELECT v FROM u WHERE t_id = (SELECT id FROM t WHERE name = 'x')", "SELECT v FROM u JOIN t ON t.id = u.t_id WHERE name = 'x'").witness("INSERT INTO t VALUES (1, 'a', 'x', 1, 'x'), (2, 'b', 'x', 1, 'x'); INSERT INTO u VALUES (1, 2, 1, 5)"),
];
