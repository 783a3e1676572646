//! # The row with the smallest or greatest value
//!
//! ## What it does
//! Turns `WHERE c = (SELECT MAX(c) FROM t)` into `ORDER BY c DESC LIMIT 1`, and MIN into ascending order.
//!
//! ## Why it holds
//! Among rows with pairwise different values of `c`, none of them NULL, exactly one has the greatest value, and
//! both forms return it; without rows both return nothing.
//!
//! ## Needs
//! `c` is UNIQUE. In `etm@1` also: `c` is not NULL, the query reads one table, of which `c` is a column, and the
//! subquery has the same FROM and the same other conditions as the query around it, none of them about the row
//! outside.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t WHERE id = (SELECT MAX(id) FROM t)
//! SELECT name FROM t ORDER BY id DESC LIMIT 1
//! ```
//!
//! ## Does not hold when
//! As published the rule does not look at other conditions: `WHERE age = 1 AND id = (SELECT MAX(id) FROM t)`
//! returns nothing if the row with the greatest id has another age, while `WHERE age = 1 ORDER BY id DESC LIMIT 1`
//! returns a row. Nor does it ask for NOT NULL: if all values are NULL, the first form returns nothing and the
//! second a row. Nor may `c` belong to a query further out, whose rows are then filtered by it.
//!
//! ## Source
//! Paper, Table 2, rule 1. Corrected: NOT NULL, and the same conditions in both places.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{BinaryOperator, ColumnRef, Expr, OrderTerm, Query, Select};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "1",
    name: "extremum-by-subquery",
    summary: "The row with the greatest value by a subquery or by ORDER BY and LIMIT",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::FILTER, query),
    cases: CASES,
    source: include_str!("extremum_by_subquery.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    if query.limit.is_some() || query.offset.is_some() {
        return 0;
    }
    if context.is_sound() { corrected(query, context) } else { published(query, context) }
}

/// A comparison of a column with the least or greatest value of the same column of the same table.
fn extremum(expr: &Expr, context: &RuleContext<'_>) -> Option<(ColumnRef, bool, ColumnRef)> {
    let Expr::Binary(BinaryOperator::Equal, left, right) = expr else { return None };
    let (column, query) = match (left.as_ref(), right.as_ref()) {
        (Expr::Column(column), Expr::Scalar(query)) | (Expr::Scalar(query), Expr::Column(column)) => {
            (*column, query)
        }
        _ => return None,
    };
    let select = tools::plain_select(query)?;
    let relation = tools::single_relation(select)?;
    let [output] = select.outputs.as_slice() else { return None };
    let (function, Expr::Column(inner)) = tools::plain_aggregate(&output.expr)? else { return None };
    let descending = match function {
        Function::Max => true,
        Function::Min => false,
        _ => return None,
    };
    let same =
        inner.relation == relation.id && context.table_column(*inner)? == context.table_column(column)?;
    same.then_some((column, descending, *inner))
}

fn order(query: &mut Query, column: ColumnRef, descending: bool) {
    query.order_by = vec![OrderTerm { expr: Expr::Column(column), descending, nulls_first: None }];
    query.limit = Some(tools::one());
}

fn published(query: &mut Query, context: &RuleContext<'_>) -> usize {
    if !query.order_by.is_empty() {
        return 0;
    }
    let Some(select) = query.as_select_mut() else { return 0 };
    let mut conjuncts = tools::take_conjuncts(&mut select.filter);
    let place = conjuncts.iter().position(|conjunct| {
        extremum(conjunct, context).is_some_and(|(column, ..)| context.is_unique_as_published(column))
    });
    let key = place.and_then(|place| extremum(&conjuncts.remove(place), context));
    select.filter = tools::conjunction(conjuncts);
    let Some((column, descending, _)) = key else { return 0 };
    order(query, column, descending);
    1
}

fn corrected(query: &mut Query, context: &RuleContext<'_>) -> usize {
    let Some(select) = query.as_select() else { return 0 };
    let Some(relation) = tools::single_relation(select) else { return 0 };
    if !tools::is_flat(select) {
        return 0;
    }
    let conjuncts = tools::conjuncts_of(select.filter.as_ref());
    let key = conjuncts.iter().enumerate().find_map(|(place, conjunct)| {
        let (column, descending, inner) =
            extremum(conjunct, context).filter(|(column, ..)| column.relation == relation.id)?;
        let facts = context.facts.column(column);
        let unique = context.facts.unique_sets(column.relation).contains(&vec![column.column]);
        let identity = context.facts.is_identity(&Expr::Column(column));
        let fits = unique && !facts.nullable && identity && same_conditions(select, &conjuncts, place, inner);
        fits.then_some((place, column, descending))
    });
    let Some((place, column, descending)) = key else { return 0 };
    if let Some(select) = query.as_select_mut() {
        let mut conjuncts = tools::take_conjuncts(&mut select.filter);
        conjuncts.remove(place);
        select.filter = tools::conjunction(conjuncts);
        select.distinct = false;
    }
    order(query, column, descending);
    1
}

/// Whether the subquery of the conjunct at `place` filters by exactly the other conjuncts.
fn same_conditions(select: &Select, conjuncts: &[&Expr], place: usize, inner: ColumnRef) -> bool {
    let Expr::Binary(_, left, right) = conjuncts[place] else { return false };
    let ((Expr::Scalar(query), _) | (_, Expr::Scalar(query))) = (left.as_ref(), right.as_ref()) else {
        return false;
    };
    let (Some(inner_select), Some(outer)) = (query.as_select(), tools::single_relation(select)) else {
        return false;
    };
    // Conditions of the subquery that read the row outside are conditions on two rows.
    if !tools::columns_read(query, outer.id).is_empty() {
        return false;
    }
    let pairs = [(outer.id, inner.relation)];
    let mut theirs: Vec<Expr> = tools::conjuncts_of(inner_select.filter.as_ref())
        .into_iter()
        .map(|e| tools::renamed(e, &pairs))
        .collect();
    if theirs.len() + 1 != conjuncts.len()
        || !inner_select.group_by.is_empty()
        || inner_select.having.is_some()
    {
        return false;
    }
    conjuncts.iter().enumerate().filter(|(other, _)| *other != place).all(|(_, conjunct)| {
        let position = theirs.iter().position(|condition| tools::same_expr(condition, conjunct));
        position.map(|position| theirs.swap_remove(position)).is_some()
    })
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE id = (SELECT MAX(id) FROM t)",
        "SELECT name FROM t ORDER BY id DESC LIMIT 1",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE (SELECT MIN(code) FROM t) = code",
        "SELECT name FROM t ORDER BY code ASC LIMIT 1",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age = 1 AND id = (SELECT MAX(id) FROM t WHERE age = 1)",
        "SELECT name FROM t WHERE age = 1 ORDER BY id DESC LIMIT 1",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM t WHERE age = 1 AND id = (SELECT MAX(id) FROM t)",
        "SELECT name FROM t WHERE age = 1 ORDER BY id DESC LIMIT 1",
    )
    .paper(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age = 1 AND id = (SELECT MAX(id) FROM t)",
        "SELECT name FROM t WHERE age = 1 ORDER BY id DESC LIMIT 1",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'), (2, 'b', 'm', 2, 'x')"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE age = (SELECT MAX(age) FROM t)",
        "SELECT name FROM t ORDER BY age DESC LIMIT 1",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'), (2, 'b', 'm', 1, 'x')"),
    RuleCase::differs(
        "CREATE TABLE u (uid INT, v INT UNIQUE)",
        "SELECT uid FROM u WHERE v = (SELECT MAX(v) FROM u)",
        "SELECT uid FROM u ORDER BY v DESC LIMIT 1",
    )
    .sound()
    .witness("INSERT INTO u VALUES (1, NULL)"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE id = (SELECT MAX(id) FROM t)",
        "SELECT name FROM t ORDER BY id LIMIT 1",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT a.name FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE a.id = (SELECT MAX(id) FROM t))",
        "SELECT a.name FROM t a WHERE EXISTS (SELECT 1 FROM t b)",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT a.id FROM t a WHERE a.age = a.age AND a.id = (SELECT MAX(b.id) FROM t b WHERE b.age = a.age)",
        "SELECT a.id FROM t a WHERE a.age = a.age ORDER BY a.id DESC LIMIT 1",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT uid FROM u WHERE EXISTS (SELECT 1 FROM t b WHERE b.id = (SELECT MAX(id) FROM t) AND b.age = u.v)",
        "SELECT uid FROM u WHERE EXISTS (SELECT 1 FROM t b WHERE (SELECT MAX(id) FROM t) = b.id AND b.age = u.v)",
    )
    .sound(),
];
