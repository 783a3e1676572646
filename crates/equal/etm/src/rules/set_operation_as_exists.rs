//! # INTERSECT and EXCEPT of different queries
//!
//! ## What it does
//! Turns `SELECT x FROM a INTERSECT SELECT y FROM b` into `SELECT DISTINCT x FROM a WHERE EXISTS (SELECT 1 FROM b
//! WHERE y = x)`, and EXCEPT into NOT EXISTS.
//!
//! ## Why it holds
//! A row is in the intersection if it is on both sides, each once. INTERSECT and EXCEPT take NULL for equal to
//! NULL, `=` does not; so the columns must not be NULL. If both sides return the same columns of one table, a key
//! of that table among them decides whether two rows are equal, and the others follow.
//!
//! ## Needs
//! Both sides only filter and join. Values of compared columns that compare equal are identical (no text meets a
//! number, no 1 meets 1.0, texts compare byte by byte). For INTERSECT one of each pair of columns is not NULL, for EXCEPT the left one; or a NOT NULL key of a
//! table whose columns are all that both sides return.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE age = 3 INTERSECT SELECT born FROM t
//! SELECT DISTINCT name FROM t WHERE age = 3 AND EXISTS (SELECT 1 FROM t AS s WHERE s.born = t.name)
//! ```
//!
//! ## Does not hold when
//! Both columns may be NULL: INTERSECT returns NULL and EXISTS does not find it.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{Body, ColumnRef, Expr, Output, Query, Select, SetOperator};

use crate::context::Position;
use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S19",
    name: "set-operation-as-exists",
    summary: "INTERSECT and EXCEPT as EXISTS and NOT EXISTS",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::SET_OPERATION, query),
    cases: CASES,
    source: include_str!("set_operation_as_exists.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Body::SetOperation { operator, all: false, left, right } = &query.body else { return 0 };
    let (Body::Select(left), Body::Select(right)) = (left.as_ref(), right.as_ref()) else { return 0 };
    let negated = match operator {
        // Rule S26 takes it apart.
        SetOperator::Intersect if context.position == Position::In => return 0,
        SetOperator::Intersect => false,
        SetOperator::Except => true,
        SetOperator::Union => return 0,
    };
    if !tools::is_flat(left) || !tools::is_flat(right) || left.from.is_none() || right.from.is_none() {
        return 0;
    }
    let Some(places) = compared(left, right, negated, context) else { return 0 };
    let (mut select, mut inner) = (left.as_ref().clone(), right.as_ref().clone());
    for place in places {
        let (x, y) = (select.outputs[place].expr.clone(), inner.outputs[place].expr.clone());
        tools::add_conjunct(&mut inner.filter, Expr::equal(y, x));
    }
    inner.outputs = vec![Output::of(tools::one())];
    inner.distinct = false;
    let exists = Expr::Exists { query: Box::new(Query::of_select(inner)), negated };
    tools::add_conjunct(&mut select.filter, exists);
    select.distinct = true;
    query.body = Body::Select(Box::new(select));
    1
}

/// The places of the result columns that must be compared; `None` if comparing them is not the same.
fn compared(left: &Select, right: &Select, except: bool, context: &RuleContext<'_>) -> Option<Vec<usize>> {
    if let Some(places) = key_places(left, right, context) {
        return Some(places);
    }
    let facts = &context.facts;
    for (x, y) in left.outputs.iter().zip(&right.outputs) {
        let (x, y) = (&x.expr, &y.expr);
        let stored = facts.equals_are_identical(x, y) && facts.is_identity(x);
        let x_null = facts.output_may_be_null(left, x);
        let null = x_null && (except || facts.output_may_be_null(right, y));
        if !stored || null || !matches!((x, y), (Expr::Column(_), Expr::Column(_))) {
            return None;
        }
    }
    Some((0..left.outputs.len()).collect())
}

/// Where both sides return the same columns of one instance of the same table: the places of a key of it.
fn key_places(left: &Select, right: &Select, context: &RuleContext<'_>) -> Option<Vec<usize>> {
    let columns = |select: &Select| -> Option<Vec<ColumnRef>> {
        let all: Option<Vec<ColumnRef>> =
            select.outputs.iter().map(|output| tools::as_column(&output.expr)).collect();
        all.filter(|all| all.iter().all(|column| column.relation == all[0].relation))
    };
    let (ours, theirs) = (columns(left)?, columns(right)?);
    let (left_relation, right_relation) = (ours.first()?.relation, theirs.first()?.relation);
    let same = context.facts.table_of(left_relation)? == context.facts.table_of(right_relation)?
        && ours.iter().zip(&theirs).all(|(a, b)| a.column == b.column)
        && !context.facts.is_null_extended(left_relation)
        && !context.facts.is_null_extended(right_relation);
    if !same {
        return None;
    }
    context.facts.unique_sets(left_relation).into_iter().find_map(|set| {
        set.iter()
            .map(|&column| {
                let key = Expr::Column(ColumnRef { relation: left_relation, column });
                let fits = !context.facts.is_nullable(&key) && context.facts.is_identity(&key);
                ours.iter().position(|output| output.column == column).filter(|_| fits)
            })
            .collect()
    })
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT born FROM t WHERE age = 3 INTERSECT SELECT name FROM t",
        "SELECT DISTINCT born FROM t WHERE age = 3 AND EXISTS (SELECT 1 FROM t AS s WHERE s.name = t.born)",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT id, name FROM t EXCEPT SELECT t.id, t.name FROM t JOIN u ON t.id = u.t_id",
        "SELECT id, name FROM t WHERE id NOT IN (SELECT t_id FROM u WHERE t_id IS NOT NULL)",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t INTERSECT SELECT name FROM t WHERE age = 3",
        "SELECT DISTINCT name FROM t WHERE EXISTS (SELECT 1 FROM t AS s WHERE s.age = 3 AND s.name = t.name)",
    )
    .witness("INSERT INTO t VALUES (1, 'a', NULL, 3, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t EXCEPT SELECT t.name FROM t JOIN u ON t.id = u.t_id",
        "SELECT name FROM t WHERE id NOT IN (SELECT t_id FROM u WHERE t_id IS NOT NULL)",
    ),
];
