//! Values: expressions of which the number, text or blob counts.

use std::ptr;

use sqlgauge_sql::schema::Affinity;
use sqlgauge_sql::tree::{BinaryOperator, ColumnRef, Expr, Literal, Query, UnaryOperator};

use super::query::Wanted;
use super::{Level, Piece, Printed, Printer, fill};
use crate::dialect::Conditions;
use crate::refused::{Construct, Refused};
use crate::types::Type;

impl Printer<'_> {
    /// An expression as a value.
    pub(super) fn value(&mut self, expr: &Expr) -> Printed {
        if let Some(Some(printed)) = self.compared.get(&ptr::from_ref(expr)) {
            return Ok(printed.clone());
        }
        let printed = stacker::maybe_grow(1 << 20, 8 << 20, || self.any_value(expr))?;
        if let Some(slot) = self.compared.get_mut(&ptr::from_ref(expr)) {
            *slot = Some(printed.clone());
        }
        Ok(printed)
    }

    /// Compares an operand several times, for which it is printed once.
    pub(super) fn comparing(
        &mut self,
        operand: &Expr,
        compare: impl FnOnce(&mut Self) -> Printed,
    ) -> Printed {
        self.compared.insert(ptr::from_ref(operand), None);
        let printed = compare(self);
        self.compared.remove(&ptr::from_ref(operand));
        printed
    }

    fn any_value(&mut self, expr: &Expr) -> Printed {
        match expr {
            Expr::Column(column) => {
                if let Some(piece) = self.of_extremum.piece(*column) {
                    return Ok(piece.clone());
                }
                if column.column.position().is_none() {
                    return Err(self.refuse(Construct::Rowid, "the rowid"));
                }
                let name = self.names.column(*column);
                self.check_column(*column, name.as_deref().unwrap_or_default())?;
                let relation = self.name(self.names.relation(column.relation))?;
                Ok(Piece::atom(format!("{relation}.{}", self.name(name)?)))
            }
            Expr::Output(_) => Err(self.refuse(Construct::Tree, "a result column inside of an expression")),
            Expr::Literal(literal) => self.literal(literal),
            Expr::Unary(UnaryOperator::Plus, operand) => self.value(operand),
            Expr::Unary(UnaryOperator::Minus, operand) => self.negated(operand),
            Expr::Unary(UnaryOperator::BitNot, _) => {
                Err(self.refuse(Construct::BitOperator, "the operator ~"))
            }
            Expr::Binary(operator, left, right) if !operator.is_comparison() => {
                self.operator(*operator, left, right)
            }
            Expr::Scalar(query) => self.scalar(query),
            Expr::Case { operand: Some(operand), branches, otherwise } => self
                .comparing(operand, |printer| {
                    printer.case(Some(operand.as_ref()), branches, otherwise.as_deref())
                }),
            Expr::Case { operand: None, branches, otherwise } => {
                self.case(None, branches, otherwise.as_deref())
            }
            Expr::Cast { expr, type_name } => self.cast(expr, Affinity::of_declared_type(Some(type_name))),
            Expr::Collate { expr, collation } => {
                if collation == "BINARY" {
                    return self.value(expr);
                }
                Err(self.refuse(Construct::Collation, collation.clone()))
            }
            Expr::Function { function, args } => self.function(function, args),
            Expr::Aggregate(aggregate) => self.aggregate(aggregate),
            Expr::Window(call) => self.window_call(call),
            Expr::Row(_) => Err(self.refuse(Construct::RowValue, "a row value")),
            condition => {
                let printed = self.condition(condition)?;
                Ok(match self.dialect.conditions {
                    Conditions::Numbers => printed,
                    Conditions::Apart(template) => fill(template, &[&printed]),
                })
            }
        }
    }

    /// That the dialect can hold the values of a column.
    fn check_column(&self, column: ColumnRef, name: &str) -> Result<(), Refused> {
        let profile = self.types.column(column);
        let construct = match profile.of {
            Type::Mixed => Construct::MixedColumn,
            Type::Text if self.dialect.empty_is_null && profile.may_be_empty => Construct::EmptyText,
            Type::Text if self.dialect.pads_texts && profile.may_end_in_space => Construct::Padding,
            _ => return Ok(()),
        };
        Err(self.refuse(construct, format!("the column {name}")))
    }

    /// A value that a number is computed from. Of a text that is the number that it begins with.
    pub(super) fn number(&mut self, expr: &Expr) -> Printed {
        match self.types.of(expr) {
            Type::Text => self.number_of_text(expr, false),
            Type::Blob => Err(self.refuse(Construct::TextAsNumber, "a blob")),
            Type::Date => Err(self.refuse(Construct::Date, "a date as a number")),
            _ => self.value(expr),
        }
    }

    fn number_of_text(&mut self, expr: &Expr, as_integer: bool) -> Printed {
        let templates = &self.dialect.templates;
        let template = match (self.types.profile(expr).is_integer, as_integer) {
            (true, _) => templates.text_as_integer,
            (false, true) => templates.prefix_as_integer,
            (false, false) => templates.prefix_as_real,
        };
        let template =
            self.template(template, Construct::TextAsNumber, "the number that a text begins with")?;
        Ok(fill(template, &[&self.value(expr)?]))
    }

    /// A value that a text is made of.
    pub(super) fn text_value(&mut self, expr: &Expr) -> Printed {
        match self.types.of(expr) {
            Type::Text | Type::Null => self.value(expr),
            Type::Integer => {
                if let Expr::Literal(Literal::Integer(value)) = expr {
                    return self.text(&value.to_string());
                }
                let template = self.dialect.templates.integer_as_text;
                let template = self.template(template, Construct::NumberAsText, "an integer")?;
                Ok(fill(template, &[&self.value(expr)?]))
            }
            Type::Real | Type::Number => Err(self.refuse(Construct::NumberAsText, "a real number")),
            Type::Blob => Err(self.refuse(Construct::Blob, "a blob as text")),
            Type::Date => Err(self.refuse(Construct::Date, "a date as text")),
            Type::Mixed => {
                Err(self.refuse(Construct::MixedTypes, "a text that is made of values of several types"))
            }
        }
    }

    fn negated(&mut self, operand: &Expr) -> Printed {
        let value = self.number(operand)?;
        Ok(Piece::new(format!("-{}", value.at(Level::Atom)), Level::Other))
    }

    fn operator(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr) -> Printed {
        match operator {
            BinaryOperator::Add => self.arithmetic("+", Level::Sum, left, right),
            BinaryOperator::Subtract => self.arithmetic("-", Level::Sum, left, right),
            BinaryOperator::Multiply => self.arithmetic("*", Level::Product, left, right),
            BinaryOperator::Divide => self.quotient(left, right),
            BinaryOperator::Modulo => {
                if !self.are_integers(left, right) {
                    return Err(self.refuse(Construct::Modulo, "% of what may be a real number"));
                }
                let template = self.template(self.dialect.templates.modulo, Construct::Modulo, "%")?;
                Ok(fill(template, &[&self.number(left)?, &self.divisor(right)?]))
            }
            BinaryOperator::Concat => {
                let template = self.template(self.dialect.templates.concat, Construct::Function, "||")?;
                Ok(fill(template, &[&self.text_value(left)?, &self.text_value(right)?]))
            }
            BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight => {
                Err(self.refuse(Construct::BitOperator, format!("the operator {}", operator.symbol())))
            }
            _ => Err(self.refuse(Construct::Json, format!("the operator {}", operator.symbol()))),
        }
    }

    fn arithmetic(&mut self, symbol: &str, level: Level, left: &Expr, right: &Expr) -> Printed {
        let is_narrow = self.is_narrow(left) && self.is_narrow(right);
        let (mut first, second) = (self.number(left)?, self.number(right)?);
        if is_narrow && self.dialect.has_narrow_integers {
            first = fill(&format!("CAST({{0}} AS {})", self.dialect.types.integer), &[&first]);
        }
        // On the left operators of one level need no parentheses; on the right they do.
        let next = if level == Level::Sum { Level::Product } else { Level::Atom };
        Ok(Piece::new(format!("{} {symbol} {}", first.at(level), second.at(next)), level))
    }

    /// Whether an integer may be of fewer bits than SQLite's, so that it overflows earlier.
    fn is_narrow(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Column(_) | Expr::Aggregate(_) | Expr::Scalar(_) | Expr::Window(_) | Expr::Cast { .. } => {
                false
            }
            Expr::Literal(literal) => matches!(literal, Literal::Integer(_) | Literal::Boolean(_)),
            Expr::Binary(operator, ..) if !operator.is_comparison() => false,
            _ => self.types.of(expr) == Type::Integer,
        }
    }

    fn are_integers(&self, left: &Expr, right: &Expr) -> bool {
        [left, right]
            .iter()
            .all(|operand| matches!(self.types.as_number(operand), Type::Integer | Type::Null))
    }

    fn quotient(&mut self, left: &Expr, right: &Expr) -> Printed {
        let types = [self.types.as_number(left), self.types.as_number(right)];
        let templates = &self.dialect.templates;
        let template = if self.are_integers(left, right) {
            self.template(templates.divide_integers, Construct::Division, "of integers")?
        } else if types.contains(&Type::Real) {
            self.template(templates.divide_reals, Construct::Division, "of real numbers")?
        } else {
            return Err(self.refuse(Construct::Division, "integers in some rows and real numbers in others"));
        };
        let mut dividend = self.number(left)?;
        if types[0] == Type::Integer && types[1] == Type::Real {
            dividend = self.as_real(&dividend)?;
        }
        Ok(fill(template, &[&dividend, &self.divisor(right)?]))
    }

    /// What is divided by: NULL for 0, as SQLite has it.
    fn divisor(&mut self, expr: &Expr) -> Printed {
        let value = self.number(expr)?;
        let is_other = match expr {
            Expr::Literal(Literal::Integer(value)) => *value != 0,
            Expr::Literal(Literal::Real(value)) => value.get() != 0.0,
            _ => false,
        };
        Ok(if is_other { value } else { Piece::atom(format!("NULLIF({}, 0)", value.text)) })
    }

    pub(super) fn as_real(&self, value: &Piece) -> Printed {
        let template = self.dialect.templates.integer_as_real;
        let template = self.template(template, Construct::Cast, "integers to REAL")?;
        Ok(fill(template, &[value]))
    }

    fn scalar(&mut self, query: &Query) -> Printed {
        let part = self.part(query, true)?;
        self.check_scalar(query, part.is_some())?;
        let text = self.query(query, &Wanted { one_row: true, ..Wanted::default() })?;
        Ok(Piece::atom(format!("({text})")))
    }

    fn case(
        &mut self,
        operand: Option<&Expr>,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
    ) -> Printed {
        let results: Vec<&Expr> = branches.iter().map(|(_, then)| then).chain(otherwise).collect();
        self.check_one_type(&results)?;
        let mut parts = Vec::new();
        for (when, then) in branches {
            let condition = match operand {
                // The operand is looked at once only, which no other dialect need know of a function of chance.
                Some(operand) => self.comparison(BinaryOperator::Equal, operand, when)?,
                None => self.condition(when)?,
            };
            parts.push(format!("WHEN {} THEN {}", condition.text, self.value(then)?.text));
        }
        if let Some(otherwise) = otherwise {
            parts.push(format!("ELSE {}", self.value(otherwise)?.text));
        }
        Ok(Piece::atom(format!("CASE {} END", parts.join(" "))))
    }

    /// That values which take the same place have one type.
    pub(super) fn check_one_type(&self, values: &[&Expr]) -> Result<(), Refused> {
        let of = values.iter().fold(Type::Null, |all, value| all.or(self.types.of(value)));
        if of == Type::Mixed {
            Err(self.refuse(Construct::MixedTypes, "results of one CASE or function"))
        } else {
            Ok(())
        }
    }

    fn cast(&mut self, expr: &Expr, to: Affinity) -> Printed {
        let from = self.types.of(expr);
        let odd = |printer: &Self| {
            Err(printer
                .refuse(Construct::Cast, format!("{} to {}", from.words(), format!("{to:?}").to_uppercase())))
        };
        if from == Type::Null {
            return self.value(expr);
        }
        let value = self.value(expr)?;
        match (to, from) {
            (Affinity::Integer, Type::Integer)
            | (Affinity::Numeric, Type::Integer | Type::Real | Type::Number)
            | (Affinity::Real, Type::Real | Type::Number)
            | (Affinity::Text, Type::Text)
            | (Affinity::Blob, Type::Blob) => Ok(value),
            (Affinity::Integer, Type::Real | Type::Number) => {
                let template = self.dialect.templates.real_as_integer;
                let template = self.template(template, Construct::Cast, "real numbers to INTEGER")?;
                Ok(fill(template, &[&value]))
            }
            (Affinity::Real, Type::Integer) => self.as_real(&value),
            (Affinity::Text, Type::Integer) => self.text_value(expr),
            (Affinity::Integer, Type::Text) => self.number_of_text(expr, true),
            (Affinity::Real, Type::Text) => {
                let number = self.number_of_text(expr, false)?;
                if self.types.profile(expr).is_integer { self.as_real(&number) } else { Ok(number) }
            }
            (Affinity::Numeric, Type::Text) => self.number_of_text(expr, false),
            _ => odd(self),
        }
    }
}
