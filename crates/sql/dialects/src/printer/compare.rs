//! Comparisons, BETWEEN and IN.
//!
//! SQLite converts before it compares, by affinities that no other engine has, and orders numbers before texts. What is
//! printed compares a number with a number, or a text with a text, and says by a constant of the other type what the
//! conversion does; what would compare a number with a text is refused.

use std::cmp::Ordering;

use sqlgauge_sql::derive::{Conversion, Fact};
use sqlgauge_sql::schema::{Affinity, Collation};
use sqlgauge_sql::tree::{BinaryOperator, Body, Expr, Literal, Query};

use super::literal::{number_of_text, text_of_real};
use super::query::Wanted;
use super::select::only_output;
use super::{Level, Piece, Printed, Printer, fill};
use crate::refused::{Construct, Refused};
use crate::types::Type;

impl Printer<'_> {
    pub(super) fn comparison(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr) -> Printed {
        if let (Expr::Row(left), Expr::Row(right)) = (left, right) {
            return self.rows_compared(operator, left, right);
        }
        if let Some(order) = self.classes(left, right) {
            return self.of_classes(operator, order, left, right);
        }
        let is_equality = matches!(
            operator,
            BinaryOperator::Equal | BinaryOperator::NotEqual | BinaryOperator::Is | BinaryOperator::IsNot
        );
        let (first, second) = self.operands(left, right, is_equality)?;
        match operator {
            BinaryOperator::Is | BinaryOperator::IsNot => {
                let template = self.template(self.dialect.templates.same, Construct::Function, "IS")?;
                let same = fill(template, &[&first, &second]);
                let same = Piece::new(same.text, Level::Comparison);
                if operator == BinaryOperator::Is {
                    return Ok(same);
                }
                Ok(Piece::new(format!("NOT ({})", same.text), Level::Not))
            }
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                Ok(joined(&first, operator.symbol(), &second))
            }
            _ => {
                let (first, second) = self.ordered(left, right, first, second);
                Ok(joined(&first, operator.symbol(), &second))
            }
        }
    }

    /// How a constant of one type compares with all values of another: SQLite orders numbers before texts. `None` where
    /// they are of one type, or become so.
    fn classes(&self, left: &Expr, right: &Expr) -> Option<Ordering> {
        let to = |conversion| self.facts.comparison(left, right).conversion.is(&conversion);
        let kind = |expr: &Expr| match expr {
            // What a comparison makes a number is one.
            Expr::Literal(Literal::Text(text))
                if to(Conversion::ToNumber) && number_of_text(text).is_some() =>
            {
                Type::Integer
            }
            other => self.types.of(other),
        };
        let is_constant = |expr: &Expr| matches!(expr, Expr::Literal(_));
        // A text that has no numeric affinity may become a number.
        let stays_text = |expr: &Expr| {
            is_constant(expr) || !to(Conversion::ToNumber) || has_numeric_affinity(self.facts.affinity(expr))
        };
        match (kind(left), kind(right)) {
            _ if is_constant(left) == is_constant(right) || to(Conversion::ToText) => None,
            (number, Type::Text) if number.is_numeric() && stays_text(right) => Some(Ordering::Less),
            (Type::Text, number) if number.is_numeric() && stays_text(left) => Some(Ordering::Greater),
            _ => None,
        }
    }

    /// A comparison that is decided by the types, and unknown where the value is NULL.
    fn of_classes(
        &mut self,
        operator: BinaryOperator,
        order: Ordering,
        left: &Expr,
        right: &Expr,
    ) -> Printed {
        let holds = match operator {
            BinaryOperator::Less | BinaryOperator::LessEqual => order == Ordering::Less,
            BinaryOperator::Greater | BinaryOperator::GreaterEqual => order == Ordering::Greater,
            BinaryOperator::NotEqual => true,
            BinaryOperator::Is | BinaryOperator::IsNot => {
                let text = if operator == BinaryOperator::IsNot { "1 = 1" } else { "1 = 0" };
                return Ok(Piece::new(text, Level::Comparison));
            }
            _ => false,
        };
        let value = self.value(if matches!(left, Expr::Literal(_)) { right } else { left })?;
        Ok(joined(&value, if holds { "=" } else { "<>" }, &value))
    }

    /// The operands of `<` and its like: texts byte by byte.
    fn ordered(&self, left: &Expr, right: &Expr, first: Piece, second: Piece) -> (Piece, Piece) {
        let types = [left, right].map(|operand| self.types.of(operand));
        // `id < '5'` compares numbers.
        let are_numbers = types.iter().any(|of| of.is_numeric())
            && self.facts.comparison(left, right).conversion.is(&Conversion::ToNumber);
        if types.contains(&Type::Text) && !are_numbers && !self.is_dated(left, right) {
            (fill(self.dialect.templates.text_order, &[&first]), second)
        } else {
            (first, second)
        }
    }

    /// Row values, equal or not: part by part, which is what all dialects have.
    fn rows_compared(&mut self, operator: BinaryOperator, left: &[Expr], right: &[Expr]) -> Printed {
        if operator != BinaryOperator::Equal || left.len() != right.len() {
            return Err(self.refuse(Construct::RowValue, "row values compared"));
        }
        let mut parts = Vec::new();
        for (left, right) in left.iter().zip(right) {
            parts.push(self.comparison(BinaryOperator::Equal, left, right)?.text);
        }
        Ok(Piece::new(parts.join(" AND "), Level::And))
    }

    pub(super) fn between(&mut self, expr: &Expr, low: &Expr, high: &Expr, negated: bool) -> Printed {
        let (value, first) = self.operands(expr, low, false)?;
        let (other, second) = self.operands(expr, high, false)?;
        let not = if negated { "NOT " } else { "" };
        if value.text != other.text {
            return Err(self.refuse(Construct::MixedComparison, "bounds of several types"));
        }
        let (value, first) = self.ordered(expr, low, value, first);
        let (value, first, second) = (value.at(Level::Sum), first.at(Level::Sum), second.at(Level::Sum));
        Ok(Piece::new(format!("{value} {not}BETWEEN {first} AND {second}"), Level::Comparison))
    }

    pub(super) fn in_list(&mut self, expr: &Expr, list: &[Expr], negated: bool) -> Printed {
        if list.is_empty() {
            // IN of nothing is false, and not unknown, even of NULL.
            return Ok(Piece::new(if negated { "1 = 1" } else { "1 = 0" }, Level::Comparison));
        }
        if matches!(expr, Expr::Row(_)) {
            return Err(self.refuse(Construct::RowValue, "IN of row values"));
        }
        let mut value: Option<Piece> = None;
        let mut items = Vec::new();
        for item in list {
            let (piece, item) = self.operands(expr, item, true)?;
            if value.as_ref().is_some_and(|value| value.text != piece.text) {
                return Err(self.refuse(Construct::MixedComparison, "IN with values of several types"));
            }
            value = Some(piece);
            items.push(item.text);
        }
        let value = value.map_or_else(String::new, |value| value.at(Level::Other));
        let not = if negated { "NOT " } else { "" };
        Ok(Piece::new(format!("{value} {not}IN ({})", items.join(", ")), Level::Comparison))
    }

    pub(super) fn in_query(&mut self, expr: &Expr, query: &Query, negated: bool) -> Printed {
        self.check_quantified(query)?;
        let texts = self.as_texts(expr, query);
        let (value, query) = match &texts {
            Some(query) => (self.text_value(expr)?.at(Level::Other), query),
            None => (self.tested(expr, query)?, query),
        };
        let is_cut = query.limit.is_some() || query.offset.is_some();
        let mut text = self.query(query, &Wanted::default())?;
        if is_cut && !self.dialect.limit_inside_in {
            if super::shape::reads_outside(query) {
                let reason = "a LIMIT in IN of a subquery that reads the query around it";
                return Err(self.refuse(Construct::Limit, reason));
            }
            let columns: Vec<String> = (1..=query.width()).map(|number| format!("c{number}")).collect();
            text = self.query(query, &Wanted { columns: Some(&columns), ..Wanted::default() })?;
            text = format!("SELECT * FROM ({text}){}{}", self.dialect.alias, self.quoted("q")?);
        }
        let not = if negated { "NOT " } else { "" };
        Ok(Piece::new(format!("{value} {not}IN ({text})"), Level::Comparison))
    }

    /// The subquery with its result as a text, where one side of IN is an integer and the other a text of which
    /// whatever looks like a number is an integer: they are equal if their texts are.
    fn as_texts(&self, expr: &Expr, query: &Query) -> Option<Query> {
        let result = &only_output(query)?.expr;
        let (left, right) = (self.types.profile(expr), self.types.profile(result));
        let is_sayable = match (left.of, right.of) {
            (Type::Integer, Type::Text) => right.has_plain_numbers,
            (Type::Text, Type::Integer) => left.has_plain_numbers,
            _ => false,
        };
        if !is_sayable || !self.facts.comparison(expr, result).conversion.is(&Conversion::ToNumber) {
            return None;
        }
        let mut texts = query.clone();
        let Body::Select(select) = &mut texts.body else { return None };
        let output = select.outputs.first_mut()?;
        output.expr = Expr::Cast { expr: Box::new(output.expr.clone()), type_name: "TEXT".to_owned() };
        Some(texts)
    }

    /// What IN looks for in a subquery.
    fn tested(&mut self, expr: &Expr, query: &Query) -> Result<String, Refused> {
        if let Expr::Row(parts) = expr {
            let Some(select) = query.as_select().filter(|_| self.dialect.has_rows) else {
                return Err(self.refuse(Construct::RowValue, "IN of row values"));
            };
            let mut printed = Vec::new();
            for (part, output) in parts.iter().zip(&select.outputs) {
                self.check_alike(part, &output.expr)?;
                printed.push(self.value(part)?.text);
            }
            return Ok(format!("({})", printed.join(", ")));
        }
        if let Some(output) = only_output(query) {
            self.check_alike(expr, &output.expr)?;
        } else {
            // Each part of a compound compares by its own affinity; texts and numbers do not meet here.
            let (left, right) = (self.types.of(expr), self.types.of_body(&query.body));
            let right = right.first().copied().unwrap_or(Type::Mixed);
            if left.or(right) == Type::Mixed || (left == Type::Text && !self.compares_bytes_only) {
                return Err(self.refuse(Construct::MixedComparison, "IN with a compound"));
            }
        }
        Ok(self.value(expr)?.at(Level::Other))
    }

    /// Two sides of a comparison in words.
    fn both(&self, left: &Expr, right: &Expr) -> String {
        let words = |expr: &Expr| match expr {
            Expr::Column(column) => {
                let name = self.names.column(*column).unwrap_or_default();
                format!("the column {name} ({})", self.types.of(expr).words())
            }
            Expr::Literal(Literal::Text(text)) => format!("the text {text:?}"),
            Expr::Literal(Literal::Integer(value)) => format!("the number {value}"),
            Expr::Literal(Literal::Real(value)) => format!("the number {:?}", value.get()),
            _ => format!("an expression ({})", self.types.of(expr).words()),
        };
        format!("{} with {}", words(left), words(right))
    }

    /// That two expressions compare as they are.
    fn check_alike(&mut self, left: &Expr, right: &Expr) -> Result<(), Refused> {
        let (left_type, right_type) = (self.types.of(left), self.types.of(right));
        match left_type.or(right_type) {
            _ if self.is_dated(left, right) => Ok(()),
            Type::Mixed => Err(self.refuse(Construct::MixedComparison, self.both(left, right))),
            Type::Text => self.check_texts(left, right),
            _ => Ok(()),
        }
    }

    /// Whether a date stands beside a constant, which its engine reads as one.
    fn is_dated(&self, left: &Expr, right: &Expr) -> bool {
        let is_text = |expr: &Expr| matches!(expr, Expr::Literal(Literal::Text(_)));
        let is_date = |expr: &Expr| self.types.of(expr) == Type::Date;
        is_date(left) && is_text(right) || is_text(left) && is_date(right)
    }

    /// Both operands of a comparison, of one type.
    fn operands(&mut self, left: &Expr, right: &Expr, equality: bool) -> Result<(Piece, Piece), Refused> {
        let (left_type, right_type) = (self.types.of(left), self.types.of(right));
        if self.is_dated(left, right) {
            return Ok((self.value(left)?, self.value(right)?));
        }
        if left_type == Type::Text && right_type.is_numeric() {
            let (second, first) = self.number_with_text(right, left, equality)?;
            return Ok((first, second));
        }
        if left_type.is_numeric() && right_type == Type::Text {
            return self.number_with_text(left, right, equality);
        }
        if left_type.or(right_type) == Type::Mixed {
            // A column says more of itself than a comparison does.
            self.value(left)?;
            self.value(right)?;
            return Err(self.refuse(Construct::MixedComparison, self.both(left, right)));
        }
        if left_type.or(right_type) == Type::Text {
            self.check_texts(left, right)?;
        }
        let first = self.compared(left, right_type)?;
        let second = self.compared(right, left_type)?;
        Ok((first, second))
    }

    /// An operand. A real constant beside integers stays a decimal number, which compares with them exactly.
    fn compared(&mut self, expr: &Expr, other_type: Type) -> Printed {
        match expr {
            Expr::Literal(Literal::Real(value)) if value.get().is_finite() && other_type.is_numeric() => {
                let text = format!("{:?}", value.get());
                if text.contains('e') { self.value(expr) } else { Ok(super::literal::signed(text)) }
            }
            _ => self.value(expr),
        }
    }

    /// Texts compare byte by byte, and none of them is made a number first.
    fn check_texts(&self, left: &Expr, right: &Expr) -> Result<(), Refused> {
        let comparison = self.facts.comparison(left, right);
        if !self.compares_bytes_only && !comparison.collation.is(&Collation::Binary) {
            return Err(self.refuse(Construct::Collation, "texts that are compared"));
        }
        let is_number = |expr: &Expr| match expr {
            Expr::Literal(Literal::Text(text)) => number_of_text(text).is_some(),
            // What has numeric affinity and is a text is none that looks like a number.
            other => !has_numeric_affinity(self.facts.affinity(other)) && !self.types.profile(other).is_date,
        };
        let converts =
            comparison.conversion.is(&Conversion::ToNumber) && (is_number(left) || is_number(right));
        if converts {
            return Err(self.refuse(Construct::MixedComparison, "texts that may be compared as numbers"));
        }
        Ok(())
    }

    /// A number beside a text: a constant becomes what the affinity of the other makes of it.
    fn number_with_text(
        &mut self,
        number: &Expr,
        text: &Expr,
        equality: bool,
    ) -> Result<(Piece, Piece), Refused> {
        let conversion = self.facts.comparison(number, text).conversion;
        match (number, text) {
            (_, Expr::Literal(Literal::Text(constant))) if conversion.is(&Conversion::ToNumber) => {
                if let Some(constant) = number_of_text(constant) {
                    return Ok((self.value(number)?, self.literal(&constant)?));
                }
            }
            (Expr::Literal(Literal::Integer(value)), _) if conversion.is(&Conversion::ToText) => {
                return Ok((self.text(&value.to_string())?, self.value(text)?));
            }
            (Expr::Literal(Literal::Real(value)), _) if conversion.is(&Conversion::ToText) => {
                if let Some(written) = text_of_real(value.get()) {
                    return Ok((self.text(&written)?, self.value(text)?));
                }
            }
            _ => {}
        }
        // An integer and a text that has no numbers but integers are equal if their texts are.
        let profile = self.types.profile(text);
        if profile.is_integer && conversion.is(&Conversion::ToNumber) {
            return Ok((self.value(number)?, self.number(text)?));
        }
        let is_plain = profile.has_plain_numbers && self.types.of(number) == Type::Integer;
        if equality && is_plain && conversion.is(&Conversion::ToNumber) {
            return Ok((self.text_value(number)?, self.value(text)?));
        }
        Err(self.refuse(Construct::MixedComparison, self.both(number, text)))
    }
}

fn has_numeric_affinity(affinity: Fact<Option<Affinity>>) -> bool {
    matches!(affinity, Fact::Known(Some(affinity)) if affinity.is_numeric())
}

fn joined(left: &Piece, symbol: &str, right: &Piece) -> Piece {
    Piece::new(format!("{} {symbol} {}", left.at(Level::Other), right.at(Level::Other)), Level::Comparison)
}
