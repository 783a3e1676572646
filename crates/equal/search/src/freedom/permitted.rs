//! Pairs whose permitted results are the same if two other queries are equal.
//!
//! # Why it holds
//! What `q ORDER BY k LIMIT n OFFSET m` permits follows from the bag of the rows of `q`, each with its key, from the
//! direction of the keys, and from `n` and `m`: every prefix of every order that the keys allow. So two such queries with
//! equal directions and bounds permit the same results on every database on which their rows with keys are equal as bags.
//! The keys compare by their collations, which the rows do not show: where any is not BINARY, nothing is said.

use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{Body, Expr, Output, Query};
use sqlgauge_sql::visit::walk_query;
use sqlgauge_sql::{PrintDialect, print};

use super::Scan;
use super::collector::bounds;

/// The rows with their sort keys of two queries that end in ORDER BY and LIMIT, or LIMIT alone, as SQL without either: if
/// these are equal as bags on every database, the two permit the same results. `None` where it cannot be told so.
pub(crate) fn rows_with_keys(left: &Query, right: &Query, schema: &Schema) -> Option<[String; 2]> {
    if !are_cut_alike(left, right) || has_collation(left, schema) || has_collation(right, schema) {
        return None;
    }
    Some([text(left, schema)?, text(right, schema)?])
}

/// Whether two queries have the same LIMIT and sort in the same directions.
pub(crate) fn are_cut_alike(left: &Query, right: &Query) -> bool {
    let directions = |query: &Query| -> Vec<_> {
        query.order_by.iter().map(|term| (term.descending, term.nulls_first)).collect()
    };
    let bounds_of_left = bounds(left).filter(|(limit, _)| limit.is_some());
    bounds_of_left.is_some() && bounds_of_left == bounds(right) && directions(left) == directions(right)
}

fn has_collation(query: &Query, schema: &Schema) -> bool {
    let mut scan = Scan::new(schema);
    walk_query(&mut scan, query);
    scan.has_collation
}

/// Two queries as SQL without the ORDER BY of their rows, and, for a comparison as sets, with DISTINCT: if these are equal
/// as bags on every database, the two permit the same results where rows count as a bag, or as a set.
///
/// *Why it holds*: without a LIMIT an ORDER BY changes no row; DISTINCT keeps one of the rows that are equal, which are one
/// in a set, if no collation takes different texts for equal. `None` where it does not follow.
pub(crate) fn without_order(
    [left, right]: [&Query; 2],
    as_sets: bool,
    schema: &Schema,
) -> Option<[String; 2]> {
    let is_plain = |query: &Query| query.limit.is_none() && !(as_sets && has_collation(query, schema));
    let text = |query: &Query| {
        let mut rows = Query { order_by: Vec::new(), ..query.clone() };
        if let (Body::Select(select), true) = (&mut rows.body, as_sets) {
            select.distinct = true;
        }
        print(&rows, schema, PrintDialect::Sqlite).ok()
    };
    (is_plain(left) && is_plain(right)).then(|| Some([text(left)?, text(right)?])).flatten()
}

fn text(query: &Query, schema: &Schema) -> Option<String> {
    let mut rows = Query { order_by: Vec::new(), limit: None, offset: None, ..query.clone() };
    match &mut rows.body {
        Body::Select(select) => {
            let keys = query.order_by.iter().map(|term| match &term.expr {
                Expr::Output(at) => select.outputs.get(*at as usize).map(|output| output.expr.clone()),
                // Under DISTINCT a key that is no output would change the rows.
                expr => Some(expr.clone()).filter(|key| {
                    !select.distinct || select.outputs.iter().any(|output| output.expr == *key)
                }),
            });
            let keys: Vec<Expr> = keys.collect::<Option<_>>()?;
            select.outputs.extend(keys.into_iter().map(Output::of));
        }
        // Without keys the rows are all that counts.
        Body::SetOperation { .. } | Body::Values(_) if query.order_by.is_empty() => {}
        Body::SetOperation { .. } | Body::Values(_) => return None,
    }
    print(&rows, schema, PrintDialect::Sqlite).ok()
}
