//! # Rows with a property of their partners
//!
//! ## What it does
//! Turns a join that groups by the key of some tables, returns columns of these alone, and asks HAVING of their
//! partners, into a filter: `a.k IN (SELECT b.f FROM b GROUP BY b.f HAVING …)`.
//!
//! ## Why it holds
//! There is one group for each row of the tables whose key is grouped by and that has a partner; the rows of the
//! group are its partners. The subquery makes the same groups, by the value that links them.
//!
//! ## Needs
//! Inner joins; the group keys and the rows of the kept tables fix each other; results and sort keys read only
//! these and hold no aggregate; the other tables are linked by one equality of columns whose equal values are identical
//! (no text meets a number, no 1 meets 1.0, texts compare byte by byte); HAVING reads only the other tables; no LIMIT.
//!
//! ## Example
//! ```sql
//! SELECT name FROM t JOIN u ON t.id = u.t_id GROUP BY t.id HAVING COUNT(*) > 1
//! SELECT name FROM t WHERE id IN (SELECT t_id FROM u GROUP BY t_id HAVING COUNT(*) > 1)
//! ```
//!
//! ## Does not hold when
//! The groups are not the rows of one side: grouping by `name` joins the partners of all rows of that name.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::derive::{Dependencies, conjuncts, has_aggregate, has_window};
use sqlgauge_sql::tree::{BinaryOperator, ColumnRef, Expr, From, Output, Query, RelationId, Select};

use crate::context::RuleContext;
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S25",
    name: "grouped-join-as-in",
    summary: "A join grouped by the key of one side, as IN",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::JOIN.and(Shape::GROUP), query),
    cases: CASES,
    source: include_str!("grouped_join_as_in.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    let Some(select) = query.as_select() else { return 0 };
    let plain =
        query.limit.is_none() && query.offset.is_none() && select.from.as_ref().is_some_and(From::is_inner);
    let sorted = query.order_by.iter().map(|term| &term.expr);
    let results: Vec<&Expr> = select.outputs.iter().map(|output| &output.expr).chain(sorted).collect();
    let reads_rows = |e: &&Expr| {
        matches!(e, Expr::Output(_))
            || !(has_aggregate(e) || has_window(e) || sqlgauge_sql::derive::has_subquery(e))
    };
    if !plain || !results.iter().all(reads_rows) {
        return 0;
    }
    let Some(parts) = parts(select, &results, context) else { return 0 };
    let Some(select) = query.as_select_mut() else { return 0 };
    rebuild(select, parts);
    1
}

/// How the SELECT falls into two: the relations that go into the subquery, and the columns that link them.
struct Parts {
    moved: Vec<RelationId>,
    outer: ColumnRef,
    inner: ColumnRef,
}

fn parts(select: &Select, results: &[&Expr], context: &RuleContext<'_>) -> Option<Parts> {
    let all: Vec<RelationId> = select.from.as_ref()?.relations().iter().map(|relation| relation.id).collect();
    let dependencies = Dependencies::of(select, &context.facts);
    let closure = dependencies.closure(&select.group_by);
    let row = |id: RelationId| Expr::Column(ColumnRef::rowid(id));
    let (rest, moved): (Vec<RelationId>, Vec<RelationId>) =
        all.iter().copied().partition(|id| closure.determines(&row(*id)));
    let reads = |e: &Expr, set: &[RelationId]| {
        tools::columns_of(e).iter().any(|column| set.contains(&column.relation))
    };
    if rest.is_empty() || moved.is_empty() || results.iter().any(|e| reads(e, &moved)) {
        return None;
    }
    if select
        .having
        .as_ref()
        .is_some_and(|having| reads(having, &rest) || sqlgauge_sql::derive::has_subquery(having))
    {
        return None;
    }
    let mut links = Vec::new();
    for condition in conjuncts(select) {
        if !(reads(condition, &rest) && reads(condition, &moved)) {
            continue;
        }
        let Expr::Binary(BinaryOperator::Equal, left, right) = condition else { return None };
        let (a, b) = (tools::as_column(left)?, tools::as_column(right)?);
        let facts = &context.facts;
        if !facts.equals_are_identical(left, right) {
            return None;
        }
        links.push(if rest.contains(&a.relation) { (a, b) } else { (b, a) });
    }
    let [(outer, inner)] = links.as_slice() else { return None };
    // Conversely the kept rows fix the keys, so that no row of theirs has two groups.
    let columns: Vec<Expr> = rest
        .iter()
        .flat_map(|id| {
            context
                .facts
                .unique_sets(*id)
                .into_iter()
                .flatten()
                .map(|column| ColumnRef { relation: *id, column })
        })
        .chain([*outer])
        .map(Expr::Column)
        .collect();
    let of_rows = dependencies.closure(&columns);
    let fixed = |key: &Expr| {
        of_rows.determines(key) || tools::columns_of(key).iter().all(|c| rest.contains(&c.relation))
    };
    select.group_by.iter().all(fixed).then_some(Parts { moved, outer: *outer, inner: *inner })
}

fn rebuild(select: &mut Select, parts: Parts) {
    let Parts { moved, outer, inner } = parts;
    let Some(from) = select.from.take() else { return };
    let mut conditions = tools::take_conjuncts(&mut select.filter);
    let mut operands = Vec::new();
    tools::take_inner(from, &mut operands, &mut conditions);
    let is_link = |e: &Expr| match e {
        Expr::Binary(BinaryOperator::Equal, left, right) => {
            let pair = (tools::as_column(left), tools::as_column(right));
            pair == (Some(outer), Some(inner)) || pair == (Some(inner), Some(outer))
        }
        _ => false,
    };
    conditions.retain(|condition| !is_link(condition));
    let (from, filter) = tools::take_part(&mut operands, &mut conditions, &moved);
    let having = select.having.take();
    let value = Expr::Column(inner);
    let group_by = if having.is_some() { vec![value.clone()] } else { Vec::new() };
    let subquery = Select { from, filter, group_by, having, ..Select::of(vec![Output::of(value)]) };
    let query = Box::new(Query::of_select(subquery));
    select.from = tools::join_all(operands);
    select.group_by.clear();
    select.filter = tools::conjunction(conditions);
    let test = Expr::InQuery { expr: Box::new(Expr::Column(outer)), query, negated: false };
    tools::add_conjunct(&mut select.filter, test);
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(SCHEMA, "SELECT name FROM t JOIN u ON t.id = u.t_id GROUP BY t.id HAVING COUNT(*) > 1", "SELECT name FROM t WHERE id IN (SELECT t_id FROM u GROUP BY t_id HAVING COUNT(*) > 1)").sound(),
    RuleCase::equal(SCHEMA, "SELECT name FROM t JOIN u ON t.id = u.t_id WHERE v > 1 AND age = 2 GROUP BY t.id", "SELECT name FROM t WHERE age = 2 AND EXISTS (SELECT 1 FROM u WHERE v > 1 AND u.t_id = t.id)").sound(),
    RuleCase::differs(SCHEMA, "SELECT name FROM t JOIN u ON t.id = u.t_id GROUP BY name HAVING COUNT(*) > 1", "SELECT name FROM t WHERE id IN (SELECT t_id FROM u GROUP BY t_id HAVING COUNT(*) > 1)").witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x'), (2, 'b', 'n', 1, 'x'); INSERT INTO u VALUES (1, 1, 1, 1), (2, 2, 2, 1)"),
    RuleCase::differs(SCHEMA, "SELECT name FROM t JOIN u ON t.id = u.t_id GROUP BY t.id HAVING COUNT(*) > 1", "SELECT name FROM t WHERE id IN (SELECT t_id FROM u GROUP BY t_id HAVING COUNT(*) > 2)"),
];
