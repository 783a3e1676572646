//! How many rows every counterexample to a pair has at least.
//!
//! A table is *needed* by a query if the query returns what it returns on the empty database wherever that table is empty. Where two
//! queries return the same on the empty database, and each of them lacks the rows of a table that it needs, they return the same. So a
//! database that tells them apart has a row in every table that the one needs, or in every table that the other needs, and in every table
//! that such a row must refer to. Where the query does not show this plainly, it counts as needing
//! no table, so the number is never too large.

use std::collections::BTreeSet;

use sqlgauge_sql::derive::{conjuncts, has_subquery, is_aggregate_select};
use sqlgauge_sql::schema::{Schema, TableId, TableKind};
use sqlgauge_sql::tree::{Body, Expr, From, JoinKind, Query, RelationSource, Select, SetOperator};

use super::Search;
use super::witness::Witness;

type Tables = BTreeSet<TableId>;

impl Search {
    /// Whether it is known that every database that tells those queries apart has at least that many rows.
    pub fn has_at_least(&self, rows: usize, left: &str, right: &str) -> bool {
        let is_known = || self.least_tables(left, right) >= Some(rows);
        rows == 0 || (is_known() && self.agree(&Witness::default(), left, right) == Some(true))
    }

    /// In how many tables every database has a row that tells those queries apart, if the empty one does not; at least one.
    pub fn least_tables(&self, left: &str, right: &str) -> Option<usize> {
        self.bounded_option(&[left, right], || {
            let prepared = self.prepared(left, right).ok()?;
            let queries = [&prepared.left.query, &prepared.right.query];
            let [left, right] = queries.map(|query| with_demanded(&self.schema, needed(query)).len());
            Some(left.min(right).max(1))
        })
    }
}

fn needed(query: &Query) -> Tables {
    let around = query.order_by.iter().map(|term| &term.expr).chain(&query.limit).chain(&query.offset);
    if around.into_iter().any(has_subquery) { Tables::new() } else { needed_by_body(&query.body) }
}

fn needed_by_body(body: &Body) -> Tables {
    match body {
        // A SELECT that aggregates returns a row of constants if it has none to aggregate, unless a subquery makes one of them.
        Body::Select(select) => {
            let outputs = select.outputs.iter().map(|output| &output.expr);
            let is_plain = !outputs.chain(&select.having).any(has_subquery);
            if is_plain { emptying_select(select) } else { Tables::new() }
        }
        Body::SetOperation { left, right, .. } => both(&needed_by_body(left), &needed_by_body(right)),
        Body::Values(_) => Tables::new(),
    }
}

/// The tables without whose rows a subquery has none.
fn emptying(query: &Query) -> Tables {
    emptying_body(&query.body)
}

fn emptying_body(body: &Body) -> Tables {
    match body {
        Body::Select(select) if !select.group_by.is_empty() || !is_aggregate_select(select) => {
            emptying_select(select)
        }
        Body::SetOperation { operator, left, right, .. } => {
            let (left, right) = (emptying_body(left), emptying_body(right));
            match operator {
                SetOperator::Union => both(&left, &right),
                SetOperator::Intersect => left.into_iter().chain(right).collect(),
                SetOperator::Except => left,
            }
        }
        Body::Select(_) | Body::Values(_) => Tables::new(),
    }
}

/// The tables without whose rows FROM and WHERE leave none.
fn emptying_select(select: &Select) -> Tables {
    let mut tables = select.from.as_ref().map(emptying_from).unwrap_or_default();
    for condition in conjuncts(select) {
        if let Expr::InQuery { negated: false, query, .. } | Expr::Exists { negated: false, query } =
            condition
        {
            tables.extend(emptying(query));
        }
    }
    tables
}

fn emptying_from(from: &From) -> Tables {
    match from {
        From::Relation(relation) => match &relation.source {
            RelationSource::Table(id) => [*id].into(),
            RelationSource::Derived(query) => emptying(query),
            RelationSource::Cte(_) | RelationSource::Function { .. } | RelationSource::Catalog => {
                Tables::new()
            }
        },
        From::Join(join) => {
            let (left, right) = (emptying_from(&join.left), emptying_from(&join.right));
            match join.kind {
                JoinKind::Inner | JoinKind::Cross => left.into_iter().chain(right).collect(),
                JoinKind::Left => left,
                JoinKind::Right => right,
                JoinKind::Full => both(&left, &right),
            }
        }
    }
}

fn both(left: &Tables, right: &Tables) -> Tables {
    left & right
}

/// The tables, and those that a row of one of them must refer to.
fn with_demanded(schema: &Schema, tables: Tables) -> Tables {
    let is_stored = |id: &TableId| schema.table(*id).is_some_and(|table| table.kind == TableKind::Table);
    let mut pending: Vec<TableId> = tables.into_iter().filter(is_stored).collect();
    let mut all = Tables::new();
    while let Some(id) = pending.pop() {
        if !all.insert(id) {
            continue;
        }
        let Some(table) = schema.table(id) else { continue };
        let demanded =
            table.foreign_keys.iter().filter(|key| key.columns.iter().all(|&at| table.is_not_null(at)));
        pending.extend(demanded.filter_map(|key| Some(schema.enforced_foreign_key(key)?.0)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SearchOptions;

    const DDL: &str = "CREATE TABLE u (id INTEGER PRIMARY KEY, n INT);
        CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, u_id INT NOT NULL REFERENCES u(id));
        CREATE TABLE s (id INTEGER PRIMARY KEY, t_id INT REFERENCES t(id));
        CREATE VIEW v AS SELECT s.id FROM s JOIN u ON s.id = u.id;";

    #[test]
    fn the_rows_that_every_counterexample_has() {
        let schema = Schema::from_ddl(DDL).unwrap();
        let search = Search::new(schema, SearchOptions::default()).unwrap();
        for (left, right, least) in [
            ("SELECT n FROM u", "SELECT n FROM u WHERE n > 1", Some(1)),
            ("SELECT count(*) FROM u", "SELECT count(n) FROM u", Some(1)),
            // A row of t must refer to one of u.
            ("SELECT a FROM t", "SELECT a FROM t WHERE a > 1", Some(2)),
            ("SELECT s.id FROM s JOIN u ON s.id = u.id", "SELECT s.id FROM s, u", Some(2)),
            ("SELECT id FROM v", "SELECT s.id FROM s, u", Some(2)),
            // The one needs t and u, the other s and u.
            ("SELECT a FROM t", "SELECT s.id FROM s, u", Some(2)),
            // Each of these returns rows without one of the tables.
            (
                "SELECT s.id FROM s JOIN u ON s.id = u.id",
                "SELECT s.id FROM s LEFT JOIN u ON s.id = u.id",
                Some(1),
            ),
            (
                "SELECT id FROM s UNION SELECT id FROM u",
                "SELECT id FROM s UNION ALL SELECT id FROM u",
                Some(1),
            ),
            ("SELECT id FROM s WHERE id NOT IN (SELECT id FROM u)", "SELECT id FROM s", Some(1)),
            (
                "SELECT id FROM s WHERE id IN (SELECT id FROM u)",
                "SELECT id FROM s WHERE id = (SELECT min(id) FROM u)",
                Some(1),
            ),
            ("SELECT id FROM s WHERE id IN (SELECT id FROM u)", "SELECT s.id FROM s, u", Some(2)),
            ("SELECT id FROM s WHERE id IN (SELECT count(*) FROM u)", "SELECT s.id FROM s, u", Some(1)),
            ("SELECT (SELECT max(n) FROM u) FROM s", "SELECT max(u.n) FROM s, u", None),
            ("SELECT max(id), (SELECT max(n) FROM u) FROM s", "SELECT max(id), max(id) FROM s", Some(1)),
            // The empty database tells them apart.
            ("SELECT count(*) FROM u", "SELECT n FROM u", None),
            ("SELECT n, id FROM u", "SELECT n FROM u", None),
        ] {
            let answer = (1..4).filter(|&rows| search.has_at_least(rows, left, right)).max();
            assert_eq!(answer, least, "{left} | {right}");
        }
    }

    /// No counterexample of the search has fewer rows than that.
    #[test]
    fn no_database_that_is_found_has_fewer() {
        let schema = Schema::from_ddl(DDL).unwrap();
        let search = Search::new(schema, SearchOptions::default()).unwrap();
        let froms = [
            "u",
            "t",
            "s",
            "s JOIN u ON s.id = u.id",
            "s LEFT JOIN u ON s.id = u.id",
            "s, u",
            "t JOIN s ON s.t_id = t.id",
        ];
        let outputs = ["count(*)", "1", "max(1)"];
        let texts: Vec<String> = froms
            .iter()
            .flat_map(|from| outputs.iter().map(move |output| format!("SELECT {output} FROM {from}")))
            .collect();
        let mut count = 0;
        for (left, right) in texts.iter().flat_map(|left| texts.iter().map(move |right| (left, right))) {
            let Some(least) = (1..4).filter(|&rows| search.has_at_least(rows, left, right)).max() else {
                continue;
            };
            if let Some(refutation) = search.refute_minimised(left, right).refutation() {
                assert!(refutation.database().rows() >= least, "{left} | {right}: {least}");
                count += 1;
            }
        }
        assert!(count > 60, "{count}");
    }
}
