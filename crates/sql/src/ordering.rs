//! The order that a query promises: its sort keys as columns of a result.

use crate::tree::{Body, Expr, Output, Query};

/// A query that also returns the keys by which the original is sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ordered {
    /// The original query, with the sort keys that it does not return appended to its result columns.
    pub query: Query,
    /// How many result columns the original has.
    pub width: usize,
    /// For each term of ORDER BY, the position of its key among the columns of `query`.
    pub keys: Vec<usize>,
}

/// The sort keys of a query's outermost ORDER BY, as result columns; `None` if the query promises no order.
///
/// Keys that are no result columns are appended, except under DISTINCT, where that would change the rows: there
/// the keys up to the first such one are kept, and the order within them counts as free.
pub fn ordered(query: &Query) -> Option<Ordered> {
    let width = query.width();
    let mut ordered = Ordered { query: query.clone(), width, keys: Vec::new() };
    for term in &query.order_by {
        let position = match &term.expr {
            Expr::Output(index) => Some(*index as usize),
            expr => match &mut ordered.query.body {
                Body::Select(select) => match select.outputs.iter().position(|output| output.expr == *expr) {
                    Some(position) => Some(position),
                    None if select.distinct => None,
                    None => {
                        select.outputs.push(Output { expr: expr.clone(), alias: None });
                        Some(select.outputs.len() - 1)
                    }
                },
                Body::SetOperation { .. } | Body::Values(_) => collated_output(expr),
            },
        };
        match position {
            Some(position) => ordered.keys.push(position),
            None => break,
        }
    }
    (!ordered.keys.is_empty()).then_some(ordered)
}

fn collated_output(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Output(index) => Some(*index as usize),
        Expr::Collate { expr, .. } => collated_output(expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::{Dialect, print, resolve};

    #[test]
    fn keys_are_found_among_the_outputs_or_appended() {
        let schema = Schema::from_ddl("CREATE TABLE t (a, b, c)").unwrap();
        for (sql, keys, printed) in [
            (
                "SELECT a, b FROM t ORDER BY 2, a DESC",
                vec![1, 0],
                "SELECT t.a, t.b FROM t ORDER BY 2, t.a DESC",
            ),
            ("SELECT a FROM t ORDER BY c", vec![1], "SELECT t.a, t.c FROM t ORDER BY t.c"),
            (
                "SELECT DISTINCT a FROM t ORDER BY a, c",
                vec![0],
                "SELECT DISTINCT t.a FROM t ORDER BY t.a, t.c",
            ),
        ] {
            let ordered = ordered(&resolve(sql, &schema).unwrap()).unwrap();
            assert_eq!(ordered.keys, keys, "{sql}");
            assert_eq!(print(&ordered.query, &schema, Dialect::Sqlite), printed);
        }
        assert_eq!(ordered(&resolve("SELECT a FROM t", &schema).unwrap()), None);
    }
}
