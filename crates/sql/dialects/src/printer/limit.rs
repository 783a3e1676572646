//! LIMIT and OFFSET.

use sqlgauge_sql::derive::{Dependencies, is_aggregate_select};
use sqlgauge_sql::tree::{Expr, Literal, Query, UnaryOperator};

use super::Printer;
use crate::dialect::LimitSyntax;
use crate::refused::{Construct, Refused};

/// Which rows are kept: so many, after so many others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    limit: Option<i64>,
    offset: i64,
}

impl Printer<'_> {
    /// Which part of its rows the query keeps; `None` for all of them.
    pub(super) fn part(&self, query: &Query, one_row: bool) -> Result<Option<Part>, Refused> {
        let number = |expr: &Expr| {
            constant(expr).ok_or_else(|| self.refuse(Construct::Limit, "a limit that is no constant"))
        };
        let limit = query.limit.as_ref().map(number).transpose()?.filter(|limit| *limit >= 0);
        let offset = query.offset.as_ref().map(number).transpose()?.map_or(0, |offset| offset.max(0));
        let limit = match limit {
            _ if !one_row || (offset == 0 && self.has_one_row(query)) => limit,
            Some(limit) => Some(limit.min(1)),
            None => Some(1),
        };
        Ok((limit.is_some() || offset > 0).then_some(Part { limit, offset }))
    }

    /// Whether the query can have no more than one row without being cut.
    pub(super) fn has_one_row(&self, query: &Query) -> bool {
        let Some(select) = query.as_select() else { return false };
        if select.group_by.is_empty() && is_aggregate_select(select) {
            return true;
        }
        select.from.is_none()
            || (select.group_by.is_empty()
                && Dependencies::of(select, &self.facts).closure(&[]).is_complete())
    }

    /// The body with its order and the part that is kept of it.
    pub(super) fn limited(&self, body: &str, order: &str, part: Option<Part>) -> Result<String, Refused> {
        let Some(Part { limit, offset }) = part else { return Ok(format!("{body}{order}")) };
        let has_offset = offset > 0;
        Ok(match (self.dialect.limits, limit) {
            (LimitSyntax::Limit { .. }, Some(limit)) if has_offset => {
                format!("{body}{order} LIMIT {limit} OFFSET {offset}")
            }
            (LimitSyntax::Limit { before_offset }, None) => {
                format!("{body}{order}{before_offset} OFFSET {offset}")
            }
            (LimitSyntax::Comma, Some(limit)) if has_offset => {
                format!("{body}{order} LIMIT {offset}, {limit}")
            }
            (LimitSyntax::Limit { .. } | LimitSyntax::Comma, Some(limit)) => {
                format!("{body}{order} LIMIT {limit}")
            }
            (LimitSyntax::Comma, None) => format!("{body}{order} LIMIT {offset}, {}", i64::from(i32::MAX)),
            (LimitSyntax::Fetch, limit) => format!("{body}{order}{}", fetch(limit, offset, has_offset)),
            (LimitSyntax::Top, Some(limit)) if !has_offset => self.top(body, order, limit)?,
            (LimitSyntax::Top, limit) => {
                let order = if order.is_empty() { " ORDER BY (SELECT NULL)" } else { order };
                format!("{body}{order}{}", fetch(limit, offset, true))
            }
        })
    }

    /// The body is one SELECT: [`Printer::must_wrap`] sees to it.
    fn top(&self, body: &str, order: &str, limit: i64) -> Result<String, Refused> {
        for start in ["SELECT DISTINCT ", "SELECT "] {
            if let Some(rest) = body.strip_prefix(start) {
                return Ok(format!("{start}TOP ({limit}) {rest}{order}"));
            }
        }
        Err(self.refuse(Construct::Limit, "a LIMIT of this query"))
    }
}

fn fetch(limit: Option<i64>, offset: i64, with_offset: bool) -> String {
    let skip = if with_offset { format!(" OFFSET {offset} ROWS") } else { String::new() };
    match limit {
        Some(limit) => format!("{skip} FETCH NEXT {limit} ROWS ONLY"),
        None => skip,
    }
}

fn constant(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(Literal::Integer(value)) => Some(*value),
        Expr::Unary(UnaryOperator::Minus, operand) => constant(operand)?.checked_neg(),
        Expr::Unary(UnaryOperator::Plus, operand) => constant(operand),
        _ => None,
    }
}
