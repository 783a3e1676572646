//! `x IN (SELECT y FROM …)` as a join on `x = y`: a form in which an answer with subqueries can be compared with joins.
//!
//! # Contract
//! - A row may come more often than before, and no row is new: the forms are the same as sets of rows. So the query must not count
//!   its rows, and a comparison of the forms must speak of DISTINCT.
//! - `None` where nothing can be unfolded.

use sqlgauge_sql::canonical::conjunction;
use sqlgauge_sql::derive::has_aggregate;
use sqlgauge_sql::tree::{BinaryOperator, Body, Expr, From, Query, Select};

use crate::clauses::{joined, parts_of};

/// Two queries of which one is DISTINCT, with the subqueries of the other joined.
pub(crate) fn joined_forms(gold: &Query, prediction: &Query) -> Option<[Query; 2]> {
    let is_distinct = |query: &Query| query.as_select().is_some_and(|select| select.distinct);
    if is_distinct(gold) {
        return Some([gold.clone(), unfolded(prediction)?]);
    }
    is_distinct(prediction).then(|| Some([unfolded(gold)?, prediction.clone()])).flatten()
}

/// The query with the subqueries of its conditions joined, at every depth.
fn unfolded(query: &Query) -> Option<Query> {
    let mut select = plain(query)?.clone();
    let mut conditions: Vec<Expr> = parts_of(select.filter.as_ref()).collect();
    let inner = conditions.iter().position(|condition| join_of(condition).is_some())?;
    let (key, inner) = join_of(&conditions.remove(inner))?;
    conditions.push(key);
    conditions.extend(inner.filter);
    select.from = Some(joined(select.from?, inner.from?));
    select.filter = conjunction(conditions);
    let once = Query { body: Body::Select(Box::new(select)), ..query.clone() };
    Some(unfolded(&once).unwrap_or(once))
}

/// The equality that a condition says, and what it joins.
fn join_of(condition: &Expr) -> Option<(Expr, Select)> {
    let Expr::InQuery { expr, query, negated: false } = condition else { return None };
    let inner = plain(query).filter(|_| query.order_by.is_empty())?;
    let ([output], Expr::Column(_)) = (inner.outputs.as_slice(), &**expr) else { return None };
    let key = Expr::Binary(BinaryOperator::Equal, expr.clone(), Box::new(output.expr.clone()));
    Some((key, inner.clone()))
}

/// A SELECT of rows that it neither groups nor counts nor cuts, from inner joins.
fn plain(query: &Query) -> Option<&Select> {
    let select = query.as_select()?;
    let is_grouped = !select.group_by.is_empty() || select.having.is_some();
    let is_plain = query.ctes.is_empty() && query.limit.is_none() && query.offset.is_none() && !is_grouped;
    let counts = select.outputs.iter().any(|output| has_aggregate(&output.expr));
    (is_plain && !counts && select.from.as_ref().is_some_and(From::is_inner)).then_some(select)
}
