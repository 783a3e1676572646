//! Finds the query that each aggregate belongs to.
//!
//! An aggregate belongs to the query whose groups it is computed over ([`Owner`]), which need not be the one that
//! it stands in: in `SELECT (SELECT COUNT(t.a)) FROM t` the count is one over `t`. Whether a SELECT aggregates, is
//! asked of its *own* aggregates, those in its subqueries included; to the queries between, an aggregate of a query
//! further out is a value from outside.

use crate::reads;
use crate::tree::{Aggregate, Body, ColumnRef, Expr, From, Owner, Query, RelationId};
use crate::visit::{Rewriter, Visitor, Walk, rewrite_expr, walk_query};

/// Whether the expression holds an aggregate of the SELECT that it stands in, be it inside a subquery.
pub fn has_own(expr: &Expr) -> bool {
    any_of(expr, |level, owner| owner == level)
}

/// Whether the expression holds an aggregate that stands in a subquery of the query that owns it, wherever that is.
pub fn has_displaced(expr: &Expr) -> bool {
    any_of(expr, |_, owner| owner > 0)
}

/// Whether an aggregate in the query stands in a subquery of the query that owns it, wherever that is.
pub fn is_entangled(query: &Query) -> bool {
    any_of(query, |_, owner| owner > 0)
}

/// Whether the expression holds an aggregate of that owner, seen from where the expression stands.
pub(crate) fn has_owned_by(expr: &Expr, owner: Owner) -> bool {
    any_of(expr, |level, owner_level| owner_level == level + owner.0)
}

/// The owners of the aggregates in the expression that do not belong to a subquery in it, seen from where the
/// expression stands.
pub(crate) fn owners(expr: &Expr) -> Vec<Owner> {
    let mut owners = Vec::new();
    each_owner(expr, |level, owner| owners.extend(owner.checked_sub(level).map(Owner)));
    owners
}

fn any_of(piece: &impl Walk, test: impl Fn(u32, u32) -> bool) -> bool {
    let mut any = false;
    each_owner(piece, |level, owner| any = any || test(level, owner));
    any
}

/// Calls `visit` for every aggregate: how many queries of the piece it stands in, and how many further out its owner is.
fn each_owner(piece: &impl Walk, visit: impl FnMut(u32, u32)) {
    struct Levels<F> {
        level: u32,
        visit: F,
    }
    impl<F: FnMut(u32, u32)> Visitor for Levels<F> {
        fn query(&mut self, _query: &Query) {
            self.level += 1;
        }

        fn leave_query(&mut self, _query: &Query) {
            self.level -= 1;
        }

        fn expr(&mut self, expr: &Expr) {
            if let Expr::Aggregate(aggregate) = expr {
                (self.visit)(self.level, aggregate.owner.0);
            }
        }
    }
    piece.walk(&mut Levels { level: 0, visit });
}

/// Makes an expression one that stands `by` queries further inside: its own aggregates and those of queries further
/// out stay those of the same queries.
pub(crate) fn sink(expr: &mut Expr, by: u32) {
    struct Sink {
        level: u32,
        by: u32,
    }
    impl Rewriter for Sink {
        fn enter_query(&mut self, _query: &Query) {
            self.level += 1;
        }

        fn query(&mut self, _query: &mut Query) {
            self.level -= 1;
        }

        fn expr(&mut self, expr: &mut Expr) {
            if let Expr::Aggregate(aggregate) = expr
                && aggregate.owner.0 >= self.level
            {
                aggregate.owner.0 += self.by;
            }
        }
    }
    if by > 0 {
        rewrite_expr(&mut Sink { level: 0, by }, expr);
    }
}

/// The owner that SQLite gives an aggregate: `around` are the queries around it, innermost first, each with its
/// distance and the relations of its FROM clause.
pub(crate) fn owner_by_columns<'r>(
    aggregate: &Aggregate,
    around: impl Iterator<Item = (u32, &'r [RelationId])>,
) -> Owner {
    let columns = free_columns(aggregate);
    if columns.is_empty() {
        return Owner::HERE;
    }
    let reads = |relations: &[RelationId]| columns.iter().any(|column| relations.contains(&column.relation));
    let mut owners = around.filter(|(_, relations)| reads(relations));
    owners.next().map_or(Owner::HERE, |(distance, _)| Owner(distance))
}

/// The columns that an aggregate reads, those of relations inside its own subqueries excepted.
fn free_columns(aggregate: &Aggregate) -> Vec<ColumnRef> {
    let order = aggregate.order_by.iter().map(|term| &term.expr);
    let exprs = aggregate.args.as_slice().iter().chain(order).chain(&aggregate.filter);
    exprs.flat_map(reads::outer_columns).collect()
}

/// Whether every aggregate in the query has the owner that SQL gives it by the columns that it reads. A rewriting may
/// break that where queries read columns of each other; its result then says what no SQL can say.
pub fn owners_hold(query: &Query) -> bool {
    let mut owners = Owners { around: Vec::new(), hold: true };
    walk_query(&mut owners, query);
    owners.hold
}

struct Owners {
    /// The relations of the queries around, outermost first.
    around: Vec<Vec<RelationId>>,
    hold: bool,
}

impl Visitor for Owners {
    fn query(&mut self, query: &Query) {
        self.around.push(relations_of(&query.body));
    }

    fn leave_query(&mut self, _query: &Query) {
        self.around.pop();
    }

    fn expr(&mut self, expr: &Expr) {
        let Expr::Aggregate(aggregate) = expr else { return };
        let columns = free_columns(aggregate);
        let reads = |relations: &Vec<RelationId>| columns.iter().any(|c| relations.contains(&c.relation));
        let distance = match self.around.iter().rev().position(reads) {
            _ if columns.is_empty() => 0,
            Some(distance) => distance,
            // It belongs to a query further out than this one.
            None => self.around.len().max(aggregate.owner.0 as usize),
        };
        self.hold &= distance == aggregate.owner.0 as usize;
    }
}

/// Whether an aggregate and a column of an enclosing query occur in the query, so that a rewriting might change whom
/// an aggregate belongs to.
pub fn are_correlated(query: &Query) -> bool {
    let mut search = Correlation { around: Vec::new(), aggregate: false, correlated: false };
    walk_query(&mut search, query);
    search.aggregate && search.correlated
}

struct Correlation {
    around: Vec<Vec<RelationId>>,
    aggregate: bool,
    correlated: bool,
}

impl Visitor for Correlation {
    fn query(&mut self, query: &Query) {
        self.around.push(relations_of(&query.body));
    }

    fn leave_query(&mut self, _query: &Query) {
        self.around.pop();
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Aggregate(_) => self.aggregate = true,
            Expr::Column(column) => {
                let is_own = |relations: &Vec<RelationId>| relations.contains(&column.relation);
                self.correlated |= !self.around.last().is_some_and(is_own);
            }
            _ => {}
        }
    }
}

/// Whether an aggregate reads only columns of these relations.
pub fn reads_only(aggregate: &Aggregate, relations: &[RelationId]) -> bool {
    free_columns(aggregate).iter().all(|column| relations.contains(&column.relation))
}

/// The relations in the FROM clauses of a body.
pub fn relations_of(body: &Body) -> Vec<RelationId> {
    match body {
        Body::Select(select) => {
            select.from.iter().flat_map(From::relations).map(|relation| relation.id).collect()
        }
        Body::SetOperation { left, right, .. } => {
            let mut relations = relations_of(left);
            relations.extend(relations_of(right));
            relations
        }
        Body::Values(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;
    use crate::schema::Schema;
    use crate::visit::each_expr;

    /// The owners of all aggregates, in the order of a walk.
    fn owners(sql: &str) -> Vec<u32> {
        let schema = Schema::from_ddl("CREATE TABLE t (a, b); CREATE TABLE u (x, y)").unwrap();
        let query = resolve(sql, &schema).unwrap();
        let mut owners = Vec::new();
        each_expr(&query, |expr| {
            if let Expr::Aggregate(aggregate) = expr {
                owners.push(aggregate.owner.0);
            }
        });
        owners
    }

    #[test]
    fn an_aggregate_belongs_to_the_innermost_query_whose_columns_it_reads() {
        for (sql, expected) in [
            ("SELECT COUNT(*), SUM(a) FROM t", vec![0, 0]),
            ("SELECT (SELECT COUNT(t.a)) FROM t", vec![1]),
            ("SELECT (SELECT COUNT(*)) FROM t", vec![0]),
            ("SELECT (SELECT COUNT(1) FROM u) FROM t", vec![0]),
            ("SELECT (SELECT COUNT(t.a) FROM u) FROM t", vec![1]),
            ("SELECT (SELECT COUNT(t.a + u.x) FROM u) FROM t", vec![0]),
            ("SELECT a FROM t WHERE EXISTS (SELECT (SELECT COUNT(u.x)) FROM u)", vec![1]),
            ("SELECT (SELECT c FROM (SELECT COUNT(t.a) AS c)) FROM t", vec![2]),
            ("SELECT (WITH q AS (SELECT COUNT(t.a) AS c) SELECT c FROM q) FROM t", vec![2]),
            ("SELECT (SELECT COUNT((SELECT u.x FROM u WHERE u.x = t.a))) FROM t", vec![1]),
            ("SELECT (SELECT COUNT((SELECT u.x FROM u))) FROM t", vec![0]),
            ("SELECT SUM(1) FILTER (WHERE a > 1) FROM t", vec![0]),
            ("SELECT (SELECT SUM(1) FILTER (WHERE a > 1) FROM u) FROM t", vec![1]),
        ] {
            assert_eq!(owners(sql), expected, "{sql}");
        }
    }

    #[test]
    fn an_alias_of_an_outer_query_keeps_its_owner() {
        let sql = "SELECT COUNT(*) AS n FROM t GROUP BY b HAVING EXISTS (SELECT 1 FROM u WHERE n > 1)";
        assert_eq!(owners(sql), [0, 1]);
    }

    #[test]
    fn a_select_aggregates_if_an_aggregate_inside_its_subqueries_is_its_own() {
        let schema = Schema::from_ddl("CREATE TABLE t (a, b); CREATE TABLE u (x, y)").unwrap();
        for (sql, expected) in [
            ("SELECT (SELECT COUNT(t.a)) FROM t", true),
            ("SELECT (SELECT COUNT(*)) FROM t", false),
            ("SELECT (SELECT COUNT(u.x) FROM u) FROM t", false),
            ("SELECT (SELECT MAX(t.a) + u.x FROM u) FROM t", true),
        ] {
            let query = resolve(sql, &schema).unwrap();
            assert_eq!(crate::derive::is_aggregate_select(query.as_select().unwrap()), expected, "{sql}");
            assert!(owners_hold(&query), "{sql}");
        }
    }
}
