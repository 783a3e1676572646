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
                        select.outputs.push(Output::of(expr.clone()));
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

/// What tells where the rows of a DISTINCT query stand that is sorted by what it does not return: see
/// [`ordered_under_distinct`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnderDistinct {
    /// The rows before DISTINCT, with the sort keys that the original does not return appended; without order
    /// and limit.
    pub every: Query,
    /// The original without order and limit.
    pub all: Query,
    /// How many result columns the original has.
    pub width: usize,
    /// For each term of ORDER BY, the position of its key among the columns of `every`.
    pub keys: Vec<usize>,
}

/// The sort keys of a query with DISTINCT, not all of them result columns: `SELECT DISTINCT b FROM t ORDER BY a`.
/// `None` for every other query.
///
/// SQLite takes such a query, and sorts each distinct row by the keys of that one of its source rows which it
/// happens to meet first. The order is determined where all source rows of a distinct row have the same keys.
pub fn ordered_under_distinct(query: &Query) -> Option<UnderDistinct> {
    let Body::Select(select) = &query.body else { return None };
    if !select.distinct {
        return None;
    }
    let all = Query { order_by: Vec::new(), limit: None, offset: None, ..query.clone() };
    let (mut every, mut keys) = (all.clone(), Vec::new());
    let Body::Select(rows) = &mut every.body else { return None };
    rows.distinct = false;
    let width = rows.outputs.len();
    for term in &query.order_by {
        let position = match &term.expr {
            Expr::Output(index) => Some(*index as usize),
            expr => rows.outputs.iter().position(|output| output.expr == *expr),
        };
        keys.push(position.unwrap_or_else(|| {
            rows.outputs.push(Output::of(term.expr.clone()));
            rows.outputs.len() - 1
        }));
    }
    (rows.outputs.len() > width).then_some(UnderDistinct { every, all, width, keys })
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
    use crate::{PrintDialect, print, resolve};

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
            assert_eq!(print(&ordered.query, &schema, PrintDialect::Sqlite).unwrap(), printed);
        }
        assert_eq!(ordered(&resolve("SELECT a FROM t", &schema).unwrap()), None);
    }

    #[test]
    fn the_rows_before_distinct_have_the_keys() {
        let schema = Schema::from_ddl("CREATE TABLE t (a, b, c)").unwrap();
        for (sql, expected) in [
            (
                "SELECT DISTINCT b FROM t ORDER BY a",
                Some((vec![1], "SELECT t.b, t.a FROM t", "SELECT DISTINCT t.b FROM t")),
            ),
            (
                "SELECT DISTINCT a, b FROM t ORDER BY 2, a, c DESC, c LIMIT 3 OFFSET 1",
                Some((vec![1, 0, 2, 2], "SELECT t.a, t.b, t.c FROM t", "SELECT DISTINCT t.a, t.b FROM t")),
            ),
            ("SELECT DISTINCT a FROM t ORDER BY a DESC", None),
            ("SELECT a FROM t ORDER BY b", None),
            ("SELECT DISTINCT a FROM t", None),
            ("SELECT a FROM t UNION SELECT b FROM t ORDER BY 1", None),
        ] {
            let print = |query: &Query| print(query, &schema, PrintDialect::Sqlite).unwrap();
            let parts = ordered_under_distinct(&resolve(sql, &schema).unwrap())
                .map(|parts| (parts.keys, print(&parts.every), print(&parts.all)));
            let expected = expected.map(|(keys, every, all)| (keys, every.to_owned(), all.to_owned()));
            assert_eq!(parts, expected, "{sql}");
        }
    }
}
