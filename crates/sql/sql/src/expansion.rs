//! Bounds the size of a query whose views and common table expressions are written out.
//!
//! SQLite's compiler copies: the expressions of a subquery that it flattens into each place that names them, a common table
//! expression into each place that reads it. A few hundred bytes of `SELECT a + a AS a FROM (…)` become a gigabyte so, in a
//! compiler that cannot be stopped. What is tested by BETWEEN is copied too, once each. What compiles a text where nothing can kill it asks here first.

use std::collections::HashMap;
use std::ptr;

use sqlgauge_base::budget;

use crate::tree::{Body, ColumnRef, CteId, Expr, From, Query, RelationId, RelationSource, Select};
use crate::visit::children;

/// The nodes of the query with every column of a subquery or common table expression replaced by what it is, and every
/// common table expression by its query: an upper bound of the expressions that SQLite makes by flattening, but for the
/// copies of a query over UNION ALL, of which there is one for each operand. Infinite where it is beyond all numbers.
pub fn expanded_size(query: &Query) -> f64 {
    let mut sizes = Sizes::default();
    sizes.query(query);
    sizes.total + sizes.tested
}

/// The sizes of what has been read so far, as numbers that do not overflow.
#[derive(Default)]
struct Sizes {
    /// What each column of a subquery or common table expression in FROM is.
    relations: HashMap<RelationId, Vec<f64>>,
    /// A whole common table expression, and its columns. A recursive one is a table to itself.
    ctes: HashMap<CteId, (f64, Vec<f64>)>,
    total: f64,
    /// What is tested by BETWEEN.
    tested: f64,
}

impl Sizes {
    /// The sizes of the query's columns.
    fn query(&mut self, query: &Query) -> Vec<f64> {
        budget::spend(1);
        for cte in &query.ctes {
            let before = self.total;
            let columns = self.query(&cte.query);
            self.ctes.insert(cte.id, (self.total - before, columns));
        }
        let columns = self.body(&query.body);
        for expr in query.order_by.iter().map(|term| &term.expr).chain(&query.limit).chain(&query.offset) {
            self.expr(expr);
        }
        columns
    }

    fn body(&mut self, body: &Body) -> Vec<f64> {
        match body {
            Body::Select(select) => self.select(select),
            Body::SetOperation { left, right, .. } => {
                let (left, right) = (self.body(left), self.body(right));
                left.into_iter().zip(right).map(|(left, right)| left.max(right)).collect()
            }
            Body::Values(rows) => {
                rows.iter().flatten().for_each(|value| _ = self.expr(value));
                vec![1.0; rows.first().map_or(0, Vec::len)]
            }
        }
    }

    fn select(&mut self, select: &Select) -> Vec<f64> {
        if let Some(from) = &select.from {
            self.from(from);
        }
        let columns = select.outputs.iter().map(|output| self.expr(&output.expr)).collect();
        for expr in select.filter.iter().chain(&select.group_by).chain(&select.having) {
            self.expr(expr);
        }
        columns
    }

    fn from(&mut self, from: &From) {
        match from {
            From::Join(join) => {
                self.from(&join.left);
                self.from(&join.right);
                join.on.iter().for_each(|on| _ = self.expr(on));
            }
            From::Relation(relation) => {
                self.total += 1.0;
                let columns = match &relation.source {
                    RelationSource::Derived(query) => self.query(query),
                    RelationSource::Cte(id) => {
                        let (size, columns) = self.ctes.get(id).cloned().unwrap_or_default();
                        budget::spend(columns.len());
                        self.total += size;
                        columns
                    }
                    RelationSource::Function { args, .. } => {
                        args.iter().for_each(|arg| _ = self.expr(arg));
                        Vec::new()
                    }
                    RelationSource::Table(_) | RelationSource::Catalog => Vec::new(),
                };
                self.relations.insert(relation.id, columns);
            }
        }
    }

    /// The size of the expression, which is added to the whole.
    fn expr(&mut self, expr: &Expr) -> f64 {
        let before = self.total;
        self.total += match expr {
            Expr::Column(column) => self.column(*column),
            _ => 1.0,
        };
        match expr {
            Expr::InQuery { query, .. } | Expr::Exists { query, .. } | Expr::Scalar(query) => {
                self.query(query);
            }
            _ => {}
        }
        let tested = if let Expr::Between { expr, .. } = expr { Some(&**expr) } else { None };
        children(expr, &mut |child| {
            let size = self.expr(child);
            if tested.is_some_and(|tested| ptr::eq(tested, child)) {
                self.tested += size;
            }
        });
        self.total - before
    }

    fn column(&self, column: ColumnRef) -> f64 {
        let columns = self.relations.get(&column.relation);
        let size = column.column.position().and_then(|at| columns?.get(at as usize).copied());
        size.unwrap_or(1.0).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;
    use crate::schema::Schema;

    fn query(sql: &str) -> Query {
        let schema = Schema::from_ddl("CREATE TABLE t (a INT, b INT)").expect("the schema of the test");
        resolve(sql, &schema).expect("the query of the test")
    }

    fn size(sql: &str) -> f64 {
        expanded_size(&query(sql))
    }

    #[test]
    fn what_is_named_twice_counts_twice() {
        let doubling = |depth: usize| {
            size(&format!("{}SELECT a FROM t{}", "SELECT a + a AS a FROM (".repeat(depth), ")".repeat(depth)))
        };
        // One level adds its FROM, a sum, and both of its operands.
        assert_eq!([doubling(0), doubling(1), doubling(2)].map(|size| size.to_string()), ["2", "6", "14"]);
        assert!(doubling(40) > 2f64.powi(40));
        let chain = |depth: usize| {
            let more = |n| format!(", c{n} AS (SELECT x.a FROM c{} x, c{} y)", n - 1, n - 1);
            let all: String = (1..=depth).map(more).collect();
            size(&format!("WITH c0 AS (SELECT a FROM t){all} SELECT 1 FROM c{depth}"))
        };
        assert!(chain(30) > 2f64.powi(30));
    }

    #[test]
    fn a_chain_of_tests_grows_with_its_square() {
        let chain = |length: usize| size(&format!("SELECT 1{}", " BETWEEN 1 AND 1".repeat(length)));
        assert_eq!([chain(1), chain(2)].map(|size| size.to_string()), ["5", "12"]);
        assert!(chain(900) > 1e6 && chain(900) < 1e7);
    }

    #[test]
    fn a_common_query_is_no_larger_than_it_is_written() {
        for sql in [
            "SELECT a, count(*) FROM t WHERE b > 1 GROUP BY a ORDER BY count(*) DESC LIMIT 3",
            "SELECT a FROM t WHERE b = (SELECT max(b) FROM t) AND a IN (SELECT b FROM t)",
            "SELECT q.n FROM (SELECT a, count(*) AS n FROM t GROUP BY a) q JOIN t ON t.a = q.a",
        ] {
            assert!(size(sql) < 30.0, "{} {sql}", size(sql));
        }
        // Subtrees are measured once each, however deep they lie.
        let deep = query(&format!("SELECT {}1{}", "(SELECT a + ".repeat(200), " FROM t)".repeat(200)));
        let (size, steps) = budget::measure(|| expanded_size(&deep));
        assert!(size > 800.0 && steps < 3_000, "{size} {steps}");
    }
}
