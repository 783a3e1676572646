//! Terms: what is known of the symbolic rows, as a graph in which equal terms are one.
//!
//! # Contract
//! A term has a sort: truth, integer, exact rational or text. Terms are made by the functions of [`Terms`], which fold
//! what is constant; a term's operands come before it, so that ascending numbers are an order of evaluation. Text is
//! text here, and becomes a number only when it is handed to the solver.

use std::cmp::Ordering;
use std::collections::HashMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::oracle::rational;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Term(pub(super) u32);

/// What a term stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Sort {
    /// True or false.
    Truth,
    /// An integer of any size.
    Integer,
    /// A rational number of any size.
    Real,
    Text,
}

/// A function that only SQLite knows; see [`super::oracle`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FunctionId(pub(super) u32);

/// What of a function's value a term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FunctionPart {
    /// Whether it is NULL.
    IsNull,
    /// Whether it is an integer.
    IsInteger,
    IsReal,
    Integer,
    Real,
    Text,
}

impl FunctionPart {
    /// The sort of such a term.
    pub(crate) fn sort(self) -> Sort {
        match self {
            Self::IsNull | Self::IsInteger | Self::IsReal => Sort::Truth,
            Self::Integer => Sort::Integer,
            Self::Real => Sort::Real,
            Self::Text => Sort::Text,
        }
    }
}

/// How a term is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Constant(Constant),
    Unknown(u32, Sort),
    /// Negation.
    Not(Term),
    /// All hold; two or more, in ascending order.
    And(Box<[Term]>),
    /// One holds; two or more, in ascending order.
    Or(Box<[Term]>),
    /// The second where the first holds, else the third.
    Choice(Term, Term, Term),
    /// Both are the same.
    Equal(Term, Term),
    /// The first is less; texts byte by byte.
    Less(Term, Term),
    /// The sum.
    Add(Box<[Term]>),
    /// The product.
    Multiply(Term, Term),
    /// The quotient of integers rounded so that the remainder is not negative; the divisor is not 0.
    Quotient(Term, Term),
    /// The quotient of rationals; the divisor is not 0.
    Divide(Term, Term),
    /// The rational that an integer is.
    ToReal(Term),
    /// The largest integer that is not larger.
    Floor(Term),
    Apply(FunctionId, FunctionPart, Box<[Term]>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Constant {
    /// True or false.
    Truth(bool),
    Integer(BigInt),
    Real(BigRational),
    Text(Box<str>),
}

impl Constant {
    pub(crate) fn sort(&self) -> Sort {
        match self {
            Self::Truth(_) => Sort::Truth,
            Self::Integer(_) => Sort::Integer,
            Self::Real(_) => Sort::Real,
            Self::Text(_) => Sort::Text,
        }
    }
}

/// All terms of one question.
#[derive(Debug)]
pub(crate) struct Terms {
    nodes: Vec<(Node, Sort)>,
    index: HashMap<Node, Term>,
    unknowns: u32,
    /// The operands of all terms: what they take in memory.
    operands: usize,
}

/// Most operands of a term that become operands of the term around: more would be copied again and again.
const MAX_MERGED: usize = 12;

impl Default for Terms {
    fn default() -> Self {
        Self::new()
    }
}

impl Terms {
    /// No terms but true and false.
    pub(crate) fn new() -> Self {
        let mut terms = Self { nodes: Vec::new(), index: HashMap::new(), unknowns: 0, operands: 0 };
        terms.constant(Constant::Truth(false));
        terms.constant(Constant::Truth(true));
        terms
    }

    /// What is never true.
    pub(crate) const FALSE: Term = Term(0);
    /// What is always true.
    pub(crate) const TRUE: Term = Term(1);

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// How much memory they take, in terms and operands.
    pub(crate) fn weight(&self) -> usize {
        self.nodes.len() + self.operands
    }

    /// How the term is made.
    pub(crate) fn node(&self, term: Term) -> &Node {
        &self.nodes[term.0 as usize].0
    }

    pub(crate) fn sort(&self, term: Term) -> Sort {
        self.nodes[term.0 as usize].1
    }

    /// The constant that the term is, if it is one.
    pub(crate) fn as_constant(&self, term: Term) -> Option<&Constant> {
        match self.node(term) {
            Node::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    fn make(&mut self, node: Node, sort: Sort) -> Term {
        if let Some(&term) = self.index.get(&node) {
            return term;
        }
        let term = Term(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.operands += match &node {
            Node::And(list) | Node::Or(list) | Node::Add(list) | Node::Apply(_, _, list) => list.len(),
            _ => 3,
        };
        self.nodes.push((node.clone(), sort));
        self.index.insert(node, term);
        term
    }

    pub(crate) fn constant(&mut self, constant: Constant) -> Term {
        let sort = constant.sort();
        self.make(Node::Constant(constant), sort)
    }

    pub(crate) fn integer(&mut self, value: i64) -> Term {
        self.constant(Constant::Integer(value.into()))
    }

    pub(crate) fn text(&mut self, text: &str) -> Term {
        self.constant(Constant::Text(text.into()))
    }

    /// Zero, the empty text, or false.
    pub(crate) fn zero(&mut self, sort: Sort) -> Term {
        self.constant(match sort {
            Sort::Truth => Constant::Truth(false),
            Sort::Integer => Constant::Integer(BigInt::zero()),
            Sort::Real => Constant::Real(BigRational::zero()),
            Sort::Text => Constant::Text("".into()),
        })
    }

    /// A new unknown.
    pub(crate) fn unknown(&mut self, sort: Sort) -> Term {
        self.unknowns += 1;
        self.make(Node::Unknown(self.unknowns, sort), sort)
    }

    /// Negation.
    pub(crate) fn not(&mut self, term: Term) -> Term {
        match *self.node(term) {
            Node::Constant(Constant::Truth(truth)) => {
                if truth {
                    Self::FALSE
                } else {
                    Self::TRUE
                }
            }
            Node::Not(inner) => inner,
            _ => self.make(Node::Not(term), Sort::Truth),
        }
    }

    /// Whether all hold.
    pub(crate) fn all(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        self.junction(terms, true)
    }

    /// Whether one holds.
    pub(crate) fn any(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        self.junction(terms, false)
    }

    /// Whether both hold.
    pub(crate) fn and(&mut self, left: Term, right: Term) -> Term {
        self.all([left, right])
    }

    /// Whether one of them holds.
    pub(crate) fn or(&mut self, left: Term, right: Term) -> Term {
        self.any([left, right])
    }

    /// Whether the second holds if the first does.
    pub(crate) fn implies(&mut self, premise: Term, conclusion: Term) -> Term {
        let not = self.not(premise);
        self.or(not, conclusion)
    }

    fn junction(&mut self, terms: impl IntoIterator<Item = Term>, is_and: bool) -> Term {
        let (neutral, absorbing) = if is_and { (Self::TRUE, Self::FALSE) } else { (Self::FALSE, Self::TRUE) };
        let mut operands = Vec::new();
        for term in terms {
            match self.node(term) {
                Node::And(inner) if is_and && inner.len() <= MAX_MERGED => operands.extend_from_slice(inner),
                Node::Or(inner) if !is_and && inner.len() <= MAX_MERGED => operands.extend_from_slice(inner),
                _ if term == neutral => {}
                _ => operands.push(term),
            }
        }
        operands.sort_unstable();
        operands.dedup();
        let contradicts = |term: &Term| match self.node(*term) {
            Node::Not(inner) => operands.binary_search(inner).is_ok(),
            _ => false,
        };
        if operands.contains(&absorbing) || operands.iter().any(contradicts) {
            return absorbing;
        }
        match operands.as_slice() {
            [] => neutral,
            [one] => *one,
            _ if is_and => self.make(Node::And(operands.into()), Sort::Truth),
            _ => self.make(Node::Or(operands.into()), Sort::Truth),
        }
    }

    /// `yes` where the condition holds, else `no`.
    pub(crate) fn choose(&mut self, condition: Term, yes: Term, no: Term) -> Term {
        if condition == Self::TRUE || yes == no {
            return yes;
        }
        if condition == Self::FALSE {
            return no;
        }
        let sort = self.sort(yes);
        if sort == Sort::Truth {
            if no == condition {
                return self.and(condition, yes);
            }
            let then = self.implies(condition, yes);
            let otherwise = self.or(condition, no);
            return self.and(then, otherwise);
        }
        if let Node::Not(inner) = *self.node(condition) {
            return self.make(Node::Choice(inner, no, yes), sort);
        }
        match *self.node(no) {
            Node::Choice(same, _, last) if same == condition => self.choose(condition, yes, last),
            _ => self.make(Node::Choice(condition, yes, no), sort),
        }
    }

    /// Whether both are the same.
    pub(crate) fn equal(&mut self, left: Term, right: Term) -> Term {
        if left == right {
            return Self::TRUE;
        }
        if let (Some(left), Some(right)) = (self.as_constant(left), self.as_constant(right)) {
            return if left == right { Self::TRUE } else { Self::FALSE };
        }
        if self.sort(left) == Sort::Truth {
            let both = self.and(left, right);
            let one = self.or(left, right);
            let neither = self.not(one);
            return self.or(both, neither);
        }
        let (left, right) = if left < right { (left, right) } else { (right, left) };
        self.through_choice(left, right, Self::equal)
            .or_else(|| self.through_number(left, right, Ordering::Equal))
            .unwrap_or_else(|| self.make(Node::Equal(left, right), Sort::Truth))
    }

    /// Whether the first is less.
    pub(crate) fn less(&mut self, left: Term, right: Term) -> Term {
        if left == right {
            return Self::FALSE;
        }
        if let (Some(left), Some(right)) = (self.as_constant(left), self.as_constant(right)) {
            return if left < right { Self::TRUE } else { Self::FALSE };
        }
        self.through_choice(left, right, Self::less)
            .or_else(|| self.through_number(left, right, Ordering::Less))
            .unwrap_or_else(|| self.make(Node::Less(left, right), Sort::Truth))
    }

    /// Whether the first is less or the same.
    pub(crate) fn at_most(&mut self, left: Term, right: Term) -> Term {
        let more = self.less(right, left);
        self.not(more)
    }

    /// A comparison of a constant with a choice between constants, as the choice of the comparisons.
    fn through_choice(
        &mut self,
        left: Term,
        right: Term,
        compare: fn(&mut Self, Term, Term) -> Term,
    ) -> Option<Term> {
        // What is multiplied or divided by a constant compares as what it is made of does.
        let is_constant = |terms: &Self, term| {
            terms.as_constant(term).is_some()
                || match *terms.node(term) {
                    Node::Multiply(one, other) => {
                        [one, other].iter().any(|&term| terms.as_constant(term).is_some())
                    }
                    Node::Quotient(_, divisor) => terms.as_constant(divisor).is_some(),
                    _ => false,
                }
        };
        match (self.node(left), self.node(right)) {
            (&Node::Choice(condition, yes, no), Node::Constant(_))
                if is_constant(self, yes) || is_constant(self, no) =>
            {
                let (yes, no) = (compare(self, yes, right), compare(self, no, right));
                Some(self.choose(condition, yes, no))
            }
            (Node::Constant(_), &Node::Choice(condition, yes, no))
                if is_constant(self, yes) || is_constant(self, no) =>
            {
                let (yes, no) = (compare(self, left, yes), compare(self, left, no));
                Some(self.choose(condition, yes, no))
            }
            _ => None,
        }
    }

    /// A comparison with a number, of an integer in place of the rational that it is, and without what is added to it.
    fn through_number(&mut self, left: Term, right: Term, is: Ordering) -> Option<Term> {
        let is_made = |term| {
            matches!(
                self.node(term),
                Node::ToReal(_) | Node::Add(_) | Node::Multiply(..) | Node::Quotient(..)
            )
        };
        if !is_made(left) && !is_made(right) {
            return None;
        }
        if let Some(solved) = self.solved(left, right, is) {
            return Some(solved);
        }
        let compare = if is == Ordering::Equal { Self::equal } else { Self::less };
        let (left, right) = match (self.node(left).clone(), self.node(right).clone()) {
            (Node::ToReal(left), Node::ToReal(right)) => (left, right),
            (Node::ToReal(integer), Node::Constant(Constant::Real(real)))
            | (Node::Constant(Constant::Real(real)), Node::ToReal(integer))
                if is == Ordering::Equal =>
            {
                if !real.is_integer() {
                    return Some(Self::FALSE);
                }
                (integer, self.constant(Constant::Integer(real.to_integer())))
            }
            (Node::ToReal(left), Node::Constant(Constant::Real(real))) => {
                (left, self.constant(Constant::Integer(real.ceil().to_integer())))
            }
            (Node::Constant(Constant::Real(real)), Node::ToReal(right)) => {
                (self.constant(Constant::Integer(real.floor().to_integer())), right)
            }
            (Node::Add(list), Node::Constant(constant)) => {
                let (rest, moved) = self.without_constant(&list, &constant)?;
                (rest, moved)
            }
            (Node::Constant(constant), Node::Add(list)) => {
                let (rest, moved) = self.without_constant(&list, &constant)?;
                (moved, rest)
            }
            _ => return None,
        };
        Some(compare(self, left, right))
    }

    /// A comparison of a multiple or a quotient of a number with a constant, as one of the number.
    fn solved(&mut self, left: Term, right: Term, is: Ordering) -> Option<Term> {
        let (multiple, constant, is) = match (self.as_constant(left), self.as_constant(right)) {
            (None, Some(constant)) => (left, constant.clone(), is),
            (Some(constant), None) => (right, constant.clone(), is.reverse()),
            _ => return None,
        };
        match (self.node(multiple).clone(), constant) {
            (Node::Multiply(one, other), Constant::Real(product)) => {
                let (number, factor) = self.factor(one, other)?;
                let Constant::Real(factor) = factor else { return None };
                let is = if factor.is_negative() { is.reverse() } else { is };
                let quotient = self.constant(Constant::Real(product / factor));
                Some(self.against(number, quotient, is))
            }
            (Node::Multiply(one, other), Constant::Integer(product)) => {
                let (number, factor) = self.factor(one, other)?;
                let Constant::Integer(factor) = factor else { return None };
                let is = if factor.is_negative() { is.reverse() } else { is };
                let quotient = BigRational::new(product, factor);
                let whole = match is {
                    Ordering::Less => quotient.ceil(),
                    Ordering::Equal if !quotient.is_integer() => return Some(Self::FALSE),
                    _ => quotient.floor(),
                };
                let whole = self.constant(Constant::Integer(whole.to_integer()));
                Some(self.against(number, whole, is))
            }
            (Node::Quotient(number, divisor), Constant::Integer(quotient)) => {
                let Constant::Integer(divisor) = self.as_constant(divisor)?.clone() else { return None };
                if !divisor.is_positive() {
                    return None;
                }
                // The numbers with that quotient.
                let (first, behind) = (&quotient * &divisor, (&quotient + 1) * &divisor);
                let first = self.constant(Constant::Integer(first));
                let behind = self.constant(Constant::Integer(behind));
                let (before, not_behind) = (self.less(number, first), self.less(number, behind));
                Some(match is {
                    Ordering::Less => before,
                    Ordering::Greater => self.not(not_behind),
                    Ordering::Equal => {
                        let not_before = self.not(before);
                        self.and(not_before, not_behind)
                    }
                })
            }
            _ => None,
        }
    }

    /// The factor of a product that is a constant, and the other one.
    fn factor(&self, one: Term, other: Term) -> Option<(Term, Constant)> {
        let constant = |term| self.as_constant(term).cloned();
        constant(one).map(|factor| (other, factor)).or_else(|| Some((one, constant(other)?)))
    }

    fn against(&mut self, number: Term, constant: Term, is: Ordering) -> Term {
        match is {
            Ordering::Less => self.less(number, constant),
            Ordering::Equal => self.equal(number, constant),
            Ordering::Greater => self.less(constant, number),
        }
    }

    /// The sum without its constant, and the other constant without it.
    fn without_constant(&mut self, list: &[Term], other: &Constant) -> Option<(Term, Term)> {
        let place = list.iter().position(|&term| self.as_constant(term).is_some())?;
        let moved = match (other, self.as_constant(list[place])?) {
            (Constant::Integer(other), Constant::Integer(added)) => Constant::Integer(other - added),
            (Constant::Real(other), Constant::Real(added)) => Constant::Real(other - added),
            _ => return None,
        };
        let sort = moved.sort();
        let rest: Vec<Term> = [&list[..place], &list[place + 1..]].concat();
        Some((self.add(sort, rest), self.constant(moved)))
    }

    /// The sum of numbers of one sort.
    pub(crate) fn add(&mut self, sort: Sort, terms: impl IntoIterator<Item = Term>) -> Term {
        let mut integer = BigInt::zero();
        let mut real = BigRational::zero();
        let mut operands = Vec::new();
        for term in terms {
            match self.node(term) {
                Node::Constant(Constant::Integer(value)) => integer += value,
                Node::Constant(Constant::Real(value)) => real += value,
                Node::Add(inner) if inner.len() <= MAX_MERGED => operands.extend_from_slice(inner),
                _ => operands.push(term),
            }
        }
        let constant = if sort == Sort::Real { Constant::Real(real) } else { Constant::Integer(integer) };
        let is_zero = matches!(&constant, Constant::Integer(n) if n.is_zero())
            || matches!(&constant, Constant::Real(n) if n.is_zero());
        if !is_zero || operands.is_empty() {
            operands.push(self.constant(constant));
        }
        operands.sort_unstable();
        match operands.as_slice() {
            [one] => *one,
            _ => self.make(Node::Add(operands.into()), sort),
        }
    }

    /// The product of two numbers of one sort.
    pub(crate) fn multiply(&mut self, left: Term, right: Term) -> Term {
        let sort = self.sort(left);
        let (left, right) = if left < right { (left, right) } else { (right, left) };
        let folded = match (self.as_constant(left), self.as_constant(right)) {
            (Some(Constant::Integer(l)), Some(Constant::Integer(r))) => Some(Constant::Integer(l * r)),
            (Some(Constant::Real(l)), Some(Constant::Real(r))) => Some(Constant::Real(l * r)),
            _ => None,
        };
        if let Some(folded) = folded {
            return self.constant(folded);
        }
        for (factor, other) in [(left, right), (right, left)] {
            match self.as_constant(factor) {
                Some(Constant::Integer(n)) if n.is_one() => return other,
                Some(Constant::Real(n)) if n.is_one() => return other,
                Some(Constant::Integer(n)) if n.is_zero() => return factor,
                Some(Constant::Real(n)) if n.is_zero() => return factor,
                _ => {}
            }
        }
        self.make(Node::Multiply(left, right), sort)
    }

    pub(crate) fn negate(&mut self, term: Term) -> Term {
        let minus_one = match self.sort(term) {
            Sort::Real => self.constant(Constant::Real(-BigRational::one())),
            _ => self.integer(-1),
        };
        self.multiply(minus_one, term)
    }

    /// The quotient of two integers, rounded towards zero as SQLite does; the divisor is not 0.
    pub(crate) fn divide_integers(&mut self, left: Term, right: Term) -> Term {
        let zero = self.zero(Sort::Integer);
        let is_negative = self.less(left, zero);
        let minus = self.negate(left);
        let size = self.choose(is_negative, minus, left);
        // For a dividend that is not negative the quotient with a remainder that is not negative is the one.
        let quotient = self.quotient(size, right);
        let negative = self.negate(quotient);
        self.choose(is_negative, negative, quotient)
    }

    fn quotient(&mut self, left: Term, right: Term) -> Term {
        if let (Some(Constant::Integer(l)), Some(Constant::Integer(r))) =
            (self.as_constant(left), self.as_constant(right))
            && let Some(value) = euclidean(l, r)
        {
            return self.constant(Constant::Integer(value));
        }
        self.make(Node::Quotient(left, right), Sort::Integer)
    }

    /// The quotient of two rationals; the divisor is not 0.
    pub(crate) fn divide(&mut self, left: Term, right: Term) -> Term {
        match (self.as_constant(left), self.as_constant(right)) {
            (Some(Constant::Real(l)), Some(Constant::Real(r))) if !r.is_zero() => {
                let value = l / r;
                self.constant(Constant::Real(value))
            }
            (_, Some(Constant::Real(r))) if !r.is_zero() => {
                let inverse = r.recip();
                let inverse = self.constant(Constant::Real(inverse));
                self.multiply(left, inverse)
            }
            _ => self.make(Node::Divide(left, right), Sort::Real),
        }
    }

    /// The real number that SQLite makes of an integer.
    pub(crate) fn rounded(&mut self, term: Term) -> Term {
        match self.node(term).clone() {
            Node::Constant(Constant::Integer(value)) => {
                let nearest = value.to_f64().and_then(rational);
                self.constant(Constant::Real(nearest.unwrap_or_else(|| value.into())))
            }
            Node::Choice(condition, yes, no) => {
                let (yes, no) = (self.rounded(yes), self.rounded(no));
                self.choose(condition, yes, no)
            }
            _ => self.real_of(term),
        }
    }

    /// The rational that an integer is.
    pub(crate) fn real_of(&mut self, term: Term) -> Term {
        match self.node(term).clone() {
            Node::Constant(Constant::Integer(value)) => self.constant(Constant::Real(value.into())),
            Node::Choice(condition, yes, no)
                if self.as_constant(yes).is_some() || self.as_constant(no).is_some() =>
            {
                let (yes, no) = (self.real_of(yes), self.real_of(no));
                self.choose(condition, yes, no)
            }
            _ => self.make(Node::ToReal(term), Sort::Real),
        }
    }

    /// A real number cut to its integer part.
    pub(crate) fn truncate(&mut self, term: Term) -> Term {
        let zero = self.zero(Sort::Real);
        let is_negative = self.less(term, zero);
        let minus = self.negate(term);
        let size = self.choose(is_negative, minus, term);
        let floor = self.floor(size);
        let negative = self.negate(floor);
        self.choose(is_negative, negative, floor)
    }

    /// The largest integer that is not above a real number.
    pub(crate) fn floor(&mut self, term: Term) -> Term {
        match self.node(term) {
            Node::Constant(Constant::Real(value)) => {
                let floor = value.floor().to_integer();
                self.constant(Constant::Integer(floor))
            }
            &Node::ToReal(integer) => integer,
            _ => self.make(Node::Floor(term), Sort::Integer),
        }
    }

    pub(crate) fn apply(&mut self, function: FunctionId, part: FunctionPart, args: &[Term]) -> Term {
        self.make(Node::Apply(function, part, args.into()), part.sort())
    }

    pub(crate) fn operands(&self, term: Term) -> Vec<Term> {
        match self.node(term) {
            Node::Constant(_) | Node::Unknown(..) => Vec::new(),
            Node::Not(one) | Node::ToReal(one) | Node::Floor(one) => vec![*one],
            Node::And(list) | Node::Or(list) | Node::Add(list) | Node::Apply(_, _, list) => list.to_vec(),
            Node::Choice(a, b, c) => vec![*a, *b, *c],
            Node::Equal(a, b)
            | Node::Less(a, b)
            | Node::Multiply(a, b)
            | Node::Quotient(a, b)
            | Node::Divide(a, b) => vec![*a, *b],
        }
    }

    /// The terms that these are made of, themselves among them, each after its operands.
    pub(crate) fn reachable(&self, roots: &[Term]) -> Vec<Term> {
        let mut is_reached = vec![false; self.len()];
        let mut pending = roots.to_vec();
        while let Some(term) = pending.pop() {
            if !std::mem::replace(&mut is_reached[term.0 as usize], true) {
                pending.extend(self.operands(term));
            }
        }
        (0..).zip(is_reached).filter(|&(_, reached)| reached).map(|(at, _)| Term(at)).collect()
    }
}

/// The quotient whose remainder is not negative; `None` for a divisor of 0.
pub(super) fn euclidean(left: &BigInt, right: &BigInt) -> Option<BigInt> {
    use num_bigint::Sign;
    if right.is_zero() {
        return None;
    }
    let (quotient, remainder) = (left / right, left % right);
    Some(match (remainder.sign(), right.sign()) {
        (Sign::Minus, Sign::Plus) => quotient - 1,
        (Sign::Minus, _) => quotient + 1,
        _ => quotient,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_terms_are_one_and_constants_fold() {
        let mut terms = Terms::new();
        let (x, y) = (terms.unknown(Sort::Truth), terms.unknown(Sort::Truth));
        assert_eq!(terms.and(x, y), terms.and(y, x));
        let not = terms.not(x);
        assert_eq!(terms.and(x, not), Terms::FALSE);
        assert_eq!(terms.any([x, y, not]), Terms::TRUE);
        let (one, two) = (terms.integer(1), terms.integer(2));
        let chosen = terms.choose(x, one, two);
        assert_eq!(terms.equal(chosen, one), x);
        assert_eq!(terms.less(chosen, two), x);
    }

    #[test]
    fn integers_divide_towards_zero() {
        let mut terms = Terms::new();
        for (left, right, expected) in [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (0, 5, 0)] {
            let (l, r) = (terms.integer(left), terms.integer(right));
            let quotient = terms.divide_integers(l, r);
            assert_eq!(quotient, terms.integer(expected), "{left} / {right}");
        }
    }
}
