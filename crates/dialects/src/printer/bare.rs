//! Columns beside aggregates.
//!
//! SQLite takes a column that stands beside an aggregate from some row of the group. Where all rows of a group have the
//! same value in it, the column can be grouped by as well; elsewhere no other engine gives what SQLite does.

use sqlgauge_sql::derive::Dependencies;
use sqlgauge_sql::tree::{ColumnRef, Expr, From, Query, RelationId, Select};
use sqlgauge_sql::visit::{Visitor, children, walk_query};

use super::Printer;
use super::order::is_constant;
use crate::refused::{Construct, Refused};

impl Printer<'_> {
    /// The terms of GROUP BY: those of the query without constants, and the columns that they determine.
    pub(super) fn groups(&self, select: &Select, order: &[&Expr]) -> Result<Vec<Expr>, Refused> {
        let mut groups: Vec<Expr> = Vec::new();
        for term in &select.group_by {
            if !is_constant(term) && !groups.contains(term) {
                groups.push(term.clone());
            }
        }
        if groups.is_empty() && !select.group_by.is_empty() {
            return Err(self.refuse(Construct::ConstantGroup, "GROUP BY of a constant"));
        }
        let mut bare = Bare { own: own_relations(select), groups: &groups, found: Vec::new() };
        let outputs = select.outputs.iter().map(|output| &output.expr);
        let order = order.iter().copied().filter(|expr| !matches!(expr, Expr::Output(_)));
        outputs.chain(&select.having).chain(order).for_each(|expr| bare.look_at(expr));
        let found = bare.found;
        if found.is_empty() {
            return Ok(groups);
        }
        let dependencies = Dependencies::of(select, &self.facts);
        let closure = dependencies.closure(&groups);
        for column in found {
            if groups.is_empty() || !closure.contains(column) {
                let name = self.names.column(column).unwrap_or_default();
                return Err(self.refuse(Construct::BareColumn, format!("the column {name}")));
            }
            groups.push(Expr::Column(column));
        }
        Ok(groups)
    }
}

fn own_relations(select: &Select) -> Vec<RelationId> {
    select.from.iter().flat_map(From::relations).map(|relation| relation.id).collect()
}

struct Bare<'g> {
    own: Vec<RelationId>,
    groups: &'g [Expr],
    found: Vec<ColumnRef>,
}

impl Bare<'_> {
    /// Looks for columns outside of aggregates and of what is grouped by.
    fn look_at(&mut self, expr: &Expr) {
        if self.groups.contains(expr) {
            return;
        }
        match expr {
            Expr::Aggregate(_) => {}
            Expr::Column(column) => self.add(*column),
            Expr::Scalar(query) | Expr::Exists { query, .. } => self.inside(query),
            Expr::InQuery { expr, query, .. } => {
                self.look_at(expr);
                self.inside(query);
            }
            other => {
                let mut parts = Vec::new();
                children(other, &mut |child| parts.push(child));
                parts.into_iter().for_each(|part| self.look_at(part));
            }
        }
    }

    fn add(&mut self, column: ColumnRef) {
        let is_grouped = self.groups.contains(&Expr::Column(column));
        if self.own.contains(&column.relation) && !is_grouped && !self.found.contains(&column) {
            self.found.push(column);
        }
    }

    /// A subquery may read columns of the groups around it.
    fn inside(&mut self, query: &Query) {
        struct Columns<'b, 'g>(&'b mut Bare<'g>);
        impl Visitor for Columns<'_, '_> {
            fn expr(&mut self, expr: &Expr) {
                if let Expr::Column(column) = expr {
                    self.0.add(*column);
                }
            }
        }
        walk_query(&mut Columns(self), query);
    }
}
