//! A single SELECT.

use sqlgauge_sql::derive::is_aggregate_select;
use sqlgauge_sql::tree::{Body, Expr, Literal, Output, Query, Select};

use super::Printer;
use super::look_ahead::looks_ahead;
use super::query::Wanted;
use super::shape::Place;
use crate::refused::{Construct, Refused};
use crate::types::Type;

impl Printer<'_> {
    /// `order` is what the query around sorts by; `types` are those of the columns of the compound around.
    pub(super) fn select(
        &mut self,
        select: &Select,
        order: &[&Expr],
        wanted: &Wanted<'_>,
        types: &[Type],
    ) -> Result<String, Refused> {
        let around = (self.place, self.of_extremum.over_groups);
        let text = self.clauses(select, order, wanted, types);
        (self.place, self.of_extremum.over_groups) = around;
        text
    }

    fn clauses(
        &mut self,
        select: &Select,
        order: &[&Expr],
        wanted: &Wanted<'_>,
        types: &[Type],
    ) -> Result<String, Refused> {
        let is_aggregate = is_aggregate_select(select);
        let groups = if is_aggregate { self.groups(select, order)? } else { Vec::new() };
        self.place = Place::Result;
        self.of_extremum.over_groups = is_aggregate;
        let mut text = String::from(if select.distinct { "SELECT DISTINCT " } else { "SELECT " });
        if wanted.existence && !is_aggregate && !select.distinct {
            // Of EXISTS SQLite computes no results.
            text.push('1');
        } else {
            let around = std::mem::replace(&mut self.in_results, !select.distinct && types.is_empty());
            let outputs = self.outputs(select, wanted.columns, types);
            self.in_results = around;
            text.push_str(&outputs?);
        }
        self.of_extremum.over_groups = false;
        match &select.from {
            Some(from) => {
                if looks_ahead(from) {
                    return Err(self.refuse(Construct::JoinCondition, "ON that reads a table further right"));
                }
                text.push_str(" FROM ");
                text.push_str(&self.from(from)?);
            }
            None => text.push_str(self.dialect.from_nothing),
        }
        if let Some(filter) = &select.filter {
            self.place = Place::Filter;
            text.push_str(" WHERE ");
            text.push_str(&self.condition(filter)?.text);
        }
        if !groups.is_empty() {
            self.place = Place::Group;
            let mut terms = Vec::new();
            for group in &groups {
                self.check_bytes(group)?;
                terms.push(self.value(group)?.text);
            }
            text.push_str(" GROUP BY ");
            text.push_str(&terms.join(", "));
        }
        if let Some(having) = &select.having {
            self.place = Place::Filter;
            self.of_extremum.over_groups = true;
            text.push_str(" HAVING ");
            text.push_str(&self.condition(having)?.text);
        }
        Ok(text)
    }

    fn outputs(
        &mut self,
        select: &Select,
        columns: Option<&[String]>,
        types: &[Type],
    ) -> Result<String, Refused> {
        let mut outputs = Vec::new();
        for (place, output) in select.outputs.iter().enumerate() {
            if select.distinct {
                self.check_bytes(&output.expr)?;
            }
            let of = types.get(place).copied().unwrap_or_else(|| self.types.of(&output.expr));
            // A column of NULLs has to have some type where others read it.
            let of = if of == Type::Null && columns.is_some() { Type::Integer } else { of };
            let value = self.value_as(&output.expr, of)?.text;
            let name = match columns {
                Some(columns) => columns.get(place).cloned(),
                None => output.alias.clone(),
            };
            outputs.push(match name {
                Some(name) => format!("{value} AS {}", self.quoted(&name)?),
                None => value,
            });
        }
        if outputs.is_empty() {
            return Err(self.refuse(Construct::Tree, "a SELECT without results"));
        }
        Ok(outputs.join(", "))
    }

    /// A value where that type is wanted: NULL says which one it has.
    pub(super) fn value_as(&mut self, expr: &Expr, of: Type) -> super::Printed {
        let is_null = matches!(expr, Expr::Literal(Literal::Null));
        match self.dialect.types.of(of) {
            Some(name) if is_null => Ok(super::Piece::atom(format!("CAST(NULL AS {name})"))),
            _ => self.value(expr),
        }
    }
}

/// The results of a query that is one SELECT.
pub(super) fn only_output(query: &Query) -> Option<&Output> {
    match &query.body {
        Body::Select(select) => select.outputs.first(),
        Body::SetOperation { .. } | Body::Values(_) => None,
    }
}
