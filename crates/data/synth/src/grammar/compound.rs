//! Set operations: two SELECTs of the same columns under different conditions.

use sqlgauge_sql::tree::{Body, Expr, Output, Select, SetOperator};
use sqlgauge_sql::visit::change_exprs;

use super::draft::{Draft, Form, Nest};
use super::{FromRelation, Grammar, conjunction};
use crate::world::ContentKind;

impl Grammar<'_> {
    /// The body of a set operation; the left side has all the levels.
    pub(super) fn compound(
        &mut self,
        operator: SetOperator,
        all: bool,
        levels: usize,
        draft: &mut Draft,
    ) -> Option<Body> {
        let mut left = draft.clone();
        (left.form, left.distinct, left.ordered, left.limited) = (Form::List, false, false, false);
        // One thing of one table, asked for twice; what is among both is what rows share.
        (left.outputs, left.joins, left.special) = (1, 0, None);
        left.conditions = 1;
        left.shared = operator == SetOperator::Intersect;
        left.nest = draft.nest.map(|nest| match nest {
            Nest::Having | Nest::Output | Nest::Derived | Nest::With => Nest::In,
            other => other,
        });
        let (selection, scope) = self.select(&mut left, levels)?;
        draft.wanted = left.wanted.clone();
        let right = self.same_columns(&selection.facets, &scope, draft, operator)?;
        if says_twice(&selection.select, &right) {
            return None;
        }
        let (left, right) = (Body::Select(Box::new(selection.select)), Body::Select(Box::new(right)));
        Some(Body::SetOperation { operator, all, left: Box::new(left), right: Box::new(right) })
    }

    /// A SELECT of the same columns over the same tables, joined in the same way, under other conditions.
    fn same_columns(
        &mut self,
        facets: &[super::Facet],
        scope: &[FromRelation],
        draft: &mut Draft,
        operator: SetOperator,
    ) -> Option<Select> {
        let sources: Vec<(usize, u32)> = facets.iter().map(|facet| facet.source).collect::<Option<_>>()?;
        if facets.iter().any(|facet| facet.kind == ContentKind::Other) {
            return None;
        }
        let &(table, _) = sources.first()?;
        let mut joins = Draft { joins: 0, special: None, ..draft.clone() };
        joins.conditions = 1;
        // All columns of one table need no join.
        let single = sources.iter().all(|&(other, _)| other == table);
        let (from, mut bounds) = if single {
            let (from, bound) = self.table(table);
            (from, vec![bound])
        } else {
            return None;
        };
        // What is in both sides must hold on one row; what is taken away must not be all.
        if operator == SetOperator::Intersect
            && let Some(bound) = scope.iter().find(|bound| bound.table == Some(table))
        {
            bounds[0].row = bound.row;
        }
        let before = std::mem::replace(&mut self.is_of_many, true);
        let conditions = self.conditions(&bounds, &mut joins);
        self.is_of_many = before;
        draft.wanted = joins.wanted;
        let outputs = sources.iter().filter_map(|&(_, column)| bounds[0].facets.get(column as usize));
        let mut select = Select::of(outputs.map(|facet| Output::of(facet.expr())).collect());
        select.from = Some(from);
        select.filter = Some(conjunction(conditions)?);
        Some(select)
    }
}

/// Whether a condition of the one side is one of the other too: "students whose sex is M, together with those whose sex is M".
fn says_twice(left: &Select, right: &Select) -> bool {
    let relation = |select: &Select| match select.outputs.first().map(|output| &output.expr) {
        Some(Expr::Column(column)) => Some(column.relation),
        _ => None,
    };
    let (Some(here), Some(other)) = (relation(left), relation(right)) else { return false };
    let of = |filter: &Option<Expr>| match filter {
        Some(Expr::And(list)) => list.clone(),
        filter => filter.iter().cloned().collect(),
    };
    let mut conditions = of(&left.filter);
    for condition in &mut conditions {
        change_exprs(condition, |expr| match expr {
            Expr::Column(column) if column.relation == here => column.relation = other,
            _ => {}
        });
    }
    of(&right.filter).iter().any(|condition| conditions.contains(condition))
}
