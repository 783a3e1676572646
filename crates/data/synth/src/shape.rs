//! Measures a query on its tree.

use sqlgauge_sql::Features;
use sqlgauge_sql::reads;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{Body, Expr, From, Query, Relation, RelationSource, UnaryOperator};
use sqlgauge_sql::visit::{Visitor, walk_query};

#[derive(Debug, Clone, Default)]
pub struct QueryMeasures {
    /// Tables, columns, operators, depth, joins: what every part of sqlgauge knows of a query.
    pub features: Features,
    /// Its length: relations, and what expressions are made of.
    pub nodes: usize,
    /// Subqueries in FROM.
    pub derived_tables: usize,
    pub scalar_subqueries: usize,
    /// IN with a subquery.
    pub in_subqueries: usize,
    /// IN with a list.
    pub in_lists: usize,
    /// Subqueries in expressions that read a row of a query around them.
    pub correlated_subqueries: usize,
    /// NOT, before a condition or inside a predicate.
    pub negations: usize,
    /// Joins that are neither of an outer kind nor CROSS JOIN.
    pub inner_joins: usize,
}

impl QueryMeasures {
    pub fn of(query: &Query, schema: &Schema) -> Self {
        let mut shape = Self { features: Features::of(query, schema), ..Self::default() };
        walk_query(&mut shape, query);
        shape.inner_joins = shape.count("JOIN");
        shape
    }

    /// How often the features count an operator.
    pub fn count(&self, operator: &str) -> usize {
        self.features.operators.get(operator).copied().unwrap_or(0)
    }

    fn nested(&mut self, query: &Query) {
        self.correlated_subqueries += usize::from(!reads::outer_columns(query).is_empty());
    }
}

impl Visitor for QueryMeasures {
    fn body(&mut self, body: &Body) {
        self.nodes += usize::from(matches!(body, Body::SetOperation { .. }));
    }

    fn from(&mut self, from: &From) {
        self.nodes += usize::from(matches!(from, From::Join(_)));
    }

    fn relation(&mut self, relation: &Relation) {
        self.nodes += 1;
        self.derived_tables += usize::from(matches!(relation.source, RelationSource::Derived(_)));
    }

    fn expr(&mut self, expr: &Expr) {
        self.nodes += 1;
        self.negations += usize::from(expr.negated() == Some(true));
        match expr {
            Expr::InList { .. } => self.in_lists += 1,
            Expr::InQuery { query, .. } => {
                self.in_subqueries += 1;
                self.nested(query);
            }
            Expr::Exists { query, .. } => self.nested(query),
            Expr::Scalar(query) => {
                self.scalar_subqueries += 1;
                self.nested(query);
            }
            Expr::Unary(UnaryOperator::Not, _) => self.negations += 1,
            _ => {}
        }
    }
}
