//! Columns beside aggregates.
//!
//! SQLite takes a column that stands beside an aggregate from some row of the group. Where all rows of a group have the
//! same value in it, the column can be grouped by as well. Beside one MIN or MAX, and no other, SQLite takes all such columns
//! from a row that has the extremum (<https://sqlite.org/lang_select.html#bareagg>): of several such rows from any one, and of
//! a group whose values are all NULL from any row. Here that is the first one in the order of the extremum and then of the
//! columns themselves, so that all of them are of the same row. Elsewhere no other engine gives what SQLite does.

use std::collections::HashMap;

use sqlgauge_sql::derive::{Dependencies, has_subquery};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{Aggregate, ColumnRef, Expr, From, OrderTerm, Query, RelationId, Select};
use sqlgauge_sql::visit::children;

use super::order::is_constant;
use super::shape::Place;
use super::{Piece, Printer, fill};
use crate::refused::{Construct, Refused};

/// The columns that SQLite takes from the row of the one MIN or MAX beside them.
#[derive(Default)]
pub(super) struct OfExtremum {
    pieces: HashMap<ColumnRef, Piece>,
    /// What is printed is computed of groups, and not of rows.
    pub(super) over_groups: bool,
}

impl OfExtremum {
    /// How the column is said where it stands for a group.
    pub(super) fn piece(&self, column: ColumnRef) -> Option<&Piece> {
        self.pieces.get(&column).filter(|_| self.over_groups)
    }
}

impl Printer<'_> {
    /// The terms of GROUP BY: those of the query without constants, and the columns that they determine.
    pub(super) fn groups(&mut self, select: &Select, order: &[&Expr]) -> Result<Vec<Expr>, Refused> {
        let mut groups: Vec<Expr> = Vec::new();
        for term in &select.group_by {
            if !is_constant(term) && !groups.contains(term) {
                groups.push(term.clone());
            }
        }
        if groups.is_empty() && !select.group_by.is_empty() {
            return Err(self.refuse(Construct::ConstantGroup, "GROUP BY of a constant"));
        }
        let mut bare = Bare::new(own_relations(select), &groups);
        let outputs = select.outputs.iter().map(|output| &output.expr);
        let order = order.iter().copied().filter(|expr| !matches!(expr, Expr::Output(_)));
        outputs.chain(&select.having).chain(order).for_each(|expr| bare.look_at(expr));
        let mut bare = bare.result;
        if bare.columns.is_empty() {
            return Ok(groups);
        }
        let closure = Dependencies::of(select, &self.facts).closure(&groups);
        let (determined, open): (Vec<_>, Vec<_>) =
            bare.columns.into_iter().partition(|column| !groups.is_empty() && closure.contains(*column));
        bare.columns = open;
        self.take_from_extremum(&bare, &groups)?;
        groups.extend(determined.into_iter().map(Expr::Column));
        Ok(groups)
    }

    /// Remembers how the columns are said which SQLite takes from the row of the one MIN or MAX.
    fn take_from_extremum(&mut self, bare: &BareColumns, groups: &[Expr]) -> Result<(), Refused> {
        let Some(&first) = bare.columns.first() else { return Ok(()) };
        let (Some((extremum, arg)), Some(template)) =
            (bare.extremum(groups), self.dialect.templates.of_first_row)
        else {
            let name = self.names.column(first).unwrap_or_default();
            return Err(self.refuse(Construct::BareColumn, format!("the column {name}")));
        };
        let descending = extremum.function == Function::Max;
        let mut terms = vec![OrderTerm { expr: arg.clone(), descending, nulls_first: Some(false) }];
        let tie = |&column: &ColumnRef| OrderTerm {
            expr: Expr::Column(column),
            descending: false,
            nulls_first: None,
        };
        terms.extend(bare.columns.iter().map(tie));
        let around = std::mem::replace(&mut self.place, Place::Group);
        let order = self.order_terms(&terms);
        self.place = around;
        let order = Piece::atom(order?);
        for &column in &bare.columns {
            let value = self.value(&Expr::Column(column))?;
            self.of_extremum.pieces.insert(column, fill(template, &[&value, &order]));
        }
        Ok(())
    }
}

fn own_relations(select: &Select) -> Vec<RelationId> {
    select.from.iter().flat_map(From::relations).map(|relation| relation.id).collect()
}

/// What stands outside of aggregates and of what is grouped by.
#[derive(Default)]
struct BareColumns {
    columns: Vec<ColumnRef>,
    /// One of them stands in a subquery, or beside a window function.
    is_out_of_reach: bool,
    /// MIN and MAX, each once.
    extrema: Vec<Aggregate>,
}

impl BareColumns {
    /// The one MIN or MAX whose row SQLite takes the columns from, and its argument.
    fn extremum(&self, groups: &[Expr]) -> Option<(&Aggregate, &Expr)> {
        let [extremum] = self.extrema.as_slice() else { return None };
        let arg = extremum.args.as_slice().first()?;
        let is_plain = !extremum.distinct && extremum.filter.is_none() && extremum.order_by.is_empty();
        // A group term that is no column may be computed from them, and is not to be computed from one row instead.
        let is_grouped = groups.iter().all(|group| matches!(group, Expr::Column(_)));
        (is_plain && is_grouped && !has_subquery(arg) && !self.is_out_of_reach).then_some((extremum, arg))
    }
}

struct Bare<'g> {
    relations: Vec<RelationId>,
    groups: &'g [Expr],
    result: BareColumns,
}

impl<'g> Bare<'g> {
    fn new(relations: Vec<RelationId>, groups: &'g [Expr]) -> Self {
        Self { relations, groups, result: BareColumns::default() }
    }

    fn look_at(&mut self, expr: &Expr) {
        if self.groups.contains(expr) {
            return;
        }
        match expr {
            Expr::Aggregate(aggregate) => {
                let is_extremum = matches!(aggregate.function, Function::Min | Function::Max);
                if is_extremum && !self.result.extrema.contains(aggregate) {
                    self.result.extrema.push((**aggregate).clone());
                }
            }
            Expr::Column(column) => self.add(*column),
            Expr::Scalar(query) | Expr::Exists { query, .. } => self.inside(query),
            Expr::InQuery { expr, query, .. } => {
                self.look_at(expr);
                self.inside(query);
            }
            other => {
                self.result.is_out_of_reach |= matches!(other, Expr::Window(_));
                let mut parts = Vec::new();
                children(other, &mut |child| parts.push(child));
                parts.into_iter().for_each(|part| self.look_at(part));
            }
        }
    }

    fn is_bare(&self, column: ColumnRef) -> bool {
        self.relations.contains(&column.relation) && !self.groups.contains(&Expr::Column(column))
    }

    fn add(&mut self, column: ColumnRef) {
        if self.is_bare(column) && !self.result.columns.contains(&column) {
            self.result.columns.push(column);
        }
    }

    /// A subquery may read columns of the groups around it.
    fn inside(&mut self, query: &Query) {
        for column in reads::columns(query) {
            self.result.is_out_of_reach |= self.is_bare(column);
            self.add(column);
        }
    }
}
