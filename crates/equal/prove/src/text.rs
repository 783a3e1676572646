//! Functions that SQLite is asked for, and conversions between texts and numbers.

use sqlgauge_sql::functions::{Function, FunctionKind};
use sqlgauge_sql::schema::Affinity;
use sqlgauge_sql::tree::Args;

use super::exec::Run;
use super::ir::{Constant, FunctionPart, Sort, Term, Terms};
use super::oracle::{Call, Function as Declared, stored};
use super::value::SymbolicValue;
use super::world::Stop;
use sqlgauge_search::literal;

/// Which values a function can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a class of values")]
pub(crate) struct ValueShape {
    /// It is NULL where an argument is, without being asked.
    pub null_on_null: bool,
    /// It may be NULL for other arguments.
    pub may_be_null: bool,
    /// It may be an integer.
    pub integer: bool,
    /// It may be a real number.
    pub real: bool,
    /// It may be a text.
    pub text: bool,
}

impl ValueShape {
    const NONE: Self =
        Self { null_on_null: true, may_be_null: false, integer: false, real: false, text: false };
    /// An integer, NULL for NULL.
    pub(crate) const INTEGER: Self = Self { integer: true, ..Self::NONE };
    /// A real number, NULL for NULL.
    pub(crate) const REAL: Self = Self { real: true, ..Self::NONE };
    /// A number, NULL for NULL.
    pub(crate) const NUMBER: Self = Self { integer: true, real: true, ..Self::NONE };
    /// A text, NULL for NULL.
    pub(crate) const TEXT: Self = Self { text: true, ..Self::NONE };

    const fn or_null(self) -> Self {
        Self { may_be_null: true, ..self }
    }

    /// What a scalar function gives; `None` for those that are not encoded.
    fn of(function: &Function) -> Option<Self> {
        use Function as F;
        let properties = function.properties();
        if !matches!(properties.kind, FunctionKind::Scalar) || matches!(function, F::Unknown(_)) {
            return None;
        }
        Some(match function {
            F::Lower | F::Upper | F::Ltrim | F::Rtrim | F::Trim | F::Substr | F::Substring | F::Replace => {
                Self::TEXT
            }
            F::Strftime
            | F::Date
            | F::Time
            | F::DateTime
            | F::TimeDiff
            | F::CurrentDate
            | F::CurrentTime
            | F::CurrentTimestamp => Self::TEXT.or_null(),
            F::Length | F::Instr | F::OctetLength => Self::INTEGER,
            F::Unicode | F::UnixEpoch | F::Sign => Self::INTEGER.or_null(),
            F::JulianDay
            | F::Sqrt
            | F::Pow
            | F::Power
            | F::Ln
            | F::Log
            | F::Log10
            | F::Exp
            | F::Sin
            | F::Cos
            | F::Tan
            | F::Log2 => Self::REAL.or_null(),
            F::Round => Self::REAL,
            F::Abs => Self::NUMBER,
            F::Ceil | F::Ceiling | F::Floor | F::Trunc | F::Mod => Self::NUMBER.or_null(),
            F::Hex | F::TypeOf | F::Quote | F::Soundex => Self { null_on_null: false, ..Self::TEXT },
            F::ConcatWs | F::Printf | F::Format | F::Char => {
                Self { null_on_null: false, ..Self::TEXT.or_null() }
            }
            _ => return None,
        })
    }
}

/// What one argument is in one case.
#[derive(Clone)]
struct Case {
    guard: Term,
    /// A term for the function, or what is written into it.
    argument: TextArgument,
}

#[derive(Clone)]
enum TextArgument {
    Term(Term),
    Written(String),
}

/// Most combinations of classes of arguments.
const MAX_CASES: usize = 64;

impl Run<'_, '_> {
    /// The value of an expression of SQL over those arguments, which `spell` writes.
    pub(crate) fn call(
        &mut self,
        spell: &dyn Fn(&[String]) -> String,
        shape: ValueShape,
        args: &[SymbolicValue],
    ) -> Result<SymbolicValue, Stop> {
        self.called(shape, args, &|texts| Call::Sql(spell(texts).into()))
    }

    fn called(
        &mut self,
        shape: ValueShape,
        args: &[SymbolicValue],
        call: &dyn Fn(&[String]) -> Call,
    ) -> Result<SymbolicValue, Stop> {
        let mut cases = vec![Vec::new()];
        for &arg in args {
            let choices = self.cases(arg, shape.null_on_null);
            cases = cases
                .iter()
                .flat_map(|begun: &Vec<Case>| {
                    choices.iter().map(|next| [begun.as_slice(), std::slice::from_ref(next)].concat())
                })
                .collect();
            if cases.len() > MAX_CASES {
                return Err(Stop::Size);
            }
        }
        let mut result = self.world.terms.null();
        for case in cases {
            let guard = self.world.terms.all(case.iter().map(|arg| arg.guard));
            if guard != Terms::FALSE {
                let value = self.called_with(shape, &case, call);
                result = self.world.terms.choose_value(guard, value, result);
            }
        }
        Ok(result)
    }

    /// The classes that an argument may be of. Where NULL makes NULL it needs no case.
    fn cases(&mut self, arg: SymbolicValue, null_on_null: bool) -> Vec<Case> {
        let mut cases = Vec::new();
        if !null_on_null && arg.is_null != Terms::FALSE {
            cases.push(Case { guard: arg.is_null, argument: TextArgument::Written("NULL".to_owned()) });
        }
        for (guard, term) in [(arg.is_integer, arg.integer), (arg.is_real, arg.real), (arg.is_text, arg.text)]
        {
            if guard != Terms::FALSE {
                let written = self.world.terms.as_constant(term).and_then(stored);
                let argument = match written {
                    Some(value) => TextArgument::Written(literal(&value)),
                    None => TextArgument::Term(term),
                };
                cases.push(Case { guard, argument });
            }
        }
        cases
    }

    fn called_with(
        &mut self,
        shape: ValueShape,
        args: &[Case],
        call: &dyn Fn(&[String]) -> Call,
    ) -> SymbolicValue {
        let mut params = Vec::new();
        let mut texts = Vec::new();
        for arg in args {
            texts.push(match &arg.argument {
                TextArgument::Written(text) => text.clone(),
                TextArgument::Term(term) => {
                    params.push(*term);
                    format!("?{}", params.len())
                }
            });
        }
        let terms = &mut self.world.terms;
        let sorts: Vec<Sort> = params.iter().map(|&param| terms.sort(param)).collect();
        let function = self.world.oracle.function(Declared { call: call(&texts), params: sorts });
        if params.is_empty()
            && let Some(constant) = self.world.oracle.value(function, &[])
            && let Some(value) = terms.stored_value(&constant)
        {
            return value;
        }
        let mut part = |wanted: bool, part: FunctionPart| {
            if wanted { terms.apply(function, part, &params) } else { terms.zero(part.sort()) }
        };
        let classes = [shape.integer, shape.real, shape.text].iter().filter(|&&may| may).count();
        let asks_null = part(shape.may_be_null, FunctionPart::IsNull);
        let says_integer = part(shape.integer && classes > 1, FunctionPart::IsInteger);
        let says_real = part(shape.real && shape.text && classes > 1, FunctionPart::IsReal);
        let integer = part(shape.integer, FunctionPart::Integer);
        let real = part(shape.real, FunctionPart::Real);
        let text = part(shape.text, FunctionPart::Text);
        self.classed(shape, classes, [asks_null, says_integer, says_real], [integer, real, text])
    }

    /// A value of exactly one class, whatever the solver takes the parts of a function for.
    fn classed(
        &mut self,
        shape: ValueShape,
        classes: usize,
        [is_null, says_integer, says_real]: [Term; 3],
        [integer, real, text]: [Term; 3],
    ) -> SymbolicValue {
        let terms = &mut self.world.terms;
        let some = terms.not(is_null);
        let is_integer = match (shape.integer, classes) {
            (true, 1) => some,
            (true, _) => terms.and(some, says_integer),
            (false, _) => Terms::FALSE,
        };
        let not_integer = terms.not(is_integer);
        let rest = terms.and(some, not_integer);
        let is_real = match (shape.real, shape.text) {
            (true, true) => terms.and(rest, says_real),
            (true, false) => rest,
            (false, _) => Terms::FALSE,
        };
        let not_real = terms.not(is_real);
        let is_text = if shape.text { terms.and(rest, not_real) } else { Terms::FALSE };
        SymbolicValue { is_null, is_integer, is_real, is_text, integer, real, text }
    }

    /// A scalar function that SQLite is asked for.
    pub(crate) fn scalar_function(
        &mut self,
        function: &Function,
        args: &Args,
        values: &[SymbolicValue],
    ) -> Result<SymbolicValue, Stop> {
        let shape = ValueShape::of(function).ok_or_else(|| Stop::unsupported(function.name()))?;
        if *function == Function::TypeOf {
            return Ok(self.type_of(values[0]));
        }
        let is_bare = matches!(args, Args::Bare);
        let name = function.name();
        let spell = |texts: &[String]| {
            if is_bare { name.to_owned() } else { format!("{name}({})", texts.join(", ")) }
        };
        if !function.is_deterministic(args) {
            // The present time: the same wherever it is asked for in the same way.
            return self.called(shape, values, &|texts| Call::Open(spell(texts).into()));
        }
        self.call(&spell, shape, values)
    }

    fn type_of(&mut self, value: SymbolicValue) -> SymbolicValue {
        let terms = &mut self.world.terms;
        let mut name = terms.text("null");
        for (is, class) in [(value.is_integer, "integer"), (value.is_real, "real"), (value.is_text, "text")] {
            let class = terms.text(class);
            name = terms.choose(is, class, name);
        }
        terms.text_value(name, Terms::FALSE)
    }

    /// The value with texts that look like a number made numbers.
    pub(crate) fn with_numeric_affinity(&mut self, value: SymbolicValue) -> Result<SymbolicValue, Stop> {
        if value.is_text == Terms::FALSE {
            return Ok(value);
        }
        let text = self.only_text(value);
        let shape = ValueShape { text: true, ..ValueShape::NUMBER };
        if let Some(Constant::Text(_)) = self.world.terms.as_constant(text.text) {
            // Written into a call, the text would have no place to stand in.
            return self.constant_affinity(value);
        }
        let mut converted = self.called(shape, &[text], &|_| Call::NumericAffinity)?;
        // A text that does not look like a number stays what it is.
        converted.text = value.text;
        Ok(self.world.terms.choose_value(value.is_text, converted, value))
    }

    fn constant_affinity(&mut self, value: SymbolicValue) -> Result<SymbolicValue, Stop> {
        let Some(constant) = self.world.terms.as_constant(value.text).cloned() else { return Ok(value) };
        let function = Declared { call: Call::NumericAffinity, params: vec![Sort::Text] };
        let function = self.world.oracle.function(function);
        let result = self.world.oracle.value(function, &[constant]);
        let result = result.and_then(|result| self.world.terms.stored_value(&result));
        let converted = result.ok_or_else(|| Stop::unsupported("conversion of a text"))?;
        Ok(self.world.terms.choose_value(value.is_text, converted, value))
    }

    /// The value with numbers made texts.
    pub(crate) fn with_text_affinity(&mut self, value: SymbolicValue) -> Result<SymbolicValue, Stop> {
        let terms = &mut self.world.terms;
        let is_number = terms.is_number(value);
        if is_number == Terms::FALSE {
            return Ok(value);
        }
        let not_number = terms.not(is_number);
        let number = SymbolicValue { is_null: not_number, is_text: Terms::FALSE, ..value };
        let text = self.call(&|args| format!("CAST({} AS TEXT)", args[0]), ValueShape::TEXT, &[number])?;
        Ok(self.world.terms.choose_value(is_number, text, value))
    }

    /// The value as a comparison with a column of that affinity converts it.
    pub(crate) fn compared_as(
        &mut self,
        value: SymbolicValue,
        affinity: Affinity,
    ) -> Result<SymbolicValue, Stop> {
        match affinity {
            Affinity::Text => self.with_text_affinity(value),
            Affinity::Integer | Affinity::Numeric | Affinity::Real => self.with_numeric_affinity(value),
            Affinity::Blob => Ok(value),
        }
    }

    /// The value as a column of that affinity stores it.
    ///
    /// # Errors
    /// [`Stop`] where a number would become one of the other class.
    pub(crate) fn stored_in(
        &mut self,
        value: SymbolicValue,
        affinity: Affinity,
    ) -> Result<SymbolicValue, Stop> {
        let stored = self.compared_as(value, affinity)?;
        let other = match affinity {
            Affinity::Real => stored.is_integer,
            Affinity::Integer | Affinity::Numeric => stored.is_real,
            Affinity::Text | Affinity::Blob => Terms::FALSE,
        };
        if other == Terms::FALSE { Ok(stored) } else { Err(Stop::unsupported("generated column")) }
    }

    /// The value where it is a text, else NULL.
    pub(crate) fn only_text(&mut self, value: SymbolicValue) -> SymbolicValue {
        let terms = &mut self.world.terms;
        let not_text = terms.not(value.is_text);
        terms.text_value(value.text, not_text)
    }
}
