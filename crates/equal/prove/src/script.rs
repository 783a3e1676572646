//! A question as a text of SMT-LIB 2.
//!
//! # Contract
//! Texts become integers in the order of their bytes. Between two texts that are named there is room for as many others
//! as any database within a bound can hold, so that every database has its counterpart. Functions are uninterpreted;
//! what SQLite says of them for the texts and small numbers at hand is asserted.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;

use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive;

use super::ir::{Constant, FunctionId, FunctionPart, Node, Sort, Term, Terms};
use super::oracle::{Call, Oracle, part_of};

/// Room between two texts that are named.
const GAP: i64 = 1_000_000;
/// Most texts that are named.
const MAX_TEXTS: usize = 400;
/// Most facts about one function.
const MAX_FACTS: usize = 400;
/// Rounds in which the values of functions become arguments of others.
const ROUNDS: usize = 3;

/// A question for the solver.
#[derive(Debug)]
pub(crate) struct SolverScript {
    /// Declarations and assertions.
    pub text: String,
    /// The number of each text that is named.
    pub ranks: BTreeMap<Box<str>, i64>,
    names: Vec<Option<String>>,
}

impl SolverScript {
    /// The question whether all of `assertions` can hold; the values of `unknowns` may be asked for. `pool` are further
    /// texts that a database may well hold; `learned` is known of functions beforehand.
    pub(crate) fn new(
        terms: &Terms,
        oracle: &mut Oracle,
        assertions: &[Term],
        unknowns: &[Term],
        (pool, learned): (&BTreeSet<Box<str>>, &BTreeSet<FunctionValue>),
    ) -> Self {
        let roots: Vec<Term> = assertions.iter().chain(unknowns).copied().collect();
        let reachable = terms.reachable(&roots);
        let facts = Facts::collect(terms, oracle, &reachable, (pool, learned));
        let ranks = (1..).zip(&facts.texts).map(|(at, text)| {
            let rank = if text.is_empty() { 0 } else { at * GAP };
            (text.clone(), rank)
        });
        let mut script = Self { text: String::new(), ranks: ranks.collect(), names: vec![None; terms.len()] };
        script.declare(terms, oracle, &reachable);
        script.write_facts(&facts);
        script.write_terms(terms, &reachable, &roots);
        for &assertion in assertions {
            let name = script.name(assertion).to_owned();
            let _ = writeln!(script.text, "(assert {name})");
        }
        script
    }

    pub(crate) fn name(&self, term: Term) -> &str {
        self.names.get(term.0 as usize).and_then(Option::as_deref).unwrap_or("false")
    }

    fn declare(&mut self, terms: &Terms, oracle: &Oracle, reachable: &[Term]) {
        let mut declared: HashSet<(FunctionId, FunctionPart)> = HashSet::new();
        for &term in reachable {
            match terms.node(term) {
                Node::Unknown(number, sort) => {
                    let _ = writeln!(self.text, "(declare-const u{number} {})", sort_name(*sort));
                    if *sort == Sort::Text {
                        let _ = writeln!(self.text, "(assert (<= 0 u{number}))");
                    }
                    self.names[term.0 as usize] = Some(format!("u{number}"));
                }
                Node::Apply(function, part, _) if declared.insert((*function, *part)) => {
                    let params: Vec<&str> =
                        oracle.get(*function).params.iter().map(|sort| sort_name(*sort)).collect();
                    let (name, sort) = (function_name(*function, *part), sort_name(part.sort()));
                    let _ = writeln!(self.text, "(declare-fun {name} ({}) {sort})", params.join(" "));
                }
                _ => {}
            }
        }
    }

    fn write_facts(&mut self, facts: &Facts) {
        for FunctionValue { function, part, args, value } in &facts.values {
            let name = function_name(*function, *part);
            let args: Vec<String> = args.iter().map(|arg| self.spelled(arg)).collect();
            let value = self.spelled(value);
            let call = if args.is_empty() { name } else { format!("({name} {})", args.join(" ")) };
            let _ = writeln!(self.text, "(assert (= {call} {value}))");
        }
    }

    /// Writes each term that is used more than once as a definition, and the others where they are used.
    fn write_terms(&mut self, terms: &Terms, reachable: &[Term], roots: &[Term]) {
        const MAX_INLINE: usize = 300;
        let mut uses = vec![0_u32; terms.len()];
        for &term in reachable {
            terms.operands(term).iter().for_each(|operand| uses[operand.0 as usize] += 1);
        }
        roots.iter().for_each(|root| uses[root.0 as usize] += 2);
        for &term in reachable {
            if self.names[term.0 as usize].is_some() {
                continue;
            }
            let text = self.expression(terms, term);
            let is_constant = terms.as_constant(term).is_some();
            let name = if is_constant || (uses[term.0 as usize] < 2 && text.len() < MAX_INLINE) {
                text
            } else {
                let sort = sort_name(terms.sort(term));
                let _ = writeln!(self.text, "(define-fun t{} () {sort} {text})", term.0);
                format!("t{}", term.0)
            };
            self.names[term.0 as usize] = Some(name);
        }
    }

    fn expression(&self, terms: &Terms, term: Term) -> String {
        let list = |operator: &str, operands: &[Term]| {
            let mut text = format!("({operator}");
            for &operand in operands {
                text.push(' ');
                text.push_str(self.name(operand));
            }
            text.push(')');
            text
        };
        match terms.node(term) {
            Node::Constant(constant) => self.spelled(constant),
            Node::Unknown(number, _) => format!("u{number}"),
            Node::Not(one) => list("not", &[*one]),
            Node::And(operands) => list("and", operands),
            Node::Or(operands) => list("or", operands),
            Node::Choice(a, b, c) => list("ite", &[*a, *b, *c]),
            Node::Equal(a, b) => list("=", &[*a, *b]),
            Node::Less(a, b) => list("<", &[*a, *b]),
            Node::Add(operands) => list("+", operands),
            Node::Multiply(a, b) => list("*", &[*a, *b]),
            Node::Quotient(a, b) => list("div", &[*a, *b]),
            Node::Divide(a, b) => list("/", &[*a, *b]),
            Node::ToReal(one) => list("to_real", &[*one]),
            Node::Floor(one) => list("to_int", &[*one]),
            Node::Apply(function, part, args) if args.is_empty() => function_name(*function, *part),
            Node::Apply(function, part, args) => list(&function_name(*function, *part), args),
        }
    }

    fn spelled(&self, constant: &Constant) -> String {
        match constant {
            Constant::Truth(truth) => truth.to_string(),
            Constant::Integer(value) => integer_text(value, ""),
            Constant::Real(value) if value.is_integer() => integer_text(value.numer(), ".0"),
            Constant::Real(value) => {
                format!("(/ {} {}.0)", integer_text(value.numer(), ".0"), value.denom())
            }
            Constant::Text(text) => self.ranks.get(text).copied().unwrap_or_default().to_string(),
        }
    }
}

fn integer_text(value: &BigInt, suffix: &str) -> String {
    match value.sign() {
        Sign::Minus => format!("(- {}{suffix})", value.magnitude()),
        _ => format!("{value}{suffix}"),
    }
}

fn sort_name(sort: Sort) -> &'static str {
    match sort {
        Sort::Truth => "Bool",
        Sort::Integer | Sort::Text => "Int",
        Sort::Real => "Real",
    }
}

fn function_name(function: FunctionId, part: FunctionPart) -> String {
    let part = match part {
        FunctionPart::IsNull => "null",
        FunctionPart::IsInteger => "isint",
        FunctionPart::IsReal => "isreal",
        FunctionPart::Integer => "int",
        FunctionPart::Real => "real",
        FunctionPart::Text => "text",
    };
    format!("f{}_{part}", function.0)
}

/// What a part of a function's value is for those arguments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FunctionValue {
    pub function: FunctionId,
    pub part: FunctionPart,
    /// The arguments.
    pub args: Vec<Constant>,
    pub value: Constant,
}

impl FunctionValue {
    fn texts(&self) -> impl Iterator<Item = Box<str>> {
        self.args.iter().chain([&self.value]).filter_map(|constant| match constant {
            Constant::Text(text) => Some(text.clone()),
            _ => None,
        })
    }
}

/// What is known of functions, and the texts that are named.
struct Facts {
    texts: BTreeSet<Box<str>>,
    values: Vec<FunctionValue>,
}

impl Facts {
    fn collect(
        terms: &Terms,
        oracle: &mut Oracle,
        reachable: &[Term],
        (pool, learned): (&BTreeSet<Box<str>>, &BTreeSet<FunctionValue>),
    ) -> Self {
        let mut texts = pool.clone();
        texts.insert("".into());
        let mut integers: BTreeSet<BigInt> = (-1..=3).map(BigInt::from).collect();
        let mut reals: BTreeSet<Constant> = BTreeSet::new();
        let mut parts: BTreeSet<(FunctionId, FunctionPart)> = BTreeSet::new();
        for &term in reachable {
            match terms.node(term) {
                Node::Constant(Constant::Text(text)) => {
                    texts.insert(text.clone());
                }
                Node::Constant(Constant::Integer(value))
                    if value.to_i32().is_some() && integers.len() < 60 =>
                {
                    integers.insert(value.clone());
                }
                Node::Constant(real @ Constant::Real(_)) if reals.len() < 20 => {
                    reals.insert(real.clone());
                }
                Node::Apply(function, part, _) => {
                    parts.insert((*function, *part));
                }
                _ => {}
            }
        }
        let integers: Vec<Constant> = integers.into_iter().map(Constant::Integer).collect();
        let reals: Vec<Constant> = reals.into_iter().collect();
        let learned: Vec<FunctionValue> =
            learned.iter().filter(|value| parts.contains(&(value.function, value.part))).cloned().collect();
        // Their texts get their numbers, but are no further arguments.
        let named: BTreeSet<Box<str>> = learned.iter().flat_map(FunctionValue::texts).collect();
        let mut facts = Self { texts, values: learned };
        let mut calls: HashSet<(FunctionId, Vec<Constant>)> = HashSet::new();
        for round in 0..ROUNDS {
            let texts: Vec<Constant> = facts.texts.iter().cloned().map(Constant::Text).collect();
            for &(function, _) in &parts {
                let wanted = oracle.get(function).clone();
                if matches!(wanted.call, Call::Open(_) | Call::Choice(_)) {
                    continue;
                }
                let values = |sort: &Sort| match sort {
                    Sort::Text => texts.as_slice(),
                    Sort::Integer => &integers,
                    Sort::Real | Sort::Truth => &reals,
                };
                let lists: Vec<&[Constant]> = wanted.params.iter().map(values).collect();
                if lists.iter().map(|list| list.len()).product::<usize>() > MAX_FACTS {
                    continue;
                }
                for args in product(&lists) {
                    if calls.insert((function, args.clone())) {
                        facts.ask(oracle, function, &parts, &args, round + 1 < ROUNDS);
                    }
                }
            }
        }
        facts.texts.extend(named);
        facts
    }

    fn ask(
        &mut self,
        oracle: &mut Oracle,
        function: FunctionId,
        parts: &BTreeSet<(FunctionId, FunctionPart)>,
        args: &[Constant],
        may_name: bool,
    ) {
        let Some(value) = oracle.value(function, args) else { return };
        for &(_, part) in parts.iter().filter(|(id, _)| *id == function) {
            let Some(value) = part_of(&value, part) else { continue };
            if let Constant::Text(text) = &value
                && !self.texts.contains(text)
            {
                if !may_name || self.texts.len() >= MAX_TEXTS {
                    continue;
                }
                self.texts.insert(text.clone());
            }
            self.values.push(FunctionValue { function, part, args: args.to_vec(), value });
        }
    }
}

/// Every way to take one of each list.
fn product(lists: &[&[Constant]]) -> Vec<Vec<Constant>> {
    lists.iter().fold(vec![Vec::new()], |all, list| {
        all.iter()
            .flat_map(|begun| {
                list.iter().map(|next| {
                    let mut longer = begun.clone();
                    longer.push(next.clone());
                    longer
                })
            })
            .collect()
    })
}
