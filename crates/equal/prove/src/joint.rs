//! Which values functions of one text have together.
//!
//! # Contract
//! To the solver a text is a place in an order and a function of it is unknown. Conditions on one text, by functions that
//! [`Machine`]s compute, are read together here: [`joint`] says for each text which of them some text satisfies at once. That takes
//! every text into account, of any length: nothing is bounded, and what a machine cannot tell stays free. Where reading would take
//! too long a text is left free too. What is put together of two texts is taken apart first ([`apart`]). Functions that stay free are
//! named, so that nobody takes an encoding with them for exact.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use super::apart::apart;
use super::calendar::{self, Rendering};
use super::ir::{Constant, FunctionId, FunctionPart, Node, Sort, Term, Terms};
use super::machine::{Answer, Machine, Stage, Test};
use super::oracle::Call;
use super::reading::{Measure, Reading};
use super::world::SymbolicWorld;

/// Most states of machines that read together.
const MAX_STATES: usize = 8_000;
/// Most ways in which conditions hold together.
const MAX_WAYS: usize = 200;
/// Most terms that the ways are written in.
const MAX_CHOICES: usize = 1_500;
/// Most texts that stand for the ways of a question.
const MAX_EXAMPLES: usize = 48;
/// Most characters of such a text.
const MAX_EXAMPLE: usize = 40;
/// Most readings that are kept in memory.
const MAX_KEPT: usize = 64;

/// What is known of functions of texts.
#[derive(Debug, Default)]
pub(crate) struct TextFacts {
    /// What must be true of them.
    pub facts: Vec<Term>,
    /// The calls of which the solver knows less than SQLite.
    pub inexact: BTreeSet<Box<str>>,
}

/// What must be true of the functions of each text in those terms. Texts that show the ways become examples of the world.
pub(crate) fn joint(world: &mut SymbolicWorld<'_>, roots: &[Term]) -> TextFacts {
    let mut conditions = Conditions::default();
    let mut facts = Vec::new();
    let mut seen = HashSet::new();
    let mut read = HashSet::new();
    let mut new = world.terms.reachable(roots);
    while !new.is_empty() {
        seen.extend(new.iter().copied());
        for term in std::mem::take(&mut new) {
            conditions.look_at(world, term);
            if let Some(fact) = apart(world, &mut conditions, term) {
                read.insert(term);
                facts.push(fact);
            }
        }
        let more = [&facts[..], &conditions.further].concat();
        new = world.terms.reachable(&more).into_iter().filter(|term| !seen.contains(term)).collect();
    }
    for (base, of_base) in std::mem::take(&mut conditions.of_text) {
        // The order of texts alone is known to the solver.
        if !world.dates.contains(&base) && of_base.iter().all(Condition::is_of_order) {
            continue;
        }
        if let Some(fact) = of_text(world, base, &of_base) {
            facts.push(fact);
            read.extend(of_base.iter().map(|condition| condition.term));
            read.insert(base);
        }
    }
    let inexact = inexact(world, &[roots, &facts].concat(), &read);
    facts.extend(conditions.same_numbers(world));
    TextFacts { facts, inexact }
}

/// The calls with a use that is not among those that are read.
fn inexact(world: &SymbolicWorld<'_>, roots: &[Term], read: &HashSet<Term>) -> BTreeSet<Box<str>> {
    let terms = &world.terms;
    let mut calls = BTreeSet::new();
    let mut add = |term: Term| {
        let Node::Apply(function, ..) = terms.node(term) else { return };
        match &world.oracle.get(*function).call {
            Call::Sql(template) => _ = calls.insert(template.clone()),
            Call::NumericAffinity => _ = calls.insert("a text compared with a number".into()),
            Call::Open(_) | Call::Choice(_) => {}
        }
    };
    for term in terms.reachable(roots) {
        let is_read = read.contains(&term);
        match terms.node(term) {
            Node::Apply(_, part, _) if part.sort() == Sort::Truth && !is_read => add(term),
            // What a machine reads of a call is the call's own text where it cannot read further.
            Node::Apply(_, FunctionPart::Text, _) if is_read => add(term),
            Node::Apply(..) => {}
            _ if is_read => {}
            _ => {
                let operands = terms.operands(term).into_iter();
                operands.filter(|&operand| terms.sort(operand) != Sort::Truth).for_each(&mut add);
            }
        }
    }
    calls
}

/// What a term asks of a machine's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Asks {
    Is(Ordering),
    /// Whether there is a value that is not NULL.
    Exists,
    IsNull,
    /// Whether it differs from all answers that the machine names.
    IsOther,
}

#[derive(Debug, Clone)]
struct Condition {
    term: Term,
    machine: Machine,
    asks: Asks,
}

impl Condition {
    fn is_of_order(&self) -> bool {
        self.machine.stages().is_empty() && matches!(self.machine.test(), Test::Order(_))
    }

    /// Whether it holds; `None` where it may or may not.
    fn holds(&self, answer: Answer) -> Option<bool> {
        match (self.asks, answer) {
            (_, Answer::Open | Answer::NoTime) => None,
            (Asks::Is(wanted), Answer::Is(ordering)) => Some(wanted == ordering),
            (Asks::Exists, Answer::Is(_)) => Some(true),
            (Asks::IsNull | Asks::IsOther, Answer::Is(_)) => Some(false),
        }
    }
}

/// A text and the functions that a term makes of it.
struct Chain {
    base: Term,
    stages: Vec<Stage>,
}

/// What the terms of a question ask of texts.
#[derive(Default)]
pub(crate) struct Conditions {
    readings: HashMap<FunctionId, Option<Reading>>,
    of_text: BTreeMap<Term, Vec<Condition>>,
    /// The integers that `+ 0` and CAST make of a text, where either is asked for.
    numbers: BTreeMap<Term, [Option<Term>; 2]>,
    /// What else is to be known of numbers that are not compared with constants.
    further: Vec<Term>,
}

impl Conditions {
    /// What `+ 0` makes of a text is what CAST makes of it, where that is an integer.
    fn same_numbers(&self, world: &mut SymbolicWorld<'_>) -> Vec<Term> {
        let both = self.numbers.iter().filter_map(|(text, [sum, cast])| Some((*text, (*sum)?, (*cast)?)));
        both.filter_map(|(text, sum, cast)| {
            let Node::Apply(function, ..) = *world.terms.node(sum) else { return None };
            let is_integer = world.terms.apply(function, FunctionPart::IsInteger, &[text]);
            let equal = world.terms.equal(sum, cast);
            Some(world.terms.implies(is_integer, equal))
        })
        .collect()
    }

    fn look_at(&mut self, world: &mut SymbolicWorld<'_>, term: Term) {
        match world.terms.node(term).clone() {
            Node::Equal(left, right) => self.compared(world, term, (left, right), Ordering::Equal),
            Node::Less(left, right) => self.compared(world, term, (left, right), Ordering::Less),
            Node::Apply(function, FunctionPart::IsNull, args) => {
                let stages = match self.applied(world, function, &args) {
                    Some((Reading::Text(stages), chain)) => Some((stages, chain)),
                    Some((Reading::Moment(stage), chain)) => Some((vec![stage], chain)),
                    _ => None,
                };
                if let Some((stages, mut chain)) = stages {
                    stages.into_iter().for_each(|stage| chain.push(stage));
                    self.add(term, chain, Test::Exists, Asks::IsNull);
                }
            }
            Node::Apply(function, FunctionPart::Integer, args) => {
                if self.reading(world, function) == Some(Reading::Number(Measure::Length)) {
                    let zero = world.terms.zero(Sort::Integer);
                    self.further.extend([world.terms.less(term, zero), world.terms.equal(term, zero)]);
                }
                let Call::Sql(template) = &world.oracle.get(function).call else { return };
                let place = ["?1 + 0", "CAST(?1 AS INTEGER)"].iter().position(|call| **call == **template);
                if let (Some(place), &[text]) = (place, &*args)
                    && world.terms.sort(text) == Sort::Text
                {
                    self.numbers.entry(text).or_default()[place] = Some(term);
                }
            }
            Node::Apply(function, part @ (FunctionPart::IsInteger | FunctionPart::IsReal), args)
                if world.oracle.get(function).call == Call::NumericAffinity =>
            {
                let asks = match part {
                    FunctionPart::IsInteger => Asks::Is(Ordering::Equal),
                    _ => Asks::IsOther,
                };
                if let Some((_, chain)) = self.applied(world, function, &args) {
                    self.add(term, chain, Test::Class, asks);
                }
            }
            Node::Apply(function, FunctionPart::IsInteger, args) => {
                if let Some((Reading::Number(measure), chain)) = self.applied(world, function, &args)
                    && let Some(test) = measure.any_test()
                {
                    self.add(term, chain, test, Asks::Exists);
                }
            }
            _ => {}
        }
    }

    /// A comparison with a constant, on either side.
    fn compared(&mut self, world: &mut SymbolicWorld<'_>, term: Term, sides: (Term, Term), is: Ordering) {
        let (left, right) = sides;
        let (value, constant, is) = match (world.terms.as_constant(left), world.terms.as_constant(right)) {
            (None, Some(constant)) => (left, constant.clone(), is),
            (Some(constant), None) => (right, constant.clone(), is.reverse()),
            _ => return,
        };
        match (world.terms.node(value).clone(), &constant) {
            (_, Constant::Text(text)) => {
                let chain = self.chain(world, value);
                self.add(term, chain, Test::Order(text.chars().collect()), Asks::Is(is));
            }
            (Node::Apply(function, FunctionPart::Integer | FunctionPart::Real, args), _) => {
                match self.applied(world, function, &args) {
                    Some((Reading::Number(measure), chain)) => {
                        if let Some(test) = measure.test(&constant) {
                            self.add(term, chain, test, Asks::Is(is));
                        }
                    }
                    Some((Reading::Moment(stage), mut chain)) => {
                        if let Constant::Real(days) = &constant
                            && let Some(text) = calendar::text_of_days(days)
                        {
                            chain.push(stage);
                            self.add(term, chain, Test::Order(text.chars().collect()), Asks::Is(is));
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, term: Term, chain: Chain, test: Test, asks: Asks) {
        let condition = Condition { term, machine: Machine::new(chain.stages, test), asks };
        self.of_text.entry(chain.base).or_default().push(condition);
    }

    /// The function, and the text that it is applied to.
    fn applied(
        &mut self,
        world: &mut SymbolicWorld<'_>,
        function: FunctionId,
        args: &[Term],
    ) -> Option<(Reading, Chain)> {
        let &[arg] = args else { return None };
        if world.terms.sort(arg) != Sort::Text {
            return None;
        }
        Some((self.reading(world, function)?, self.chain(world, arg)))
    }

    pub(crate) fn reading(&mut self, world: &SymbolicWorld<'_>, function: FunctionId) -> Option<Reading> {
        let read = || match &world.oracle.get(function).call {
            Call::Sql(template) => {
                let reading = Reading::of_sql(template);
                reading.map(|reading| world.defect.map_or(reading.clone(), |defect| reading.broken(defect)))
            }
            Call::NumericAffinity => Some(Reading::Number(Measure::Digits)),
            Call::Open(_) | Call::Choice(_) => None,
        };
        self.readings.entry(function).or_insert_with(read).clone()
    }

    fn chain(&mut self, world: &mut SymbolicWorld<'_>, term: Term) -> Chain {
        self.longer(world, term).unwrap_or(Chain { base: term, stages: Vec::new() })
    }

    /// Whether a machine makes that text of one other text.
    pub(crate) fn is_read(&mut self, world: &mut SymbolicWorld<'_>, term: Term) -> bool {
        self.longer(world, term).is_some()
    }

    /// The functions that make the text of another one; `None` where no machine does.
    fn longer(&mut self, world: &mut SymbolicWorld<'_>, term: Term) -> Option<Chain> {
        let Node::Apply(function, FunctionPart::Text, args) = world.terms.node(term).clone() else {
            return None;
        };
        match &*args {
            [_] => {
                let (Reading::Text(stages), mut chain) = self.applied(world, function, &args)? else {
                    return None;
                };
                stages.into_iter().for_each(|stage| chain.push(stage));
                Some(chain)
            }
            &[left, right] if self.reading(world, function)? == Reading::Joined => {
                let (mut left, right) = (self.longer(world, left)?, self.longer(world, right)?);
                let (Some(Stage::Date(first)), Some((Stage::Date(second), before))) =
                    (left.stages.pop(), right.stages.split_last())
                else {
                    return None;
                };
                let joined = Stage::Date(first.followed_by(second)?);
                let is_of_one = left.base == right.base && left.stages == before;
                left.stages.push(joined);
                is_of_one.then_some(left)
            }
            _ => None,
        }
    }
}

impl Chain {
    fn push(&mut self, stage: Stage) {
        match (self.stages.last_mut(), &stage) {
            // The last of two letter cases counts.
            (Some(last @ (Stage::Lower | Stage::Upper)), Stage::Lower | Stage::Upper) => *last = stage,
            (Some(Stage::Date(rendering)), Stage::After(chars)) => {
                *rendering = rendering.followed_by_text(&chars.iter().collect::<String>());
            }
            _ => self.stages.push(stage),
        }
    }
}

/// The ways in which the conditions on one text hold together; `None` where they are too many.
fn of_text(world: &mut SymbolicWorld<'_>, base: Term, conditions: &[Condition]) -> Option<Term> {
    let is_declared = world.dates.contains(&base);
    let mut machines: Vec<Machine> = conditions.iter().map(|condition| condition.machine.clone()).collect();
    if is_declared {
        machines.push(Machine::new(Vec::new(), Test::Declared));
    }
    machines.sort();
    machines.dedup();
    let declared = machines.iter().position(|machine| *machine.test() == Test::Declared);
    let is_allowed = |way: &Way| declared.is_none_or(|at| way.answers[at] == Answer::Is(Ordering::Equal));
    let ways: Vec<Way> =
        read_together(&machines, false)?.iter().filter(|way| is_allowed(way)).cloned().collect();
    for way in ways.iter().filter(|way| way.text.chars().count() <= MAX_EXAMPLE) {
        if world.examples.len() < MAX_EXAMPLES {
            world.examples.insert(way.text.as_str().into());
        }
    }
    let times = times_of(world, conditions, &machines)?;
    let mut writer = Writer { conditions, ways: Vec::new(), ends: Vec::new(), written: HashMap::new() };
    for way in &ways {
        writer.add(&machines, way, |at| times[at]);
    }
    writer.write(&mut world.terms)
}

/// For each machine of dates what is known where its text is a time that it does not read; true for the others.
fn times_of(
    world: &mut SymbolicWorld<'_>,
    conditions: &[Condition],
    machines: &[Machine],
) -> Option<Vec<Term>> {
    let mut times = vec![Terms::TRUE; machines.len()];
    // Functions are NULL together, but for a start, which may be too early where the time is not.
    let mut groups: BTreeMap<(&[Stage], Option<&Rendering>), Vec<usize>> = BTreeMap::new();
    for (at, machine) in machines.iter().enumerate() {
        let stages = machine.stages();
        let date = stages.iter().enumerate().find_map(|(place, stage)| match stage {
            Stage::Date(rendering) => Some((place, rendering)),
            _ => None,
        });
        if let Some((place, rendering)) = date {
            let start = Some(rendering).filter(|rendering| rendering.is_start());
            groups.entry((&stages[..place], start)).or_default().push(at);
        }
    }
    for ((before, _), members) in groups {
        let other = other_time(world, conditions, machines, (before.len(), &members))?;
        members.iter().for_each(|&at| times[at] = other);
    }
    Some(times)
}

/// SQLite takes the text for no time, and all functions are NULL, or for some time of a calendar.
fn other_time(
    world: &mut SymbolicWorld<'_>,
    conditions: &[Condition],
    machines: &[Machine],
    (before, members): (usize, &[usize]),
) -> Option<Term> {
    let is_member = |condition: &&Condition| members.iter().any(|&at| machines[at] == condition.machine);
    let of_group: Vec<&Condition> = conditions.iter().filter(is_member).collect();
    let nulls: Vec<Term> = of_group
        .iter()
        .filter(|condition| condition.asks == Asks::IsNull)
        .map(|condition| condition.term)
        .collect();
    if nulls.is_empty() {
        return Some(Terms::TRUE);
    }
    let is_of_fields = |machine: &Machine| match machine.stages().get(before) {
        Some(Stage::Date(rendering)) => rendering.is_of_fields(),
        _ => false,
    };
    let (fields, others): (Vec<usize>, Vec<usize>) =
        members.iter().partition(|&&at| is_of_fields(&machines[at]));
    let mut some = Vec::new();
    for together in std::iter::once(fields).chain(others.into_iter().map(|at| vec![at])) {
        let behind: Vec<Machine> = together.iter().map(|&at| machines[at].behind(before)).collect();
        let ways = read_together(&behind, true)?;
        let of_time: Vec<Condition> = of_group
            .iter()
            .filter(|condition| condition.asks != Asks::IsNull)
            .filter(|condition| together.iter().any(|&at| machines[at] == condition.machine))
            .map(|condition| Condition { machine: condition.machine.behind(before), ..(*condition).clone() })
            .collect();
        let mut writer =
            Writer { conditions: &of_time, ways: Vec::new(), ends: Vec::new(), written: HashMap::new() };
        for way in ways.iter().filter(|way| !way.answers.contains(&Answer::NoTime)) {
            writer.add(&behind, way, |_| Terms::TRUE);
        }
        some.extend(writer.write(&mut world.terms));
    }
    let terms = &mut world.terms;
    some.extend(nulls.iter().map(|&null| terms.not(null)).collect::<Vec<_>>());
    let (none, some) = (terms.all(nulls), terms.all(some));
    Some(terms.or(none, some))
}

/// What each of some machines says of a text.
#[derive(Debug, Clone)]
struct Way {
    answers: Vec<Answer>,
    /// The shortest such text.
    text: String,
}

type Kept = HashMap<(Vec<Machine>, bool), Option<Rc<Vec<Way>>>>;

thread_local! {
    /// The rows of a table ask the same of their texts, and so do the bounds of a pair.
    static KEPT: RefCell<Kept> = RefCell::default();
}

/// What machines can say of one text together; `None` where that takes too many states.
fn read_together(machines: &[Machine], all_times: bool) -> Option<Rc<Vec<Way>>> {
    let key = (machines.to_vec(), all_times);
    if let Some(ways) = KEPT.with_borrow(|cache| cache.get(&key).cloned()) {
        return ways;
    }
    let ways = ways_of(machines, all_times).map(Rc::new);
    KEPT.with_borrow_mut(|cache| {
        if cache.len() >= MAX_KEPT {
            cache.clear();
        }
        cache.insert(key, ways.clone());
    });
    ways
}

fn ways_of(machines: &[Machine], all_times: bool) -> Option<Vec<Way>> {
    let letters = alphabet(machines);
    let size = machines.iter().map(Machine::size).sum();
    let each = |state: &mut [u32], work: &mut dyn FnMut(&Machine, &mut [u32])| {
        let mut rest = state;
        for machine in machines {
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(machine.size());
            work(machine, part);
            rest = behind;
        }
    };
    let mut first = vec![0; size];
    each(&mut first, &mut |machine, state| machine.begin(state));
    // Looked up once per state and letter, so its hash must be quick.
    let mut seen: hashbrown::HashSet<Vec<u32>> = hashbrown::HashSet::from([first.clone()]);
    let mut texts: Vec<(usize, char)> = vec![(0, ' ')];
    let mut pending = VecDeque::from([(0, first)]);
    let mut ways: BTreeMap<Vec<Answer>, usize> = BTreeMap::new();
    let mut next = vec![0; size];
    while let Some((at, mut state)) = pending.pop_front() {
        let mut answers = Vec::with_capacity(machines.len());
        each(&mut state, &mut |machine, state| answers.push(machine.answer(state, all_times)));
        ways.entry(answers).or_insert(at);
        for &letter in &letters {
            next.copy_from_slice(&state);
            each(&mut next, &mut |machine, state| machine.read(state, letter));
            if !seen.contains(&next) {
                seen.insert(next.clone());
                pending.push_back((texts.len(), next.clone()));
                texts.push((at, letter));
            }
        }
        if seen.len() > MAX_STATES || ways.len() > MAX_WAYS {
            return None;
        }
    }
    let text = |mut at: usize| {
        let mut chars = Vec::new();
        while at != 0 {
            chars.push(texts[at].1);
            at = texts[at].0;
        }
        chars.iter().rev().collect::<String>()
    };
    Some(ways.into_iter().map(|(answers, at)| Way { answers, text: text(at) }).collect())
}

/// The characters that a machine names, and one of each range between them.
fn alphabet(machines: &[Machine]) -> Vec<char> {
    const PLAIN: &str = "xnkXNK591 _-é";
    let mut letters = BTreeSet::new();
    machines.iter().for_each(|machine| machine.letters(&mut letters));
    for letter in letters.clone() {
        letters.extend([letter.to_ascii_lowercase(), letter.to_ascii_uppercase()]);
    }
    let ends = letters.iter().copied().map(u32::from).chain([u32::from(char::MAX) + 1]);
    let mut below = 0;
    let mut between = Vec::new();
    for end in ends {
        let is_within = |char: &char| (below + 1..end).contains(&u32::from(*char));
        let any = || (below + 1..end).find_map(char::from_u32);
        between.extend(PLAIN.chars().find(is_within).or_else(any));
        below = end;
    }
    letters.into_iter().chain(between).collect()
}

/// Writes ways as choices, condition by condition.
struct Writer<'c> {
    conditions: &'c [Condition],
    /// What holds in each way.
    ways: Vec<Vec<Option<bool>>>,
    /// What else holds in each way.
    ends: Vec<Vec<Term>>,
    written: HashMap<(usize, Vec<usize>), Term>,
}

impl Writer<'_> {
    /// Adds a way, in which `time` says what is known where a machine does not read a time.
    fn add(&mut self, machines: &[Machine], way: &Way, time: impl Fn(usize) -> Term) {
        let answer = |condition: &Condition| {
            let at = machines.binary_search(&condition.machine).ok();
            at.and_then(|at| condition.holds(way.answers[at]))
        };
        self.ways.push(self.conditions.iter().map(answer).collect());
        let unread = way.answers.iter().enumerate().filter(|(_, answer)| **answer == Answer::NoTime);
        let mut ends: Vec<Term> = unread.map(|(at, _)| time(at)).collect();
        ends.sort_unstable();
        ends.dedup();
        self.ends.push(ends);
    }

    /// That one of the ways holds; `None` where it would take too many terms.
    fn write(&mut self, terms: &mut Terms) -> Option<Term> {
        self.from(terms, 0, &(0..self.ways.len()).collect::<Vec<_>>())
    }

    fn from(&mut self, terms: &mut Terms, at: usize, ways: &[usize]) -> Option<Term> {
        if ways.is_empty() {
            return Some(Terms::FALSE);
        }
        let Some(condition) = self.conditions.get(at).map(|condition| condition.term) else {
            let ends: Vec<Term> = ways.iter().map(|&way| terms.all(self.ends[way].iter().copied())).collect();
            return Some(terms.any(ends));
        };
        let key = (at, ways.to_vec());
        if let Some(&term) = self.written.get(&key) {
            return Some(term);
        }
        if self.written.len() >= MAX_CHOICES {
            return None;
        }
        let mut side = |is: bool| {
            let fits: Vec<usize> =
                ways.iter().copied().filter(|&way| self.ways[way][at] != Some(!is)).collect();
            self.from(terms, at + 1, &fits)
        };
        let (yes, no) = (side(true)?, side(false)?);
        let term = terms.choose(condition, yes, no);
        self.written.insert(key, term);
        Some(term)
    }
}

#[cfg(test)]
mod tests;
