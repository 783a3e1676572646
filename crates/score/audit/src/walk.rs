//! The SELECTs of a query, and their expressions.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{
    Aggregate, BinaryOperator, Body, Expr, From, Literal, Query, RelationId, RelationSource, Select,
};
use sqlgauge_sql::visit::{change_exprs, children};

/// Makes the calls that equal an aggregate count each value once.
pub(crate) fn make_distinct(query: &mut Query, aggregate: &Aggregate) {
    change_exprs(query, |expr| {
        if let Expr::Aggregate(call) = expr
            && **call == *aggregate
        {
            call.distinct = true;
        }
    });
}

/// A SELECT and the query whose body it is, or is a part of.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'q> {
    pub(crate) query: &'q Query,
    pub(crate) select: &'q Select,
    /// Whether it is the outermost query, no compound.
    pub(crate) is_outermost: bool,
}

impl<'q> Scope<'q> {
    /// Whether ORDER BY and LIMIT of the query are the SELECT's.
    pub(crate) fn is_whole(&self) -> bool {
        self.query.as_select().is_some()
    }

    /// Every expression in it, parts included, subqueries and ON of joins excepted.
    pub(crate) fn exprs(&self) -> Vec<&'q Expr> {
        let mut all = Vec::new();
        let select = self.select;
        let outputs = select.outputs.iter().map(|output| &output.expr);
        for expr in outputs.chain(&select.filter).chain(&select.group_by).chain(&select.having) {
            parts(expr, &mut all);
        }
        if self.is_whole() {
            self.query.order_by.iter().for_each(|term| parts(&term.expr, &mut all));
        }
        all
    }

    /// The expressions of WHERE, HAVING and ON, parts included.
    pub(crate) fn conditions(&self) -> Vec<&'q Expr> {
        let mut all = Vec::new();
        self.select.filter.iter().chain(&self.select.having).for_each(|expr| parts(expr, &mut all));
        self.joins().into_iter().for_each(|on| parts(on, &mut all));
        all
    }

    /// The ON conditions.
    pub(crate) fn joins(&self) -> Vec<&'q Expr> {
        let mut conditions = Vec::new();
        let mut pending: Vec<&From> = self.select.from.iter().collect();
        while let Some(from) = pending.pop() {
            if let From::Join(join) = from {
                conditions.extend(&join.on);
                pending.extend([&join.left, &join.right]);
            }
        }
        conditions
    }

    /// The relations in FROM.
    pub(crate) fn relations(&self) -> Vec<&'q sqlgauge_sql::tree::Relation> {
        self.select.from.as_ref().map(From::relations).unwrap_or_default()
    }
}

/// An expression and its parts, outer ones first; subqueries are not entered.
pub(crate) fn parts<'q>(expr: &'q Expr, all: &mut Vec<&'q Expr>) {
    all.push(expr);
    children(expr, &mut |child| parts(child, all));
}

/// The columns' relations that an expression reads, aggregates and parts included, subqueries excepted.
pub(crate) fn relations_read(expr: &Expr) -> Vec<RelationId> {
    let mut columns = Vec::new();
    sqlgauge_sql::derive::collect_columns(expr, &mut columns);
    let mut relations: Vec<RelationId> = columns.iter().map(|column| column.relation).collect();
    relations.sort_unstable();
    relations.dedup();
    relations
}

/// Those SELECTs that join: with two tables or more in FROM.
pub(crate) fn joined_scopes(query: &Query) -> impl Iterator<Item = Scope<'_>> {
    scopes(query).into_iter().filter(|scope| scope.relations().len() > 1)
}

/// All SELECTs, the outermost first.
pub(crate) fn scopes(query: &Query) -> Vec<Scope<'_>> {
    let mut scopes = Vec::new();
    let mut pending = vec![query];
    while let Some(inner) = pending.pop() {
        pending.extend(inner.ctes.iter().map(|cte| &cte.query));
        let mut bodies = vec![&inner.body];
        while let Some(body) = bodies.pop() {
            match body {
                Body::SetOperation { left, right, .. } => bodies.extend([right.as_ref(), left.as_ref()]),
                Body::Values(_) => {}
                Body::Select(select) => {
                    let is_outermost = std::ptr::eq(inner, query) && inner.as_select().is_some();
                    let scope = Scope { query: inner, select, is_outermost };
                    pending.extend(subqueries(&scope));
                    scopes.push(scope);
                }
            }
        }
    }
    scopes
}

/// The queries directly inside a SELECT.
fn subqueries<'q>(scope: &Scope<'q>) -> Vec<&'q Query> {
    let mut queries = Vec::new();
    for relation in scope.relations() {
        if let RelationSource::Derived(query) = &relation.source {
            queries.push(query.as_ref());
        }
    }
    let mut all = scope.exprs();
    scope.joins().into_iter().for_each(|on| parts(on, &mut all));
    for expr in all {
        match expr {
            Expr::InQuery { query, .. } | Expr::Exists { query, .. } | Expr::Scalar(query) => {
                queries.push(query);
            }
            _ => {}
        }
    }
    queries
}

/// The expressions of all SELECTs, with their conditions.
pub(crate) fn all_exprs(query: &Query) -> Vec<&Expr> {
    scopes(query).iter().flat_map(|scope| [scope.exprs(), scope.conditions()].concat()).collect()
}

/// What an expression compares by `=` or IN, each side first.
pub(crate) fn equalities(expr: &Expr) -> Vec<(&Expr, &Expr)> {
    match expr {
        Expr::Binary(BinaryOperator::Equal, left, right) => {
            vec![(&**left, &**right), (&**right, &**left)]
        }
        Expr::InList { expr, list, .. } => list.iter().map(|value| (&**expr, value)).collect(),
        _ => Vec::new(),
    }
}

/// Whether a query sorts, cuts off or takes an extreme somewhere.
pub(crate) fn takes_extreme(query: &Query) -> bool {
    let is_extreme = |expr: &&Expr| match expr {
        Expr::Aggregate(call) => matches!(call.function, Function::Max | Function::Min),
        Expr::Function { function, .. } => matches!(function, Function::Max | Function::Min),
        Expr::Window(_) => true,
        _ => false,
    };
    let sorts = |scope: &Scope<'_>| !scope.query.order_by.is_empty() || scope.query.limit.is_some();
    scopes(query).iter().any(sorts) || all_exprs(query).iter().any(is_extreme)
}

/// A whole number that stands as a literal.
pub(crate) fn whole(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(Literal::Integer(integer)) => Some(*integer),
        _ => None,
    }
}

/// A number that stands as a literal.
pub(crate) fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Literal(Literal::Integer(integer)) => Some(*integer as f64),
        Expr::Literal(Literal::Real(real)) => Some(real.get()),
        _ => None,
    }
}
