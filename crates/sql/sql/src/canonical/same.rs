//! Columns that are one: the columns of one name that an inner join compares.
//!
//! `paper.venue_id = visit.venue_id`: in each row both have the same value, and a sentence says "the venue id" and not of
//! which table. The canonical form names the column of the earlier relation only.

use crate::schema::{Affinity, Collation, Column, Schema};
use crate::tree::{BinaryOperator, ColumnRef, Expr, From, Place, RelationSource, Select};
use crate::visit::children_mut;

use super::conjuncts_of;

/// Pairs of a column and the earlier one that it is the same as.
pub fn same_columns(schema: &Schema, from: &From) -> Vec<(ColumnRef, ColumnRef)> {
    let mut pairs = Vec::new();
    if from.is_inner() {
        collect(schema, from, from, &mut pairs);
    }
    pairs
}

fn collect(schema: &Schema, whole: &From, from: &From, pairs: &mut Vec<(ColumnRef, ColumnRef)>) {
    let From::Join(join) = from else { return };
    collect(schema, whole, &join.left, pairs);
    collect(schema, whole, &join.right, pairs);
    let right: Vec<_> = join.right.relations().iter().map(|relation| relation.id).collect();
    for condition in join.on.iter().cloned().flat_map(conjuncts_of) {
        let Expr::Binary(BinaryOperator::Equal, one, other) = &condition else { continue };
        let (Expr::Column(one), Expr::Column(other)) = (&**one, &**other) else { continue };
        let (earlier, later) = if right.contains(&one.relation) { (*other, *one) } else { (*one, *other) };
        let is_across = right.contains(&later.relation) && !right.contains(&earlier.relation);
        let (Some(first), Some(second)) = (column(schema, whole, earlier), column(schema, whole, later))
        else {
            continue;
        };
        if is_across && are_same(first, second) && pairs.iter().all(|(column, _)| *column != later) {
            pairs.push((later, resolved(pairs, earlier)));
        }
    }
}

/// The column of a table that a reference names.
fn column<'s>(schema: &'s Schema, from: &From, of: ColumnRef) -> Option<&'s Column> {
    let relations = from.relations();
    let relation = relations.iter().find(|relation| relation.id == of.relation)?;
    let (RelationSource::Table(id), Place::At(at)) = (&relation.source, of.column) else { return None };
    schema.table(*id)?.column(at)
}

/// Whether equal values of two columns are one value, and the columns have one name.
fn are_same(left: &Column, right: &Column) -> bool {
    // A REAL may be 0.0 and -0.0, a column without affinity 1 and 1.0.
    let keeps_values = matches!(left.affinity, Affinity::Integer | Affinity::Numeric | Affinity::Text);
    let is_binary = |column: &Column| column.collation == Collation::Binary;
    left.name.eq_ignore_ascii_case(&right.name)
        && left.affinity == right.affinity
        && keeps_values
        && is_binary(left)
        && is_binary(right)
}

fn resolved(same: &[(ColumnRef, ColumnRef)], column: ColumnRef) -> ColumnRef {
    same.iter().find(|(member, _)| *member == column).map_or(column, |(_, first)| *first)
}

/// Replaces each column by the earlier one that is the same; subqueries stay.
pub(super) fn replace(same: &[(ColumnRef, ColumnRef)], expr: &mut Expr) {
    if let Expr::Column(column) = expr {
        *column = resolved(same, *column);
    }
    children_mut(expr, &mut |inner| replace(same, inner));
}

/// The same in what a SELECT shows, filters and groups by.
pub(super) fn replace_in(same: &[(ColumnRef, ColumnRef)], select: &mut Select) {
    let Select { filter, group_by, having, outputs, .. } = select;
    let outputs = outputs.iter_mut().map(|output| &mut output.expr);
    let all = outputs.chain(filter).chain(group_by).chain(having);
    all.for_each(|expr| replace(same, expr));
}
