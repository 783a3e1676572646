//! Queries and their clauses.

use sqlgauge_sql::derive::Facts;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{Body, Expr, From, Output, Query, Select};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};
use sqlgauge_sql::{PrintDialect, PrintError};

use super::conditions::add_conjunct;
use super::exprs::{is_small_integer, one, parts_first};
use super::from::on_conditions;
use super::properties::is_deterministic;

/// The SELECT of a query that is nothing else: no compound, CTEs, ORDER BY, LIMIT or OFFSET.
pub(crate) fn plain_select(query: &Query) -> Option<&Select> {
    let bare =
        query.ctes.is_empty() && query.order_by.is_empty() && query.limit.is_none() && query.offset.is_none();
    query.as_select().filter(|_| bare)
}

/// Takes the SELECT out of a query that is known to be one.
pub(crate) fn take_select(query: &mut Query) -> Option<Select> {
    match std::mem::replace(&mut query.body, Body::Values(Vec::new())) {
        Body::Select(select) => Some(*select),
        other => {
            query.body = other;
            None
        }
    }
}

/// Whether a SELECT only filters and joins: no grouping, aggregates or windows. DISTINCT is not looked at.
pub(crate) fn is_flat(select: &Select) -> bool {
    !sqlgauge_sql::derive::is_aggregate_select(select)
        && !select.outputs.iter().any(|output| sqlgauge_sql::derive::has_window(&output.expr))
}

/// The query as SQL, or why it cannot be written as such.
pub(crate) fn text(query: &Query, schema: &Schema) -> String {
    or_reason(sqlgauge_sql::print(query, schema, PrintDialect::Sqlite))
}

/// The expression, which stands in the query, as SQL, or why it cannot be written as such.
pub(crate) fn expr_text(expr: &Expr, query: &Query, schema: &Schema) -> String {
    or_reason(sqlgauge_sql::print_expr(expr, query, schema, PrintDialect::Sqlite))
}

fn or_reason(printed: Result<String, PrintError>) -> String {
    printed.unwrap_or_else(|error| format!("(no SQL: {error})"))
}

/// The expressions of a query's own clauses, subqueries excepted, in the order of the text.
pub(crate) fn own_exprs(query: &Query) -> Vec<&Expr> {
    let mut exprs = Vec::new();
    if let Some(select) = query.as_select() {
        if let Some(from) = &select.from {
            on_conditions(from, &mut exprs);
        }
        exprs.extend(select.outputs.iter().map(|output| &output.expr));
        exprs.extend(select.filter.iter().chain(&select.group_by).chain(&select.having));
    }
    exprs.extend(query.order_by.iter().map(|term| &term.expr));
    exprs
}

/// The expression that a sort term stands for.
pub(crate) fn order_expr<'q>(query: &'q Query, expr: &'q Expr) -> &'q Expr {
    match expr {
        Expr::Output(n) => {
            query.as_select().and_then(|s| s.outputs.get(*n as usize)).map_or(expr, |o| &o.expr)
        }
        other => other,
    }
}

/// Drops the aliases of result columns and the names of CTEs, which never matter for the rows.
pub(crate) fn forget_names(query: &mut Query) {
    rewrite_query(&mut Forget, query);
}

struct Forget;

impl Rewriter for Forget {
    fn query(&mut self, query: &mut Query) {
        for cte in &mut query.ctes {
            for (place, name) in cte.columns.iter_mut().enumerate() {
                *name = format!("c{place}");
            }
        }
    }
    fn body(&mut self, body: &mut Body) {
        if let Body::Select(select) = body {
            for output in &mut select.outputs {
                output.alias = None;
            }
        }
    }
}

/// Calls `change` for every expression of the query's own clauses, parts before wholes, subqueries not entered.
pub(crate) fn for_own_exprs(query: &mut Query, change: &mut dyn FnMut(&mut Expr)) {
    if let Some(select) = query.as_select_mut() {
        if let Some(from) = &mut select.from {
            for_on(from, change);
        }
        let outputs = select.outputs.iter_mut().map(|output| &mut output.expr);
        let rest = select.filter.iter_mut().chain(&mut select.group_by).chain(&mut select.having);
        outputs.chain(rest).for_each(|expr| parts_first(expr, change));
    }
    query.order_by.iter_mut().for_each(|term| parts_first(&mut term.expr, change));
}

fn for_on(from: &mut From, change: &mut dyn FnMut(&mut Expr)) {
    if let From::Join(join) = from {
        for_on(&mut join.left, change);
        for_on(&mut join.right, change);
        if let Some(on) = &mut join.on {
            parts_first(on, change);
        }
    }
}

/// Whether a subquery compared with a value may be asked by EXISTS: it only filters and joins, and returns one
/// column; the value can be computed inside it, and compared there as outside.
pub(crate) fn may_become_exists(value: &Expr, query: &Query, facts: &Facts<'_>) -> bool {
    let Some(select) = query.as_select() else { return false };
    let operand = facts.operand(value);
    let changes = |result: &Expr| {
        crate::planned::is_mixed(value, result, facts)
            || (!is_small_integer(result) && operand.rounds_in(&facts.operand(result)))
    };
    if select.outputs.iter().any(|output| changes(&output.expr)) {
        return false;
    }
    let bare = query.ctes.is_empty() && query.limit.is_none() && query.offset.is_none();
    bare && select.outputs.len() == 1
        && is_flat(select)
        && select.from.is_some()
        && !sqlgauge_sql::derive::has_aggregate(value)
        && !sqlgauge_sql::derive::has_window(value)
        && !sqlgauge_sql::derive::has_subquery(value)
        && !matches!(value, Expr::Row(_))
        && is_deterministic(value)
}

/// Makes the subquery ask for a row whose result equals the value.
pub(crate) fn link(query: &mut Query, value: &Expr) {
    query.order_by.clear();
    let Some(select) = query.as_select_mut() else { return };
    select.distinct = false;
    let outputs = std::mem::replace(&mut select.outputs, vec![Output::of(one())]);
    for output in outputs {
        add_conjunct(&mut select.filter, Expr::equal(value.clone(), output.expr));
    }
}
