//! What a query is made of: tables, columns, operators, nesting, counts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::functions::Function;
use crate::schema::{Schema, TableId};
use crate::tree::{
    Body, ColumnRef, Expr, From, JoinKind, LikeOperator, Query, Relation, RelationId, RelationSource,
    SetOperator, UnaryOperator,
};
use crate::visit::{Visitor, walk_query};

/// The features of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Features {
    /// Tables that it reads, lower case.
    pub tables: BTreeSet<String>,
    /// Columns that it names (`*` included), as table and column, lower case; rowid where it is no column.
    pub columns: BTreeSet<(String, String)>,
    /// How often each operator, clause keyword and function (`count()`) occurs.
    pub operators: BTreeMap<String, usize>,
    /// Levels of queries: 1 without subqueries.
    pub depth: usize,
    /// Joins of two relations, comma joins included.
    pub joins: usize,
    /// Pairs of relations in one FROM clause that read the same table.
    pub self_joins: usize,
    /// Calls of aggregate functions, window functions excepted.
    pub aggregates: usize,
    /// Queries inside the query: in FROM, in expressions, in WITH.
    pub subqueries: usize,
    /// UNION, INTERSECT, EXCEPT.
    pub set_operations: usize,
    /// Atomic conditions: comparisons, BETWEEN, LIKE, IN, EXISTS, IS NULL.
    pub predicates: usize,
}

impl Features {
    /// The features of a resolved query.
    pub fn of(query: &Query, schema: &Schema) -> Self {
        let mut collector = Collector {
            schema,
            features: Self::default(),
            tables: HashMap::new(),
            columns: Vec::new(),
            level: 0,
        };
        walk_query(&mut collector, query);
        let Collector { mut features, tables, columns, .. } = collector;
        for ColumnRef { relation, column } in columns {
            let Some(table) = tables.get(&relation).and_then(|&id| schema.table(id)) else { continue };
            let column = table.at(column).map_or("rowid", |column| column.name.as_str());
            features.columns.insert((table.name.to_ascii_lowercase(), column.to_ascii_lowercase()));
        }
        features
    }

    /// Short labels for breaking scores down, in a fixed order.
    pub fn labels(&self) -> Vec<&'static str> {
        let uses = |names: &[&str]| names.iter().any(|name| self.operators.contains_key(*name));
        let labels = [
            ("single table", self.joins == 0 && self.depth == 1 && self.set_operations == 0),
            ("join", self.joins > 0),
            ("3+ tables joined", self.joins > 1),
            ("outer join", uses(&["LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])),
            ("self join", self.self_joins > 0),
            ("aggregate", self.aggregates > 0),
            ("group by", uses(&["GROUP BY"])),
            ("having", uses(&["HAVING"])),
            ("order by", uses(&["ORDER BY"])),
            ("limit", uses(&["LIMIT"])),
            ("distinct", uses(&["DISTINCT"])),
            ("subquery", self.subqueries > 0),
            ("set operation", self.set_operations > 0),
            ("or", uses(&["OR"])),
            ("like", uses(&["LIKE", "GLOB"])),
            ("in", uses(&["IN"])),
            ("between", uses(&["BETWEEN"])),
            ("null test", uses(&["IS NULL"])),
            ("case", uses(&["CASE"])),
            ("cte", uses(&["WITH"])),
            ("window", uses(&["OVER"])),
        ];
        labels.into_iter().filter_map(|(label, holds)| holds.then_some(label)).collect()
    }
}

struct Collector<'a> {
    schema: &'a Schema,
    features: Features,
    tables: HashMap<RelationId, TableId>,
    /// Kept until the end: a column may be met before the relation that it belongs to.
    columns: Vec<ColumnRef>,
    level: usize,
}

impl Collector<'_> {
    fn count(&mut self, operator: &str) {
        match self.features.operators.get_mut(operator) {
            Some(count) => *count += 1,
            None => {
                self.features.operators.insert(operator.to_owned(), 1);
            }
        }
    }

    fn call(&mut self, function: &Function) {
        self.count(&format!("{}()", function.name()));
    }

    fn predicate(&mut self, operator: &str) {
        self.features.predicates += 1;
        self.count(operator);
    }
}

impl Visitor for Collector<'_> {
    fn query(&mut self, query: &Query) {
        self.level += 1;
        self.features.depth = self.features.depth.max(self.level);
        self.features.subqueries += usize::from(self.level > 1);
        let clauses = [
            ("WITH", !query.ctes.is_empty()),
            ("ORDER BY", !query.order_by.is_empty()),
            ("LIMIT", query.limit.is_some()),
            ("OFFSET", query.offset.is_some()),
        ];
        clauses.into_iter().filter(|(_, used)| *used).for_each(|(name, _)| self.count(name));
    }

    fn leave_query(&mut self, _query: &Query) {
        self.level -= 1;
    }

    fn body(&mut self, body: &Body) {
        match body {
            Body::Select(select) => {
                let clauses = [
                    ("DISTINCT", select.distinct),
                    ("WHERE", select.filter.is_some()),
                    ("GROUP BY", !select.group_by.is_empty()),
                    ("HAVING", select.having.is_some()),
                ];
                clauses.into_iter().filter(|(_, used)| *used).for_each(|(name, _)| self.count(name));
                self.features.self_joins += select.from.as_ref().map_or(0, self_joins);
            }
            Body::SetOperation { operator, all, .. } => {
                self.features.set_operations += 1;
                self.count(match (operator, all) {
                    (SetOperator::Union, true) => "UNION ALL",
                    (SetOperator::Union, false) => "UNION",
                    (SetOperator::Intersect, _) => "INTERSECT",
                    (SetOperator::Except, _) => "EXCEPT",
                });
            }
            Body::Values(_) => self.count("VALUES"),
        }
    }

    fn from(&mut self, from: &From) {
        let From::Join(join) = from else { return };
        self.features.joins += 1;
        self.count(match join.kind {
            JoinKind::Inner => "JOIN",
            JoinKind::Cross => "CROSS JOIN",
            JoinKind::Left => "LEFT JOIN",
            JoinKind::Right => "RIGHT JOIN",
            JoinKind::Full => "FULL JOIN",
        });
    }

    fn relation(&mut self, relation: &Relation) {
        if let RelationSource::Table(id) = relation.source {
            self.tables.insert(relation.id, id);
            if let Some(table) = self.schema.table(id) {
                self.features.tables.insert(table.name.to_ascii_lowercase());
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Column(column) => self.columns.push(*column),
            Expr::Binary(operator, ..) if operator.is_comparison() => self.predicate(operator.symbol()),
            Expr::Binary(operator, ..) => self.count(operator.symbol()),
            Expr::And(list) => (1..list.len()).for_each(|_| self.count("AND")),
            Expr::Or(list) => (1..list.len()).for_each(|_| self.count("OR")),
            Expr::Unary(UnaryOperator::Not, _) => self.count("NOT"),
            Expr::Between { .. } => self.predicate("BETWEEN"),
            Expr::Like { operator, .. } => self.predicate(match operator {
                LikeOperator::Like => "LIKE",
                LikeOperator::Glob => "GLOB",
                LikeOperator::Regexp => "REGEXP",
                LikeOperator::Match => "MATCH",
            }),
            Expr::InList { .. } | Expr::InQuery { .. } => self.predicate("IN"),
            Expr::Exists { .. } => self.predicate("EXISTS"),
            Expr::IsNull { .. } => self.predicate("IS NULL"),
            Expr::Case { .. } => self.count("CASE"),
            Expr::Cast { .. } => self.count("CAST"),
            Expr::Collate { .. } => self.count("COLLATE"),
            Expr::Function { function, .. } => self.call(function),
            Expr::Aggregate(aggregate) => {
                self.features.aggregates += 1;
                if aggregate.distinct {
                    self.count("DISTINCT");
                }
                self.call(&aggregate.function);
            }
            Expr::Window(call) => {
                self.count("OVER");
                self.call(&call.function);
            }
            Expr::Output(_) | Expr::Literal(_) | Expr::Unary(..) | Expr::Scalar(_) | Expr::Row(_) => {}
        }
    }
}

fn self_joins(from: &From) -> usize {
    let mut seen: BTreeMap<TableId, usize> = BTreeMap::new();
    let mut pairs = 0;
    for relation in from.relations() {
        if let RelationSource::Table(id) = relation.source {
            let before = seen.entry(id).or_default();
            pairs += *before;
            *before += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;

    fn schema() -> Schema {
        Schema::from_ddl("CREATE TABLE a (x, y); CREATE TABLE b (x, z);").unwrap()
    }

    fn features(sql: &str) -> Features {
        Features::of(&resolve(sql, &schema()).unwrap(), &schema())
    }

    #[test]
    fn tables_and_columns_are_those_behind_the_aliases() {
        let features = features("SELECT q.n FROM (SELECT count(T.y) AS n FROM a AS T JOIN b USING (x)) AS q");
        assert_eq!(features.tables, ["a", "b"].map(str::to_owned).into());
        let columns = [("a", "x"), ("a", "y"), ("b", "x")].map(|(t, c)| (t.to_owned(), c.to_owned()));
        assert_eq!(features.columns, columns.into());
        assert_eq!((features.depth, features.joins, features.subqueries, features.aggregates), (2, 1, 1, 1));
    }

    #[test]
    fn predicates_are_counted_where_they_stand() {
        let features = features(
            "SELECT DISTINCT x FROM a WHERE y > 1 AND (x LIKE 'q%' OR x IN (SELECT x FROM b WHERE z IS NULL)) UNION SELECT 1",
        );
        assert_eq!((features.predicates, features.set_operations, features.depth), (4, 1, 2));
        let labels = ["distinct", "subquery", "set operation", "or", "like", "in", "null test"];
        assert_eq!(features.labels(), labels);
    }

    #[test]
    fn a_self_join_is_a_pair_of_instances_of_one_table() {
        assert_eq!(features("SELECT 1 FROM a, a AS c, b, a AS d").self_joins, 3);
    }
}
