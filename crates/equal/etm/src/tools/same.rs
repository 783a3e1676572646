//! Whether parts of queries are the same but for the numbers of their relations.

use sqlgauge_sql::tree::{Expr, From, Output, Query, RelationId, RelationSource, Select};
use sqlgauge_sql::visit::{rewrite_expr, rewrite_query};
use sqlgauge_sql::{Numbering, reads};

/// Finds a renaming of the relations of one FROM clause to those of another that reads the same sources in the
/// same order by the same joins; `None` if there is none.
pub(crate) fn same_from(left: Option<&From>, right: Option<&From>) -> Option<Vec<(RelationId, RelationId)>> {
    let mut pairs = Vec::new();
    match (left, right) {
        (None, None) => return Some(pairs),
        (Some(left), Some(right)) => {
            if !pair_up(left, right, &mut pairs) {
                return None;
            }
        }
        _ => return None,
    }
    let conditions_agree = same_conditions(left?, right?, &pairs);
    conditions_agree.then_some(pairs)
}

fn pair_up(left: &From, right: &From, pairs: &mut Vec<(RelationId, RelationId)>) -> bool {
    match (left, right) {
        (From::Relation(a), From::Relation(b)) => {
            pairs.push((a.id, b.id));
            match (&a.source, &b.source) {
                _ if a.hint != b.hint => false,
                (RelationSource::Table(x), RelationSource::Table(y)) => x == y,
                (RelationSource::Cte(x), RelationSource::Cte(y)) => x == y,
                _ => false,
            }
        }
        (From::Join(a), From::Join(b)) => {
            a.kind == b.kind && pair_up(&a.left, &b.left, pairs) && pair_up(&a.right, &b.right, pairs)
        }
        _ => false,
    }
}

fn same_conditions(left: &From, right: &From, pairs: &[(RelationId, RelationId)]) -> bool {
    let (From::Join(a), From::Join(b)) = (left, right) else { return true };
    let on = match (&a.on, &b.on) {
        (None, None) => true,
        (Some(x), Some(y)) => !sqlgauge_sql::derive::has_subquery(x) && *x == renamed(y, pairs),
        _ => false,
    };
    on && same_conditions(&a.left, &b.left, pairs) && same_conditions(&a.right, &b.right, pairs)
}

/// An expression of the right query as one of the left, by a renaming that [`same_from`] found.
pub(crate) fn renamed(expr: &Expr, pairs: &[(RelationId, RelationId)]) -> Expr {
    let relations = pairs.iter().map(|(left, right)| (*right, *left)).collect();
    let mut expr = expr.clone();
    rewrite_expr(&mut Numbering { relations, ..Numbering::default() }, &mut expr);
    expr
}

/// Whether two expressions are equal up to the numbers of the relations that subqueries in them declare.
pub(crate) fn same_expr(left: &Expr, right: &Expr) -> bool {
    if left == right {
        return true;
    }
    if !sqlgauge_sql::derive::has_subquery(left) {
        return false;
    }
    same_query(&wrapped(left), &wrapped(right))
}

fn wrapped(expr: &Expr) -> Query {
    let output = Output::of(expr.clone());
    let select = Select::of(vec![output]);
    Query::of_select(select)
}

/// Whether two queries are equal up to the numbers of the relations that they declare.
pub(crate) fn same_query(left: &Query, right: &Query) -> bool {
    let (old_left, old_right) = (reads::relations(left), reads::relations(right));
    if old_left.len() != old_right.len() {
        return false;
    }
    let relations = old_right.into_iter().zip(old_left).collect();
    let mut right = right.clone();
    rewrite_query(&mut Numbering { relations, ..Numbering::default() }, &mut right);
    *left == right
}
