//! Arithmetic as SQLite does it: classes of results, division, NULL for a division by zero.

use num_rational::BigRational;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::tree::BinaryOperator;

use super::ProofAssumption;
use super::defect::EncoderDefect;
use super::exec::Run;
use super::ir::{Constant, Sort, Term, Terms};
use super::text::ValueShape;
use super::value::SymbolicValue;
use super::world::Stop;

impl Run<'_, '_> {
    /// The number that arithmetic sees in a value: a text counts as the number that it begins with.
    pub(crate) fn number(&mut self, value: SymbolicValue) -> Result<SymbolicValue, Stop> {
        self.with_texts_as(value, ValueShape::NUMBER, &|text| format!("{text} + 0"))
    }

    /// The value with what SQLite makes of a text in its place.
    pub(crate) fn with_texts_as(
        &mut self,
        value: SymbolicValue,
        shape: ValueShape,
        spell: &dyn Fn(&str) -> String,
    ) -> Result<SymbolicValue, Stop> {
        if value.is_text == Terms::FALSE {
            return Ok(value);
        }
        let text = self.only_text(value);
        let number = self.call(&|args| spell(&args[0]), shape, &[text])?;
        Ok(self.world.terms.choose_value(value.is_text, number, value))
    }

    /// The negative.
    pub(crate) fn minus(&mut self, value: SymbolicValue) -> Result<SymbolicValue, Stop> {
        let value = self.number(value)?;
        self.note_arithmetic(value);
        let terms = &mut self.world.terms;
        Ok(SymbolicValue { integer: terms.negate(value.integer), real: terms.negate(value.real), ..value })
    }

    /// The size of a number.
    pub(crate) fn absolute(&mut self, value: SymbolicValue) -> Result<SymbolicValue, Stop> {
        let negative = self.minus(value)?;
        let terms = &mut self.world.terms;
        let (zero, real_zero) = (terms.zero(Sort::Integer), terms.zero(Sort::Real));
        let is_negative = terms.less(value.integer, zero);
        let is_real_negative = terms.less(value.real, real_zero);
        Ok(SymbolicValue {
            integer: terms.choose(is_negative, negative.integer, value.integer),
            real: terms.choose(is_real_negative, negative.real, value.real),
            ..value
        })
    }

    /// `round` to no digits: to the nearest whole number, half away from zero.
    pub(crate) fn round(&mut self, value: SymbolicValue) -> SymbolicValue {
        if value.is_real != Terms::FALSE {
            self.world.assumes.insert(ProofAssumption::ExactReals);
        }
        let added = i32::from(!self.world.has(EncoderDefect::RoundCutsOff));
        let terms = &mut self.world.terms;
        let zero = terms.zero(Sort::Real);
        let half = terms.constant(Constant::Real(BigRational::new(added.into(), 2.into())));
        let minus_half = terms.negate(half);
        let is_negative = terms.less(value.real, zero);
        let away = terms.choose(is_negative, minus_half, half);
        let real = terms.add(Sort::Real, [value.real, away]);
        let whole = terms.truncate(real);
        let real = terms.real_of(whole);
        let number = terms.number_as_real(SymbolicValue { real, ..value });
        terms.real_value(number, value.is_null)
    }

    /// `ceil`, `floor` or `trunc` of a number: the class stays.
    pub(crate) fn whole(&mut self, function: &Function, value: SymbolicValue) -> SymbolicValue {
        let terms = &mut self.world.terms;
        let whole = match function {
            Function::Floor => terms.floor(value.real),
            Function::Trunc => terms.truncate(value.real),
            _ => {
                let minus = terms.negate(value.real);
                let floor = terms.floor(minus);
                terms.negate(floor)
            }
        };
        SymbolicValue { real: terms.real_of(whole), ..value }
    }

    /// `sign` of a number: -1, 0 or 1.
    pub(crate) fn sign(&mut self, value: SymbolicValue) -> SymbolicValue {
        let terms = &mut self.world.terms;
        let (zero, real_zero) = (terms.zero(Sort::Integer), terms.zero(Sort::Real));
        let below = [terms.less(value.integer, zero), terms.less(value.real, real_zero)];
        let above = [terms.less(zero, value.integer), terms.less(real_zero, value.real)];
        let [is_negative, is_positive] =
            [below, above].map(|[integer, real]| terms.choose(value.is_integer, integer, real));
        let (minus_one, one) = (terms.integer(-1), terms.integer(1));
        let size = terms.choose(is_positive, one, zero);
        let sign = terms.choose(is_negative, minus_one, size);
        terms.integer_value(sign, value.is_null)
    }

    /// A binary operator that does not compare.
    pub(crate) fn binary(
        &mut self,
        operator: BinaryOperator,
        left: SymbolicValue,
        right: SymbolicValue,
    ) -> Result<SymbolicValue, Stop> {
        use BinaryOperator as B;
        match operator {
            B::Add | B::Subtract | B::Multiply | B::Divide => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                self.note_arithmetic(left);
                self.note_arithmetic(right);
                Ok(self.arithmetic(operator, left, right))
            }
            B::Modulo => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                self.modulo(left, right)
            }
            B::Concat => {
                self.call(&|args| format!("{} || {}", args[0], args[1]), ValueShape::TEXT, &[left, right])
            }
            B::BitAnd | B::BitOr | B::ShiftLeft | B::ShiftRight => {
                let symbol = operator.symbol();
                let spell = |args: &[String]| format!("{} {symbol} {}", args[0], args[1]);
                self.call(&spell, ValueShape::INTEGER, &[left, right])
            }
            _ => Err(Stop::unsupported(operator.symbol())),
        }
    }

    fn arithmetic(
        &mut self,
        operator: BinaryOperator,
        left: SymbolicValue,
        right: SymbolicValue,
    ) -> SymbolicValue {
        let keeps_fraction = self.world.has(EncoderDefect::DivisionKeepsFraction);
        let terms = &mut self.world.terms;
        let mut is_integer = terms.and(left.is_integer, right.is_integer);
        if keeps_fraction && operator == BinaryOperator::Divide {
            is_integer = Terms::FALSE;
        }
        let mut is_null = terms.or(left.is_null, right.is_null);
        let mut integer = terms.zero(Sort::Integer);
        let mut real = terms.zero(Sort::Real);
        if operator == BinaryOperator::Divide {
            let is_zero = zero_of(terms, right);
            is_null = terms.or(is_null, is_zero);
        }
        if is_integer != Terms::FALSE {
            integer = arithmetic(terms, Sort::Integer, operator, left.integer, right.integer);
        }
        if is_integer != Terms::TRUE {
            let (l, r) = (terms.number_as_real(left), terms.number_as_real(right));
            real = arithmetic(terms, Sort::Real, operator, l, r);
        }
        let not_null = terms.not(is_null);
        let not_integer = terms.not(is_integer);
        SymbolicValue {
            is_null,
            is_integer: terms.and(not_null, is_integer),
            is_real: terms.and(not_null, not_integer),
            is_text: Terms::FALSE,
            integer,
            real,
            text: left.text,
        }
    }

    /// The remainder of both as integers, with the sign of the first.
    fn modulo(&mut self, left: SymbolicValue, right: SymbolicValue) -> Result<SymbolicValue, Stop> {
        let (l, r) = (self.cast_to_integer(left)?, self.cast_to_integer(right)?);
        self.note_arithmetic(left);
        let quotient = self.arithmetic(BinaryOperator::Divide, l, r);
        let terms = &mut self.world.terms;
        let whole = terms.multiply(quotient.integer, r.integer);
        let minus = terms.negate(whole);
        let remainder = terms.add(Sort::Integer, [l.integer, minus]);
        let is_integer = terms.and(left.is_integer, right.is_integer);
        let integer = terms.integer_value(remainder, quotient.is_null);
        let real = terms.rounded(remainder);
        let real = terms.real_value(real, quotient.is_null);
        Ok(terms.choose_value(is_integer, integer, real))
    }

    /// CAST to INTEGER.
    pub(crate) fn cast_to_integer(&mut self, value: SymbolicValue) -> Result<SymbolicValue, Stop> {
        let value = self.cast_text(value, ValueShape::INTEGER, "INTEGER")?;
        if value.is_real == Terms::FALSE {
            return Ok(value);
        }
        self.note_arithmetic(value);
        let terms = &mut self.world.terms;
        let truncated = terms.truncate(value.real);
        let integer = terms.choose(value.is_real, truncated, value.integer);
        Ok(terms.integer_value(integer, value.is_null))
    }

    /// CAST to REAL.
    pub(crate) fn cast_to_real(&mut self, value: SymbolicValue) -> Result<SymbolicValue, Stop> {
        let value = self.cast_text(value, ValueShape::REAL, "REAL")?;
        if value.is_integer != Terms::FALSE {
            self.world.assumes.insert(ProofAssumption::ExactReals);
        }
        let terms = &mut self.world.terms;
        let real = terms.number_as_real(value);
        Ok(terms.real_value(real, value.is_null))
    }

    /// CAST to NUMERIC: numbers stay what they are.
    pub(crate) fn cast_to_numeric(&mut self, value: SymbolicValue) -> Result<SymbolicValue, Stop> {
        self.cast_text(value, ValueShape::NUMBER, "NUMERIC")
    }

    fn cast_text(
        &mut self,
        value: SymbolicValue,
        shape: ValueShape,
        to: &str,
    ) -> Result<SymbolicValue, Stop> {
        self.with_texts_as(value, shape, &|text| format!("CAST({text} AS {to})"))
    }

    /// What arithmetic with such a value rests on.
    pub(crate) fn note_arithmetic(&mut self, value: SymbolicValue) {
        if value.is_real != Terms::FALSE {
            self.world.assumes.insert(ProofAssumption::ExactReals);
        }
        if value.is_integer != Terms::FALSE {
            self.world.assumes.insert(ProofAssumption::NoOverflow);
        }
    }
}

fn zero_of(terms: &mut Terms, value: SymbolicValue) -> Term {
    let (zero, real_zero) = (terms.zero(Sort::Integer), terms.zero(Sort::Real));
    let (integer, real) = (terms.equal(value.integer, zero), terms.equal(value.real, real_zero));
    let (integer, real) = (terms.and(value.is_integer, integer), terms.and(value.is_real, real));
    terms.or(integer, real)
}

fn arithmetic(terms: &mut Terms, sort: Sort, operator: BinaryOperator, left: Term, right: Term) -> Term {
    match operator {
        BinaryOperator::Add => terms.add(sort, [left, right]),
        BinaryOperator::Subtract => {
            let minus = terms.negate(right);
            terms.add(sort, [left, minus])
        }
        BinaryOperator::Multiply => terms.multiply(left, right),
        _ if sort == Sort::Integer => terms.divide_integers(left, right),
        _ => terms.divide(left, right),
    }
}
