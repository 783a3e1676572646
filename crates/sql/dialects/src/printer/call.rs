//! Scalar functions and aggregates.

use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::{Aggregate, Args, BinaryOperator, Expr, Literal, OrderTerm, UnaryOperator};

use super::shape::Place;
use super::{Level, Piece, Printed, Printer, fill};
use crate::dialect::Template;
use crate::refused::{Construct, Refused};
use crate::types::Type;

impl Printer<'_> {
    pub(super) fn function(&mut self, function: &Function, args: &Args) -> Printed {
        let args = args.as_slice();
        let templates = &self.dialect.templates;
        match (function, args) {
            (Function::Coalesce | Function::IfNull, _) => {
                self.check_one_type(&args.iter().collect::<Vec<_>>())?;
                let values = self.values(args)?;
                Ok(Piece::atom(format!("COALESCE({})", values.join(", "))))
            }
            (Function::NullIf, [left, right]) => {
                let same = self.comparison(BinaryOperator::Equal, left, right)?.text;
                let value = self.value(left)?.text;
                Ok(Piece::atom(format!("CASE WHEN {same} THEN NULL ELSE {value} END")))
            }
            (Function::Iif | Function::If, _) => self.choice(args),
            (Function::Min | Function::Max, _) if args.len() > 1 => self.extreme(function, args),
            (Function::Abs, [arg]) => Ok(Piece::atom(format!("ABS({})", self.number(arg)?.text))),
            (Function::Length, [arg]) if self.types.of(arg) != Type::Blob => {
                let template = self.template(templates.length, Construct::Function, "length")?;
                Ok(fill(template, &[&self.text_value(arg)?]))
            }
            (Function::Instr, [text, part]) if self.types.of(text) != Type::Blob => {
                let template = self.template(templates.position, Construct::Function, "instr")?;
                Ok(fill(template, &[&self.text_value(text)?, &self.text_value(part)?]))
            }
            (Function::Upper, [arg]) => self.folded(arg, templates.upper, templates.upper_of_ascii),
            (Function::Lower, [arg]) => self.folded(arg, templates.lower, templates.lower_of_ascii),
            (Function::Trim, [arg]) => self.of_text(templates.trim, arg),
            (Function::Ltrim, [arg]) => self.of_text(templates.trim_left, arg),
            (Function::Rtrim, [arg]) => self.of_text(templates.trim_right, arg),
            (Function::Replace, [text, part, other]) => self.replaced(text, part, other),
            (Function::Substr | Function::Substring, [text, rest @ ..]) => self.substring(text, rest),
            (Function::Round, [arg, rest @ ..]) => self.rounded(arg, rest),
            (Function::Strftime, [Expr::Literal(Literal::Text(format)), date]) => self.strftime(format, date),
            (Function::Date, [date]) => self.strftime("%Y-%m-%d", date),
            (Function::Merged, _) => Err(self.refuse(Construct::MergedColumn, "FULL JOIN … USING")),
            (
                Function::Date
                | Function::Time
                | Function::DateTime
                | Function::Strftime
                | Function::JulianDay
                | Function::UnixEpoch
                | Function::TimeDiff
                | Function::CurrentDate
                | Function::CurrentTime
                | Function::CurrentTimestamp,
                _,
            ) => Err(self.refuse(Construct::Date, format!("the function {}", function.name()))),
            (Function::Like | Function::Glob, _) => {
                Err(self.refuse(Construct::Pattern, format!("the function {}", function.name())))
            }
            (other, _) if other.name().starts_with("json") => {
                Err(self.refuse(Construct::Json, format!("the function {}", other.name())))
            }
            (other, _) => Err(self.refuse(Construct::Function, format!("the function {}", other.name()))),
        }
    }

    pub(super) fn values(&mut self, args: &[Expr]) -> Result<Vec<String>, Refused> {
        args.iter().map(|arg| self.value(arg).map(|piece| piece.text)).collect()
    }

    /// `iif(c, a, …, z)`.
    fn choice(&mut self, args: &[Expr]) -> Printed {
        let results: Vec<&Expr> = args
            .iter()
            .enumerate()
            .filter_map(|(place, arg)| (place % 2 == 1 || place + 1 == args.len()).then_some(arg))
            .collect();
        self.check_one_type(&results)?;
        let mut parts = Vec::new();
        for pair in args.chunks(2) {
            match pair {
                [condition, then] => {
                    let (condition, then) = (self.condition(condition)?.text, self.value(then)?.text);
                    parts.push(format!("WHEN {condition} THEN {then}"));
                }
                [otherwise] => parts.push(format!("ELSE {}", self.value(otherwise)?.text)),
                _ => {}
            }
        }
        Ok(Piece::atom(format!("CASE {} END", parts.join(" "))))
    }

    /// `min(a, b)`: NULL if one of them is, while LEAST passes NULLs over in some dialects.
    fn extreme(&mut self, function: &Function, args: &[Expr]) -> Printed {
        self.check_one_type(&args.iter().collect::<Vec<_>>())?;
        let name = match function {
            Function::Min => self.dialect.templates.least,
            _ => self.dialect.templates.greatest,
        };
        let mut values = Vec::new();
        let mut nulls = Vec::new();
        for arg in args {
            self.check_bytes(arg)?;
            let value = self.value(arg)?;
            if self.facts.is_nullable(arg) {
                nulls.push(format!("{} IS NULL", value.at(Level::Other)));
            }
            let is_text = self.types.of(arg) == Type::Text;
            let value = if is_text { fill(self.dialect.templates.text_order, &[&value]) } else { value };
            values.push(value.text);
        }
        let call = format!("{name}({})", values.join(", "));
        if nulls.is_empty() {
            return Ok(Piece::atom(call));
        }
        Ok(Piece::atom(format!("CASE WHEN {} THEN NULL ELSE {call} END", nulls.join(" OR "))))
    }

    fn folded(&mut self, arg: &Expr, any: Template, of_ascii: Template) -> Printed {
        let is_ascii = self.types.profile(arg).is_ascii;
        let template = if is_ascii { of_ascii.or(any) } else { any };
        let template =
            self.template(template, Construct::CaseFolding, "a text that may have other letters")?;
        Ok(fill(template, &[&self.text_value(arg)?]))
    }

    fn of_text(&mut self, template: Template, arg: &Expr) -> Printed {
        let template = self.template(template, Construct::Function, "trim")?;
        Ok(fill(template, &[&self.text_value(arg)?]))
    }

    fn replaced(&mut self, text: &Expr, part: &Expr, other: &Expr) -> Printed {
        let is_something = matches!(part, Expr::Literal(Literal::Text(part)) if !part.is_empty());
        if !is_something {
            return Err(self.refuse(Construct::Function, "replace of what may be empty"));
        }
        let template = self.template(self.dialect.templates.replace, Construct::Function, "replace")?;
        let operands = [self.text_value(text)?, self.text_value(part)?, self.text_value(other)?];
        Ok(fill(template, &operands.each_ref()))
    }

    fn substring(&mut self, text: &Expr, rest: &[Expr]) -> Printed {
        let is_text = matches!(self.types.of(text), Type::Text | Type::Integer | Type::Null);
        let is_sayable = is_text
            && match rest {
                [start] => is_positive(start),
                [start, Expr::Literal(Literal::Integer(length))] => is_positive(start) && *length >= 0,
                _ => false,
            };
        if !is_sayable {
            return Err(self.refuse(Construct::Substring, "a start or length that may be below 1"));
        }
        let template =
            if rest.len() == 1 { self.dialect.templates.rest } else { self.dialect.templates.part };
        let template = self.template(template, Construct::Substring, "substr")?;
        let mut operands = vec![self.text_value(text)?];
        for operand in rest {
            let value = self.value(operand)?;
            let is_constant = matches!(operand, Expr::Literal(_));
            operands.push(if is_constant { value } else { fill(self.dialect.templates.place, &[&value]) });
        }
        Ok(fill(template, &operands.iter().collect::<Vec<_>>()))
    }

    fn rounded(&mut self, arg: &Expr, rest: &[Expr]) -> Printed {
        let templates = &self.dialect.templates;
        let value = self.number(arg)?;
        let value = if self.types.as_number(arg) == Type::Integer { self.as_real(&value)? } else { value };
        match rest {
            [] | [Expr::Literal(Literal::Integer(0))] => {
                let template = self.template(templates.round, Construct::Round, "round")?;
                Ok(fill(template, &[&value]))
            }
            _ => Err(self.refuse(Construct::Round, "round with a number of digits")),
        }
    }

    /// Parts of a date that is written as SQLite writes it: stretches of its text.
    fn strftime(&mut self, format: &str, date: &Expr) -> Printed {
        let refuse = |printer: &Self| Err(printer.refuse(Construct::Date, format!("strftime {format:?}")));
        if !self.types.profile(date).is_date {
            return refuse(self);
        }
        let places: &[(&str, u32, u32)] = &[
            ("%Y-%m-%d", 1, 10),
            ("%F", 1, 10),
            ("%Y-%m", 1, 7),
            ("%m-%d", 6, 5),
            ("%Y", 1, 4),
            ("%m", 6, 2),
            ("%d", 9, 2),
        ];
        let Some((_, start, length)) = places.iter().find(|(pattern, ..)| *pattern == format) else {
            return refuse(self);
        };
        let template = self.template(self.dialect.templates.part, Construct::Date, "strftime")?;
        let numbers = [start, length].map(|number| Piece::atom(number.to_string()));
        Ok(fill(template, &[&self.value(date)?, &numbers[0], &numbers[1]]))
    }

    pub(super) fn aggregate(&mut self, aggregate: &Aggregate) -> Printed {
        let around = std::mem::replace(&mut self.place, Place::Group);
        let over_groups = std::mem::replace(&mut self.of_extremum.over_groups, false);
        let printed = self.aggregated(
            &aggregate.function,
            &aggregate.args,
            aggregate.distinct,
            &aggregate.order_by,
            aggregate.filter.as_ref(),
            None,
        );
        self.place = around;
        self.of_extremum.over_groups = over_groups;
        printed
    }

    /// An aggregate, be it over a group or `over` a window. A filter is a CASE where the dialect has no FILTER.
    pub(super) fn aggregated(
        &mut self,
        function: &Function,
        args: &Args,
        distinct: bool,
        order_by: &[OrderTerm],
        filter: Option<&Expr>,
        over: Option<&str>,
    ) -> Printed {
        let condition = filter.map(|filter| self.condition(filter)).transpose()?.map(|piece| piece.text);
        let (inside, behind) = if self.dialect.has_filter { (None, condition) } else { (condition, None) };
        let behind = format!(
            "{}{}",
            behind.map(|filter| format!(" FILTER (WHERE {filter})")).unwrap_or_default(),
            over.map(|window| format!(" OVER ({window})")).unwrap_or_default()
        );
        let args = args.as_slice();
        if matches!(function, Function::GroupConcat | Function::StringAgg) {
            if inside.is_some() || !behind.is_empty() {
                return Err(self.refuse(Construct::Concatenation, "with FILTER or OVER"));
            }
            return self.concatenated(args, distinct, order_by);
        }
        let (template, around) = self.aggregate_templates(function, args)?;
        let is_exact = self.sums_decide(function, args);
        let value = match args {
            [] if inside.is_none() => Piece::atom("*"),
            [] => Piece::atom("1"),
            [arg, ..] => self.aggregated_value(function, arg, distinct)?,
        };
        let templates = &self.dialect.templates;
        let value = if is_exact { fill(templates.exact_summand, &[&value]) } else { value };
        let value = match &inside {
            Some(condition) => Piece::atom(format!("CASE WHEN {condition} THEN {} END", value.text)),
            None => value,
        };
        let value = if distinct { Piece::atom(format!("DISTINCT {}", value.text)) } else { value };
        if !is_exact {
            let call = Piece::atom(format!("{}{behind}", fill(template, &[&value]).text));
            return Ok(fill(around, &[&call]));
        }
        let name = if *function == Function::Avg { templates.exact_average } else { templates.exact_sum };
        let call = Piece::atom(format!("{name}({}){behind}", value.text));
        Ok(fill(around, &[&fill(templates.real_of_exact, &[&call])]))
    }

    /// Whether the last digits of a sum of real numbers may decide which rows there are, and in which order.
    fn sums_decide(&self, function: &Function, args: &[Expr]) -> bool {
        let is_sum = matches!(function, Function::Sum | Function::Avg | Function::Total);
        let is_real = args.first().is_some_and(|arg| self.types.as_number(arg) != Type::Integer);
        is_sum && is_real && !(self.is_outermost && self.in_results)
    }

    /// The aggregate, and what stands around it.
    fn aggregate_templates(
        &self,
        function: &Function,
        args: &[Expr],
    ) -> Result<(&'static str, &'static str), Refused> {
        let templates = &self.dialect.templates;
        let is_integer = args.first().is_some_and(|arg| self.types.as_number(arg) == Type::Integer);
        Ok(match (function, args) {
            (Function::Count, [] | [_]) => ("COUNT({0})", "{0}"),
            (Function::Sum, [_]) if is_integer => {
                ("SUM({0})", self.template(templates.integer_of_sum, Construct::Function, "sum of integers")?)
            }
            (Function::Sum, [_]) => ("SUM({0})", "{0}"),
            (Function::Avg, [_]) if is_integer => {
                let template = templates.average_of_integers;
                (self.template(template, Construct::Function, "average of integers")?, "{0}")
            }
            (Function::Avg, [_]) => ("AVG({0})", "{0}"),
            (Function::Total, [_]) => ("SUM({0})", "COALESCE({0}, 0)"),
            (Function::Min, [_]) => ("MIN({0})", "{0}"),
            (Function::Max, [_]) => ("MAX({0})", "{0}"),
            (other, _) => {
                return Err(self.refuse(Construct::Function, format!("the function {}", other.name())));
            }
        })
    }

    fn aggregated_value(&mut self, function: &Function, arg: &Expr, distinct: bool) -> Printed {
        let is_extreme = matches!(function, Function::Min | Function::Max);
        if distinct || is_extreme {
            self.check_bytes(arg)?;
        }
        match function {
            Function::Sum | Function::Avg => self.number(arg),
            Function::Total => {
                let value = self.number(arg)?;
                if self.types.as_number(arg) == Type::Integer { self.as_real(&value) } else { Ok(value) }
            }
            _ => {
                let value = self.value(arg)?;
                let is_sorted = is_extreme && self.types.of(arg) == Type::Text;
                Ok(if is_sorted { fill(self.dialect.templates.text_order, &[&value]) } else { value })
            }
        }
    }

    fn concatenated(&mut self, args: &[Expr], distinct: bool, order_by: &[OrderTerm]) -> Printed {
        if order_by.is_empty() {
            return Err(self.refuse(Construct::Concatenation, "a group whose order is not given"));
        }
        let template = self.dialect.templates.concatenation;
        let template = self.template(template, Construct::Concatenation, "group_concat")?;
        let text = args.first().ok_or_else(|| self.refuse(Construct::Tree, "group_concat"))?;
        let mut value = self.text_value(text)?;
        if distinct {
            // Then only what is concatenated may be sorted by.
            self.check_bytes(text)?;
            if order_by.iter().any(|term| term.expr != *text) {
                return Err(self.refuse(Construct::Concatenation, "DISTINCT in another order"));
            }
            value = Piece::atom(format!("DISTINCT {}", value.text));
        }
        let separator = match args.get(1) {
            None => self.text(",")?,
            Some(separator @ Expr::Literal(Literal::Text(_))) => self.value(separator)?,
            Some(_) => return Err(self.refuse(Construct::Concatenation, "a separator that is no constant")),
        };
        let order = Piece::atom(self.order_terms(order_by)?);
        Ok(fill(template, &[&value, &separator, &order]))
    }
}

/// Whether an integer is 1 or more for sure: what `instr` and `length` give, and one more.
fn is_positive(expr: &Expr) -> bool {
    let natural = |expr: &Expr| match expr {
        Expr::Function { function: Function::Instr | Function::Length, .. } => true,
        Expr::Literal(Literal::Integer(value)) => *value >= 0,
        _ => false,
    };
    match expr {
        Expr::Literal(Literal::Integer(value)) => *value >= 1,
        Expr::Unary(UnaryOperator::Plus, operand) => is_positive(operand),
        Expr::Binary(BinaryOperator::Add, left, right) => {
            (is_positive(left) && natural(right)) || (natural(left) && is_positive(right))
        }
        _ => false,
    }
}
