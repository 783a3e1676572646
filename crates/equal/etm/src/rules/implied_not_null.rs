//! # IS NOT NULL that another condition implies
//!
//! ## What it does
//! Drops `c IS NOT NULL` if another condition of the query cannot be true where `c` is NULL.
//!
//! ## Why it holds
//! The other condition drops those rows anyway.
//!
//! ## Needs
//! The other condition is a comparison, LIKE, BETWEEN or IN of the column, in WHERE or in the ON of an inner join.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE age > 3 AND age IS NOT NULL
//! SELECT name FROM t WHERE age > 3
//! ```
//!
//! ## Does not hold when
//! The other condition is only one side of an OR.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::derive::rejects_null;
use sqlgauge_sql::tree::{Expr, Query};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S15",
    name: "implied-not-null",
    summary: "IS NOT NULL beside a comparison",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::FILTER, query),
    cases: CASES,
    source: include_str!("implied_not_null.rs"),
};

fn query(query: &mut Query, _context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select() else { return 0 };
    let tested = |e: &Expr| match e {
        Expr::IsNull { expr, negated: true } => tools::as_column(expr),
        _ => None,
    };
    let conjuncts = tools::conjuncts_of(select.filter.as_ref());
    let Some(place) = conjuncts.iter().position(|conjunct| {
        tested(conjunct).is_some_and(|column| {
            let all = sqlgauge_sql::derive::conjuncts(select);
            let others = all
                .into_iter()
                .filter(|other| !std::ptr::eq(*other, *conjunct) && tested(other) != Some(column));
            others.into_iter().any(|other| rejects_null(other, column))
        })
    }) else {
        return 0;
    };
    let Some(select) = query.as_select_mut() else { return 0 };
    let mut conjuncts = tools::take_conjuncts(&mut select.filter);
    conjuncts.remove(place);
    select.filter = tools::conjunction(conjuncts);
    1
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age > 3 AND age IS NOT NULL",
        "SELECT name FROM t WHERE age > 3",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT v FROM t JOIN u ON t.id = u.t_id WHERE u.t_id IS NOT NULL AND name = 'x'",
        "SELECT v FROM t JOIN u ON t.id = u.t_id WHERE name = 'x'",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE (age > 3 OR id = 1) AND age IS NOT NULL",
        "SELECT name FROM t WHERE age > 3 OR id = 1",
    ),
];
