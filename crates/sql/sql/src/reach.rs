//! Decides what each part of a FROM clause may read of it.
//!
//! To SQLite a subquery in FROM sees the queries around, never what stands beside it, and what stands in parentheses
//! right of a join sees nothing outside of them. An ON clause sees what stands left of it and what it joins; that of
//! an inner join also what follows, unless a RIGHT or FULL JOIN stands in the same chain of joins. Arguments of a
//! function in FROM see the whole chain, and with a RIGHT or FULL JOIN in it only what stands left of them.

use std::collections::HashMap;
use std::ops::Range;

use crate::reads;
use crate::tree::{Expr, From, JoinKind, Query, Relation, RelationId, RelationSource};
use crate::visit::{Walk, each_expr, each_select};

/// What reads more of its FROM clause than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// The condition of a join.
    On,
    /// An argument of a function.
    Argument,
    /// A subquery.
    Subquery,
}

/// Whether every FROM clause in the query, subqueries included, reads only what SQL lets it. A rewriting that moves
/// relations may break that; its result then says what no SQL can say.
pub fn holds(query: &Query) -> bool {
    let mut all = true;
    each_select(query, |select| all = all && select.from.as_ref().is_none_or(|from| beyond(from).is_none()));
    all
}

/// Whether a FROM clause in the query, subqueries included, reads a query around: only there a rewriting that moves
/// relations outwards can bring what is read beside what reads it.
pub fn reads_around(query: &Query) -> bool {
    let mut any = false;
    each_select(query, |select| any = any || select.from.as_ref().is_some_and(has_free_columns));
    any
}

/// Whether a part of the FROM clause, its subqueries included, reads a query around.
pub fn has_free_columns(from: &From) -> bool {
    !reads::outer_columns(from).is_empty()
}

/// The first part of a FROM clause that reads more of it than it may.
pub fn beyond(from: &From) -> Option<Beyond> {
    let places = from.relations().iter().zip(0..).map(|(relation, place)| (relation.id, place)).collect();
    let mut search = Search { places, beyond: None };
    search.chain(from, 0);
    search.beyond
}

struct Search {
    /// The place of every relation of the clause, left to right.
    places: HashMap<RelationId, usize>,
    beyond: Option<Beyond>,
}

impl Search {
    /// A chain of joins that begins at that place: the whole clause, or what stands in parentheses right of a join.
    /// Returns its end.
    fn chain(&mut self, from: &From, start: usize) -> usize {
        let mut joins = Vec::new();
        let mut first = from;
        while let From::Join(join) = first {
            joins.push(join.as_ref());
            first = &join.left;
        }
        let has_outer_right = joins.iter().any(|join| matches!(join.kind, JoinKind::Right | JoinKind::Full));
        let whole = start..start + from.relations().len();
        let visible = |end| if has_outer_right { start..end } else { whole.clone() };
        let mut end = start + 1;
        self.operand(first, &visible(end));
        for join in joins.into_iter().rev() {
            end = match &join.right {
                relation @ From::Relation(_) => {
                    self.operand(relation, &visible(end + 1));
                    end + 1
                }
                parentheses @ From::Join(_) => self.chain(parentheses, end),
            };
            if let Some(on) = &join.on {
                let is_inner = matches!(join.kind, JoinKind::Inner | JoinKind::Cross);
                let seen = if is_inner { visible(end) } else { start..end };
                self.check(Beyond::On, on, &seen);
            }
        }
        end
    }

    fn operand(&mut self, operand: &From, visible: &Range<usize>) {
        let From::Relation(Relation { source, .. }) = operand else { return };
        match source {
            RelationSource::Derived(query) => {
                self.check(Beyond::Subquery, query, &(0..0));
            }
            RelationSource::Function { args, .. } => {
                args.iter().for_each(|arg| self.check(Beyond::Argument, arg, visible));
            }
            RelationSource::Table(_) | RelationSource::Cte(_) | RelationSource::Catalog => {}
        }
    }

    fn check(&mut self, part: Beyond, piece: &impl Walk, visible: &Range<usize>) {
        let mut reads_beyond = false;
        each_expr(piece, |expr| {
            if let Expr::Column(column) = expr
                && let Some(place) = self.places.get(&column.relation)
            {
                reads_beyond = reads_beyond || !visible.contains(place);
            }
        });
        if reads_beyond {
            self.beyond = self.beyond.or(Some(part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::tree::Body;
    use crate::{PrintDialect, print, resolve};

    const DDL: &str =
        "CREATE TABLE a (x INT, y INT); CREATE TABLE b (x INT, y INT); CREATE TABLE d (x INT, y INT)";

    fn error(sql: &str) -> String {
        let schema = Schema::from_ddl(DDL).expect("the schema of the test");
        resolve(sql, &schema).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn a_condition_reads_what_stands_left_of_it() {
        for sql in [
            "SELECT 1 FROM a JOIN b ON a.x = d.x JOIN d",
            "SELECT 1 FROM a JOIN b ON a.x = d.x LEFT JOIN d ON 1",
            "SELECT 1 FROM (a JOIN b ON a.x = d.x) JOIN d",
            "SELECT 1 FROM a JOIN b ON a.x = d.x, (d RIGHT JOIN a e ON 1)",
            "SELECT 1 FROM a JOIN json_each(d.x) JOIN d",
            "SELECT (SELECT 1 FROM a LEFT JOIN b ON b.x = d.x) FROM d",
        ] {
            assert_eq!(error(sql), "", "{sql}");
        }
        for sql in [
            "SELECT 1 FROM a LEFT JOIN b ON a.x = d.x JOIN d",
            "SELECT 1 FROM a JOIN b ON a.x = d.x RIGHT JOIN d ON 1",
            "SELECT 1 FROM a CROSS JOIN b ON a.x = d.x FULL JOIN d ON 1",
            "SELECT 1 FROM a JOIN b ON EXISTS (SELECT 1 WHERE a.x = d.x) RIGHT JOIN d ON 1",
            "SELECT 1 FROM a JOIN json_each(d.x) RIGHT JOIN d ON 1",
        ] {
            assert!(error(sql).contains("references tables to its right"), "{sql}: {}", error(sql));
        }
    }

    #[test]
    fn parentheses_right_of_a_join_see_nothing_outside_of_them() {
        let refused = error("SELECT 1 FROM a JOIN (b JOIN d ON d.x = a.x)");
        assert!(refused.contains("no such column: a.x"), "{refused}");
        assert_eq!(error("SELECT 1 FROM a JOIN (b JOIN d ON d.x = b.x) ON d.x = a.x"), "");
        assert_eq!(error("SELECT (SELECT 1 FROM b JOIN (d JOIN b c ON d.x = a.x)) FROM a"), "");
    }

    #[test]
    fn a_subquery_that_reads_what_stands_beside_it_is_not_written() {
        let schema = Schema::from_ddl(DDL).expect("the schema of the test");
        let sql = "SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM (SELECT a.x) q)";
        let mut query = resolve(sql, &schema).expect("the query of the test");
        assert!(holds(&query) && reads_around(&query));
        let Body::Select(outer) = &mut query.body else { panic!("a SELECT") };
        let Some(Expr::Exists { query: inner, .. }) = outer.filter.take() else { panic!("EXISTS") };
        let inner = inner.as_select().and_then(|select| select.from.clone()).expect("a FROM clause");
        let from = outer.from.take().expect("a FROM clause");
        let join = crate::tree::Join { kind: JoinKind::Inner, left: from, right: inner, on: None };
        outer.from = Some(From::Join(Box::new(join)));
        assert!(!holds(&query));
        assert_eq!(print(&query, &schema, PrintDialect::Sqlite), Err(crate::PrintError::Reach));
    }
}
