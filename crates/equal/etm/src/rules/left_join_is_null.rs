//! # Rows without a partner
//!
//! ## What it does
//! Turns `t1 LEFT JOIN t2 ON t1.c1 = t2.c2 WHERE t2.x IS NULL` into `t1.c1 NOT IN (SELECT c2 FROM t2)`, in `etm@1`
//! into NOT EXISTS with the condition of ON (to which rule S9 brings NOT IN where NULLs allow it).
//!
//! ## Why it holds
//! LEFT JOIN fills the columns of `t2` with NULL exactly in the rows without a partner, and each of those comes
//! once. If the tested column is never NULL in a row of `t2` that is a partner, it is NULL only there.
//!
//! ## Needs
//! In `etm@1`: the tested column is NOT NULL, or ON compares it (a comparison with NULL is never true); and nothing
//! else of `t2` is read. As NOT IN also: neither `c1` nor `c2` is NULL.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t LEFT JOIN u ON t.id = u.must WHERE uid IS NULL
//! SELECT name FROM t WHERE id NOT IN (SELECT must FROM u)
//! ```
//!
//! ## Does not hold when
//! The subquery of NOT IN returns a NULL: NOT IN is then never true. The tested column may be NULL in a partner. Or
//! `c1` is NULL: LEFT JOIN keeps the row and NOT IN drops it. As published none of these is looked at.
//!
//! ## Source
//! Paper, Table 3, rule 25. Corrected: NULLs.

use sqlgauge_sql::derive::rejects_null;
use sqlgauge_sql::tree::{
    BinaryOperator, ColumnRef, Expr, From, JoinKind, Output, Place, Query, Relation, Select,
};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "25",
    name: "left-join-is-null",
    summary: "Rows without a partner by LEFT JOIN or by NOT IN",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::JOIN.and(Shape::FILTER), query),
    cases: CASES,
    source: include_str!("left_join_is_null.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let rewrite = if context.is_sound() { corrected(query, context) } else { published(query) };
    usize::from(rewrite.is_some())
}

fn subquery(relation: Relation, filter: Option<Expr>, output: Expr) -> Box<Query> {
    let outputs = vec![Output::of(output)];
    let from = Some(From::Relation(relation));
    let select = Select { from, filter, ..Select::of(outputs) };
    Box::new(Query::of_select(select))
}

fn published(query: &mut Query) -> Option<()> {
    let select = query.as_select_mut()?;
    let Some(Expr::IsNull { expr: tested, negated: false }) = &select.filter else { return None };
    let tested = tools::as_column(tested)?;
    let Some(From::Join(join)) = &select.from else { return None };
    let (JoinKind::Left, From::Relation(left), From::Relation(right)) = (join.kind, &join.left, &join.right)
    else {
        return None;
    };
    let Some(Expr::Binary(BinaryOperator::Equal, a, b)) = &join.on else { return None };
    let (a, b) = (tools::as_column(a)?, tools::as_column(b)?);
    let (outer, inner) = if a.relation == left.id { (a, b) } else { (b, a) };
    if tested.relation != right.id || inner.relation != right.id || outer.relation != left.id {
        return None;
    }
    let (left, right) = (left.clone(), right.clone());
    let query = subquery(right, None, Expr::Column(inner));
    select.filter = Some(Expr::InQuery { expr: Box::new(Expr::Column(outer)), query, negated: true });
    select.from = Some(From::Relation(left));
    Some(())
}

/// The relation on the right of a LEFT JOIN, with its condition, if it is the outermost join.
fn last_left_join(from: &From) -> Option<(&Relation, &Expr)> {
    let From::Join(join) = from else { return None };
    match (join.kind, &join.right, &join.on) {
        (JoinKind::Left, From::Relation(right), Some(on)) => Some((right, on)),
        _ => None,
    }
}

fn corrected(query: &mut Query, context: &RuleContext<'_>) -> Option<()> {
    let select = query.as_select()?;
    let (right, on) = last_left_join(select.from.as_ref()?)?;
    let tests_null = |e: &Expr| match e {
        Expr::IsNull { expr, negated: false } => {
            tools::as_column(expr).filter(|column| column.relation == right.id)
        }
        _ => None,
    };
    let conjuncts = tools::conjuncts_of(select.filter.as_ref());
    let (place, tested) =
        conjuncts.iter().enumerate().find_map(|(place, e)| Some((place, tests_null(e)?)))?;
    if !is_null_only_without_partner(tested, on, context) {
        return None;
    }
    // One read is the test itself; the others must be in ON.
    let in_on = tools::columns_of(on).iter().filter(|column| column.relation == right.id).count();
    if tools::columns_read(query, right.id).len() != in_on + 1 {
        return None;
    }
    let select = query.as_select_mut()?;
    let Some(From::Join(join)) = select.from.take() else { return None };
    let join = *join;
    let From::Relation(right) = join.right else { return None };
    select.from = Some(join.left);
    let mut conjuncts = tools::take_conjuncts(&mut select.filter);
    conjuncts[place] = Expr::Exists { query: subquery(right, join.on, tools::one()), negated: true };
    select.filter = tools::conjunction(conjuncts);
    Some(())
}

fn is_null_only_without_partner(tested: ColumnRef, on: &Expr, context: &RuleContext<'_>) -> bool {
    let declared = context.table_column(tested).is_some_and(|(table, column)| {
        let table = context.schema().table(table);
        column == Place::Rowid
            || table.and_then(|table| table.at(column)).is_some_and(|column| column.not_null)
    });
    declared || tools::conjuncts_of(Some(on)).into_iter().any(|conjunct| rejects_null(conjunct, tested))
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT name FROM t LEFT JOIN u ON t.id = u.must WHERE uid IS NULL", "SELECT name FROM t WHERE id NOT IN (SELECT must FROM u)"),
    RuleCase::equal(SCHEMA, "SELECT name FROM t LEFT JOIN u ON t.id = u.t_id WHERE u.t_id IS NULL", "SELECT name FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.t_id = t.id)").sound(),
    RuleCase::equal(SCHEMA, "SELECT name FROM t LEFT JOIN u ON t.id = u.t_id AND v = 3 WHERE uid IS NULL AND age > 3", "SELECT name FROM t WHERE age > 3 AND NOT EXISTS (SELECT 1 FROM u WHERE v = 3 AND u.t_id = t.id)").sound(),
    RuleCase::equal(SCHEMA, "SELECT name FROM t LEFT JOIN u ON t.id = u.t_id WHERE uid IS NULL", "SELECT name FROM t WHERE id NOT IN (SELECT t_id FROM u)").paper(),
    RuleCase::differs(SCHEMA, "SELECT name FROM t LEFT JOIN u ON t.id = u.t_id WHERE uid IS NULL", "SELECT name FROM t WHERE id NOT IN (SELECT t_id FROM u)").sound().witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'), (2, 'b', 'm', 1, 'x'); INSERT INTO u VALUES (1, NULL, 1, 1)"),
    RuleCase::differs(SCHEMA, "SELECT name FROM t LEFT JOIN u ON t.id = u.must WHERE v IS NULL", "SELECT name FROM t WHERE id NOT IN (SELECT must FROM u)").sound().witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'); INSERT INTO u VALUES (1, NULL, 1, NULL)"),
    RuleCase::differs(SCHEMA, "SELECT name FROM t LEFT JOIN u ON t.id = u.must WHERE uid IS NOT NULL", "SELECT name FROM t WHERE id NOT IN (SELECT must FROM u)"),
];
