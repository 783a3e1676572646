//! # A table joined with itself on its key
//!
//! ## What it does
//! Makes one of two instances of a table that are equated on a key.
//!
//! ## Why it holds
//! Two rows of one table that agree in a UNIQUE column set and are not NULL there are the same row.
//!
//! ## Needs
//! Inner joins, of which the instance that goes is a side; the columns of a UNIQUE set are equated one by one. If
//! they may be NULL, `IS NOT NULL` is added.
//!
//! ## Example
//! ```sql
//! SELECT a.name, b.age FROM t a JOIN t b ON a.id = b.id
//! SELECT name, age FROM t
//! ```
//!
//! ## Does not hold when
//! The equated column is not unique. Or an outer join fills one of the instances with NULL, or preserves it.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{BinaryOperator, ColumnRef, Expr, Place, Query, RelationId};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S18",
    name: "join-with-itself",
    summary: "A table joined with itself on a key",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::JOIN, query),
    cases: CASES,
    source: include_str!("join_with_itself.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let mut places = 0;
    while let Some((survivor, dropped, key)) = find(query, context) {
        let Some(select) = query.as_select_mut() else { return places };
        select.from = select.from.take().and_then(|from| tools::without(from, dropped, &mut select.filter));
        tools::move_columns(query, dropped, survivor);
        let Some(select) = query.as_select_mut() else { return places };
        let mut conjuncts = tools::take_conjuncts(&mut select.filter);
        conjuncts.retain(|conjunct| !compares_with_itself(conjunct, survivor, &key));
        select.filter = tools::conjunction(conjuncts);
        if let Some(from) = &mut select.from {
            tools::retain_on(from, &|conjunct| !compares_with_itself(conjunct, survivor, &key));
        }
        for column in key {
            let column = ColumnRef { relation: survivor, column };
            if context.facts.column(column).nullable {
                let value = Box::new(Expr::Column(column));
                tools::add_conjunct(&mut select.filter, Expr::IsNull { expr: value, negated: true });
            }
        }
        places += 1;
    }
    places
}

fn pair(condition: &Expr) -> Option<(ColumnRef, ColumnRef)> {
    let Expr::Binary(BinaryOperator::Equal, left, right) = condition else { return None };
    Some((tools::as_column(left)?, tools::as_column(right)?))
}

fn compares_with_itself(condition: &Expr, relation: RelationId, key: &[Place]) -> bool {
    pair(condition).is_some_and(|(a, b)| a == b && a.relation == relation && key.contains(&a.column))
}

/// The relation to keep, the one to drop, and the key.
fn find(query: &Query, context: &RuleContext<'_>) -> Option<(RelationId, RelationId, Vec<Place>)> {
    let select = query.as_select()?;
    let from = select.from.as_ref()?;
    let relations: Vec<RelationId> = from.relations().iter().map(|relation| relation.id).collect();
    let conditions = sqlgauge_sql::derive::conjuncts(select);
    let pairs: Vec<_> = conditions.into_iter().filter_map(pair).collect();
    for &(a, b) in &pairs {
        let fits = a.relation != b.relation
            && relations.contains(&a.relation)
            && relations.contains(&b.relation)
            && context.facts.table_of(a.relation).is_some()
            && context.facts.table_of(a.relation) == context.facts.table_of(b.relation)
            && ![a, b].iter().any(|column| context.facts.is_null_extended(column.relation));
        if !fits {
            continue;
        }
        let order = (a.relation.min(b.relation), a.relation.max(b.relation));
        let may_go = |gone, survivor| tools::may_go(from, gone) && tools::may_stand_in(from, gone, survivor);
        let (survivor, dropped) = match (may_go(order.1, order.0), may_go(order.0, order.1)) {
            (true, _) => order,
            (false, true) => (order.1, order.0),
            (false, false) => continue,
        };
        let equated = |column: Place| {
            let (x, y) = (ColumnRef { relation: survivor, column }, ColumnRef { relation: dropped, column });
            pairs.contains(&(x, y)) || pairs.contains(&(y, x))
        };
        let identity = |column: Place| {
            context.facts.is_identity(&Expr::Column(ColumnRef { relation: survivor, column }))
        };
        let key = context
            .facts
            .unique_sets(survivor)
            .into_iter()
            .find(|set| set.iter().all(|c| equated(*c) && identity(*c)));
        if let Some(key) = key {
            return Some((survivor, dropped, key));
        }
    }
    None
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT a.name, b.age FROM t a JOIN t b ON a.id = b.id",
        "SELECT name, age FROM t",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age = 1 AND id IN (SELECT id FROM t WHERE name = 'x')",
        "SELECT name FROM t WHERE age = 1 AND name = 'x'",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT a.name, b.code FROM t a JOIN t b ON a.age = b.age",
        "SELECT name, code FROM t",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT a.name, v FROM u RIGHT JOIN t b ON u.t_id = b.id JOIN t a ON a.id = b.id",
        "SELECT name, v FROM t JOIN u ON u.t_id = t.id",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT a.name, b.age FROM t a LEFT JOIN t b ON a.id = b.id AND b.age > 1",
        "SELECT name, age FROM t WHERE age > 1",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT a.name, v FROM t a JOIN t b ON a.id = b.id LEFT JOIN u ON u.t_id = b.id",
        "SELECT name, v FROM t LEFT JOIN u ON u.t_id = t.id",
    )
    .sound(),
];
