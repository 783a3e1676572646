//! DISTINCT rows that are sorted by what they do not hold.
//!
//! SQLite sorts each row of `SELECT DISTINCT a … ORDER BY b` by the `b` of one of the rows that it stands for. Where `a`
//! determines `b`, that is the only one: the keys become columns of the DISTINCT rows, which are as many as before, and are
//! left out again around them.

use sqlgauge_sql::derive::{Closure, Dependencies, has_subquery, has_window, is_aggregate_select};
use sqlgauge_sql::tree::{Body, Expr, Output, Query, Select};

use super::Printer;
use super::order::is_constant;

impl Printer<'_> {
    /// The query with its keys among its results; `None` where they are there already, or are not determined by them.
    pub(super) fn with_hidden_keys(&self, query: &Query) -> Option<Query> {
        let select = query.as_select().filter(|select| select.distinct)?;
        let outputs: Vec<Expr> = select.outputs.iter().map(|output| output.expr.clone()).collect();
        let is_hidden =
            |key: &Expr| !matches!(key, Expr::Output(_)) && !is_constant(key) && !outputs.contains(key);
        let mut keys: Vec<Expr> = Vec::new();
        for term in query.order_by.iter().filter(|term| is_hidden(&term.expr)) {
            if !keys.contains(&term.expr) {
                keys.push(term.expr.clone());
            }
        }
        if keys.is_empty() {
            return None;
        }
        let closure = Dependencies::of(select, &self.facts).closure(&outputs);
        if !keys.iter().all(|key| is_fixed(select, &outputs, &closure, key)) {
            return None;
        }
        let mut query = query.clone();
        if let Body::Select(select) = &mut query.body {
            select.outputs.extend(keys.into_iter().map(Output::of));
        }
        Some(query)
    }
}

/// Whether all rows with the same outputs have the same key.
fn is_fixed(select: &Select, outputs: &[Expr], closure: &Closure, key: &Expr) -> bool {
    if !is_aggregate_select(select) {
        return closure.determines(key);
    }
    // One row of a group is all that there is of it.
    let is_group_of_its_own =
        select.group_by.iter().all(|term| outputs.contains(term) || closure.determines(term));
    is_group_of_its_own && !has_subquery(key) && !has_window(key)
}
