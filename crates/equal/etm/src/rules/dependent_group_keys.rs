//! # Group keys that add nothing
//!
//! ## What it does
//! Drops a key of GROUP BY that the other keys fix.
//!
//! ## Why it holds
//! If rows that agree in the other keys agree in this one too, it splits no group.
//!
//! ## Needs
//! A UNIQUE and NOT NULL set of columns of the same table among the other keys, or equalities that lead there.
//! Where the order of the groups shows (LIMIT with ties), only keys that earlier keys fix.
//!
//! ## Example
//! ```sql
//! SELECT name, COUNT(*) FROM t GROUP BY id, name
//! SELECT name, COUNT(*) FROM t GROUP BY id
//! ```
//!
//! ## Does not hold when
//! The key column is UNIQUE but may be NULL: rows with NULL form one group unless the other key splits it.
//!
//! ## Source
//! Paper, Table 2, rule 4. Corrected: NOT NULL. The script leaves queries with ORDER BY alone; `etm@1` does not
//! need to.

use sqlgauge_sql::derive::Dependencies;
use sqlgauge_sql::tree::{Expr, Place, Query, Select};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "4",
    name: "dependent-group-keys",
    summary: "GROUP BY keys that follow from other keys",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::GROUP, query),
    cases: CASES,
    source: include_str!("dependent_group_keys.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    if !context.is_sound() && !query.order_by.is_empty() {
        return 0;
    }
    let Some(select) = query.as_select_mut() else { return 0 };
    if context.is_sound() { corrected(select, context) } else { published(select, context) }
}

fn published(select: &mut Select, context: &RuleContext<'_>) -> usize {
    let is_unique =
        |key: &Expr| tools::as_column(key).is_some_and(|column| context.is_unique_as_published(column));
    if select.group_by.len() < 2 {
        return 0;
    }
    let Some(place) = select.group_by.iter().position(is_unique) else { return 0 };
    let key = select.group_by.swap_remove(place);
    select.group_by = vec![key];
    1
}

fn corrected(select: &mut Select, context: &RuleContext<'_>) -> usize {
    if select.group_by.len() < 2 || context.groups_show() {
        return 0;
    }
    let dependencies = Dependencies::of(select, &context.facts);
    let mut keys = select.group_by.clone();
    let mut places = 0;
    // Of keys that fix each other the one with the smallest place in the schema stays, whatever the order.
    let mut order: Vec<usize> = (0..keys.len()).collect();
    {
        let rank = |key: &Expr| {
            tools::as_column(key)
                .map_or((1, None, Place::At(0)), |c| (0, context.facts.table_of(c.relation), c.column))
        };
        order.sort_by_key(|place| rank(&keys[*place]));
    }
    let mut dropped = Vec::new();
    for place in order.iter().rev().copied() {
        let others: Vec<Expr> = (0..keys.len())
            .filter(|other| *other != place && !dropped.contains(other))
            .map(|other| keys[other].clone())
            .collect();
        let repeated = others.contains(&keys[place]) && context.facts.is_identity(&keys[place]);
        if !others.is_empty() && (repeated || dependencies.closure(&others).determines(&keys[place])) {
            dropped.push(place);
            places += 1;
        }
    }
    let mut place = 0;
    keys.retain(|_| {
        place += 1;
        !dropped.contains(&(place - 1))
    });
    select.group_by = keys;
    places
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT name, COUNT(*) FROM t GROUP BY id, name", "SELECT name, COUNT(*) FROM t GROUP BY id"),
    RuleCase::equal(SCHEMA, "SELECT COUNT(*) FROM t GROUP BY age, code", "SELECT COUNT(*) FROM t GROUP BY code"),
    RuleCase::equal(SCHEMA, "SELECT t.name, COUNT(*) FROM t JOIN u ON t.id = u.must GROUP BY t.id, u.must, t.name ORDER BY COUNT(*) DESC", "SELECT t.name, COUNT(*) FROM t JOIN u ON t.id = u.must GROUP BY t.id ORDER BY COUNT(*) DESC").sound(),
    RuleCase::differs(SCHEMA, "SELECT age, COUNT(*) FROM t GROUP BY age, name", "SELECT age, COUNT(*) FROM t GROUP BY age"),
    RuleCase::equal("CREATE TABLE n (a INT UNIQUE, b INT)", "SELECT COUNT(*) FROM n GROUP BY a, b", "SELECT COUNT(*) FROM n GROUP BY a").paper(),
    RuleCase::differs("CREATE TABLE n (a INT UNIQUE, b INT)", "SELECT COUNT(*) FROM n GROUP BY a, b", "SELECT COUNT(*) FROM n GROUP BY a").sound().witness("INSERT INTO n VALUES (NULL, 1), (NULL, 2)"),
];
