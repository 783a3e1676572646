//! # NOT IN with a subquery
//!
//! ## What it does
//! Turns `x NOT IN (SELECT y FROM t WHERE d)` into `NOT EXISTS (SELECT 1 FROM t WHERE d AND y = x)`.
//!
//! ## Why it holds
//! If neither the value nor any row of the subquery is NULL, IN is never NULL, and so its negation is the negation
//! of EXISTS.
//!
//! ## Needs
//! `x` is not NULL, by declaration or by another condition; `y` is not NULL, by declaration or by a condition of
//! the subquery. The subquery only filters and joins.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE id NOT IN (SELECT must FROM u)
//! SELECT name FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.must = t.id)
//! ```
//!
//! ## Does not hold when
//! `y` is NULL in one row: NOT IN is then never true. `x` is NULL: NOT IN is NULL and NOT EXISTS is true.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{Expr, Query};

use crate::context::RuleContext;
use crate::context::passes_not_null;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S9",
    name: "not-in-as-not-exists",
    summary: "NOT IN with a subquery as NOT EXISTS",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::FILTER, query),
    cases: CASES,
    source: include_str!("not_in_as_not_exists.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let before = query.clone();
    let Some(select) = query.as_select_mut() else { return 0 };
    let mut places = 0;
    let mut conjuncts = tools::take_conjuncts(&mut select.filter);
    for conjunct in &mut conjuncts {
        let Expr::InQuery { expr: value, query: inner, negated: true } = conjunct else { continue };
        if never_null(value, inner, &before, context)
            && tools::may_become_exists(value, inner, &context.facts)
        {
            let mut inner = inner.clone();
            tools::link(&mut inner, value);
            *conjunct = Expr::Exists { query: inner, negated: true };
            places += 1;
        }
    }
    select.filter = tools::conjunction(conjuncts);
    places
}

fn never_null(value: &Expr, inner: &Query, outer: &Query, context: &RuleContext<'_>) -> bool {
    let Some(select) = inner.as_select() else { return false };
    let value_fits = !context.facts.is_nullable(value)
        || tools::as_column(value).is_some_and(|column| passes_not_null(outer, column, &context.facts));
    value_fits && select.outputs.iter().all(|output| !context.facts.output_may_be_null(select, &output.expr))
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE id NOT IN (SELECT must FROM u)",
        "SELECT name FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.must = t.id)",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE id NOT IN (SELECT t_id FROM u WHERE t_id IS NOT NULL)",
        "SELECT name FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE id NOT IN (SELECT t_id FROM u)",
        "SELECT name FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'); INSERT INTO u SELECT 1, NULL, 1, 1"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age NOT IN (SELECT must FROM u)",
        "SELECT name FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.must = t.age)",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', NULL, 'x'); INSERT INTO u VALUES (1, 1, 1, 1)"),
];
