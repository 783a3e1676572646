//! ORDER BY.

use sqlgauge_sql::derive::{collect_columns, has_subquery, has_window};
use sqlgauge_sql::tree::{Body, Expr, OrderTerm, Query, Select};

use super::limit::Part;
use super::query::Wanted;
use super::{Level, Piece, Printer, fill};
use crate::dialect::{LimitSyntax, Nulls};
use crate::refused::{Construct, Refused};
use crate::types::Type;

/// What a query is sorted by.
enum Key<'q> {
    /// The result column at that place.
    Output(usize),
    Value(&'q Expr),
}

impl Printer<'_> {
    /// Whether the query must be sorted or cut from outside, since its own ORDER BY can only name result columns, and the
    /// dialect wants more of them than their names.
    pub(super) fn must_wrap(&self, query: &Query, is_sorted: bool, is_cut: bool, types: &[Type]) -> bool {
        let select = query.as_select();
        if select.is_none() && is_cut && self.dialect.limits == LimitSyntax::Top {
            return true;
        }
        if !is_sorted || !select.is_none_or(|select| select.distinct) {
            return false;
        }
        query.order_by.iter().any(|term| {
            let Ok(Key::Output(place)) = self.key(query, &term.expr) else { return false };
            let is_text = types.get(place) == Some(&Type::Text);
            let says_more = is_text && self.dialect.templates.text_order != "{0}";
            says_more || self.null_marker(term, true).is_some()
        })
    }

    /// `SELECT columns FROM (body) ORDER BY columns LIMIT part`, with the first `width` columns of the body.
    pub(super) fn wrapped(
        &mut self,
        query: &Query,
        wanted: &Wanted<'_>,
        part: Option<Part>,
        is_sorted: bool,
        types: &[Type],
        width: usize,
    ) -> Result<String, Refused> {
        let columns = column_names(wanted.columns, types.len());
        let wanted = Wanted { columns: Some(&columns), ..Wanted::default() };
        let body = self.body_of(query, is_sorted, &wanted)?;
        let alias = self.quoted("q")?;
        let mut outputs = Vec::new();
        for column in &columns {
            outputs.push(format!("{alias}.{}", self.quoted(column)?));
        }
        let mut terms = Vec::new();
        for term in query.order_by.iter().filter(|_| is_sorted) {
            let Key::Output(place) = self.key(query, &term.expr)? else {
                return Err(self.outside_distinct());
            };
            let column = outputs.get(place).ok_or_else(|| self.refuse(Construct::Tree, "a result column"))?;
            let of = types.get(place).copied().unwrap_or(Type::Mixed);
            terms.push(self.term(&Piece::atom(column.clone()), of, term, true, true)?);
        }
        let order = if terms.is_empty() { String::new() } else { format!(" ORDER BY {}", terms.join(", ")) };
        outputs.truncate(width);
        let from = format!("SELECT {} FROM ({body}){}{alias}", outputs.join(", "), self.dialect.alias);
        self.limited(&from, &order, part)
    }

    /// ORDER BY of a query, with a blank before it; nothing where only constants are sorted by.
    pub(super) fn order_of(&mut self, query: &Query) -> Result<String, Refused> {
        let over_groups = std::mem::replace(&mut self.of_extremum.over_groups, true);
        let printed = self.order_terms_of(query);
        self.of_extremum.over_groups = over_groups;
        let terms = printed?;
        Ok(if terms.is_empty() { String::new() } else { format!(" ORDER BY {}", terms.join(", ")) })
    }

    fn order_terms_of(&mut self, query: &Query) -> Result<Vec<String>, Refused> {
        let mut terms = Vec::new();
        for term in &query.order_by {
            match (self.key(query, &term.expr)?, query.as_select()) {
                (Key::Output(place), Some(select)) if !select.distinct => {
                    if let Some(output) = select.outputs.get(place) {
                        terms.extend(self.select_term(select, &output.expr, Some(place), term)?);
                    }
                }
                (Key::Output(place), select) => {
                    let is_nullable = select.is_none_or(|select| {
                        let output = select.outputs.get(place);
                        output.is_none_or(|output| self.facts.output_may_be_null(select, &output.expr))
                    });
                    self.check_output(&query.body, place)?;
                    terms.push(self.term(&number(place), Type::Null, term, is_nullable, false)?);
                }
                (Key::Value(expr), Some(select)) => {
                    terms.extend(self.select_term(select, expr, None, term)?);
                }
                (Key::Value(_), None) => return Err(self.outside_distinct()),
            }
        }
        Ok(terms)
    }

    fn select_term(
        &mut self,
        select: &Select,
        expr: &Expr,
        place: Option<usize>,
        term: &OrderTerm,
    ) -> Result<Option<String>, Refused> {
        if is_constant(expr) {
            return Ok(None);
        }
        self.check_bytes(expr)?;
        let is_nullable = self.facts.output_may_be_null(select, expr);
        let is_long = has_subquery(expr) || has_window(expr);
        let of = self.types.of(expr);
        if let Some(place) = place.filter(|_| is_long && of != Type::Text && !self.marks(term, is_nullable)) {
            return self.term(&number(place), of, term, is_nullable, false).map(Some);
        }
        let value = self.value(expr)?;
        self.term(&value, of, term, is_nullable, true).map(Some)
    }

    /// The terms of a window or an aggregate, which sorts rows and no results.
    pub(super) fn order_terms(&mut self, terms: &[OrderTerm]) -> Result<String, Refused> {
        let mut printed = Vec::new();
        for term in terms.iter().filter(|term| !is_constant(&term.expr)) {
            self.check_bytes(&term.expr)?;
            let (value, of) = (self.value(&term.expr)?, self.types.of(&term.expr));
            let is_nullable = self.facts.is_nullable(&term.expr);
            printed.push(self.term(&value, of, term, is_nullable, true)?);
        }
        Ok(printed.join(", "))
    }

    fn check_output(&self, body: &Body, place: usize) -> Result<(), Refused> {
        match body.first_select().and_then(|select| select.outputs.get(place)) {
            Some(output) => self.check_bytes(&output.expr),
            None => Ok(()),
        }
    }

    /// One term: what is sorted by, its direction, and NULLs where they are not where the dialect puts them.
    fn term(
        &self,
        value: &Piece,
        of: Type,
        term: &OrderTerm,
        is_nullable: bool,
        is_value: bool,
    ) -> Result<String, Refused> {
        let sorted =
            if of == Type::Text { fill(self.dialect.templates.text_order, &[value]) } else { value.clone() };
        let direction = if term.descending { " DESC" } else { "" };
        let marker = self.null_marker(term, is_nullable);
        let sorted = sorted.at(Level::Or);
        match marker {
            None => Ok(format!("{sorted}{direction}")),
            Some(first) if self.dialect.has_nulls_order => {
                Ok(format!("{sorted}{direction} NULLS {}", if first { "FIRST" } else { "LAST" }))
            }
            Some(first) if is_value => {
                let (null, other) = if first { (0, 1) } else { (1, 0) };
                let is_null = value.at(Level::Other);
                Ok(format!("CASE WHEN {is_null} IS NULL THEN {null} ELSE {other} END, {sorted}{direction}"))
            }
            Some(_) => Err(self.refuse(Construct::NullsOrder, "NULLS FIRST or NULLS LAST")),
        }
    }

    fn marks(&self, term: &OrderTerm, is_nullable: bool) -> bool {
        !self.dialect.has_nulls_order && self.null_marker(term, is_nullable).is_some()
    }

    /// Whether NULLs are to stand first, where the dialect must be told.
    fn null_marker(&self, term: &OrderTerm, is_nullable: bool) -> Option<bool> {
        let first = term.nulls_first.unwrap_or(!term.descending);
        let by_itself = match self.dialect.nulls {
            Nulls::Smallest => !term.descending,
            Nulls::Largest => term.descending,
            Nulls::Last => false,
        };
        (is_nullable && first != by_itself).then_some(first)
    }

    fn key<'q>(&self, query: &Query, expr: &'q Expr) -> Result<Key<'q>, Refused> {
        match expr {
            Expr::Output(place) => Ok(Key::Output(*place as usize)),
            Expr::Collate { expr: inner, collation } if query.as_select().is_none() => {
                if collation == "BINARY" {
                    return self.key(query, inner);
                }
                Err(self.refuse(Construct::Collation, collation.clone()))
            }
            other => match query.as_select() {
                Some(select) if select.distinct && !is_constant(other) => {
                    let place = select.outputs.iter().position(|output| output.expr == *other);
                    place.map(Key::Output).ok_or_else(|| self.outside_distinct())
                }
                _ => Ok(Key::Value(other)),
            },
        }
    }

    fn outside_distinct(&self) -> Refused {
        self.refuse(Construct::OrderOutsideDistinct, "a key that is no result")
    }
}

/// Names for the columns of a derived table: those that are wanted, and for what is beyond them others.
fn column_names(wanted: Option<&[String]>, count: usize) -> Vec<String> {
    let mut names = wanted.unwrap_or_default().to_vec();
    let mut number = 0_usize;
    while names.len() < count {
        number += 1;
        let name = format!("c{number}");
        if !names.iter().any(|earlier| earlier.eq_ignore_ascii_case(&name)) {
            names.push(name);
        }
    }
    names
}

fn number(place: usize) -> Piece {
    Piece::atom((place + 1).to_string())
}

/// Whether the expression has one value for all rows, so that it neither sorts nor groups them.
pub(super) fn is_constant(expr: &Expr) -> bool {
    if has_subquery(expr) || has_window(expr) || has_call(expr) {
        return false;
    }
    let mut columns = Vec::new();
    collect_columns(expr, &mut columns);
    columns.is_empty() && !matches!(expr, Expr::Output(_))
}

fn has_call(expr: &Expr) -> bool {
    if let Some((function, args)) = expr.called() {
        return !matches!(expr, Expr::Function { .. }) || !function.is_deterministic(args);
    }
    let mut any = false;
    sqlgauge_sql::visit::children(expr, &mut |child| any = any || has_call(child));
    any
}
