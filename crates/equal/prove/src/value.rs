//! Values of SQL as terms: which of SQLite's classes a value is of, and what it is there.
//!
//! A value is of exactly one class: NULL, integer, real or text (blobs are assumed away). Where the class is certain,
//! its terms are constants and everything that depends on the other classes folds away.

use num_bigint::BigInt;
use sqlgauge_engine::Value as Stored;

use super::ir::{Constant, Sort, Term, Terms};
use super::oracle::rational;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SymbolicValue {
    /// It is NULL.
    pub is_null: Term,
    pub is_integer: Term,
    pub is_real: Term,
    pub is_text: Term,
    /// Which integer, if it is one.
    pub integer: Term,
    /// Which real number, if it is one.
    pub real: Term,
    /// Which text, if it is one.
    pub text: Term,
}

/// A condition in three-valued logic: NULL if neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Truth {
    pub is_true: Term,
    pub is_false: Term,
}

impl Truth {
    /// NOT.
    #[must_use]
    pub(crate) fn negated(self) -> Self {
        Self { is_true: self.is_false, is_false: self.is_true }
    }

    /// NOT, if asked for.
    #[must_use]
    pub(crate) fn negated_if(self, negated: bool) -> Self {
        if negated { self.negated() } else { self }
    }
}

impl Terms {
    /// NULL.
    pub(crate) fn null(&mut self) -> SymbolicValue {
        SymbolicValue {
            is_null: Self::TRUE,
            is_integer: Self::FALSE,
            is_real: Self::FALSE,
            is_text: Self::FALSE,
            integer: self.zero(Sort::Integer),
            real: self.zero(Sort::Real),
            text: self.zero(Sort::Text),
        }
    }

    /// An integer, or NULL where `is_null`.
    pub(crate) fn integer_value(&mut self, integer: Term, is_null: Term) -> SymbolicValue {
        SymbolicValue { is_null, is_integer: self.not(is_null), integer, ..self.null() }
    }

    /// A real number, or NULL where `is_null`.
    pub(crate) fn real_value(&mut self, real: Term, is_null: Term) -> SymbolicValue {
        SymbolicValue { is_null, is_real: self.not(is_null), real, ..self.null() }
    }

    /// A text, or NULL where `is_null`.
    pub(crate) fn text_value(&mut self, text: Term, is_null: Term) -> SymbolicValue {
        SymbolicValue { is_null, is_text: self.not(is_null), text, ..self.null() }
    }

    /// A value that SQLite stores; `None` for a blob or a number without bounds.
    pub(crate) fn stored_value(&mut self, value: &Stored) -> Option<SymbolicValue> {
        Some(match value {
            Stored::Null => self.null(),
            Stored::Integer(integer) => {
                let integer = self.constant(Constant::Integer(BigInt::from(*integer)));
                self.integer_value(integer, Self::FALSE)
            }
            Stored::Real(real) => {
                let real = self.constant(Constant::Real(rational(*real)?));
                self.real_value(real, Self::FALSE)
            }
            Stored::Text(_) => {
                let text = self.text(value.as_str()?);
                self.text_value(text, Self::FALSE)
            }
            // SQLite stores no decimal.
            Stored::Blob(_) | Stored::Decimal(_) => return None,
        })
    }

    /// 1, 0 or NULL.
    pub(crate) fn truth_value(&mut self, truth: Truth) -> SymbolicValue {
        let not_null = self.or(truth.is_true, truth.is_false);
        let (one, zero) = (self.integer(1), self.integer(0));
        let integer = self.choose(truth.is_true, one, zero);
        let is_null = self.not(not_null);
        self.integer_value(integer, is_null)
    }

    /// True or false, never NULL.
    pub(crate) fn certain(&mut self, is_true: Term) -> Truth {
        Truth { is_true, is_false: self.not(is_true) }
    }

    /// AND.
    pub(crate) fn conjunction(&mut self, operands: &[Truth]) -> Truth {
        Truth {
            is_true: self.all(operands.iter().map(|operand| operand.is_true)),
            is_false: self.any(operands.iter().map(|operand| operand.is_false)),
        }
    }

    /// OR.
    pub(crate) fn disjunction(&mut self, operands: &[Truth]) -> Truth {
        Truth {
            is_true: self.any(operands.iter().map(|operand| operand.is_true)),
            is_false: self.all(operands.iter().map(|operand| operand.is_false)),
        }
    }

    /// One value where the condition holds, else the other.
    pub(crate) fn choose_value(
        &mut self,
        condition: Term,
        yes: SymbolicValue,
        no: SymbolicValue,
    ) -> SymbolicValue {
        if condition == Self::TRUE || yes == no {
            return yes;
        }
        if condition == Self::FALSE {
            return no;
        }
        // What a value is in a class that it cannot be of makes no difference.
        let mut pick = |is_yes: Term, is_no: Term, yes: Term, no: Term| match (is_yes, is_no) {
            (Self::FALSE, _) => no,
            (_, Self::FALSE) => yes,
            _ => self.choose(condition, yes, no),
        };
        let integer = pick(yes.is_integer, no.is_integer, yes.integer, no.integer);
        let real = pick(yes.is_real, no.is_real, yes.real, no.real);
        let text = pick(yes.is_text, no.is_text, yes.text, no.text);
        SymbolicValue {
            is_null: self.choose(condition, yes.is_null, no.is_null),
            is_integer: self.choose(condition, yes.is_integer, no.is_integer),
            is_real: self.choose(condition, yes.is_real, no.is_real),
            is_text: self.choose(condition, yes.is_text, no.is_text),
            integer,
            real,
            text,
        }
    }

    /// NULL where the condition holds, else the value.
    pub(crate) fn null_if(&mut self, condition: Term, value: SymbolicValue) -> SymbolicValue {
        let null = self.null();
        self.choose_value(condition, null, value)
    }

    /// Whether it is a number.
    pub(crate) fn is_number(&mut self, value: SymbolicValue) -> Term {
        self.or(value.is_integer, value.is_real)
    }

    /// A number as the rational that it is, as comparisons see it.
    pub(crate) fn as_real(&mut self, value: SymbolicValue) -> Term {
        if value.is_integer == Self::FALSE {
            return value.real;
        }
        let converted = self.real_of(value.integer);
        self.choose(value.is_integer, converted, value.real)
    }

    /// What SQLite makes of a number where it converts it to a real number: integers beyond 53 bits are rounded. Those that are
    /// stored or computed are assumed not to be ([`crate::ProofAssumption`]); constants are what they are.
    pub(crate) fn number_as_real(&mut self, value: SymbolicValue) -> Term {
        if value.is_integer == Self::FALSE {
            return value.real;
        }
        let converted = self.rounded(value.integer);
        self.choose(value.is_integer, converted, value.real)
    }

    /// Whether two values that are not NULL are equal.
    pub(crate) fn equal_values(&mut self, left: SymbolicValue, right: SymbolicValue) -> Term {
        self.compared(left, right, Self::equal)
    }

    /// Whether of two values that are not NULL the first is less: numbers are less than texts.
    pub(crate) fn less_values(&mut self, left: SymbolicValue, right: SymbolicValue) -> Term {
        let within = self.compared(left, right, Self::less);
        let is_number = self.is_number(left);
        let across = self.and(is_number, right.is_text);
        self.or(within, across)
    }

    /// A comparison of values of one kind; false for those of two.
    fn compared(
        &mut self,
        left: SymbolicValue,
        right: SymbolicValue,
        compare: fn(&mut Self, Term, Term) -> Term,
    ) -> Term {
        let mut cases = Vec::new();
        let mut case = |terms: &mut Self, is_left: Term, is_right: Term, sides: [Term; 2]| {
            let both = terms.and(is_left, is_right);
            if both != Self::FALSE {
                let holds = compare(terms, sides[0], sides[1]);
                let holds = terms.and(both, holds);
                cases.push(holds);
            }
        };
        case(self, left.is_text, right.is_text, [left.text, right.text]);
        case(self, left.is_integer, right.is_integer, [left.integer, right.integer]);
        case(self, left.is_real, right.is_real, [left.real, right.real]);
        if left.is_integer != Self::FALSE && right.is_real != Self::FALSE {
            let converted = self.real_of(left.integer);
            case(self, left.is_integer, right.is_real, [converted, right.real]);
        }
        if left.is_real != Self::FALSE && right.is_integer != Self::FALSE {
            let converted = self.real_of(right.integer);
            case(self, left.is_real, right.is_integer, [left.real, converted]);
        }
        self.any(cases)
    }

    /// Whether both are NULL or equal.
    pub(crate) fn same_values(&mut self, left: SymbolicValue, right: SymbolicValue) -> Term {
        if left == right {
            return Self::TRUE;
        }
        let both_null = self.and(left.is_null, right.is_null);
        let equal = self.equal_values(left, right);
        self.or(both_null, equal)
    }

    /// Whether two rows agree in every column.
    pub(crate) fn same_rows(&mut self, left: &[SymbolicValue], right: &[SymbolicValue]) -> Term {
        let mut parts = Vec::with_capacity(left.len());
        for (&l, &r) in left.iter().zip(right) {
            let same = self.same_values(l, r);
            if same == Self::FALSE {
                return same;
            }
            parts.push(same);
        }
        self.all(parts)
    }

    /// How many of the conditions hold.
    pub(crate) fn count(&mut self, conditions: impl IntoIterator<Item = Term>) -> Term {
        let (one, zero) = (self.integer(1), self.integer(0));
        let summands: Vec<Term> =
            conditions.into_iter().map(|condition| self.choose(condition, one, zero)).collect();
        self.add(Sort::Integer, summands)
    }
}
