//! Conditions on how a text begins: LIKE, GLOB and SUBSTR with a constant.
//!
//! # Contract
//! Texts that begin alike stand together in the order of bytes, so "begins with" is a range, exactly. Where LIKE ignores
//! case, the range is one of the texts in lower case.

use sqlgauge_sql::derive::{Conversion, Fact};
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::schema::Collation;
use sqlgauge_sql::tree::{Args, Expr, LikeOperator, Literal};

use super::exec::{Env, Run};
use super::ir::Term;
use super::text::ValueShape;
use super::value::{SymbolicValue, Truth};
use super::world::Stop;

/// How a text must be.
enum Wanted<'p> {
    Whole(&'p str),
    Beginning(&'p str),
}

impl Run<'_, '_> {
    /// LIKE and GLOB with a pattern that has no wildcard but one for the rest.
    pub(super) fn like_prefix(
        &mut self,
        operator: LikeOperator,
        expr: &Expr,
        pattern: &str,
        env: &Env,
    ) -> Result<Option<Truth>, Stop> {
        let (rest, others): (char, &[char]) = match operator {
            LikeOperator::Like => ('%', &['%', '_']),
            LikeOperator::Glob => ('*', &['*', '?', '[', ']']),
            LikeOperator::Regexp | LikeOperator::Match => return Ok(None),
        };
        let (begin, is_whole) = match pattern.strip_suffix(rest) {
            Some(begin) => (begin, false),
            None => (pattern, true),
        };
        if begin.contains(others) || !begin.is_ascii() {
            return Ok(None);
        }
        let value = self.value(expr, env)?;
        let mut text = self.with_text_affinity(value)?;
        let ignores_case =
            operator == LikeOperator::Like && begin.contains(|c: char| c.is_ascii_alphabetic());
        let mut begin = begin.to_owned();
        if ignores_case {
            text = self.call(&|args| format!("lower({})", args[0]), ValueShape::TEXT, &[text])?;
            begin = begin.to_ascii_lowercase();
        }
        let wanted = if is_whole { Wanted::Whole(&begin) } else { Wanted::Beginning(&begin) };
        Ok(Some(self.is_as_wanted(text, &wanted)))
    }

    /// `SUBSTR(x, 1, n) = 'constant'`, either way round.
    pub(super) fn prefix_equality(
        &mut self,
        left: &Expr,
        right: &Expr,
        env: &Env,
    ) -> Result<Option<Truth>, Stop> {
        let sides = [(left, right), (right, left)];
        let Some((text, length, constant)) =
            sides.into_iter().find_map(|(call, other)| beginning(call, other))
        else {
            return Ok(None);
        };
        let comparison = self.facts.comparison(left, right);
        let is_plain = comparison.conversion == Fact::Known(Conversion::None)
            && comparison.collation.is(&Collation::Binary);
        let letters = constant.chars().count();
        if !is_plain || letters > length || constant.is_empty() {
            return Ok(None);
        }
        let value = self.value(text, env)?;
        let text = self.with_text_affinity(value)?;
        let wanted = if letters == length { Wanted::Beginning(constant) } else { Wanted::Whole(constant) };
        Ok(Some(self.is_as_wanted(text, &wanted)))
    }

    fn is_as_wanted(&mut self, text: SymbolicValue, wanted: &Wanted<'_>) -> Truth {
        let holds = match wanted {
            Wanted::Whole(whole) => {
                let whole = self.world.terms.text(whole);
                self.world.terms.equal(text.text, whole)
            }
            Wanted::Beginning(begin) => self.begins_with(text.text, begin),
        };
        let terms = &mut self.world.terms;
        let (not_null, not) = (terms.not(text.is_null), terms.not(holds));
        Truth { is_true: terms.and(not_null, holds), is_false: terms.and(not_null, not) }
    }

    fn begins_with(&mut self, text: Term, begin: &str) -> Term {
        let terms = &mut self.world.terms;
        let first = terms.text(begin);
        let from = terms.at_most(first, text);
        match after(begin) {
            Some(end) => {
                let end = terms.text(&end);
                let before = terms.less(text, end);
                terms.and(from, before)
            }
            None => from,
        }
    }
}

/// The least text after all that begin so; `None` where there is none of characters.
fn after(begin: &str) -> Option<String> {
    let mut chars: Vec<char> = begin.chars().collect();
    while let Some(last) = chars.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

/// The text, the number of its first characters, and the constant that these are compared with.
fn beginning<'e>(call: &'e Expr, other: &'e Expr) -> Option<(&'e Expr, usize, &'e str)> {
    let Expr::Function { function: Function::Substr | Function::Substring, args: Args::List(args) } = call
    else {
        return None;
    };
    let [text, Expr::Literal(Literal::Integer(1)), Expr::Literal(Literal::Integer(length))] = args.as_slice()
    else {
        return None;
    };
    let Expr::Literal(Literal::Text(constant)) = other else { return None };
    Some((text, usize::try_from(*length).ok()?, constant))
}
