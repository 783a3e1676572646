//! Calls of SQL as the machines that compute them.

use std::sync::OnceLock;

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use sqlgauge_sql::functions::Function;
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::{Affinity, Schema};
use sqlgauge_sql::tree::{BinaryOperator, Body, Expr, LikeOperator, Literal, UnaryOperator};

use super::calendar::Rendering;
use super::defect::EncoderDefect;
use super::ir::Constant as Number;
use super::machine::{Constant, Stage, Test};
use super::oracle::filled;
use super::pattern::Pattern;

/// What a call over texts is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A text, made of its one argument.
    Text(Vec<Stage>),
    /// A number, made of its one argument.
    Number(Measure),
    /// The second argument behind the first.
    Joined,
    /// The parts of a time behind each other, in another order than they are read in.
    Shown(Vec<Piece>),
    /// A day with its fraction, of the time that is shown so.
    Moment(Stage),
}

/// A part of what a format shows of a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Constant(char),
    /// The call that shows a part that always has as many characters.
    Call(Box<str>, usize),
}

/// A number that is made of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Measure {
    Matches(Pattern),
    Length,
    Place(Box<[char]>),
    /// The integer that a text begins with.
    Integer,
    /// An integer, where the text is one.
    Digits,
}

/// Longest text and largest integer that are counted character by character.
const MAX_COUNT: u32 = 200;
/// Most characters that are counted from the end of a text.
const MAX_FROM_END: usize = 12;
/// The largest integer that is compared digit by digit.
const MAX_INTEGER: i64 = 999_999_999_999_999_999;

impl Measure {
    /// The question how it compares with that number.
    pub(crate) fn test(&self, with: &Number) -> Option<Test> {
        let (floor, is_whole) = match with {
            Number::Integer(integer) => (integer.clone(), true),
            Number::Real(real) => (real.floor().to_integer(), real.is_integer()),
            Number::Truth(_) | Number::Text(_) => return None,
        };
        let floor = floor.to_i64().filter(|floor| (-MAX_INTEGER..=MAX_INTEGER).contains(floor))?;
        let constant = || Constant::new(floor, is_whole);
        let count = || u32::try_from(floor).ok().filter(|count| is_whole && *count <= MAX_COUNT);
        Some(match self {
            Self::Matches(pattern) if is_whole => Test::Matches(pattern.clone(), floor),
            Self::Length => Test::Length(count()?),
            Self::Place(needle) => Test::Place(needle.clone(), count()?),
            Self::Integer => Test::Integer(constant()),
            Self::Digits => Test::Digits(constant()),
            Self::Matches(_) => return None,
        })
    }

    /// A comparison whose answer says no more than that there is a value.
    pub(crate) fn any_test(&self) -> Option<Test> {
        self.test(&Number::Integer(BigInt::ZERO))
    }
}

impl Reading {
    /// What the call of that text is, in which `?1` and `?2` are texts; `None` where no machine computes it.
    pub(crate) fn of_sql(template: &str) -> Option<Self> {
        static TEXTS: OnceLock<Option<Schema>> = OnceLock::new();
        let schema =
            TEXTS.get_or_init(|| Schema::from_ddl("CREATE TABLE t (x TEXT, y TEXT)").ok()).as_ref()?;
        let sql = format!("SELECT {} FROM t", filled(template, &["x".to_owned(), "y".to_owned()]));
        let query = resolve(&sql, schema).ok()?;
        let Body::Select(select) = &query.body else { return None };
        let [output] = select.outputs.as_slice() else { return None };
        Self::of(&output.expr)
    }

    /// The same with a defect that the law of the encoding plants.
    pub(crate) fn broken(self, defect: EncoderDefect) -> Self {
        match (self, defect) {
            (Self::Text(stages), _) => {
                let broken = |stage| match (stage, defect) {
                    (Stage::Date(rendering), _) => Stage::Date(rendering.broken(defect)),
                    (Stage::Last(count), EncoderDefect::EndsAreLonger) => Stage::Last(count + 1),
                    (other, _) => other,
                };
                Self::Text(stages.into_iter().map(broken).collect())
            }
            (Self::Number(Measure::Matches(pattern)), EncoderDefect::PatternsKeepCase) => {
                Self::Number(Measure::Matches(pattern.keeping_case()))
            }
            (reading, _) => reading,
        }
    }

    fn of(expr: &Expr) -> Option<Self> {
        match expr {
            Expr::Function { function, args } => Self::of_function(function, args.as_slice()),
            Expr::Binary(BinaryOperator::Concat, left, right) => match (&**left, &**right) {
                (Expr::Column(_), Expr::Column(_)) => Some(Self::Joined),
                (Expr::Column(_), constant) => Some(Self::Text(vec![Stage::After(chars(constant)?)])),
                (constant, Expr::Column(_)) => Some(Self::Text(vec![Stage::Before(chars(constant)?)])),
                _ => None,
            },
            Expr::Binary(BinaryOperator::Add, left, right) => {
                let is_plain = is_text(left) && **right == Expr::Literal(Literal::Integer(0));
                is_plain.then_some(Self::Number(Measure::Digits))
            }
            Expr::Cast { expr, type_name } if is_text(expr) => {
                match Affinity::of_declared_type(Some(type_name)) {
                    Affinity::Integer => Some(Self::Number(Measure::Integer)),
                    Affinity::Real | Affinity::Numeric => Some(Self::Number(Measure::Digits)),
                    Affinity::Text | Affinity::Blob => None,
                }
            }
            Expr::Like { operator, expr, pattern, escape, negated: false } if is_text(expr) => {
                let Expr::Literal(Literal::Text(pattern)) = &**pattern else { return None };
                let pattern = match (operator, escape) {
                    (LikeOperator::Like, None) => Pattern::like(pattern, None),
                    (LikeOperator::Like, Some(escape)) => Pattern::like(pattern, Some(one_char(escape)?)),
                    (LikeOperator::Glob, None) => Pattern::glob(pattern),
                    _ => None,
                };
                Some(Self::Number(Measure::Matches(pattern?)))
            }
            _ => None,
        }
    }

    fn of_function(function: &Function, args: &[Expr]) -> Option<Self> {
        use Function as F;
        if *function == F::Strftime {
            let [Expr::Literal(Literal::Text(format)), time] = args else { return None };
            if !is_text(time) {
                return None;
            }
            return match Rendering::of_format(format) {
                Some(rendering) => Some(Self::Text(vec![Stage::Date(rendering)])),
                None => pieces(format).map(Self::Shown),
            };
        }
        let [text, args @ ..] = args else { return None };
        if !is_text(text) {
            return None;
        }
        Some(match (function, args) {
            (F::Lower, []) => Self::Text(vec![Stage::Lower]),
            (F::Upper, []) => Self::Text(vec![Stage::Upper]),
            (F::Ltrim | F::Rtrim | F::Trim, rest) => {
                let trimmed = match rest {
                    [] => Box::new([' ']),
                    [constant] => chars(constant)?,
                    _ => return None,
                };
                Self::Text(match function {
                    F::Ltrim => vec![Stage::TrimLeft(trimmed)],
                    F::Rtrim => vec![Stage::TrimRight(trimmed)],
                    _ => vec![Stage::TrimLeft(trimmed.clone()), Stage::TrimRight(trimmed)],
                })
            }
            (F::Substr | F::Substring, rest) => Self::Text(part(rest).or_else(|| part_from_end(rest))?),
            (F::Replace, [needle, with]) => {
                let (needle, with) = (chars(needle)?, chars(with)?);
                Self::Text(if needle.is_empty() { Vec::new() } else { vec![Stage::Replace(needle, with)] })
            }
            (F::Length, []) => Self::Number(Measure::Length),
            (F::Instr, [needle]) => {
                let needle = chars(needle).filter(|needle| !needle.is_empty())?;
                Self::Number(Measure::Place(needle))
            }
            (F::Date | F::Time | F::DateTime, []) => {
                let rendering = Rendering::of_function(*function != F::Time, *function != F::Date)?;
                Self::Text(vec![Stage::Date(rendering)])
            }
            (F::Date | F::DateTime, [Expr::Literal(Literal::Text(modifier))]) => {
                Self::Text(vec![Stage::Date(Rendering::of_start(modifier, *function == F::DateTime)?)])
            }
            (F::JulianDay, []) => Self::Moment(Stage::Date(Rendering::whole()?)),
            _ => return None,
        })
    }
}

/// `substr` from a place that is not counted from the end.
fn part(args: &[Expr]) -> Option<Vec<Stage>> {
    let (from, count) = match args {
        [from] => (count_of(from)?, None),
        [from, count] => (count_of(from)?, Some(count_of(count)?)),
        _ => return None,
    };
    // The place before the first takes one of the characters that are asked for.
    let count = if from == 0 { count.map(|count| count.saturating_sub(1)) } else { count };
    Some(vec![Stage::Part { from: from.saturating_sub(1), count }])
}

/// `substr` from a place that is counted from the end. Of a text with fewer characters it takes those that it would have of a longer
/// one with that end.
fn part_from_end(args: &[Expr]) -> Option<Vec<Stage>> {
    let from = |expr: &Expr| match expr {
        Expr::Unary(UnaryOperator::Minus, inner) => count_of(inner),
        Expr::Literal(Literal::Integer(number)) => {
            number.checked_neg().and_then(|number| u32::try_from(number).ok())
        }
        _ => None,
    };
    let (from, count) = match args {
        [place] => (from(place)?, u32::MAX),
        [place, count] => (from(place)?, count_of(count)?),
        _ => return None,
    };
    let from = usize::try_from(from).ok().filter(|from| (1..=MAX_FROM_END).contains(from))?;
    let mut stages = vec![Stage::Last(from)];
    let left_out = from.saturating_sub(count as usize);
    stages.extend((left_out > 0).then_some(Stage::WithoutLast(left_out)));
    Some(stages)
}

fn count_of(expr: &Expr) -> Option<u32> {
    match expr {
        Expr::Literal(Literal::Integer(number)) => u32::try_from(*number).ok().filter(|n| *n <= MAX_COUNT),
        _ => None,
    }
}

/// The parts that a format shows, of those that have the same number of characters in every year but ones before the first.
fn pieces(format: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut chars = format.chars();
    while let Some(char) = chars.next() {
        pieces.push(match (char, if char == '%' { chars.next() } else { None }) {
            ('%', Some('%')) => Piece::Constant('%'),
            ('%', Some(field)) => {
                let width = match field {
                    'Y' => 4,
                    'j' => 3,
                    'm' | 'd' | 'H' | 'M' | 'S' => 2,
                    'w' => 1,
                    _ => return None,
                };
                Piece::Call(format!("strftime('%{field}', ?1)").into(), width)
            }
            ('%', None) => return None,
            (char, _) => Piece::Constant(char),
        });
    }
    Some(pieces)
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(_))
}

fn chars(expr: &Expr) -> Option<Box<[char]>> {
    match expr {
        Expr::Literal(Literal::Text(text)) => Some(text.chars().collect()),
        Expr::Literal(Literal::Integer(number)) => Some(number.to_string().chars().collect()),
        _ => None,
    }
}

fn one_char(expr: &Expr) -> Option<char> {
    match *chars(expr)? {
        [char] => Some(char),
        _ => None,
    }
}
