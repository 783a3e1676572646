//! The values of terms under given values of the unknowns.
//!
//! What is exact in the solver is exact here; functions are asked of SQLite.

use std::collections::HashMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;
use sqlgauge_engine::Value as Stored;

use super::ir::{Constant, Node, Sort, Term, Terms, euclidean};
use super::oracle::{Call, Oracle, part_of};

/// The values of all terms that those roots are made of; an unknown without a value is 0, false or the empty text. A
/// term has none where the present time, a function that SQLite cannot compute, or a division by 0, decides it.
pub(crate) fn evaluate(
    terms: &Terms,
    oracle: &mut Oracle,
    unknowns: &HashMap<Term, Constant>,
    roots: &[Term],
) -> HashMap<Term, Constant> {
    let mut values: HashMap<Term, Constant> = HashMap::new();
    for term in terms.reachable(roots) {
        let value = match terms.node(term) {
            Node::Constant(constant) => Some(constant.clone()),
            Node::Unknown(_, sort) => Some(unknowns.get(&term).cloned().unwrap_or_else(|| zero(*sort))),
            Node::Apply(function, part, args) => {
                let args: Option<Vec<Constant>> = args.iter().map(|arg| values.get(arg).cloned()).collect();
                let value = match oracle.get(*function).call {
                    // Any choice will do.
                    Call::Choice(_) => Some(Stored::Null),
                    _ => args.and_then(|args| oracle.value(*function, &args)),
                };
                // A part that the value does not have is never looked at.
                value
                    .filter(|value| !matches!(value, Stored::Blob(_)))
                    .map(|value| part_of(&value, *part).unwrap_or_else(|| zero(part.sort())))
            }
            node => computed(node, &values),
        };
        if let Some(value) = value {
            values.insert(term, value);
        }
    }
    values
}

fn zero(sort: Sort) -> Constant {
    match sort {
        Sort::Truth => Constant::Truth(false),
        Sort::Integer => Constant::Integer(BigInt::zero()),
        Sort::Real => Constant::Real(BigRational::zero()),
        Sort::Text => Constant::Text("".into()),
    }
}

fn computed(node: &Node, values: &HashMap<Term, Constant>) -> Option<Constant> {
    let get = |term: &Term| values.get(term);
    let truth = |term: &Term| match get(term) {
        Some(Constant::Truth(truth)) => Some(*truth),
        _ => None,
    };
    Some(match node {
        Node::Constant(_) | Node::Unknown(..) | Node::Apply(..) => return None,
        Node::Not(term) => Constant::Truth(!truth(term)?),
        // One operand that decides makes up for others that have no value.
        Node::And(list) if list.iter().any(|term| truth(term) == Some(false)) => Constant::Truth(false),
        Node::Or(list) if list.iter().any(|term| truth(term) == Some(true)) => Constant::Truth(true),
        Node::And(list) | Node::Or(list) => {
            let all: Option<Vec<bool>> = list.iter().map(truth).collect();
            all?;
            Constant::Truth(matches!(node, Node::And(_)))
        }
        Node::Choice(condition, yes, no) => get(if truth(condition)? { yes } else { no })?.clone(),
        Node::Equal(left, right) => Constant::Truth(get(left)? == get(right)?),
        Node::Less(left, right) => Constant::Truth(get(left)? < get(right)?),
        Node::Add(list) => {
            let all: Option<Vec<&Constant>> = list.iter().map(get).collect();
            all?.into_iter().cloned().reduce(|sum, next| match (sum, next) {
                (Constant::Integer(a), Constant::Integer(b)) => Constant::Integer(a + b),
                (Constant::Real(a), Constant::Real(b)) => Constant::Real(a + b),
                (sum, _) => sum,
            })?
        }
        Node::Multiply(left, right) => match (get(left)?, get(right)?) {
            (Constant::Integer(a), Constant::Integer(b)) => Constant::Integer(a * b),
            (Constant::Real(a), Constant::Real(b)) => Constant::Real(a * b),
            _ => return None,
        },
        Node::Quotient(left, right) => match (get(left)?, get(right)?) {
            (Constant::Integer(a), Constant::Integer(b)) => Constant::Integer(euclidean(a, b)?),
            _ => return None,
        },
        Node::Divide(left, right) => match (get(left)?, get(right)?) {
            (Constant::Real(a), Constant::Real(b)) if !b.is_zero() => Constant::Real(a / b),
            _ => return None,
        },
        Node::ToReal(term) => match get(term)? {
            Constant::Integer(value) => Constant::Real(value.clone().into()),
            _ => return None,
        },
        Node::Floor(term) => match get(term)? {
            Constant::Real(value) => Constant::Integer(value.floor().to_integer()),
            _ => return None,
        },
    })
}
