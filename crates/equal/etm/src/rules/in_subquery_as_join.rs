//! # A subquery that finds at most one partner
//!
//! ## What it does
//! Turns `c2 IN (SELECT c1 FROM t1 WHERE d)` into a join of `t1` on `c1 = c2` with the condition `d`. In `etm@1` IN
//! has become EXISTS before (rule S8), and what is joined is any EXISTS whose tables have at most one row for each
//! row around it.
//!
//! ## Why it holds
//! The condition holds if a partner row exists. If there is never more than one, the join returns each row that has
//! it exactly once, which is the same.
//!
//! ## Needs
//! `c1` is a primary key and `c2` refers to it. In `etm@1` the foreign key is not needed; instead the equalities in
//! the subquery fix a UNIQUE column set of each of its tables, and the subquery does not group. Where repetition of
//! rows does not show (DISTINCT, a subquery of IN or EXISTS, an operand of UNION) nothing is needed.
//!
//! ## Example
//! ```sql
//! SELECT v FROM u WHERE t_id IN (SELECT id FROM t WHERE name = 'x')
//! SELECT v FROM t JOIN u ON t.id = u.t_id WHERE name = 'x'
//! ```
//!
//! ## Does not hold when
//! The column in the subquery is not unique: the join then repeats rows. Or EXISTS asks a set operation, a subquery
//! without FROM, or one with LIMIT 0. As published, a column of a composite
//! primary key passes for a key; and the script turns `=` with a subquery into a join as well if the subquery
//! compares a UNIQUE column.
//!
//! ## Source
//! Paper, Table 2, rule 13. Corrected: uniqueness instead of "is among the primary key".

use sqlgauge_sql::derive::{Closure, Dependencies, Facts};
use sqlgauge_sql::reach;
use sqlgauge_sql::tree::{BinaryOperator, ColumnRef, Expr, From, Query, RelationId, RelationSource, Select};

use crate::context::Position;
use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "13",
    name: "in-subquery-as-join",
    summary: "IN with a subquery as a join",
    profiles: Profiles::BOTH,
    stage: RuleStage::Query(Shape::FILTER, query),
    cases: CASES,
    source: include_str!("in_subquery_as_join.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    if context.is_sound() { corrected(query, context) } else { published(query, context) }
}

fn published(query: &mut Query, context: &RuleContext<'_>) -> usize {
    let Some(select) = query.as_select_mut() else { return 0 };
    if tools::single_relation(select).is_none() {
        return 0;
    }
    let Some(filter) = select.filter.take() else { return 0 };
    let Some((outer, inner, equality)) = partner(&filter) else {
        select.filter = Some(filter);
        return 0;
    };
    let fits = inner
        .outputs
        .first()
        .and_then(|output| tools::as_column(&output.expr))
        .filter(|key| context.refers_to(outer, *key) || composite_reference(outer, *key, context));
    let unique_condition = || match inner.filter.as_ref() {
        Some(Expr::Binary(BinaryOperator::Equal, left, right)) => [left, right]
            .into_iter()
            .any(|side| tools::as_column(side).is_some_and(|column| context.is_unique_as_published(column))),
        _ => false,
    };
    match fits {
        Some(key) if !equality || unique_condition() => {
            let mut inner = inner.clone();
            select.filter = inner.filter.take();
            select.from = inner.from.take().map(|from| tools::join_inner(select.from.take(), from));
            if let Some(From::Join(join)) = &mut select.from {
                join.on = Some(Expr::equal(Expr::Column(key), Expr::Column(outer)));
            }
            1
        }
        _ => {
            select.filter = Some(filter);
            0
        }
    }
}

/// The column outside, the SELECT inside, and whether `=` stands between them rather than IN.
fn partner(filter: &Expr) -> Option<(ColumnRef, &Select, bool)> {
    let (outer, query, equality) = match filter {
        Expr::InQuery { expr, query, negated: false } => (tools::as_column(expr)?, query, false),
        Expr::Binary(BinaryOperator::Equal, left, right) => match (left.as_ref(), right.as_ref()) {
            (Expr::Column(outer), Expr::Scalar(query)) | (Expr::Scalar(query), Expr::Column(outer)) => {
                (*outer, query, true)
            }
            _ => return None,
        },
        _ => return None,
    };
    let select = tools::plain_select(query)?;
    let fits =
        tools::single_relation(select).is_some() && select.outputs.len() == 1 && tools::is_flat(select);
    fits.then_some((outer, select, equality))
}

/// Whether the outer column refers to a column that is a part of the primary key.
fn composite_reference(outer: ColumnRef, key: ColumnRef, context: &RuleContext<'_>) -> bool {
    let (Some((table, column)), Some((target, part))) =
        (context.table_column(outer), context.table_column(key))
    else {
        return false;
    };
    let (Some(table), Some(parent)) = (context.schema().table(table), context.schema().table(target)) else {
        return false;
    };
    let (Some(column), Some(part)) = (column.position(), part.position()) else { return false };
    parent.primary_key.contains(&part)
        && table.foreign_keys.iter().any(|foreign| {
            foreign.columns == [column]
                && context.schema().resolve_foreign_key(foreign) == Some((target, vec![part]))
        })
}

fn corrected(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let nested = context.position == Position::Exists && query.limit.is_none();
    let unites = context.position == Position::DistinctOperand;
    let Some(select) = query.as_select_mut() else { return 0 };
    if !tools::conjuncts_of(select.filter.as_ref())
        .iter()
        .any(|e| matches!(e, Expr::Exists { negated: false, .. }))
    {
        return 0;
    }
    let whole = nested && tools::is_flat(select);
    let mut places = 0;
    let mut conjuncts = Vec::new();
    for conjunct in tools::take_conjuncts(&mut select.filter) {
        match conjunct {
            Expr::Exists { query: mut inner, negated: false } => {
                let moved = partners(&inner, whole, select.distinct || unites, &context.facts);
                if moved.is_empty() {
                    conjuncts.push(Expr::Exists { query: inner, negated: false });
                    continue;
                }
                places += 1;
                conjuncts.extend(pull_out(select, &mut inner, &moved));
                if inner.as_select().is_some_and(|inner| inner.from.is_some()) {
                    conjuncts.push(Expr::Exists { query: inner, negated: false });
                }
            }
            other => conjuncts.push(other),
        }
    }
    select.filter = tools::conjunction(conjuncts);
    places
}

/// The relations of the subquery of which there is at most one row for each row around it, or all of them. Where
/// repetition does not show, rule S22 moves what the conditions outside do not fix back in, so that only what these
/// will fix is moved.
fn partners(query: &Query, whole: bool, hidden: bool, facts: &Facts<'_>) -> Vec<RelationId> {
    let Some(select) = tools::plain_select(query) else { return Vec::new() };
    let Some(from) = &select.from else { return Vec::new() };
    if !tools::is_flat(select) || reads_around(from) {
        return Vec::new();
    }
    let all: Vec<RelationId> = from.relations().iter().map(|relation| relation.id).collect();
    let closure = Dependencies::of(select, facts).closure(&[]);
    if whole || closure.is_complete() {
        return all;
    }
    if !from.is_inner() {
        return Vec::new();
    }
    let mut moved: Vec<RelationId> = all.iter().copied().filter(|id| determines_row(&closure, *id)).collect();
    while hidden && !moved.is_empty() {
        let mut outside = select.clone();
        let mut conjuncts = tools::take_conjuncts(&mut outside.filter);
        let stays = |id: &RelationId| all.contains(id) && !moved.contains(id);
        conjuncts.retain(|e| !tools::columns_of(e).iter().any(|column| stays(&column.relation)));
        outside.filter = tools::conjunction(conjuncts);
        let closure = Dependencies::of(&outside, facts).closure(&[]);
        let before = moved.len();
        moved.retain(|id| determines_row(&closure, *id));
        if moved.len() == before {
            break;
        }
    }
    moved
}

fn determines_row(closure: &Closure, id: RelationId) -> bool {
    closure.determines(&Expr::Column(ColumnRef::rowid(id)))
}

/// Whether a condition of an outer join or a subquery in FROM reads a query around: beside what it reads SQLite lets
/// neither read it.
fn reads_around(from: &From) -> bool {
    let is_bound = !from.is_inner()
        || from.relations().iter().any(|relation| matches!(relation.source, RelationSource::Derived(_)));
    is_bound && reach::has_free_columns(from)
}

/// Moves relations from a subquery of EXISTS to the FROM around it, and gives the conditions that go with them.
fn pull_out(select: &mut Select, inner: &mut Query, moved: &[RelationId]) -> Vec<Expr> {
    let Some(inner_select) = inner.as_select_mut() else { return Vec::new() };
    let Some(from) = inner_select.from.take() else { return Vec::new() };
    let all = from.relations().len() == moved.len();
    // A condition of ON that reads the query around would stand beside what it reads, where SQLite does not look.
    if all && !reach::has_free_columns(&from) {
        select.from = Some(tools::join_inner(select.from.take(), from));
        return tools::take_conjuncts(&mut inner_select.filter);
    }
    let mut conjuncts = tools::take_conjuncts(&mut inner_select.filter);
    let mut operands = Vec::new();
    tools::take_inner(from, &mut operands, &mut conjuncts);
    let mut rest = Vec::new();
    for operand in operands {
        if operand.relations().iter().any(|relation| moved.contains(&relation.id)) {
            select.from = Some(tools::join_inner(select.from.take(), operand));
        } else {
            rest.push(operand);
        }
    }
    let staying: Vec<RelationId> =
        rest.iter().flat_map(From::relations).map(|relation| relation.id).collect();
    inner_select.from = tools::join_all(rest);
    let stays = |e: &Expr| tools::columns_of(e).iter().any(|column| staying.contains(&column.relation));
    let (inside, outside): (Vec<Expr>, Vec<Expr>) = conjuncts.into_iter().partition(stays);
    inner_select.filter = tools::conjunction(inside);
    outside
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT v FROM u WHERE t_id IN (SELECT id FROM t WHERE name = 'x')",
        "SELECT v FROM t JOIN u ON t.id = u.t_id WHERE name = 'x'",
    ),
    RuleCase::equal(
        SCHEMA,
        "SELECT v FROM u WHERE v > 3 AND t_id IN (SELECT id FROM t WHERE name = 'x')",
        "SELECT v FROM t JOIN u ON t.id = u.t_id WHERE name = 'x' AND v > 3",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT v FROM u WHERE EXISTS (SELECT * FROM t WHERE t.id = u.t_id AND name = 'x')",
        "SELECT v FROM t JOIN u ON t.id = u.t_id WHERE name = 'x'",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT DISTINCT name FROM t WHERE id IN (SELECT t_id FROM u WHERE v = 1)",
        "SELECT DISTINCT name FROM t JOIN u ON t.id = u.t_id WHERE v = 1",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE id IN (SELECT t_id FROM u WHERE v = 1)",
        "SELECT name FROM t JOIN u ON t.id = u.t_id WHERE v = 1",
    ),
    RuleCase::equal(
        "CREATE TABLE p (x INT, y INT, PRIMARY KEY (x, y)); CREATE TABLE c (b INT REFERENCES p(x))",
        "SELECT b FROM c WHERE b IN (SELECT x FROM p WHERE y > 0)",
        "SELECT b FROM p JOIN c ON p.x = c.b WHERE y > 0",
    )
    .paper(),
    RuleCase::differs(
        "CREATE TABLE p (x INT, y INT, PRIMARY KEY (x, y)); CREATE TABLE c (b INT)",
        "SELECT b FROM c WHERE b IN (SELECT x FROM p WHERE y > 0)",
        "SELECT b FROM p JOIN c ON p.x = c.b WHERE y > 0",
    )
    .sound()
    .witness("INSERT INTO p VALUES (1, 1), (1, 2); INSERT INTO c VALUES (1)"),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM t WHERE EXISTS (SELECT v FROM u WHERE v > 1 UNION SELECT v FROM u WHERE t_id = 1)",
        "SELECT name FROM t",
    )
    .sound(),
    RuleCase::differs(SCHEMA, "SELECT name FROM t WHERE EXISTS (SELECT 1 WHERE age > 1)", "SELECT name FROM t").sound(),
    RuleCase::differs(SCHEMA, "SELECT name FROM t WHERE EXISTS (SELECT 1 FROM u LIMIT 0)", "SELECT name FROM t").sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT v FROM u WHERE EXISTS (SELECT 1 FROM t JOIN t s ON t.id = s.id AND u.v < 3 WHERE t.id = u.must)",
        "SELECT v FROM u JOIN t ON t.id = u.must WHERE v < 3",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT DISTINCT code FROM t WHERE EXISTS (SELECT 1 FROM u WHERE EXISTS (SELECT 1 FROM t s WHERE s.id = u.must AND s.code = t.code))",
        "SELECT DISTINCT code FROM t WHERE EXISTS (SELECT 1 FROM u JOIN t s ON s.id = u.must WHERE s.code = t.code)",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT code FROM t WHERE EXISTS (SELECT 1 FROM (SELECT MAX(v) AS m FROM u WHERE u.must = t.id) q WHERE q.m = 1)",
        "SELECT code FROM t WHERE EXISTS (SELECT 1 FROM (SELECT MAX(v) AS m FROM u) q WHERE q.m = 1)",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'), (2, 'b', 'n', 1, 'x'); INSERT INTO u VALUES (1, 1, 1, 1), (2, 2, 2, 5)"),
];
