//! Whether two queries can differ on tables of so many rows.
//!
//! # Contract
//! The solver is asked first for any difference. What it finds counts only if it is confirmed; if not, the question is
//! made sharper with what SQLite says of the functions at hand, and with the demand that the results differ whichever way
//! SQLite chooses. [`SolverOutcome::Same`] is a proof; [`SolverOutcome::Open`] says that no candidate was confirmed within the budget.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::Query;

use super::evaluate::evaluate;
use super::exec::{Executed, Run};
use super::ir::{Constant, Node, Sort, Term, Terms};
use super::joint::{TextFacts, joint};
use super::oracle::Call;
use super::process::{Solver, SolverAnswer, SolverFailure};
use super::script::{FunctionValue, SolverScript};
use super::world::{Stop, SymbolicWorld};
use super::{Permitted, ProofAssumption, ProofReason, ResultSemantics, decode, differ, pool, table};
use sqlgauge_search::{DeclaredColumns, Witness, is_time_text};

/// How a question is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How<'s> {
    /// When two results count as the same.
    pub semantics: ResultSemantics,
    /// When the time is over.
    pub deadline: Instant,
    /// Only databases on which one of the queries returns a row.
    pub with_rows: bool,
    /// What is asked of the results that the queries permit.
    pub permitted: Permitted,
    /// The columns that hold what they declare.
    pub columns: &'s DeclaredColumns,
}

/// A pair of queries over a schema, and how it is asked about.
pub(crate) type Asked<'s> = (&'s Schema, (&'s Query, &'s Query), How<'s>);

/// Why nothing came of a question.
#[derive(Debug)]
pub(crate) enum Halt {
    /// It has no encoding.
    Unsupported(String),
    /// It was not settled.
    Unknown(ProofReason),
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Unsupported(construct) => Self::Unsupported(construct),
            Stop::Size => Self::Unknown(ProofReason::Size),
            Stop::Timeout => Self::Unknown(ProofReason::Solver(SolverFailure::Timeout)),
        }
    }
}

impl From<SolverFailure> for Halt {
    fn from(failure: SolverFailure) -> Self {
        Self::Unknown(ProofReason::Solver(failure))
    }
}

pub(crate) enum SolverOutcome<T> {
    /// The queries do not differ.
    Same,
    Different(T),
    /// No candidate was confirmed.
    Open(ProofReason),
}

/// Whether the rows that a LIMIT of a statement takes are told from the rows before it, and not by priorities: that sees
/// every bag that is permitted.
pub(crate) fn keeps_cut((_, _, how): Asked<'_>) -> bool {
    how.semantics != ResultSemantics::Set
}

/// What the solver has found.
struct Candidate {
    /// The database; `None` where it has no counterpart in SQLite.
    database: Option<Witness>,
    values: HashMap<Term, Constant>,
}

/// Most candidates that are refused before the question is given up.
const MAX_REFUSED: usize = 8;

/// Longest text that the solver is given. Of 511 questions about pairs of Spider, Calcite and the literature it settled none
/// that was longer than 220 kB, and what it needs grows faster than the text: 150 MiB for 0.5 MB of constants, 700 MiB for 3 MB.
const MAX_SCRIPT_BYTES: usize = 256 << 10;

/// Whether two queries differ on tables of so many rows.
pub(crate) struct BoundedQuestion<'s> {
    input: Asked<'s>,
    rows: usize,
    world: SymbolicWorld<'s>,
    tables: BTreeSet<TableId>,
    /// What must hold where they differ.
    assertions: Vec<Term>,
    /// The calls of which the solver knows less than SQLite.
    inexact: BTreeSet<Box<str>>,
    /// Texts that a database may well hold.
    pool: BTreeSet<Box<str>>,
    /// What SQLite says of functions under the values of refused candidates.
    function_values: BTreeSet<FunctionValue>,
    refused: usize,
}

impl<'s> BoundedQuestion<'s> {
    /// The question for tables of at most `rows` rows.
    pub(crate) fn new(input: Asked<'s>, rows: usize, keeps_cut: bool) -> Result<Self, Halt> {
        let (schema, (left, right), how) = input;
        let mut world = SymbolicWorld::new(schema);
        world.deadline = Some(how.deadline);
        world.columns = how.columns;
        let mut tables = BTreeSet::new();
        table::tables_of(&mut world, left, &mut tables);
        table::tables_of(&mut world, right, &mut tables);
        table::add_tables(&mut world, &tables, rows)?;
        let mut question = Self {
            input,
            rows,
            world,
            tables,
            assertions: Vec::new(),
            inexact: BTreeSet::new(),
            pool: BTreeSet::new(),
            function_values: BTreeSet::new(),
            refused: 0,
        };
        let [left, right] = question.executed(keeps_cut)?;
        let differs = differ::differ(&mut question.world, &left, &right, how.semantics, how.permitted)?;
        question.assertions.clone_from(&question.world.conditions);
        question.assertions.push(differs);
        if how.with_rows {
            let rows = left.rows.iter().chain(&right.rows).map(|row| row.present);
            let has_rows = question.world.terms.any(rows);
            question.assertions.push(has_rows);
        }
        let TextFacts { facts, inexact } = joint(&mut question.world, &question.assertions);
        question.assertions.extend(facts);
        question.inexact = inexact;
        Ok(question)
    }

    /// What the answer rests on.
    pub(crate) fn assumes(&self) -> impl Iterator<Item = ProofAssumption> + use<> {
        self.world.assumes.clone().into_iter()
    }

    /// The calls of which the solver knows less than SQLite.
    pub(crate) fn inexact(&self) -> &BTreeSet<Box<str>> {
        &self.inexact
    }

    fn executed(&mut self, keeps_cut: bool) -> Result<[Executed; 2], Stop> {
        let (_, (left, right), how) = self.input;
        let mut run = |query: &Query| {
            let plain = without_idle_order(query, how.semantics);
            Run::statement(&mut self.world, plain.as_ref().unwrap_or(query), keeps_cut)
        };
        Ok([run(left)?, run(right)?])
    }

    /// Whether they differ, as far as a candidate is confirmed.
    pub(crate) fn settle<T>(
        mut self,
        solver: &mut Solver,
        confirm: &mut dyn FnMut(&Witness) -> Option<T>,
    ) -> Result<SolverOutcome<T>, Halt> {
        if self.world.terms.all(self.assertions.iter().copied()) == Terms::FALSE {
            return Ok(SolverOutcome::Same);
        }
        let Some(first) = self.ask(&[], solver)? else { return Ok(SolverOutcome::Same) };
        if self.is_same_under_priorities(solver) {
            return Ok(SolverOutcome::Same);
        }
        self.pool = self.likely_texts();
        if self.is_guided() || !self.world.settled.is_empty() {
            // What is known of functions, and no choice that shows: what is found now is most likely real.
            let mut further = self.world.settled.clone();
            further.extend(self.within_pool());
            if let Ok(Some(better)) = self.ask(&further, solver)
                && let Some(difference) = self.tried(&better, confirm)
            {
                return Ok(SolverOutcome::Different(difference));
            }
        }
        if let Some(difference) = self.tried(&first, confirm) {
            return Ok(SolverOutcome::Different(difference));
        }
        let open = ProofReason::Refused(self.refused);
        // What ends the search for another candidate leaves those that there were refused.
        Ok(self.refined(solver, confirm).unwrap_or(SolverOutcome::Open(open)))
    }

    /// Whether the queries return the same whatever the priorities of rows that tie. That shows queries that leave the
    /// same choice at different depths, which the bags that each of them permits do not.
    fn is_same_under_priorities(&self, solver: &mut Solver) -> bool {
        let (_, (left, right), _) = self.input;
        let is_cut = keeps_cut(self.input) && (left.limit.is_some() || right.limit.is_some());
        is_cut
            && BoundedQuestion::new(self.input, self.rows, false)
                .and_then(|mut question| question.ask(&[], solver))
                .is_ok_and(|candidate| candidate.is_none())
    }

    /// Asks for further candidates.
    fn refined<T>(
        &mut self,
        solver: &mut Solver,
        confirm: &mut dyn FnMut(&Witness) -> Option<T>,
    ) -> Result<SolverOutcome<T>, Halt> {
        let is_chosen = !self.world.settled.is_empty();
        if is_chosen {
            let whichever = self.differs_whichever()?;
            self.assertions.extend(self.world.conditions.clone());
            self.assertions.push(whichever);
        }
        let mut forbidden: Vec<Term> = Vec::new();
        let mut is_within = false;
        while self.refused < MAX_REFUSED {
            let mut further = forbidden.clone();
            if is_within {
                further.extend(self.within_pool());
            }
            let Some(candidate) = self.ask(&further, solver)? else {
                if std::mem::take(&mut is_within) {
                    continue;
                }
                return Ok(match (forbidden.is_empty(), is_chosen) {
                    (true, true) => SolverOutcome::Open(ProofReason::Choice),
                    (true, false) => SolverOutcome::Same,
                    (false, _) => SolverOutcome::Open(ProofReason::Refused(self.refused)),
                });
            };
            let count = self.function_values.len();
            if let Some(difference) = self.tried(&candidate, confirm) {
                return Ok(SolverOutcome::Different(difference));
            }
            if self.function_values.len() == count {
                forbidden.push(self.other_shape(&candidate));
            }
            is_within = !is_within && self.is_guided();
        }
        Ok(SolverOutcome::Open(ProofReason::Refused(self.refused)))
    }

    /// What comes of a candidate; one that is refused is learned from.
    fn tried<T>(
        &mut self,
        candidate: &Candidate,
        confirm: &mut dyn FnMut(&Witness) -> Option<T>,
    ) -> Option<T> {
        let difference = candidate.database.as_ref().and_then(confirm);
        if difference.is_none() {
            self.refused += 1;
            self.learn(candidate);
        }
        difference
    }

    /// What SQLite says of the functions of the question under the candidate's values.
    fn learn(&mut self, candidate: &Candidate) {
        let SymbolicWorld { terms, oracle, .. } = &mut self.world;
        let values = evaluate(terms, oracle, &candidate.values, &self.assertions);
        for term in terms.reachable(&self.assertions) {
            let Node::Apply(function, part, args) = terms.node(term) else { continue };
            if matches!(oracle.get(*function).call, Call::Open(_) | Call::Choice(_)) {
                continue;
            }
            let args: Option<Vec<Constant>> = args.iter().map(|arg| values.get(arg).cloned()).collect();
            if let (Some(args), Some(value)) = (args, values.get(&term)) {
                self.function_values.insert(FunctionValue {
                    function: *function,
                    part: *part,
                    args,
                    value: value.clone(),
                });
            }
        }
    }

    /// That other rows are there, or other values are NULL, as far as the queries look.
    fn other_shape(&mut self, candidate: &Candidate) -> Term {
        let terms = &mut self.world.terms;
        let mut same = Vec::new();
        for term in terms.reachable(&self.assertions) {
            if let (Node::Unknown(_, Sort::Truth), Some(Constant::Truth(truth))) =
                (terms.node(term), candidate.values.get(&term))
            {
                same.push(if *truth { term } else { terms.not(term) });
            }
        }
        let is_same = terms.all(same);
        terms.not(is_same)
    }

    /// That the results differ under either way of every choice. Where a choice is between two rows these are all ways.
    fn differs_whichever(&mut self) -> Result<Term, Stop> {
        let mut ways = Vec::new();
        for reverses in [false, true] {
            self.world.reverses_choices = reverses;
            ways.push(self.executed(false)?);
        }
        let mut all = Vec::new();
        for [left, _] in &ways {
            for [_, right] in &ways {
                let How { semantics, permitted, .. } = self.input.2;
                all.push(differ::differ(&mut self.world, left, right, semantics, permitted)?);
            }
        }
        Ok(self.world.terms.all(all))
    }

    fn ask(&mut self, further: &[Term], solver: &mut Solver) -> Result<Option<Candidate>, Halt> {
        let assertions = [self.assertions.as_slice(), further].concat();
        let unknowns = decode::unknowns(&self.world, &self.tables);
        let SymbolicWorld { terms, oracle, .. } = &mut self.world;
        let script =
            SolverScript::new(terms, oracle, &assertions, &unknowns, (&self.pool, &self.function_values));
        if script.text.len() > MAX_SCRIPT_BYTES {
            return Err(Halt::Unknown(ProofReason::Size));
        }
        let names: Vec<String> = unknowns.iter().map(|&term| script.name(term).to_owned()).collect();
        let left = self.input.2.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(SolverFailure::Timeout.into());
        }
        match solver.check(&script.text, &names, left)? {
            SolverAnswer::Unsatisfiable => Ok(None),
            SolverAnswer::Satisfiable(answers) => {
                let values = decode::constants(&self.world, &unknowns, &answers, &script.ranks);
                let database = decode::database(&self.world, &self.tables, &values);
                Ok(Some(Candidate { database, values }))
            }
        }
    }

    /// The texts that functions of texts are tried on, and columns of dates; empty where there is neither.
    fn likely_texts(&self) -> BTreeSet<Box<str>> {
        let terms = &self.world.terms;
        let mut texts = BTreeSet::new();
        let mut has_function = false;
        for term in terms.reachable(&self.assertions) {
            match terms.node(term) {
                Node::Constant(Constant::Text(text)) => {
                    texts.insert(text.clone());
                }
                Node::Apply(_, _, args) => {
                    has_function |= args.iter().any(|&arg| terms.sort(arg) == Sort::Text);
                }
                _ => {}
            }
        }
        let (_, (left, right), _) = self.input;
        texts.extend(self.world.examples.iter().cloned());
        texts.extend(pool::likely_texts([left, right]));
        if has_function || !self.world.dates.is_empty() { texts } else { BTreeSet::new() }
    }

    /// Whether anything narrows the first candidates.
    fn is_guided(&self) -> bool {
        !self.pool.is_empty() || !self.world.inserted.is_empty()
    }

    /// Narrows candidates: to rowids that INSERT gives, and to likely texts in the tables.
    fn within_pool(&mut self) -> Vec<Term> {
        let mut within = self.world.inserted.clone();
        if self.pool.is_empty() {
            return within;
        }
        let rows = self.tables.iter().filter_map(|id| self.world.tables.get(id)).flat_map(|rows| rows.iter());
        let cells: Vec<Term> = rows.flat_map(|row| row.values.iter().map(|value| value.text)).collect();
        let terms = &mut self.world.terms;
        let cells: Vec<Term> = cells.into_iter().filter(|&cell| terms.as_constant(cell).is_none()).collect();
        let named: Vec<(Term, bool)> =
            self.pool.iter().map(|text| (terms.text(text), is_time_text(text))).collect();
        within.extend(cells.into_iter().map(|cell| {
            let is_date = self.world.dates.contains(&cell);
            let fitting = named.iter().filter(|(_, is_time)| *is_time || !is_date);
            let equal: Vec<Term> = fitting.map(|&(text, _)| terms.equal(cell, text)).collect();
            terms.any(equal)
        }));
        within
    }
}

/// The query without an ORDER BY that decides nothing.
fn without_idle_order(query: &Query, semantics: ResultSemantics) -> Option<Query> {
    let is_idle = !semantics.has_order() && query.limit.is_none() && !query.order_by.is_empty();
    is_idle.then(|| Query { order_by: Vec::new(), ..query.clone() })
}
