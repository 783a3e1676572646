//! Functions of one row of which only SQLite knows the value: LIKE, SUBSTR, STRFTIME, conversions of text.
//!
//! # Contract
//! To the solver such a function is uninterpreted: equal arguments, equal values, and nothing else is known. That can
//! only make differences possible that are not there, so a proof stands. What SQLite itself answers for the texts and
//! numbers that a question is about is added as facts, so that what the solver finds is mostly real.

use std::collections::HashMap;
use std::time::Duration;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use sqlgauge_engine::{QueryBudget, Sandbox, Value as Stored};

use super::ir::{Constant, FunctionId, FunctionPart, Sort};
use sqlgauge_search::literal;

/// What is computed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    /// An expression of SQL in which `?1`, `?2`, … are the arguments.
    Sql(Box<str>),
    /// What a column with NUMERIC affinity stores for a text.
    NumericAffinity,
    /// Something that nobody can compute beforehand, by name: the present time.
    Open(Box<str>),
    /// A choice that SQL leaves open, by name.
    Choice(Box<str>),
}

/// A function with the sorts of its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Function {
    /// What is computed.
    pub call: Call,
    pub params: Vec<Sort>,
}

/// The functions of a question, and SQLite to ask for their values.
#[derive(Debug)]
pub(crate) struct Oracle {
    sandbox: Option<Sandbox>,
    functions: Vec<Function>,
    ids: HashMap<Function, FunctionId>,
    values: HashMap<(FunctionId, Vec<Constant>), Option<Stored>>,
}

impl Default for Oracle {
    fn default() -> Self {
        Self::new()
    }
}

impl Oracle {
    /// No functions yet.
    pub(crate) fn new() -> Self {
        let budget = QueryBudget { vm_steps: 10_000, time: Duration::from_secs(10), max_rows: 2 };
        let sandbox = Sandbox::new(budget).ok().filter(|sandbox| {
            sandbox.create("CREATE TABLE affinity (v NUMERIC)").is_ok() && sandbox.begin_transaction().is_ok()
        });
        Self { sandbox, functions: Vec::new(), ids: HashMap::new(), values: HashMap::new() }
    }

    pub(crate) fn function(&mut self, function: Function) -> FunctionId {
        if let Some(&id) = self.ids.get(&function) {
            return id;
        }
        let id = FunctionId(u32::try_from(self.functions.len()).unwrap_or(u32::MAX));
        self.functions.push(function.clone());
        self.ids.insert(function, id);
        id
    }

    pub(crate) fn get(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The value of the function, where SQLite has one.
    pub(crate) fn value(&mut self, id: FunctionId, args: &[Constant]) -> Option<Stored> {
        let key = (id, args.to_vec());
        if let Some(value) = self.values.get(&key) {
            return value.clone();
        }
        let value = self.ask(id, args);
        self.values.insert(key, value.clone());
        value
    }

    fn ask(&self, id: FunctionId, args: &[Constant]) -> Option<Stored> {
        let sandbox = self.sandbox.as_ref()?;
        let literals: Vec<String> =
            args.iter().map(|arg| Some(literal(&stored(arg)?))).collect::<Option<_>>()?;
        match &self.get(id).call {
            Call::Open(_) | Call::Choice(_) => None,
            Call::NumericAffinity => {
                let [text] = literals.as_slice() else { return None };
                let run = |sql: &str| {
                    let mut statement = sandbox.prepare_own(sql)?;
                    sandbox.execute_own(&mut statement)
                };
                run("DELETE FROM affinity").ok()?;
                run(&format!("INSERT INTO affinity VALUES ({text})")).ok()?;
                let rows = sandbox.rows_own("SELECT v FROM affinity").ok()?;
                rows.values().first().cloned()
            }
            Call::Sql(template) => {
                let sql = format!("SELECT {}", filled(template, &literals));
                let mut statement = sandbox.prepare(&sql).ok()?;
                let rows = sandbox.run(&mut statement).ok()?;
                rows.values().first().cloned()
            }
        }
    }
}

/// The template with its arguments put in.
pub(crate) fn filled(template: &str, literals: &[String]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    let mut is_quoted = false;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        is_quoted ^= first == '\'';
        let place = after.chars().next().and_then(|digit| digit.to_digit(10)).filter(|_| first == '?');
        let literal = place.and_then(|place| literals.get((place as usize).checked_sub(1)?));
        if let Some(literal) = literal.filter(|_| !is_quoted) {
            text.push_str(literal);
            rest = &after[1..];
        } else {
            text.push(first);
            rest = after;
        }
    }
    text
}

/// The constant as SQLite holds it; `None` where it has no room for it.
pub(crate) fn stored(constant: &Constant) -> Option<Stored> {
    Some(match constant {
        Constant::Truth(truth) => Stored::Integer(i64::from(*truth)),
        Constant::Integer(value) => Stored::Integer(value.to_i64()?),
        Constant::Real(value) => Stored::Real(value.to_f64().filter(|real| real.is_finite())?),
        Constant::Text(text) => Stored::text(text),
    })
}

/// The part of a value, where it has one.
pub(crate) fn part_of(value: &Stored, part: FunctionPart) -> Option<Constant> {
    Some(match (part, value) {
        (_, Stored::Blob(_)) => return None,
        (FunctionPart::IsNull, _) => Constant::Truth(matches!(value, Stored::Null)),
        (FunctionPart::IsInteger, _) => Constant::Truth(matches!(value, Stored::Integer(_))),
        (FunctionPart::IsReal, _) => Constant::Truth(matches!(value, Stored::Real(_))),
        (FunctionPart::Integer, Stored::Integer(integer)) => Constant::Integer(BigInt::from(*integer)),
        (FunctionPart::Real, Stored::Real(real)) => Constant::Real(rational(*real)?),
        (FunctionPart::Text, Stored::Text(_)) => Constant::Text(value.as_str()?.into()),
        _ => return None,
    })
}

/// The number that SQLite writes for the real, exactly: 0.1 is a tenth.
pub(crate) fn rational(real: f64) -> Option<BigRational> {
    let text = format!("{real:e}");
    let (digits, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let whole: BigInt = digits.replace('.', "").parse().ok()?;
    let power = exponent - i32::try_from(fraction).ok()?;
    let scale = num_traits::pow(BigInt::from(10), usize::try_from(power.unsigned_abs()).ok()?);
    Some(if power >= 0 { BigRational::from(whole * scale) } else { BigRational::new(whole, scale) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_answers_for_functions_and_conversions() {
        let mut oracle = Oracle::new();
        let text = |text: &str| vec![Constant::Text(text.into())];
        for (call, arg, expected) in [
            (Call::Sql("?1 LIKE 'a?1%'".into()), "A?1b", Stored::Integer(1)),
            (Call::Sql("strftime('%Y', ?1)".into()), "2020-02-03", Stored::text("2020")),
            (Call::Sql("strftime('%Y', ?1)".into()), "it's", Stored::Null),
            (Call::NumericAffinity, " 12 ", Stored::Integer(12)),
            (Call::NumericAffinity, "1.5", Stored::Real(1.5)),
            (Call::NumericAffinity, "1x", Stored::text("1x")),
        ] {
            let id = oracle.function(Function { call, params: vec![Sort::Text] });
            assert_eq!(oracle.value(id, &text(arg)), Some(expected), "{arg}");
        }
    }

    #[test]
    fn reals_are_the_decimals_that_they_are_written_as() {
        let tenth = BigRational::new(1.into(), 10.into());
        assert_eq!(rational(0.1), Some(tenth));
        assert_eq!(rational(-2.5e3), Some(BigRational::from(BigInt::from(-2500))));
    }
}
