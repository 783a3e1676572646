//! # Subqueries in FROM
//!
//! ## What it does
//! Puts the tables and conditions of a subquery in FROM into the query around it; turns a filter over a grouping
//! subquery into HAVING; drops a query around another that only passes its columns on.
//!
//! ## Why it holds
//! A subquery that only filters and joins is a filtered product, and so is the query around it. A filter over the
//! rows of a grouping is what HAVING is.
//!
//! ## Needs
//! The subquery has no DISTINCT, LIMIT or set operation and is not filled with NULL by an outer join; its result
//! expressions hold no subquery. For HAVING: the query around reads nothing else and does not group, and the
//! subquery shows no single row of a group. A LIMIT is kept only where a query may have one.
//!
//! ## Example
//! ```sql
//! SELECT name FROM (SELECT name, age FROM t WHERE age > 3) AS q WHERE q.age < 5
//! SELECT name FROM t WHERE age > 3 AND age < 5
//! ```
//!
//! ## Does not hold when
//! The subquery has a LIMIT or DISTINCT: the filter around it comes after that. Or LIMIT around a grouping subquery
//! cuts through equal sort keys: SQLite makes the groups in another order if ORDER BY stands in the same query. Or
//! the subquery returns a bare column beside MIN or MAX, which choose its row even where their value is not used.
//!
//! ## Source
//! Ours.

use sqlgauge_sql::tree::{
    ColumnRef, Expr, From, JoinKind, Output, Query, RelationId, RelationSource, Select,
};

use crate::beside::may_stand_for;
use crate::context::{Position, RuleContext};
use crate::profile::Profiles;
use crate::rule::{Rule, RuleCase, RuleStage, SCHEMA, Shape};
use crate::tools;

pub(super) static RULE: Rule = Rule {
    id: "S14",
    name: "subquery-in-from",
    summary: "A subquery in FROM that only filters, joins or wraps",
    profiles: Profiles::SOUND,
    stage: RuleStage::Query(Shape::DERIVED, query),
    cases: CASES,
    source: include_str!("subquery_in_from.rs"),
};

fn query(query: &mut Query, context: &mut RuleContext<'_>) -> usize {
    // SQLite sorts groups in the direction of an ORDER BY of the same query, so the order of groups may change.
    if !context.groups_show() && (unwrap(query, context) || over_groups(query, context)) {
        return 1;
    }
    let mut places = 0;
    while merge(query, context) {
        places += 1;
    }
    places
}

/// `SELECT c1, c2 FROM (q)` where `c1, c2` are the columns of `q`, each once.
struct Wrapper<'q> {
    query: &'q Query,
    id: RelationId,
    inner: &'q Query,
    inner_select: &'q Select,
    /// Which column of `q` each result is.
    columns: Vec<usize>,
}

impl<'q> Wrapper<'q> {
    /// The query as a wrapper, if it is one.
    fn of(query: &'q Query) -> Option<Self> {
        let select = query.as_select()?;
        let relation = tools::single_relation(select)?;
        let RelationSource::Derived(inner) = &relation.source else { return None };
        let inner_select = inner.as_select()?;
        let column = |output: &Output| {
            let column = tools::as_column(&output.expr).filter(|column| column.relation == relation.id)?;
            Some(column.column.position()? as usize)
        };
        let columns: Vec<usize> = select.outputs.iter().map(column).collect::<Option<_>>()?;
        let mut sorted = columns.clone();
        sorted.sort_unstable();
        let only_passes_on =
            !select.distinct && select.filter.is_none() && tools::is_flat(select) && query.ctes.is_empty();
        let passes_all_on = sorted.into_iter().eq(0..inner_select.outputs.len());
        (only_passes_on && passes_all_on && inner.ctes.is_empty()).then_some(Self {
            query,
            id: relation.id,
            inner,
            inner_select,
            columns,
        })
    }

    /// Whether the sort would get a copy of a subquery, in which the relations are the same as in the results.
    fn copies_subquery(&self) -> bool {
        let order = self.query.order_by.iter().flat_map(|term| tools::columns_of(&term.expr));
        let mut read = order.filter(|column| column.relation == self.id).filter_map(|c| c.column.position());
        let outputs = &self.inner_select.outputs;
        read.any(|column| {
            outputs
                .get(column as usize)
                .is_some_and(|output| sqlgauge_sql::derive::has_subquery(&output.expr))
        })
    }

    fn is_limited(&self) -> bool {
        self.inner.limit.is_some() || self.inner.offset.is_some()
    }

    fn orders(&self) -> bool {
        !self.query.order_by.is_empty() || self.query.limit.is_some() || self.query.offset.is_some()
    }

    /// The order of a limited subquery is not promised to the statement around it.
    fn keeps_order(&self, position: Position) -> bool {
        let is_one_row = self.inner.limit.as_ref().is_some_and(|limit| tools::as_integer(limit) == Some(1));
        !self.is_limited() || (!self.orders() && (is_one_row || position != Position::Top))
    }

    /// An operand of a set operation has no LIMIT of its own.
    fn may_have_limit(&self, position: Position) -> bool {
        !self.is_limited() || !matches!(position, Position::Operand | Position::DistinctOperand)
    }
}

fn unwrap(query: &mut Query, context: &RuleContext<'_>) -> bool {
    let Some(wrapper) = Wrapper::of(query) else { return false };
    if !wrapper.keeps_order(context.position)
        || !wrapper.may_have_limit(context.position)
        || wrapper.copies_subquery()
        || reads_aggregate_inside(query, wrapper.id, &wrapper.inner_select.outputs)
    {
        return false;
    }
    let limited = wrapper.is_limited();
    let Wrapper { id, inner, columns, .. } = wrapper;
    let mut inner = inner.clone();
    let Some(mut select) = tools::take_select(&mut inner) else { return false };
    let outputs = select.outputs.clone();
    select.outputs = columns.iter().map(|column| outputs[*column].clone()).collect();
    if limited {
        query.order_by = inner.order_by;
        for term in &mut query.order_by {
            if let Expr::Output(n) = &mut term.expr {
                let place = columns.iter().position(|column| *column == *n as usize);
                *n = place.and_then(|place| u32::try_from(place).ok()).unwrap_or(*n);
            }
        }
        query.limit = inner.limit;
        query.offset = inner.offset;
    } else {
        for term in &mut query.order_by {
            for (column, output) in (0..).zip(&outputs) {
                tools::replace_column(&mut term.expr, ColumnRef::at(id, column), &output.expr);
            }
        }
    }
    query.body = sqlgauge_sql::tree::Body::Select(Box::new(select));
    true
}

/// A filter and projection over the groups of a subquery.
fn over_groups(query: &mut Query, context: &RuleContext<'_>) -> bool {
    let Some(select) = query.as_select() else { return false };
    let Some(relation) = tools::single_relation(select) else { return false };
    let RelationSource::Derived(inner) = &relation.source else { return false };
    let Some(inner_select) = tools::plain_select(inner) else { return false };
    let fits = !select.distinct
        && tools::is_flat(select)
        && !inner_select.group_by.is_empty()
        && !inner_select.distinct
        && inner_select.outputs.iter().all(|output| may_be_copied(&output.expr))
        && !reads_aggregate_inside(query, relation.id, &inner_select.outputs)
        && may_stand_for(query, relation.id, &inner_select.outputs, &context.facts);
    if !fits {
        return false;
    }
    let (id, mut inner_select) = (relation.id, inner_select.clone());
    let outputs = std::mem::take(&mut inner_select.outputs);
    substitute(query, id, &outputs);
    let Some(select) = query.as_select_mut() else { return false };
    inner_select.outputs = std::mem::take(&mut select.outputs);
    if let Some(filter) = select.filter.take() {
        tools::add_conjunct(&mut inner_select.having, filter);
    }
    *select = inner_select;
    true
}

/// Whether a subquery of the query reads an output that aggregates: written there, the aggregate would be one over
/// the rows of that subquery.
fn reads_aggregate_inside(query: &Query, id: RelationId, outputs: &[Output]) -> bool {
    let aggregates: Vec<ColumnRef> = (0..)
        .zip(outputs)
        .filter(|(_, output)| sqlgauge_sql::derive::has_aggregate(&output.expr))
        .map(|(column, _)| ColumnRef::at(id, column))
        .collect();
    !aggregates.is_empty()
        && tools::own_exprs(query).into_iter().any(|expr| {
            let mut direct = Vec::new();
            sqlgauge_sql::derive::collect_columns(expr, &mut direct);
            let all = tools::columns_of(expr);
            aggregates.iter().any(|column| {
                let count = |list: &[ColumnRef]| list.iter().filter(|other| *other == column).count();
                count(&all) > count(&direct)
            })
        })
}

fn may_be_copied(expr: &Expr) -> bool {
    !sqlgauge_sql::derive::has_subquery(expr)
        && !sqlgauge_sql::derive::has_window(expr)
        && tools::is_deterministic(expr)
}

fn substitute(query: &mut Query, id: RelationId, outputs: &[Output]) {
    for (column, output) in (0..).zip(outputs) {
        tools::replace_column(query, ColumnRef::at(id, column), &output.expr);
    }
}

fn merge(query: &mut Query, context: &RuleContext<'_>) -> bool {
    let Some(select) = query.as_select() else { return false };
    let Some(from) = &select.from else { return false };
    let stands = |id, select: &Select| may_stand_for(query, id, &select.outputs, &context.facts);
    let Some(id) = mergeable(from, &stands) else { return false };
    let Some(select) = query.as_select_mut() else { return false };
    let Some(from) = &mut select.from else { return false };
    let Some(inner) = replace(from, id) else { return false };
    // Its conditions come first, as where SQLite does it.
    let around = std::mem::replace(&mut select.filter, inner.filter);
    if let Some(around) = around {
        tools::add_conjunct(&mut select.filter, around);
    }
    substitute(query, id, &inner.outputs);
    true
}

/// A subquery in the inner part of a FROM clause that only filters and joins.
fn mergeable(from: &From, stands: &dyn Fn(RelationId, &Select) -> bool) -> Option<RelationId> {
    match from {
        From::Relation(relation) => {
            let RelationSource::Derived(query) = &relation.source else { return None };
            let select = tools::plain_select(query)?;
            let fits = tools::is_flat(select)
                && !select.distinct
                && select.from.is_some()
                && select.outputs.iter().all(|output| may_be_copied(&output.expr))
                && stands(relation.id, select);
            fits.then_some(relation.id)
        }
        From::Join(join) => match join.kind {
            JoinKind::Inner | JoinKind::Cross => {
                mergeable(&join.left, stands).or_else(|| mergeable(&join.right, stands))
            }
            JoinKind::Left => mergeable(&join.left, stands),
            JoinKind::Right => mergeable(&join.right, stands),
            JoinKind::Full => None,
        },
    }
}

/// Puts the FROM of the subquery in its place and gives the rest of it.
fn replace(from: &mut From, id: RelationId) -> Option<Select> {
    match from {
        From::Relation(relation) if relation.id == id => {
            let RelationSource::Derived(query) = &mut relation.source else { return None };
            let mut inner = tools::take_select(query)?;
            *from = inner.from.take()?;
            Some(inner)
        }
        From::Relation(_) => None,
        From::Join(join) => match replace(&mut join.left, id) {
            Some(select) => Some(select),
            None => replace(&mut join.right, id),
        },
    }
}

const CASES: &[RuleCase] = &[
    RuleCase::equal(
        SCHEMA,
        "SELECT name FROM (SELECT name, age FROM t WHERE age > 3) AS q WHERE q.age < 5",
        "SELECT name FROM t WHERE age > 3 AND age < 5",
    )
    .sound(),
    // A column that holds 1 is compared with; the word TRUE would ask whether y is true.
    RuleCase::differs(
        "CREATE TABLE w (y INT)",
        "SELECT y IS b FROM (SELECT y, TRUE AS b FROM w) AS q",
        "SELECT y IS TRUE FROM w",
    )
    .sound()
    .witness("INSERT INTO w VALUES (2)"),
    RuleCase::equal(
        SCHEMA,
        "SELECT a FROM (SELECT age AS a, COUNT(*) AS n FROM t GROUP BY age) WHERE n > 3",
        "SELECT age FROM t GROUP BY age HAVING COUNT(*) > 3",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT n, a FROM (SELECT age AS a, COUNT(*) AS n FROM t GROUP BY age)",
        "SELECT COUNT(*), age FROM t GROUP BY age",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "SELECT q.name, v FROM (SELECT id, name FROM t WHERE age = 1) q JOIN u ON q.id = u.t_id",
        "SELECT name, v FROM t JOIN u ON t.id = t_id WHERE age = 1",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "SELECT name FROM (SELECT name, id FROM t ORDER BY id LIMIT 1) AS q WHERE q.id > 1",
        "SELECT name FROM t WHERE id > 1 ORDER BY id LIMIT 1",
    ),
    RuleCase::differs(
        SCHEMA,
        "SELECT (SELECT COUNT(*) + q.n FROM u) FROM (SELECT COUNT(*) AS n FROM t GROUP BY name) q",
        "SELECT (SELECT COUNT(*) + COUNT(*) FROM u) FROM t GROUP BY name",
    )
    .witness("INSERT INTO t VALUES (1, 'a', 'n', 1, 'x')"),
    RuleCase::differs(SCHEMA, "SELECT age FROM (SELECT DISTINCT age, name FROM t)", "SELECT DISTINCT age FROM t"),
    // SQLite reads the first row by the index on uid, as nobody reads v, and the second by the primary key.
    RuleCase::differs(
        "CREATE TABLE k (uid INT UNIQUE, w INT, v INT, PRIMARY KEY (v, uid)); CREATE TABLE u (must INT);",
        "SELECT b.c FROM u RIGHT JOIN (SELECT a.uid AS uid, a.uid AS c FROM (SELECT uid, v FROM k LIMIT 1) a) b",
        "SELECT a.uid FROM u RIGHT JOIN (SELECT uid, v FROM k LIMIT 1) a",
    )
    .witness("INSERT INTO k VALUES (0, 7, 2), (3, 7, 1); INSERT INTO u VALUES (1)"),
    RuleCase::differs(
        SCHEMA,
        "SELECT q.n FROM (SELECT name AS n, MAX(id) AS m FROM t GROUP BY age) q",
        "SELECT name FROM t GROUP BY age",
    )
    .witness("INSERT INTO t VALUES (2, 'a', 'n', 1, 'x'), (1, 'b', 'm', 1, 'x'), (3, 'c', 'o', 1, 'x'), (0, 'd', 'p', 1, 'x')"),
    RuleCase::equal(
        SCHEMA,
        "SELECT q.n FROM (SELECT age AS n, MAX(id) AS m FROM t GROUP BY age) q",
        "SELECT age FROM t GROUP BY age",
    )
    .sound(),
    RuleCase::equal(
        SCHEMA,
        "WITH q AS (SELECT id FROM t ORDER BY id LIMIT 1) SELECT id FROM q UNION SELECT uid FROM u",
        "SELECT id FROM (SELECT id FROM t ORDER BY id LIMIT 1) UNION SELECT uid FROM u",
    )
    .sound(),
    RuleCase::differs(
        SCHEMA,
        "WITH q AS (SELECT id FROM t ORDER BY id LIMIT 1) SELECT id FROM q UNION SELECT uid FROM u",
        "SELECT id FROM t UNION SELECT uid FROM u",
    ),
    // Of the subquery an index of e.c alone will do.
    RuleCase::differs(
        "CREATE TABLE e (id INTEGER PRIMARY KEY, k INT NOT NULL UNIQUE, c TEXT UNIQUE)",
        "SELECT q.c FROM (SELECT e.c FROM e WHERE e.k IS NOT NULL) AS q LIMIT 2",
        "SELECT e.c FROM e WHERE e.k IS NOT NULL LIMIT 2",
    )
    .sound()
    .witness("INSERT INTO e VALUES (0, 0, 'B'), (5, 3, 'x'), (9, 2, NULL)"),
    // Nobody reads T2.uid, and only where T4 is still a subquery does an index of T4.v do.
    RuleCase::differs(
        "CREATE TABLE u (uid INT NOT NULL, v INT UNIQUE)",
        "SELECT T2.v FROM u AS T1 RIGHT JOIN (SELECT T3.uid AS uid, T3.v AS v FROM (SELECT T4.uid AS uid, T4.v AS v FROM u AS T4 LIMIT 1) AS T3) AS T2",
        "SELECT T2.v FROM u AS T1 RIGHT JOIN (SELECT T3.uid AS uid, T3.v AS v FROM u AS T3 LIMIT 1) AS T2",
    )
    .sound()
    .witness("INSERT INTO u VALUES (2, 5), (3, 0)"),
    // Only the outer of the two is lone.
    RuleCase::differs(
        "CREATE TABLE e (id INTEGER PRIMARY KEY, k INT UNIQUE, c TEXT NOT NULL UNIQUE); CREATE TABLE ship (sid INTEGER PRIMARY KEY)",
        "SELECT r.c FROM (SELECT q.c FROM e AS a JOIN (SELECT b.c FROM ship RIGHT JOIN e AS b) AS q) AS r LIMIT 2",
        "SELECT b.c FROM e AS a JOIN (ship RIGHT JOIN e AS b) LIMIT 2",
    )
    .sound()
    .witness("INSERT INTO e VALUES (1, NULL, 'B'), (20, 2, 'A')"),
    // SQLite puts the innermost subquery into the one that sorts, and so takes the first rows in that order.
    RuleCase::differs(
        SCHEMA,
        "SELECT id FROM (SELECT id FROM (SELECT id FROM t LIMIT 2) ORDER BY 1)",
        "SELECT id FROM (SELECT id FROM t LIMIT 2)",
    )
    .sound()
    .witness("INSERT INTO t VALUES (1, 'b', 'a', 1, 'x'), (2, 'a', 'a', 0, 'x'), (20, 'Al', 'x', 2, 'x')"),
    // A rowid brings no collation, a column of a subquery brings BINARY.
    RuleCase::differs(
        COLLATED,
        "SELECT id FROM (SELECT id FROM r) UNION SELECT c FROM r",
        "SELECT id FROM r UNION SELECT c FROM r",
    )
    .sound()
    .witness("INSERT INTO r VALUES (1, 'a', 'a'), (2, 'A', 'b')"),
    RuleCase::differs(
        COLLATED,
        "WITH q AS (SELECT rowid AS x FROM r) SELECT x FROM q UNION SELECT c FROM r",
        "SELECT rowid FROM r UNION SELECT c FROM r",
    )
    .sound()
    .witness("INSERT INTO r VALUES (1, 'a', 'a'), (2, 'A', 'b')"),
    RuleCase::differs(
        COLLATED,
        "SELECT x FROM (SELECT y AS x FROM (SELECT id AS y FROM r)) UNION ALL SELECT c FROM r ORDER BY 1",
        "SELECT id FROM r UNION ALL SELECT c FROM r ORDER BY 1",
    )
    .sound()
    .witness("INSERT INTO r VALUES (1, 'a', 'a'), (2, 'A', 'b')"),
    RuleCase::equal(
        COLLATED,
        "SELECT id FROM (SELECT id FROM r WHERE b = 'x') UNION SELECT LENGTH(c) FROM r",
        "SELECT id FROM r WHERE b = 'x' UNION SELECT LENGTH(c) FROM r",
    )
    .sound(),
    RuleCase::equal(
        COLLATED,
        "SELECT q.b FROM (SELECT x.id, x.b FROM (SELECT id, b FROM r WHERE c > 'x') x) q WHERE q.id IN (SELECT LENGTH(b) FROM r)",
        "SELECT b FROM r WHERE c > 'x' AND id IN (SELECT LENGTH(b) FROM r)",
    )
    .sound(),
];

const COLLATED: &str = "CREATE TABLE r (id INTEGER PRIMARY KEY, c TEXT COLLATE NOCASE, b TEXT)";
