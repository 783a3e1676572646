//! Leaves out the condition that a row of a new table belongs to an old one, where the query implies it.
//!
//! # Contract
//! In a row of a merged table that is none of the old table's, all columns that were that table's are NULL. The condition that
//! one of them is not goes where another condition on the same rows can only be true if one of them is not NULL, and where
//! the rows are only aggregated, without groups, and every aggregate passes over a row in which they are NULL. Conditions that
//! the gold had itself stay, but for one that a condition of ours repeats.

use std::collections::HashMap;

use sqlgauge_base::budget;
use sqlgauge_sql::canonical::{conjunction, conjuncts_of};
use sqlgauge_sql::derive::{has_aggregate, is_null_with, rejects_null};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Aggregate, Args, Body, ColumnRef, Expr, From, JoinKind, Owner, RelationId, Select};
use sqlgauge_sql::visit::{Rewriter, children};

use super::Rewriting;
use crate::step::Projection;

impl Rewriting<'_> {
    /// The condition that a row of the new table is a row of this one.
    pub(super) fn present(&mut self, projection: &Projection, row: RelationId) -> Option<Expr> {
        let tested = ColumnRef::at(row, projection.present?);
        let positions = (0..).zip(&projection.columns).filter_map(|(at, _)| projection.plain(at));
        self.presences.0.insert(tested, positions.map(|at| ColumnRef::at(row, at)).collect());
        Some(Expr::IsNull { expr: Box::new(self.new_column(tested)), negated: true })
    }
}

/// The columns that are tested, with all that are NULL together.
#[derive(Default)]
pub(super) struct Presences(HashMap<ColumnRef, Vec<ColumnRef>>);

impl Rewriter for Presences {
    fn body(&mut self, body: &mut Body) {
        if self.0.is_empty() {
            return;
        }
        if let Body::Select(select) = body {
            self.select(select);
        }
    }
}

impl Presences {
    fn select(&self, select: &mut Select) {
        if let Some(from) = &mut select.from {
            self.outer_joins(from);
        }
        let Some(filter) = select.filter.take() else { return };
        let of_joins = sqlgauge_sql::derive::conjuncts(select);
        let filter = self.without_implied(filter, &of_joins);
        select.filter = filter.and_then(|filter| self.without_unseen(filter, select));
    }

    /// Less the conditions that leave out rows which no result would see.
    fn without_unseen(&self, filter: Expr, select: &Select) -> Option<Expr> {
        let mut all = conjuncts_of(filter);
        all.retain(|condition| {
            !self.together_with(condition).is_some_and(|columns| passes_over(select, columns))
        });
        conjunction(all)
    }

    /// ON of an outer join says nothing of the rows that the join keeps, and is by itself.
    fn outer_joins(&self, from: &mut From) {
        let From::Join(join) = from else { return };
        if !matches!(join.kind, JoinKind::Inner | JoinKind::Cross) {
            join.on = join.on.take().and_then(|on| self.without_implied(on, &[]));
        }
        self.outer_joins(&mut join.left);
        self.outer_joins(&mut join.right);
    }

    fn without_implied(&self, clause: Expr, neighbours: &[&Expr]) -> Option<Expr> {
        let mut all = conjuncts_of(clause);
        let mut at = 0;
        while at < all.len() {
            let is_implied = self.together_with(&all[at]).is_some_and(|columns| {
                budget::spend((all.len() + neighbours.len()).saturating_mul(columns.len()));
                let others = all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, expr)| expr);
                let mut others = others.chain(neighbours.iter().copied());
                others.any(|other| rejects_nulls(other, columns))
            });
            if is_implied {
                all.remove(at);
            } else {
                at += 1;
            }
        }
        conjunction(all)
    }

    /// The columns that are NULL together with the one that the condition tests.
    fn together_with(&self, condition: &Expr) -> Option<&[ColumnRef]> {
        let Expr::IsNull { expr, negated: true } = condition else { return None };
        let Expr::Column(tested) = &**expr else { return None };
        self.0.get(tested).map(Vec::as_slice)
    }
}

/// Whether the condition can only be true if one of the columns is not NULL.
fn rejects_nulls(condition: &Expr, columns: &[ColumnRef]) -> bool {
    match condition {
        Expr::And(list) => list.iter().any(|operand| rejects_nulls(operand, columns)),
        Expr::Or(list) => !list.is_empty() && list.iter().all(|operand| rejects_nulls(operand, columns)),
        other => columns.iter().any(|column| rejects_null(other, *column)),
    }
}

/// Whether the results are the same with and without rows in which the columns are NULL.
fn passes_over(select: &Select, columns: &[ColumnRef]) -> bool {
    let mut results = select.outputs.iter().map(|output| &output.expr).chain(&select.having);
    select.group_by.is_empty()
        && select.outputs.iter().any(|output| has_aggregate(&output.expr))
        && results.all(|result| sees_none(result, columns))
}

/// Whether the expression reads rows by aggregates only, and those pass over rows in which the columns are NULL.
fn sees_none(expr: &Expr, columns: &[ColumnRef]) -> bool {
    match expr {
        Expr::Aggregate(aggregate) => skips(aggregate, columns),
        Expr::Column(_) | Expr::Window(_) | Expr::Scalar(_) | Expr::Exists { .. } | Expr::InQuery { .. } => {
            false
        }
        other => {
            let mut fits = true;
            children(other, &mut |child| fits = fits && sees_none(child, columns));
            fits
        }
    }
}

fn skips(aggregate: &Aggregate, columns: &[ColumnRef]) -> bool {
    use Function::{Avg, Count, GroupConcat, Max, Min, Sum, Total};
    let Args::List(args) = &aggregate.args else { return false };
    let ignores_null = matches!(aggregate.function, Count | Sum | Total | Avg | Min | Max | GroupConcat);
    budget::spend(columns.len());
    let is_null = |arg: &Expr| columns.iter().any(|column| is_null_with(arg, *column));
    ignores_null && aggregate.owner == Owner::HERE && args.first().is_some_and(is_null)
}
