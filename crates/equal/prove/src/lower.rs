//! Expressions as terms.
//!
//! # Contract
//! What a value is in three-valued logic, by SQLite's conversions and collations as `sql::derive` knows them. An
//! expression that has no encoding ends in [`Stop::Unsupported`] with its name.

use sqlgauge_engine::Value as Stored;
use sqlgauge_sql::derive::{Conversion, Fact, OperandComparison};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::{Affinity, Collation};
use sqlgauge_sql::tree::{Args, BinaryOperator, Body, Expr, LikeOperator, Literal, Query, UnaryOperator};

use super::defect::EncoderDefect as Defect;
use super::exec::{Env, Run};
use super::ir::{Sort, Terms};
use super::text::ValueShape;
use super::value::{SymbolicValue, Truth};
use super::world::Stop;

impl Run<'_, '_> {
    /// The value of an expression.
    pub(crate) fn value(&mut self, expr: &Expr, env: &Env) -> Result<SymbolicValue, Stop> {
        self.world.check_size(0)?;
        Ok(match expr {
            Expr::Column(column) => env.column(*column).ok_or_else(|| Stop::unsupported("column"))?,
            Expr::Literal(literal) => self.literal(literal)?,
            Expr::Unary(UnaryOperator::Plus, inner) | Expr::Collate { expr: inner, .. } => {
                self.value(inner, env)?
            }
            Expr::Unary(UnaryOperator::Minus, inner) => {
                let value = self.value(inner, env)?;
                self.minus(value)?
            }
            Expr::Unary(UnaryOperator::BitNot, inner) => {
                let value = self.value(inner, env)?;
                self.call(&|args| format!("~({})", args[0]), ValueShape::INTEGER, &[value])?
            }
            Expr::Binary(BinaryOperator::Concat, ..) => {
                let values = joined_operands(expr).into_iter().map(|operand| self.value(operand, env));
                let values = values.collect::<Result<_, _>>()?;
                self.concatenation(values)?
            }
            Expr::Binary(operator, left, right) if !operator.is_comparison() => {
                let (left, right) = (self.value(left, env)?, self.value(right, env)?);
                self.binary(*operator, left, right)?
            }
            Expr::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), env)?
            }
            Expr::Cast { expr, type_name } => {
                let value = self.value(expr, env)?;
                self.cast(value, type_name)?
            }
            Expr::Function { function, args } => self.function(function, args, env)?,
            Expr::Aggregate(aggregate) => self.aggregate(aggregate, env)?,
            Expr::Window(call) => env.window(call).ok_or_else(|| Stop::unsupported("window"))?,
            Expr::Scalar(query) => self.scalar(query, env)?,
            Expr::Output(_) => return Err(Stop::unsupported("output")),
            Expr::Row(_) => return Err(Stop::unsupported("row value")),
            Expr::Binary(..)
            | Expr::Unary(UnaryOperator::Not, _)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::InList { .. }
            | Expr::InQuery { .. }
            | Expr::Exists { .. }
            | Expr::IsNull { .. } => {
                let truth = self.truth(expr, env)?;
                self.world.terms.truth_value(truth)
            }
        })
    }

    /// Whether a condition holds.
    pub(crate) fn truth(&mut self, expr: &Expr, env: &Env) -> Result<Truth, Stop> {
        Ok(match expr {
            Expr::Unary(UnaryOperator::Not, inner) => {
                let truth = self.truth(inner, env)?;
                if self.world.has(Defect::NotOfUnknownIsTrue) {
                    let is_true = self.world.terms.not(truth.is_true);
                    return Ok(self.world.terms.certain(is_true));
                }
                truth.negated()
            }
            Expr::And(operands) => {
                let operands = self.truths(operands, env)?;
                let truth = self.world.terms.conjunction(&operands);
                if self.world.has(Defect::UnknownAndIsFalse) {
                    return Ok(self.world.terms.certain(truth.is_true));
                }
                truth
            }
            Expr::Or(operands) => {
                let operands = self.truths(operands, env)?;
                self.world.terms.disjunction(&operands)
            }
            Expr::Binary(operator, left, right) if operator.is_comparison() => {
                self.comparison(*operator, left, right, env)?
            }
            Expr::Between { expr, low, high, negated } => {
                let low = self.comparison(BinaryOperator::GreaterEqual, expr, low, env)?;
                let leaves_high = self.world.has(Defect::BetweenLeavesHigh);
                let below = if leaves_high { BinaryOperator::Less } else { BinaryOperator::LessEqual };
                let high = self.comparison(below, expr, high, env)?;
                self.world.terms.conjunction(&[low, high]).negated_if(*negated)
            }
            Expr::Like { operator, expr, pattern, escape, negated } => {
                self.like(*operator, expr, pattern, escape.as_deref(), env)?.negated_if(*negated)
            }
            Expr::InList { expr, list, negated } => self.in_list(expr, list, env)?.negated_if(*negated),
            Expr::InQuery { expr, query, negated } => self.in_query(expr, query, env)?.negated_if(*negated),
            Expr::Exists { query, negated } => {
                let rows = self.subquery(query, env)?;
                let is_true = self.world.terms.any(rows.iter().map(|row| row.present));
                self.world.terms.certain(is_true).negated_if(*negated)
            }
            Expr::IsNull { expr, negated } => {
                let is_null = self.value(expr, env)?.is_null;
                self.world.terms.certain(is_null).negated_if(*negated)
            }
            _ => {
                let value = self.value(expr, env)?;
                self.truth_of(value)?
            }
        })
    }

    fn truths(&mut self, operands: &[Expr], env: &Env) -> Result<Vec<Truth>, Stop> {
        operands.iter().map(|operand| self.truth(operand, env)).collect()
    }

    /// A value as a condition: a number other than 0, or a text that begins with one.
    pub(crate) fn truth_of(&mut self, value: SymbolicValue) -> Result<Truth, Stop> {
        let number = self.number(value)?;
        let text_is_true = self.world.has(Defect::TextIsTrue);
        let terms = &mut self.world.terms;
        let (zero, real_zero) = (terms.zero(Sort::Integer), terms.zero(Sort::Real));
        let integer_is_zero = terms.equal(number.integer, zero);
        let real_is_zero = terms.equal(number.real, real_zero);
        let mut is_zero = terms.choose(number.is_integer, integer_is_zero, real_is_zero);
        if text_is_true {
            let no_text = terms.not(value.is_text);
            is_zero = terms.and(no_text, is_zero);
        }
        let (is_set, not_null) = (terms.not(is_zero), terms.not(number.is_null));
        Ok(Truth { is_true: terms.and(not_null, is_set), is_false: terms.and(not_null, is_zero) })
    }

    fn literal(&mut self, literal: &Literal) -> Result<SymbolicValue, Stop> {
        let stored = match literal {
            Literal::Null => Stored::Null,
            Literal::Boolean(truth) => Stored::Integer(i64::from(*truth)),
            Literal::Integer(integer) => Stored::Integer(*integer),
            Literal::Real(real) => Stored::Real(real.get()),
            Literal::Text(text) => Stored::text(text),
            Literal::Blob(_) => return Err(Stop::unsupported("blob")),
        };
        self.world.terms.stored_value(&stored).ok_or_else(|| Stop::unsupported("infinity"))
    }

    fn comparison(
        &mut self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        env: &Env,
    ) -> Result<Truth, Stop> {
        if let (Expr::Row(lefts), Expr::Row(rights)) = (left, right) {
            return self.row_comparison(operator, lefts, rights, env);
        }
        if let Some(wanted) = operator.truth_asked(right) {
            let truth = self.truth(left, env)?;
            let holds = if wanted { truth.is_true } else { truth.is_false };
            return Ok(self.world.terms.certain(holds).negated_if(operator == BinaryOperator::IsNot));
        }
        self.value_comparison(operator, left, right, env)
    }

    /// A comparison of two values, as the parts of row values are compared.
    fn value_comparison(
        &mut self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        env: &Env,
    ) -> Result<Truth, Stop> {
        use BinaryOperator::{Equal, Is, IsNot, NotEqual};
        let is_equality = matches!(operator, Equal | NotEqual | Is | IsNot);
        let small = if is_equality { in_small_letters(left, right) } else { None };
        let (left, right) = small.as_ref().map_or((left, right), |[left, right]| (left, right));
        let values = (self.value(left, env)?, self.value(right, env)?);
        let (left, right) = self.comparable((left, right), values)?;
        Ok(self.compare(operator, left, right))
    }

    fn row_comparison(
        &mut self,
        operator: BinaryOperator,
        lefts: &[Expr],
        rights: &[Expr],
        env: &Env,
    ) -> Result<Truth, Stop> {
        use BinaryOperator::{Equal, Is, IsNot, NotEqual};
        let (each, negated) = match operator {
            Equal => (Equal, false),
            NotEqual => (Equal, true),
            Is => (Is, false),
            IsNot => (Is, true),
            _ => return self.row_order(operator, (lefts, rights), env),
        };
        let parts: Vec<Truth> = lefts
            .iter()
            .zip(rights)
            .map(|(left, right)| self.value_comparison(each, left, right, env))
            .collect::<Result<_, _>>()?;
        Ok(self.world.terms.conjunction(&parts).negated_if(negated))
    }

    /// The order of row values: by the first parts that differ.
    fn row_order(
        &mut self,
        operator: BinaryOperator,
        (lefts, rights): (&[Expr], &[Expr]),
        env: &Env,
    ) -> Result<Truth, Stop> {
        use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual};
        let ([left, lefts @ ..], [right, rights @ ..]) = (lefts, rights) else {
            return Err(Stop::unsupported("row value"));
        };
        if lefts.is_empty() {
            return self.comparison(operator, left, right, env);
        }
        let strict = match operator {
            Less | LessEqual => Less,
            Greater | GreaterEqual => Greater,
            _ => return Err(Stop::unsupported("row value")),
        };
        let decides = self.comparison(strict, left, right, env)?;
        let ties = self.comparison(Equal, left, right, env)?;
        let rest = self.row_order(operator, (lefts, rights), env)?;
        let terms = &mut self.world.terms;
        let by_rest = terms.conjunction(&[ties, rest]);
        Ok(terms.disjunction(&[decides, by_rest]))
    }

    /// A comparison of values that have been made comparable.
    pub(crate) fn compare(
        &mut self,
        operator: BinaryOperator,
        left: SymbolicValue,
        right: SymbolicValue,
    ) -> Truth {
        use BinaryOperator::{Equal, Greater, GreaterEqual, Is, IsNot, Less, LessEqual, NotEqual};
        let nulls_compare = matches!(operator, Equal | NotEqual) && self.world.has(Defect::NullEqualsNull);
        let is_compares = matches!(operator, Is | IsNot) && !self.world.has(Defect::IsComparesAsEqual);
        let terms = &mut self.world.terms;
        if nulls_compare {
            let same = terms.same_values(left, right);
            return terms.certain(same).negated_if(operator == NotEqual);
        }
        if is_compares {
            let same = terms.same_values(left, right);
            return terms.certain(same).negated_if(operator == IsNot);
        }
        let holds = match operator {
            Less | GreaterEqual => terms.less_values(left, right),
            Greater | LessEqual => terms.less_values(right, left),
            _ => terms.equal_values(left, right),
        };
        let is_null = terms.or(left.is_null, right.is_null);
        let (not_null, not) = (terms.not(is_null), terms.not(holds));
        let truth = Truth { is_true: terms.and(not_null, holds), is_false: terms.and(not_null, not) };
        debug_assert!(operator.is_comparison() || operator == Equal);
        truth.negated_if(matches!(operator, NotEqual | IsNot | GreaterEqual | LessEqual))
    }

    /// The operands of a comparison after their conversions, so that they compare byte by byte.
    pub(crate) fn comparable(
        &mut self,
        (left, right): (&Expr, &Expr),
        values: (SymbolicValue, SymbolicValue),
    ) -> Result<(SymbolicValue, SymbolicValue), Stop> {
        let comparison = self.facts.comparison(left, right);
        self.compared_by(&comparison, values)
    }

    /// Two values that compare in that way, after their conversions.
    fn compared_by(
        &mut self,
        comparison: &OperandComparison,
        (mut left, mut right): (SymbolicValue, SymbolicValue),
    ) -> Result<(SymbolicValue, SymbolicValue), Stop> {
        match comparison.conversion {
            _ if self.world.has(Defect::NoAffinity) => {}
            Fact::Known(Conversion::None) => {}
            Fact::Known(Conversion::ToNumber) => {
                left = self.with_numeric_affinity(left)?;
                right = self.with_numeric_affinity(right)?;
            }
            Fact::Known(Conversion::ToText) => {
                left = self.with_text_affinity(left)?;
                right = self.with_text_affinity(right)?;
            }
            Fact::Unknown => return Err(Stop::unsupported("comparison of unknown affinity")),
        }
        let collation = &comparison.collation;
        Ok((self.collated(left, collation.as_ref())?, self.collated(right, collation.as_ref())?))
    }

    /// The value by which GROUP BY, DISTINCT and ORDER BY compare it.
    pub(crate) fn key(&mut self, expr: &Expr, value: SymbolicValue) -> Result<SymbolicValue, Stop> {
        let collation = self.facts.collation(expr);
        self.collated(value, collation.as_ref())
    }

    /// The value such that equality byte by byte is equality in the collation.
    pub(crate) fn collated(
        &mut self,
        value: SymbolicValue,
        collation: Fact<&Collation>,
    ) -> Result<SymbolicValue, Stop> {
        if value.is_text == Terms::FALSE || self.world.has(Defect::NoCollation) {
            return Ok(value);
        }
        let folded = match collation {
            Fact::Known(Collation::Binary) => return Ok(value),
            Fact::Known(Collation::NoCase) => "lower",
            Fact::Known(Collation::RTrim) => "rtrim",
            _ => return Err(Stop::unsupported("collation")),
        };
        let terms = &mut self.world.terms;
        let not_text = terms.not(value.is_text);
        let text = terms.text_value(value.text, not_text);
        let text = self.call(&|args| format!("{folded}({})", args[0]), ValueShape::TEXT, &[text])?;
        Ok(SymbolicValue { text: text.text, ..value })
    }

    fn case(
        &mut self,
        operand: Option<&Expr>,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        env: &Env,
    ) -> Result<SymbolicValue, Stop> {
        let mut result = match otherwise {
            Some(otherwise) if !self.world.has(Defect::NoElse) => self.value(otherwise, env)?,
            _ => self.world.terms.null(),
        };
        for (when, then) in branches.iter().rev() {
            let condition = match operand {
                Some(operand) => self.comparison(BinaryOperator::Equal, operand, when, env)?,
                None => self.truth(when, env)?,
            };
            let then = self.value(then, env)?;
            result = self.world.terms.choose_value(condition.is_true, then, result);
        }
        Ok(result)
    }

    fn like(
        &mut self,
        operator: LikeOperator,
        expr: &Expr,
        pattern: &Expr,
        escape: Option<&Expr>,
        env: &Env,
    ) -> Result<Truth, Stop> {
        let keeps_case = self.world.has(Defect::LikeKeepsCase) && operator == LikeOperator::Like;
        let ignores_case = self.world.has(Defect::GlobIgnoresCase) && operator == LikeOperator::Glob;
        let word = match operator {
            LikeOperator::Like => "LIKE",
            LikeOperator::Glob => "GLOB",
            LikeOperator::Regexp => return Err(Stop::unsupported("REGEXP")),
            LikeOperator::Match => return Err(Stop::unsupported("MATCH")),
        };
        let value = self.value(expr, env)?;
        let mut args = vec![self.with_text_affinity(value)?, self.value(pattern, env)?];
        if let Some(escape) = escape {
            args.push(self.value(escape, env)?);
        }
        let spell = |args: &[String]| match args {
            [text, pattern, escape] => format!("{text} {word} {pattern} ESCAPE {escape}"),
            [text, pattern] if keeps_case => {
                format!("{text} GLOB replace(replace({pattern}, '%', '*'), '_', '?')")
            }
            [text, pattern] if ignores_case => format!("lower({text}) GLOB lower({pattern})"),
            _ => format!("{} {word} {}", args[0], args[1]),
        };
        let value = self.call(&spell, ValueShape::INTEGER, &args)?;
        self.truth_of(value)
    }

    fn in_list(&mut self, expr: &Expr, list: &[Expr], env: &Env) -> Result<Truth, Stop> {
        let mut truths = Vec::new();
        for element in list {
            // An element brings no affinity of its own.
            let bare = match element {
                Expr::Literal(_) | Expr::Row(_) => element.clone(),
                _ => Expr::Unary(UnaryOperator::Plus, Box::new(element.clone())),
            };
            truths.push(self.comparison(BinaryOperator::Equal, expr, &bare, env)?);
        }
        let truth = self.world.terms.disjunction(&truths);
        let is_certain = self.world.has(Defect::InIsNeverNull);
        Ok(if is_certain { self.world.terms.certain(truth.is_true) } else { truth })
    }

    fn in_query(&mut self, expr: &Expr, query: &Query, env: &Env) -> Result<Truth, Stop> {
        let lefts: Vec<&Expr> = match expr {
            Expr::Row(parts) => parts.iter().collect(),
            one => vec![one],
        };
        let values: Vec<SymbolicValue> =
            lefts.iter().map(|left| self.value(left, env)).collect::<Result<_, _>>()?;
        let rows = self.subquery(query, env)?;
        // Of the texts alone, so that it is asked once and not for each row.
        let comparisons = if rows.is_empty() { Vec::new() } else { self.comparisons(&lefts, query)? };
        let mut truths = Vec::new();
        for row in rows.iter() {
            self.world.check_size(0)?;
            let mut parts = Vec::new();
            for ((comparison, &value), &other) in comparisons.iter().zip(&values).zip(row.values.iter()) {
                let compared = self.compared_by(comparison, (value, other))?;
                parts.push(self.compare(BinaryOperator::Equal, compared.0, compared.1));
            }
            let equal = self.world.terms.conjunction(&parts);
            let terms = &mut self.world.terms;
            let absent = terms.not(row.present);
            truths.push(Truth {
                is_true: terms.and(row.present, equal.is_true),
                is_false: terms.or(absent, equal.is_false),
            });
        }
        Ok(self.world.terms.disjunction(&truths))
    }

    /// How each operand compares with its column of a query, whose SELECTs must agree on it.
    fn comparisons(&self, lefts: &[&Expr], query: &Query) -> Result<Vec<OperandComparison>, Stop> {
        let columns = result_columns(&query.body);
        let each = lefts.iter().enumerate().map(|(at, left)| {
            let Some((first, others)) = columns.get(at).and_then(|rights| rights.split_first()) else {
                return Err(Stop::unsupported("IN of VALUES"));
            };
            let comparison = self.facts.comparison(left, first);
            for other in others {
                self.world.check_time()?;
                if self.facts.comparison(left, other) != comparison {
                    return Err(Stop::unsupported("IN of a compound"));
                }
            }
            Ok(comparison)
        });
        each.collect()
    }

    fn function(&mut self, function: &Function, args: &Args, env: &Env) -> Result<SymbolicValue, Stop> {
        use Function as F;
        let list = args.as_slice();
        match function {
            F::Coalesce | F::IfNull => {
                let values = self.values(list, env)?;
                let null = self.world.terms.null();
                let pick = |later: SymbolicValue, value: &SymbolicValue| {
                    self.world.terms.choose_value(value.is_null, later, *value)
                };
                return Ok(values.iter().rev().fold(null, pick));
            }
            F::Iif | F::If => {
                let branches: Vec<(Expr, Expr)> =
                    list.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
                let otherwise = if list.len() % 2 == 1 { list.last() } else { None };
                return self.case(None, &branches, otherwise, env);
            }
            F::NullIf => {
                let [left, right] = list else { return Err(Stop::unsupported("nullif")) };
                return self.null_if(left, right, env);
            }
            F::Likely | F::Unlikely | F::Likelihood => return self.value(&list[0], env),
            F::Min | F::Max => return self.scalar_extreme(list, *function == F::Min, env),
            F::Abs => {
                let value = self.value(&list[0], env)?;
                if value.is_text == Terms::FALSE {
                    return self.absolute(value);
                }
            }
            _ => {}
        }
        let (function, args) = &plainer(function, args);
        let list = args.as_slice();
        if function.properties().may_read_clock {
            return self.date_function(function, args, env);
        }
        let mut values = self.values(list, env)?;
        if reads_text(function)
            && let Some(first) = values.first_mut()
        {
            *first = self.with_text_affinity(*first)?;
        }
        if let (F::Mod, [left, right]) = (function, values.as_slice())
            && [left, right]
                .iter()
                .all(|value| (value.is_real, value.is_text) == (Terms::FALSE, Terms::FALSE))
        {
            let remainder = self.binary(BinaryOperator::Modulo, *left, *right)?;
            let terms = &mut self.world.terms;
            let real = terms.rounded(remainder.integer);
            return Ok(terms.real_value(real, remainder.is_null));
        }
        match (function, values.as_slice()) {
            (F::Concat, _) => self.concat(values),
            (F::Round, [value]) if value.is_text == Terms::FALSE => Ok(self.round(*value)),
            // An integer has no digits behind the point.
            (F::Round, [value, _])
                if matches!(list, [_, Expr::Literal(Literal::Integer(_))])
                    && (value.is_real, value.is_text) == (Terms::FALSE, Terms::FALSE) =>
            {
                Ok(self.round(*value))
            }
            (F::Ceil | F::Ceiling | F::Floor | F::Trunc, [value]) if value.is_text == Terms::FALSE => {
                Ok(self.whole(function, *value))
            }
            (F::Sign, [value]) if value.is_text == Terms::FALSE => Ok(self.sign(*value)),
            _ => self.scalar_function(function, args, &values),
        }
    }

    /// `concat`: NULL is an empty text.
    fn concat(&mut self, mut values: Vec<SymbolicValue>) -> Result<SymbolicValue, Stop> {
        let terms = &mut self.world.terms;
        let empty = terms.text("");
        let empty = terms.text_value(empty, Terms::FALSE);
        for value in &mut values {
            *value = self.world.terms.choose_value(value.is_null, empty, *value);
        }
        if let Some(first) = values.first_mut() {
            *first = self.with_text_affinity(*first)?;
        }
        self.concatenation(values)
    }

    /// Values one behind the other.
    fn concatenation(&mut self, values: Vec<SymbolicValue>) -> Result<SymbolicValue, Stop> {
        let mut values = values.into_iter();
        let first = values.next().ok_or_else(|| Stop::unsupported("concat"))?;
        values.try_fold(first, |before, value| self.binary(BinaryOperator::Concat, before, value))
    }

    /// NULLIF: a function, so that its arguments are compared without conversion.
    fn null_if(&mut self, left: &Expr, right: &Expr, env: &Env) -> Result<SymbolicValue, Stop> {
        let is_explicit = |expr: &Expr| matches!(expr, Expr::Collate { .. });
        if is_explicit(right) && !is_explicit(left) {
            return Err(Stop::unsupported("nullif under a collation"));
        }
        let (value, other) = (self.value(left, env)?, self.value(right, env)?);
        let comparison = self.facts.comparison(left, right);
        let collation = comparison.collation.as_ref();
        let (l, r) = (self.collated(value, collation)?, self.collated(other, collation)?);
        let equal = self.compare(BinaryOperator::Equal, l, r);
        Ok(self.world.terms.null_if(equal.is_true, value))
    }

    pub(crate) fn values(&mut self, list: &[Expr], env: &Env) -> Result<Vec<SymbolicValue>, Stop> {
        list.iter().map(|expr| self.value(expr, env)).collect()
    }

    /// `min` or `max` of several arguments: NULL if one is.
    fn scalar_extreme(&mut self, list: &[Expr], is_min: bool, env: &Env) -> Result<SymbolicValue, Stop> {
        if list.iter().any(|arg| !self.facts.collation(arg).is(&Collation::Binary)) {
            return Err(Stop::unsupported("collation"));
        }
        let values = self.values(list, env)?;
        let Some((&first, others)) = values.split_first() else { return Err(Stop::unsupported("min")) };
        let terms = &mut self.world.terms;
        let mut extreme = first;
        for &value in others {
            let (a, b) = if is_min { (value, extreme) } else { (extreme, value) };
            let is_better = terms.less_values(a, b);
            extreme = terms.choose_value(is_better, value, extreme);
        }
        let is_null = terms.any(values.iter().map(|value| value.is_null));
        Ok(terms.null_if(is_null, extreme))
    }

    /// CAST.
    fn cast(&mut self, value: SymbolicValue, type_name: &str) -> Result<SymbolicValue, Stop> {
        match Affinity::of_declared_type(Some(type_name)) {
            Affinity::Blob => Err(Stop::unsupported("CAST to BLOB")),
            Affinity::Text => self.with_text_affinity(value),
            Affinity::Integer => self.cast_to_integer(value),
            Affinity::Real => self.cast_to_real(value),
            Affinity::Numeric => self.cast_to_numeric(value),
        }
    }
}

/// Whether a number as the first argument is read as its text.
fn reads_text(function: &Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::Instr
            | F::Length
            | F::Lower
            | F::Ltrim
            | F::Replace
            | F::Rtrim
            | F::Substr
            | F::Substring
            | F::Trim
            | F::Upper
    )
}

/// The operands of a chain of `||`, from the first to the last.
fn joined_operands(expr: &Expr) -> Vec<&Expr> {
    let (mut pending, mut operands) = (vec![expr], Vec::new());
    while let Some(expr) = pending.pop() {
        match expr {
            Expr::Binary(BinaryOperator::Concat, left, right) => pending.extend([&**right, &**left]),
            operand => operands.push(operand),
        }
    }
    operands
}

/// `lower` of what two expressions are `upper` of: texts that are equal in capitals are equal in small letters.
fn in_small_letters(left: &Expr, right: &Expr) -> Option<[Expr; 2]> {
    use Function::{Lower, Upper};
    let (Expr::Function { function: Upper, args: left }, Expr::Function { function: Upper, args: right }) =
        (left, right)
    else {
        return None;
    };
    Some([left, right].map(|args| Expr::Function { function: Lower, args: args.clone() }))
}

/// A function without what changes no value: a letter case under another, a rounding to no digits, and the order in which both ends
/// are trimmed.
fn plainer(function: &Function, args: &Args) -> (Function, Args) {
    use Function as F;
    let mut args = args.clone();
    let Args::List(list) = &mut args else { return (function.clone(), args) };
    let is_case = |function: &Function| matches!(function, F::Lower | F::Upper);
    while let (true, [Expr::Function { function: inner, args: Args::List(inner_list) }]) =
        (is_case(function), list.as_slice())
        && is_case(inner)
    {
        *list = inner_list.clone();
    }
    if let (F::Round, [_, Expr::Literal(Literal::Integer(0))]) = (function, list.as_slice()) {
        list.truncate(1);
    }
    if *function == F::Trim {
        list[0] = Expr::Function { function: F::Ltrim, args: Args::List(list.clone()) };
        return (F::Rtrim, args);
    }
    if let (F::Ltrim, [Expr::Function { function: F::Rtrim, args: Args::List(inner) }, outer @ ..]) =
        (function, list.as_slice())
        && inner.get(1..) == Some(outer)
    {
        list[0] = Expr::Function { function: F::Ltrim, args: Args::List(inner.clone()) };
        return (F::Rtrim, args);
    }
    (function.clone(), args)
}

/// The expressions of each result column, one of every SELECT.
fn result_columns(body: &Body) -> Vec<Vec<&Expr>> {
    match body {
        Body::Select(select) => select.outputs.iter().map(|output| vec![&output.expr]).collect(),
        Body::Values(rows) => {
            let width = rows.first().map_or(0, Vec::len);
            (0..width).map(|at| rows.iter().filter_map(|row| row.get(at)).collect()).collect()
        }
        Body::SetOperation { left, right, .. } => {
            let mut columns = result_columns(left);
            columns.iter_mut().zip(result_columns(right)).for_each(|(column, more)| column.extend(more));
            columns
        }
    }
}
