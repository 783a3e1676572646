//! Texts that are put together of several, taken apart.
//!
//! # Contract
//! [`apart`] gives for a comparison of such a text with a constant what it means for its parts: exactly, for texts of any length.
//! `a || b = 'xy'` is one of the three ways to cut the constant; in the order of texts, what comes first decides. What a format of
//! dates shows has parts of a known length.

use super::defect::EncoderDefect;
use super::ir::{Constant, FunctionId, FunctionPart, Node, Sort, Term, Terms};
use super::joint::Conditions;
use super::oracle::{Call, Function};
use super::reading::{Piece, Reading};
use super::world::SymbolicWorld;

/// Longest constant that is cut at every place.
const MAX_CUT: usize = 64;

/// What the comparison means for the parts of what it compares; `None` where there is nothing to take apart.
pub(crate) fn apart(world: &mut SymbolicWorld<'_>, conditions: &mut Conditions, term: Term) -> Option<Term> {
    match *world.terms.node(term) {
        Node::Equal(left, right) => {
            let (call, constant) = with_constant(&world.terms, left, right)
                .or_else(|| with_constant(&world.terms, right, left))?;
            let parts = Parts::of(world, conditions, call)?;
            let means = parts.equal(world, &constant)?;
            Some(world.terms.equal(term, means))
        }
        Node::Less(left, right) => {
            if let Some((call, constant)) = with_constant(&world.terms, left, right) {
                let parts = Parts::of(world, conditions, call)?;
                let means = parts.less(world, &constant)?;
                return Some(world.terms.equal(term, means));
            }
            let (call, constant) = with_constant(&world.terms, right, left)?;
            let parts = Parts::of(world, conditions, call)?;
            let (less, equal) = (parts.less(world, &constant)?, parts.equal(world, &constant)?);
            let at_most = world.terms.or(less, equal);
            let means = world.terms.not(at_most);
            Some(world.terms.equal(term, means))
        }
        Node::Apply(function, FunctionPart::IsNull, ref args) => {
            let args = args.clone();
            let Reading::Shown(pieces) = of_texts(world, conditions, function, &args)? else { return None };
            let parts: Vec<Term> =
                pieces.iter().filter_map(|piece| part(world, piece, &args, FunctionPart::IsNull)).collect();
            let nulls: Vec<Term> = parts.iter().map(|&null| world.terms.equal(term, null)).collect();
            Some(world.terms.all(nulls))
        }
        _ => None,
    }
}

/// A call that makes a text, where the other is a constant.
fn with_constant(terms: &Terms, call: Term, constant: Term) -> Option<(Term, Vec<char>)> {
    let is_text = matches!(terms.node(call), Node::Apply(_, FunctionPart::Text, _));
    let Constant::Text(text) = terms.as_constant(constant).filter(|_| is_text)? else { return None };
    let chars: Vec<char> = text.chars().collect();
    (chars.len() <= MAX_CUT).then_some((call, chars))
}

/// What the function is, where it is applied to texts.
fn of_texts(
    world: &SymbolicWorld<'_>,
    conditions: &mut Conditions,
    function: FunctionId,
    args: &[Term],
) -> Option<Reading> {
    let is_of_texts = args.iter().all(|&arg| world.terms.sort(arg) == Sort::Text);
    conditions.reading(world, function).filter(|_| is_of_texts)
}

/// What a text is put together of.
enum Parts {
    /// Two texts of any length.
    Two(Term, Term),
    /// Texts of that many characters each, and characters.
    Shown(Vec<(Option<Term>, usize, char)>),
}

impl Parts {
    fn of(world: &mut SymbolicWorld<'_>, conditions: &mut Conditions, call: Term) -> Option<Self> {
        let Node::Apply(function, _, args) = world.terms.node(call).clone() else { return None };
        match (of_texts(world, conditions, function, &args)?, &*args) {
            (Reading::Joined, &[left, right]) if !conditions.is_read(world, call) => {
                Some(Self::Two(left, right))
            }
            (Reading::Shown(pieces), _) => {
                let each = pieces.iter().map(|piece| match piece {
                    Piece::Constant(char) => (None, 1, *char),
                    Piece::Call(_, width) => (part(world, piece, &args, FunctionPart::Text), *width, ' '),
                });
                Some(Self::Shown(each.collect()))
            }
            _ => None,
        }
    }

    fn equal(&self, world: &mut SymbolicWorld<'_>, constant: &[char]) -> Option<Term> {
        match self {
            Self::Two(left, right) => {
                let is_broken = world.has(EncoderDefect::CutsLeaveOutTheLast);
                let cuts: Vec<Term> = (0..=constant.len() - usize::from(is_broken && !constant.is_empty()))
                    .map(|cut| {
                        let first = is_text(&mut world.terms, *left, &constant[..cut]);
                        let second = is_text(&mut world.terms, *right, &constant[cut..]);
                        world.terms.and(first, second)
                    })
                    .collect();
                Some(world.terms.any(cuts))
            }
            Self::Shown(pieces) => {
                let cut = cut(pieces, constant)?;
                let equal: Vec<Term> =
                    cut.iter().map(|(piece, text)| piece_is(&mut world.terms, *piece, text)).collect();
                Some(world.terms.all(equal))
            }
        }
    }

    /// Whether the whole is less than the constant.
    fn less(&self, world: &mut SymbolicWorld<'_>, constant: &[char]) -> Option<Term> {
        let terms = &mut world.terms;
        match self {
            Self::Two(left, right) => {
                // The first text decides, unless the constant begins with it.
                let whole = terms.text(&constant.iter().collect::<String>());
                let mut decides = vec![terms.less(*left, whole)];
                let mut ways = Vec::new();
                for cut in 0..=constant.len() {
                    let begins = is_text(terms, *left, &constant[..cut]);
                    let rest = terms.text(&constant[cut..].iter().collect::<String>());
                    let less = terms.less(*right, rest);
                    ways.push(terms.and(begins, less));
                    decides.push(terms.not(begins));
                }
                ways.push(terms.all(decides));
                Some(terms.any(ways))
            }
            Self::Shown(pieces) => {
                let mut less = Terms::FALSE;
                for (piece, text) in cut(pieces, constant)?.iter().rev() {
                    let equal = piece_is(terms, *piece, text);
                    let smaller = match piece {
                        (Some(piece), _) => {
                            let text = terms.text(&text.iter().collect::<String>());
                            terms.less(*piece, text)
                        }
                        (None, char) if text.first().is_some_and(|wanted| char < wanted) => Terms::TRUE,
                        (None, _) => Terms::FALSE,
                    };
                    let later = terms.and(equal, less);
                    less = terms.or(smaller, later);
                }
                Some(less)
            }
        }
    }
}

/// A piece of what a format shows with the characters of the constant at its place; `None` for a constant of another length, or
/// with anything but digits for a number.
type Cut<'c> = Vec<((Option<Term>, char), &'c [char])>;

fn cut<'c>(pieces: &[(Option<Term>, usize, char)], constant: &'c [char]) -> Option<Cut<'c>> {
    let mut rest = constant;
    let mut cut = Vec::new();
    for &(piece, width, char) in pieces {
        let (text, behind) = rest.split_at_checked(width)?;
        if piece.is_some() && !text.iter().all(char::is_ascii_digit) {
            return None;
        }
        cut.push(((piece, char), text));
        rest = behind;
    }
    rest.is_empty().then_some(cut)
}

fn piece_is(terms: &mut Terms, (piece, char): (Option<Term>, char), text: &[char]) -> Term {
    match piece {
        Some(piece) => is_text(terms, piece, text),
        None if text == [char] => Terms::TRUE,
        None => Terms::FALSE,
    }
}

fn is_text(terms: &mut Terms, text: Term, constant: &[char]) -> Term {
    let constant = terms.text(&constant.iter().collect::<String>());
    terms.equal(text, constant)
}

/// The call of a piece, with those arguments.
fn part(world: &mut SymbolicWorld<'_>, piece: &Piece, args: &[Term], part: FunctionPart) -> Option<Term> {
    let Piece::Call(template, _) = piece else { return None };
    let params = vec![Sort::Text; args.len()];
    let function = world.oracle.function(Function { call: Call::Sql(template.clone()), params });
    Some(world.terms.apply(function, part, args))
}
