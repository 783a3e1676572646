//! Queries: WITH, compounds, VALUES.

use sqlgauge_sql::reads;
use sqlgauge_sql::tree::{Body, Cte, Expr, Query, SetOperator};

use super::Printer;
use crate::refused::{Construct, Refused};
use crate::types::Type;

/// What those around a query want of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted<'w> {
    pub columns: Option<&'w [String]>,
    /// No more than its first row.
    pub one_row: bool,
    /// It is the statement itself, whose order matters even without LIMIT.
    pub is_whole: bool,
    /// Whether it has rows, and not which.
    pub existence: bool,
}

impl Printer<'_> {
    pub(super) fn query(&mut self, query: &Query, wanted: &Wanted<'_>) -> Result<String, Refused> {
        let around = std::mem::take(&mut self.place);
        let is_outermost = std::mem::replace(&mut self.is_outermost, wanted.is_whole);
        let over_groups = std::mem::replace(&mut self.of_extremum.over_groups, false);
        let text = stacker::maybe_grow(1 << 20, 8 << 20, || self.whole_query(query, wanted));
        self.place = around;
        self.is_outermost = is_outermost;
        self.of_extremum.over_groups = over_groups;
        text
    }

    fn whole_query(&mut self, query: &Query, wanted: &Wanted<'_>) -> Result<String, Refused> {
        let with = self.with(query)?;
        let part = self.part(query, wanted.one_row)?;
        let keeps_order = wanted.is_whole || part.is_some() || wanted.one_row;
        // One row needs no order, be it one that other engines do not take.
        let is_sorted = keeps_order && !query.order_by.is_empty() && !self.has_one_row(query);
        if is_sorted && let Some(extended) = self.with_hidden_keys(query) {
            let types = self.types.of_body(&extended.body);
            let wrapped = self.wrapped(&extended, wanted, part, is_sorted, &types, query.width())?;
            return Ok(format!("{with}{wrapped}"));
        }
        let types = self.types.of_body(&query.body);
        if self.must_wrap(query, is_sorted, part.is_some(), &types) {
            let wrapped = self.wrapped(query, wanted, part, is_sorted, &types, types.len())?;
            return Ok(format!("{with}{wrapped}"));
        }
        let body = self.body_of(query, is_sorted, wanted)?;
        let order = if is_sorted { self.order_of(query)? } else { String::new() };
        Ok(format!("{with}{}", self.limited(&body, &order, part)?))
    }

    pub(super) fn body_of(
        &mut self,
        query: &Query,
        is_sorted: bool,
        wanted: &Wanted<'_>,
    ) -> Result<String, Refused> {
        let order: Vec<&Expr> = query.order_by.iter().filter(|_| is_sorted).map(|term| &term.expr).collect();
        match &query.body {
            Body::Select(select) => self.select(select, &order, wanted, &[]),
            body => {
                let types = self.types.of_body(body);
                if types.contains(&Type::Mixed) {
                    return Err(self.refuse(Construct::MixedTypes, "a column of a set operation"));
                }
                self.body(body, wanted.columns, &types)
            }
        }
    }

    fn with(&mut self, query: &Query) -> Result<String, Refused> {
        if query.ctes.is_empty() {
            return Ok(String::new());
        }
        let is_recursive = query.ctes.iter().any(reads::is_recursive);
        let word = if is_recursive {
            let word = self.dialect.with_recursive;
            self.template(word, Construct::RecursiveQuery, "there is none in this dialect")?
        } else {
            "WITH "
        };
        let mut all = Vec::new();
        for cte in &query.ctes {
            all.push(self.cte(cte)?);
        }
        Ok(format!("{word}{} ", all.join(", ")))
    }

    fn cte(&mut self, cte: &Cte) -> Result<String, Refused> {
        let name = self.name(self.names.cte(cte.id))?;
        let columns = self.names.cte_columns(cte.id).to_vec();
        if !reads::is_recursive(cte) {
            let wanted = Wanted { columns: Some(&columns), ..Wanted::default() };
            return Ok(format!("{name} AS ({})", self.query(&cte.query, &wanted)?));
        }
        self.check_recursion(cte)?;
        let mut listed = Vec::new();
        for column in &columns {
            listed.push(self.quoted(column)?);
        }
        let body = self.query(&cte.query, &Wanted { columns: Some(&columns), ..Wanted::default() })?;
        Ok(format!("{name}({}) AS ({body})", listed.join(", ")))
    }

    /// Recursion is one UNION or UNION ALL whose right operand alone reads the query, once, without LIMIT.
    fn check_recursion(&self, cte: &Cte) -> Result<(), Refused> {
        let refuse = |reason: &str| Err(self.refuse(Construct::RecursiveQuery, reason));
        let query = &cte.query;
        if query.limit.is_some() || query.offset.is_some() || !query.order_by.is_empty() {
            return refuse("it has ORDER BY or LIMIT");
        }
        let Body::SetOperation { operator: SetOperator::Union, left, right, .. } = &query.body else {
            return refuse("it has no UNION");
        };
        match (reads::readings_of_cte(left, cte.id), reads::readings_of_cte(right, cte.id)) {
            (0, 1) => Ok(()),
            _ => refuse("several of its parts read it"),
        }
    }

    /// A part of a compound, or a compound.
    fn body(&mut self, body: &Body, columns: Option<&[String]>, types: &[Type]) -> Result<String, Refused> {
        stacker::maybe_grow(1 << 20, 8 << 20, || match body {
            Body::Select(select) => self.select(select, &[], &Wanted { columns, ..Wanted::default() }, types),
            Body::Values(rows) => self.rows(rows, columns, types),
            Body::SetOperation { operator, all, left, right } => {
                self.check_told_apart(*operator, *all, left)?;
                self.check_told_apart(*operator, *all, right)?;
                let left_text = self.body(left, columns, types)?;
                let left_text = self.operand(left_text, is_alike(left, *operator, *all))?;
                let right_text = self.body(right, columns, types)?;
                let right_text = self.operand(right_text, !matches!(**right, Body::SetOperation { .. }))?;
                let word = self.set_operator(*operator, *all)?;
                Ok(format!("{left_text} {word} {right_text}"))
            }
        })
    }

    /// An operand of a set operation, kept apart from what stands around it.
    fn operand(&self, text: String, is_apart: bool) -> Result<String, Refused> {
        match (is_apart, self.dialect.compound_in_parentheses) {
            (true, _) => Ok(text),
            (false, true) => Ok(format!("({text})")),
            (false, false) => {
                Ok(format!("SELECT * FROM ({text}){}{}", self.dialect.alias, self.quoted("q")?))
            }
        }
    }

    fn set_operator(&self, operator: SetOperator, all: bool) -> Result<String, Refused> {
        let (template, what) = match operator {
            SetOperator::Union if all => return Ok("UNION ALL".to_owned()),
            SetOperator::Union => return Ok(self.dialect.union.to_owned()),
            SetOperator::Intersect => (self.dialect.intersect, "INTERSECT"),
            SetOperator::Except => (self.dialect.except, "EXCEPT"),
        };
        self.template(template, Construct::SetOperation, what).map(str::to_owned)
    }

    /// That rows which a set operation tells apart are told apart byte by byte.
    fn check_told_apart(&self, operator: SetOperator, all: bool, body: &Body) -> Result<(), Refused> {
        match body {
            Body::Select(select) if !(operator == SetOperator::Union && all) => {
                select.outputs.iter().try_for_each(|output| self.check_bytes(&output.expr))
            }
            _ => Ok(()),
        }
    }

    /// VALUES, as SELECTs that all dialects have.
    fn rows(
        &mut self,
        rows: &[Vec<Expr>],
        columns: Option<&[String]>,
        types: &[Type],
    ) -> Result<String, Refused> {
        let mut selects = Vec::new();
        for row in rows {
            let mut cells = Vec::new();
            for (place, cell) in row.iter().enumerate() {
                let value = self.value_as(cell, types.get(place).copied().unwrap_or(Type::Null))?.text;
                let name = columns.and_then(|columns| columns.get(place));
                cells.push(match name {
                    Some(name) => format!("{value} AS {}", self.quoted(name)?),
                    None => value,
                });
            }
            selects.push(format!("SELECT {}{}", cells.join(", "), self.dialect.from_nothing));
        }
        Ok(selects.join(" UNION ALL "))
    }
}

/// Whether the left operand may stand without parentheses: one SELECT, or the same associative operation.
fn is_alike(body: &Body, outer: SetOperator, outer_all: bool) -> bool {
    match body {
        Body::Select(_) => true,
        Body::Values(rows) => rows.len() == 1,
        Body::SetOperation { operator, all, .. } => *operator == outer && *all == outer_all,
    }
}
