//! Conditions: expressions of which only true, false or unknown counts.

use sqlgauge_sql::tree::{BinaryOperator, Expr, Literal, Query, UnaryOperator};

use super::query::Wanted;
use super::{Level, Piece, Printed, Printer};
use crate::dialect::Conditions;
use crate::refused::Construct;
use crate::types::Type;

impl Printer<'_> {
    /// An expression as a condition.
    pub(super) fn condition(&mut self, expr: &Expr) -> Printed {
        let in_results = std::mem::take(&mut self.in_results);
        let printed = stacker::maybe_grow(1 << 20, 8 << 20, || self.any_condition(expr));
        self.in_results = in_results;
        printed
    }

    fn any_condition(&mut self, expr: &Expr) -> Printed {
        match expr {
            Expr::And(list) => self.chain(list, " AND ", Level::And),
            Expr::Or(list) => self.chain(list, " OR ", Level::Or),
            Expr::Unary(UnaryOperator::Not, operand) => {
                let operand = self.condition(operand)?;
                Ok(Piece::new(format!("NOT ({})", operand.text), Level::Not))
            }
            Expr::Binary(operator, left, right) if operator.is_comparison() => {
                match operator.truth_asked(right) {
                    Some(wanted) => self.truth(left, wanted, *operator == BinaryOperator::Is),
                    None => self.comparison(*operator, left, right),
                }
            }
            Expr::Between { expr, low, high, negated } => {
                self.comparing(expr, |printer| printer.between(expr, low, high, *negated))
            }
            Expr::Like { operator, expr, pattern, escape, negated } => {
                self.like(*operator, expr, pattern, escape.as_deref(), *negated)
            }
            Expr::InList { expr, list, negated } => {
                self.comparing(expr, |printer| printer.in_list(expr, list, *negated))
            }
            Expr::InQuery { expr, query, negated } => self.in_query(expr, query, *negated),
            Expr::Exists { query, negated } => self.exists(query, *negated),
            Expr::IsNull { expr, negated } => {
                let value = self.value(expr)?.at(Level::Other);
                let not = if *negated { "NOT " } else { "" };
                Ok(Piece::new(format!("{value} IS {not}NULL"), Level::Comparison))
            }
            Expr::Collate { expr, .. } | Expr::Unary(UnaryOperator::Plus, expr) => self.condition(expr),
            Expr::Literal(Literal::Boolean(value)) => Ok(constant(*value)),
            Expr::Literal(Literal::Integer(value)) => Ok(constant(*value != 0)),
            Expr::Literal(Literal::Null) => Ok(Piece::new("1 = NULL", Level::Comparison)),
            other => self.number_as_condition(other),
        }
    }

    fn number_as_condition(&mut self, expr: &Expr) -> Printed {
        match self.types.of(expr) {
            Type::Text | Type::Blob | Type::Date => {
                Err(self.refuse(Construct::TextAsNumber, "a text as a condition"))
            }
            Type::Mixed => Err(self.refuse(Construct::MixedTypes, "a condition of several types")),
            Type::Null | Type::Integer | Type::Real | Type::Number => {
                let value = self.value(expr)?;
                if self.dialect.conditions == Conditions::Numbers {
                    return Ok(value);
                }
                Ok(Piece::new(format!("{} <> 0", value.at(Level::Other)), Level::Comparison))
            }
        }
    }

    fn chain(&mut self, list: &[Expr], word: &str, level: Level) -> Printed {
        let mut parts = Vec::new();
        for operand in list {
            let operand = self.condition(operand)?;
            // A chain inside of the same chain stays apart, as the query has it.
            parts.push(if operand.level <= level { format!("({})", operand.text) } else { operand.text });
        }
        if parts.is_empty() {
            return Err(self.refuse(Construct::Tree, "AND or OR of nothing"));
        }
        Ok(Piece::new(parts.join(word), level))
    }

    /// `x IS TRUE` and its like, which are never unknown.
    fn truth(&mut self, left: &Expr, truth: bool, is: bool) -> Printed {
        let condition = self.condition(left)?.text;
        let tested = if truth { condition } else { format!("NOT ({condition})") };
        let wanted = i32::from(is);
        Ok(Piece::new(format!("CASE WHEN {tested} THEN 1 ELSE 0 END = {wanted}"), Level::Comparison))
    }

    fn exists(&mut self, query: &Query, negated: bool) -> Printed {
        self.check_quantified(query)?;
        let text = self.query(query, &Wanted { existence: true, ..Wanted::default() })?;
        if negated {
            return Ok(Piece::new(format!("NOT EXISTS ({text})"), Level::Not));
        }
        Ok(Piece::atom(format!("EXISTS ({text})")))
    }
}

fn constant(value: bool) -> Piece {
    Piece::new(if value { "1 = 1" } else { "1 = 0" }, Level::Comparison)
}
