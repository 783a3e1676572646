//! # Keys that are referred to
//!
//! ## What it does
//! Turns `SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE d AND u.t_id = t.id)` into `SELECT DISTINCT t_id
//! FROM u WHERE d AND t_id IS NOT NULL`, and `id IN (SELECT t_id FROM u GROUP BY t_id HAVING …)` into that
//! grouping, where `u.t_id` refers to `t.id`.
//!
//! ## Why it holds
//! Each reference that is not NULL is a key of the table, and each key stands there once; so the keys that are
//! referred to are the different references.
//!
//! ## Needs
//! A foreign key to a UNIQUE column, which SQLite checks as `=` compares; of the table nothing but this column is read, and it is a result; the only
//! condition is the one on the references; values of the two columns that compare equal are identical (no text meets a
//! number, no 1 meets 1.0, texts compare byte by byte).
//!
//! ## Example
//! ```sql
//! SELECT id FROM t WHERE id IN (SELECT t_id FROM u WHERE v = 1)
//! SELECT DISTINCT t_id FROM u WHERE v = 1 AND t_id IS NOT NULL
//! ```
//!
//! ## Does not hold when
//! The reference may be NULL and is not filtered: the second form then returns NULL. Or there is no foreign key:
//! the values need not be keys.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{BinaryOperator, ColumnRef, Expr, Query, Select};

use crate::context::{Position, RuleContext};
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::sensitive::is_settled_by_data;
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S28",
    name: "keys-that-are-referred-to",
    summary: "The keys of a table that another refers to, from the references",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::FILTER, query),
    cases: CASES,
    source: include_str!("keys_that_are_referred_to.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    if query.limit.is_some() || query.offset.is_some() || !query.ctes.is_empty() {
        return 0;
    }
    let Some(select) = query.as_select() else { return 0 };
    let Some(key) = only_column(query, select) else { return 0 };
    let Some(filter) = &select.filter else { return 0 };
    let Some((mut inner, reference)) = references(filter, key, context) else { return 0 };
    if context.facts.column(reference).nullable {
        let not_null = Expr::IsNull { expr: Box::new(Expr::Column(reference)), negated: true };
        tools::add_conjunct(&mut inner.filter, not_null);
    }
    for term in &mut query.order_by {
        tools::replace_column(&mut term.expr, key, &Expr::Column(reference));
    }
    let Some(select) = query.as_select_mut() else { return 0 };
    inner.outputs = std::mem::take(&mut select.outputs);
    for output in &mut inner.outputs {
        tools::replace_column(&mut output.expr, key, &Expr::Column(reference));
    }
    inner.distinct = inner.group_by.is_empty();
    *select = inner;
    1
}

/// The only column of the only table that is read, if it is a result.
fn only_column(query: &Query, select: &Select) -> Option<ColumnRef> {
    let relation = tools::single_relation(select)?;
    if !tools::is_flat(select) {
        return None;
    }
    let column = *tools::columns_read(query, relation.id).first()?;
    let key = ColumnRef { relation: relation.id, column };
    let alone = tools::columns_read(query, relation.id).into_iter().all(|read| read == column);
    (alone && select.outputs.iter().any(|output| output.expr == Expr::Column(key))).then_some(key)
}

/// The subquery of references, its link to the key taken out, and the referring column.
fn references(filter: &Expr, key: ColumnRef, context: &RuleContext<'_>) -> Option<(Select, ColumnRef)> {
    let fits = |reference: ColumnRef| {
        let (a, b) = (Expr::Column(reference), Expr::Column(key));
        let facts = &context.facts;
        context.refers_to(reference, key)
            && facts.unique_sets(key.relation).contains(&vec![key.column])
            && facts.equals_are_identical(&a, &b)
            && facts.compares_alike(&a, &b)
            && !facts.is_null_extended(reference.relation)
    };
    match filter {
        Expr::Exists { query, negated: false } => {
            let mut inner = tools::plain_select(query)?.clone();
            if !tools::is_flat(&inner) {
                return None;
            }
            let mut conjuncts = tools::take_conjuncts(&mut inner.filter);
            let place = conjuncts.iter().position(|e| link(e, key).is_some_and(&fits))?;
            let reference = link(&conjuncts.remove(place), key)?;
            let mut others = conjuncts.iter().flat_map(tools::columns_of);
            if others.any(|column| column == key) {
                return None;
            }
            inner.filter = tools::conjunction(conjuncts);
            Some((inner, reference))
        }
        Expr::InQuery { expr, query, negated: false } if tools::as_column(expr) == Some(key) => {
            let inner = tools::plain_select(query)?;
            let [output] = inner.outputs.as_slice() else { return None };
            let reference = tools::as_column(&output.expr).filter(|reference| fits(*reference))?;
            let grouped = inner.group_by == [output.expr.clone()]
                && tools::columns_read(query, key.relation).is_empty()
                && is_settled_by_data(query, Position::In, &context.facts);
            grouped.then(|| (inner.clone(), reference))
        }
        _ => None,
    }
}

/// What an equality compares the key with.
fn link(condition: &Expr, key: ColumnRef) -> Option<ColumnRef> {
    let Expr::Binary(BinaryOperator::Equal, left, right) = condition else { return None };
    let (a, b) = (tools::as_column(left)?, tools::as_column(right)?);
    match (a == key, b == key) {
        (true, false) => Some(b),
        (false, true) => Some(a),
        _ => None,
    }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT id FROM t WHERE id IN (SELECT t_id FROM u WHERE v = 1)",
        "SELECT DISTINCT t_id FROM u WHERE v = 1 AND t_id IS NOT NULL",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT id FROM t WHERE id IN (SELECT must FROM u GROUP BY must HAVING COUNT(*) > 2)",
        "SELECT must FROM u GROUP BY must HAVING COUNT(*) > 2",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT id FROM t WHERE id IN (SELECT t_id FROM u WHERE v = 1)",
        "SELECT DISTINCT t_id FROM u WHERE v = 1",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'); INSERT INTO u VALUES (1, NULL, 1, 1)"),
    RuleCase::differs(
        SCHEMA,
        "SELECT id FROM t WHERE id IN (SELECT must FROM u WHERE v > t.id GROUP BY must)",
        "SELECT must FROM u WHERE v > 1 GROUP BY must",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT id FROM t WHERE id IN (SELECT v FROM u)",
        "SELECT DISTINCT v FROM u WHERE v IS NOT NULL",
    ),
    RuleCase::differs(
        "CREATE TABLE p (k TEXT PRIMARY KEY NOT NULL); CREATE TABLE c (b REFERENCES p (k))",
        "SELECT k FROM p WHERE k IN (SELECT b FROM c GROUP BY b HAVING COUNT(*) > 0)",
        "SELECT b FROM c GROUP BY b HAVING COUNT(*) > 0",
    )
    .witness("INSERT INTO p VALUES ('0'); INSERT INTO c VALUES (0)"),
];
