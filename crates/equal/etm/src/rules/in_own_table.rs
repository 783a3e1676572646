//! # A filter through the own table
//!
//! ## What it does
//! Turns `c1 IN (SELECT c1 FROM t1 WHERE d)` over `t1` itself into `d`.
//!
//! ## Why it holds
//! If `c1` is unique, the row of the subquery with that value is the very row that is looked at, so `d` is asked of
//! it. A row in which `c1` is NULL never passes IN.
//!
//! ## Needs
//! In `etm@1`: `c1` is UNIQUE; if it may be NULL, `c1 IS NOT NULL` is added.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE id IN (SELECT id FROM t WHERE age = 3)
//! SELECT name FROM t WHERE age = 3
//! ```
//!
//! ## Does not hold when
//! The column is not unique: `name IN (SELECT name FROM t WHERE age = 3)` also finds the namesakes of those who are
//! 3. As published this is not looked at.
//!
//! ## Source
//! Paper, Table 3, rule 20. Corrected: UNIQUE and NULL.

use sqlgauge_sql::tree::{Expr, From, Query, RelationId};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "20",
    name: "in-own-table",
    summary: "IN with a subquery over the same table",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::FILTER, query),
    cases: CASES,
    source: include_str!("in_own_table.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select_mut() else { return 0 };
    let relations: Vec<_> =
        select.from.iter().flat_map(From::relations).map(|relation| relation.id).collect();
    let mut places = 0;
    let mut conjuncts = tools::take_conjuncts(&mut select.filter);
    for conjunct in &mut conjuncts {
        if let Some(new) = filter(conjunct, &relations, context) {
            *conjunct = new;
            places += 1;
        }
    }
    select.filter = tools::conjunction(conjuncts);
    places
}

fn filter(conjunct: &Expr, relations: &[RelationId], context: &RuleContext<'_>) -> Option<Expr> {
    let Expr::InQuery { expr, query, negated: false } = conjunct else { return None };
    let column = tools::as_column(expr).filter(|column| relations.contains(&column.relation))?;
    let select = tools::plain_select(query)?;
    let inner = tools::single_relation(select)?;
    let [output] = select.outputs.as_slice() else { return None };
    let inner_column =
        tools::as_column(&output.expr).filter(|inner_column| inner_column.relation == inner.id)?;
    if context.table_column(inner_column)? != context.table_column(column)? || !tools::is_flat(select) {
        return None;
    }
    let unique = context.facts.unique_sets(column.relation).contains(&vec![column.column]);
    let stored = context.facts.is_identity(expr) && !context.facts.is_null_extended(column.relation);
    if context.is_sound() && !(unique && stored) {
        return None;
    }
    let condition = tools::renamed(select.filter.as_ref()?, &[(column.relation, inner.id)]);
    if context.is_sound() && context.facts.column(column).nullable {
        let not_null = Expr::IsNull { expr: expr.clone(), negated: true };
        return tools::conjunction(vec![condition, not_null]);
    }
    Some(condition)
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE id IN (SELECT id FROM t WHERE age = 3)",
        "SELECT name FROM t WHERE age = 3",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age > 1 AND code IN (SELECT code FROM t WHERE age < 3)",
        "SELECT name FROM t WHERE age > 1 AND age < 3",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE name IN (SELECT name FROM t WHERE age = 3)",
        "SELECT name FROM t WHERE age = 3",
    )
    .paper(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE name IN (SELECT name FROM t WHERE age = 3)",
        "SELECT name FROM t WHERE age = 3",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 3, 'x'), (2, 'b', 'n', 1, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE id NOT IN (SELECT id FROM t WHERE age = 3)",
        "SELECT name FROM t WHERE age = 3",
    ),
];
