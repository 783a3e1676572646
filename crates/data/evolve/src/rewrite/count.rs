//! `COUNT(*)` over a table whose rows repeat in its image counts the different keys.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Aggregate, Args, ColumnRef, Expr, From, Owner, Query, Select};
use sqlgauge_sql::visit::{change_exprs, children};

use super::Rewriting;
use crate::step::Image;

/// Looks whether a query reads one table alone and does nothing with its rows but to count them, by groups or together.
pub(super) fn look(rewriting: &mut Rewriting<'_>, query: &Query) {
    let Some(select) = query.as_select() else { return };
    let Some(From::Relation(relation)) = &select.from else { return };
    let Some((_, Image::Distinct { key, .. })) = rewriting.image(relation) else { return };
    let &[key] = key.as_slice() else { return };
    let results = select.outputs.iter().map(|output| &output.expr).chain(&select.having);
    let all = || results.clone().chain(query.order_by.iter().map(|term| &term.expr));
    if all().any(counts) && all().all(only_counts) {
        rewriting.counted.insert(relation.id, key);
        rewriting.used.entry(relation.id).or_default().insert(key);
    }
}

/// Rows of such a table may repeat, once [`finish`] is done.
pub(super) fn prepare(rewriting: &mut Rewriting<'_>, select: &mut Select, from: &From) {
    let From::Relation(relation) = from else { return };
    if let Some(&key) = rewriting.counted.get(&relation.id) {
        rewriting.repeatable.insert(relation.id);
        let column = ColumnRef::at(relation.id, key);
        select.outputs.iter_mut().for_each(|output| count_different(&mut output.expr, column));
        select.having.iter_mut().for_each(|having| count_different(having, column));
    }
}

/// The counts in ORDER BY, which stands outside of the SELECT.
pub(super) fn finish(rewriting: &mut Rewriting<'_>, query: &mut Query) {
    let Some(Some(From::Relation(relation))) = query.as_select().map(|select| &select.from) else { return };
    let Some(&key) = rewriting.counted.get(&relation.id) else { return };
    let column = ColumnRef::at(relation.id, key);
    query.order_by.iter_mut().for_each(|term| count_different(&mut term.expr, column));
}

fn is_count(aggregate: &Aggregate) -> bool {
    aggregate.function == Function::Count
        && aggregate.args == Args::Star
        && aggregate.is_plain()
        && aggregate.owner == Owner::HERE
}

fn counts(expr: &Expr) -> bool {
    let mut has_count = matches!(expr, Expr::Aggregate(aggregate) if is_count(aggregate));
    children(expr, &mut |child| has_count = has_count || counts(child));
    has_count
}

/// No aggregate but counts of rows, minima, maxima and those of DISTINCT values; no window and no subquery.
fn only_counts(expr: &Expr) -> bool {
    let mut fits = match expr {
        Expr::Aggregate(aggregate) => {
            let ignores = aggregate.distinct || matches!(aggregate.function, Function::Min | Function::Max);
            is_count(aggregate) || ignores
        }
        Expr::Window(_) | Expr::Scalar(_) | Expr::Exists { .. } | Expr::InQuery { .. } => false,
        _ => true,
    };
    children(expr, &mut |child| fits = fits && only_counts(child));
    fits
}

fn count_different(expr: &mut Expr, column: ColumnRef) {
    change_exprs(expr, |expr| {
        if let Expr::Aggregate(aggregate) = expr
            && is_count(aggregate)
        {
            aggregate.args = Args::List(vec![Expr::Column(column)]);
            aggregate.distinct = true;
        }
    });
}
