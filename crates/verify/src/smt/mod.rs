//! Bounded proofs: whether two queries can differ on any database of at most k rows per table.
//!
//! # Contract
//! [`bounded`] executes both queries on tables of symbolic rows and asks an SMT solver for rows on which their permitted
//! results differ. [`Outcome::NoDifference`] is a proof up to its bound, under what it `assumes`: the encoding takes
//! every database that satisfies the schema and the assumptions into account, and may only see differences that are
//! not there, never miss one that is. [`Outcome::Candidate`] is therefore nothing until a real SQLite has replayed it.
//! What cannot be encoded so is [`Outcome::Unsupported`] with the construct by name.

mod date;
mod decode;
mod differ;
mod evaluate;
mod exec;
mod ir;
mod lower;
mod number;
mod oracle;
mod pool;
mod prefix;
pub mod process;
mod script;
mod symbolic;
mod table;
mod text;
mod value;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use sqlgauge_engine::Value as Stored;
use sqlgauge_sql::aggregates::is_entangled;
use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::Query;

use self::exec::Run;
use self::ir::{Constant, Node, Sort, Term, Terms};
use self::process::Answer;
pub use self::process::{Failure, Limits, NoSolver, Solver, locate};
use self::script::Script;
use self::world::{Stop, World};
use crate::search::{STACK_BYTES, Witness};

/// When two results count as the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Semantics {
    /// The same set of rows.
    Set,
    /// The same bag of rows.
    Bag,
    /// The same bag, and in the left query's order where it asks for one; ties are free.
    #[default]
    List,
}

/// How far a proof goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Most rows of each table.
    pub rows_per_table: usize,
    /// Wall-clock time for the pair, all bounds together.
    pub time: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { rows_per_table: 3, time: Duration::from_secs(10) }
    }
}

/// What a proof rests on besides the constraints of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assumption {
    /// A column holds NULL or values of its declared type only: integers, real numbers or text; NUMERIC either
    /// number; DATE and TIME text; no type any of them. Nowhere is there a blob.
    ValuesOfDeclaredType,
    /// Integers stay within 53 bits where they are stored, and computing with them never overflows 64 bits.
    NoOverflow,
    /// Real numbers are computed without rounding.
    ExactReals,
}

impl Assumption {
    /// Its name in a verdict.
    pub fn code(self) -> &'static str {
        match self {
            Self::ValuesOfDeclaredType => "values-of-declared-type",
            Self::NoOverflow => "no-overflow",
            Self::ExactReals => "exact-reals",
        }
    }
}

/// Why there is neither a proof nor a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The solver.
    Solver(Failure),
    /// The formula would be too large.
    Size,
    /// What the solver found has no counterpart in SQLite.
    NoDatabase,
}

impl Reason {
    /// Its name in a verdict.
    pub fn code(self) -> String {
        match self {
            Self::Solver(failure) => failure.to_string(),
            Self::Size => "size".to_owned(),
            Self::NoDatabase => "no_database".to_owned(),
        }
    }
}

/// What came of a pair.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// No database of at most `bound` rows per table tells the queries apart.
    NoDifference {
        /// Rows per table.
        bound: usize,
        /// What it rests on.
        assumes: Vec<Assumption>,
    },
    /// A database that may tell them apart.
    Candidate {
        /// The database.
        database: Witness,
        /// Rows per table among which it was found.
        bound: usize,
    },
    /// It cannot be encoded.
    Unsupported {
        /// What cannot.
        construct: String,
    },
    /// It was not settled.
    Unknown {
        /// Why.
        reason: Reason,
        /// The largest bound for which there is a proof.
        proved: Option<usize>,
    },
}

/// Looks for a database of at most so many rows per table on which the permitted results of the queries differ.
pub fn bounded(
    schema: &Schema,
    pair: (&Query, &Query),
    semantics: Semantics,
    bounds: Bounds,
    solver: &mut Solver,
) -> Outcome {
    let deadline = Instant::now() + bounds.time;
    let how = How { semantics, deadline };
    stacker::maybe_grow(STACK_BYTES / 2, STACK_BYTES, || {
        up_to(schema, pair, how, bounds.rows_per_table, solver)
    })
}

/// How a question is asked.
#[derive(Debug, Clone, Copy)]
struct How {
    semantics: Semantics,
    deadline: Instant,
}

fn up_to(schema: &Schema, pair: (&Query, &Query), how: How, bound: usize, solver: &mut Solver) -> Outcome {
    let mut proved = None;
    let mut assumes = Vec::new();
    for rows in 1..=bound {
        let keeps_cut = how.semantics != Semantics::Set;
        let question = match Question::new(schema, pair, how, rows, keeps_cut) {
            Ok(question) => question,
            Err(Stop::Unsupported(construct)) => return Outcome::Unsupported { construct },
            Err(Stop::Size) => return Outcome::Unknown { reason: Reason::Size, proved },
            Err(Stop::Timeout) => {
                return Outcome::Unknown { reason: Reason::Solver(Failure::Timeout), proved };
            }
        };
        assumes = question.world.assumes.iter().copied().collect();
        let is_cut = keeps_cut && (pair.0.limit.is_some() || pair.1.limit.is_some());
        match question.settle(solver, how.deadline) {
            Ok(None) => proved = Some(rows),
            Ok(Some(_)) if is_cut && is_same_under_priorities(schema, pair, how, rows, solver) => {
                proved = Some(rows);
            }
            Ok(Some(database)) => return Outcome::Candidate { database: *database, bound: rows },
            Err(reason) => return Outcome::Unknown { reason, proved },
        }
    }
    Outcome::NoDifference { bound, assumes }
}

/// Whether the queries return the same whatever the priorities of rows that tie. That shows queries that leave the same
/// choice at different depths, which the bags that each of them permits do not.
fn is_same_under_priorities(
    schema: &Schema,
    pair: (&Query, &Query),
    how: How,
    rows: usize,
    solver: &mut Solver,
) -> bool {
    let Ok(mut question) = Question::new(schema, pair, how, rows, false) else { return false };
    let mut assertions = question.world.conditions.clone();
    assertions.push(question.differs);
    matches!(question.ask(&assertions, &BTreeSet::new(), solver, how.deadline), Ok(None))
}

/// Whether two queries differ on tables of so many rows.
struct Question<'s> {
    world: World<'s>,
    tables: BTreeSet<TableId>,
    likely: BTreeSet<Box<str>>,
    differs: Term,
}

impl<'s> Question<'s> {
    fn new(
        schema: &'s Schema,
        (left, right): (&Query, &Query),
        How { semantics, deadline }: How,
        rows: usize,
        keeps_cut: bool,
    ) -> Result<Self, Stop> {
        if is_entangled(left) || is_entangled(right) {
            return Err(Stop::unsupported("outer aggregate"));
        }
        let mut world = World::new(schema);
        world.deadline = Some(deadline);
        let mut tables = BTreeSet::new();
        table::tables_of(left, schema, &mut tables);
        table::tables_of(right, schema, &mut tables);
        table::add_tables(&mut world, &tables, rows)?;
        let executed = [left, right].map(|query| {
            let plain = without_idle_order(query, semantics);
            Run::statement(&mut world, plain.as_ref().unwrap_or(query), keeps_cut)
        });
        let likely = pool::likely_texts([left, right]);
        let [left, right] = executed;
        let differs = differ::differ(&mut world, &left?, &right?, semantics)?;
        Ok(Self { world, tables, likely, differs })
    }

    /// A database on which they may differ, if there is one.
    fn settle(mut self, solver: &mut Solver, deadline: Instant) -> Result<Option<Box<Witness>>, Reason> {
        let mut assertions = self.world.conditions.clone();
        assertions.push(self.differs);
        if self.world.terms.all(assertions.iter().copied()) == Terms::FALSE {
            return Ok(None);
        }
        let Some(first) = self.ask(&assertions, &BTreeSet::new(), solver, deadline)? else { return Ok(None) };
        let pool = self.pool(&assertions);
        let is_open = !pool.is_empty() || !self.world.settled.is_empty();
        if is_open {
            // What is known of functions, and no choice that shows: what is found now is most likely real.
            assertions.extend(self.world.settled.clone());
            let cells = self.within(&pool);
            assertions.extend(cells);
            if let Ok(Some(better)) = self.ask(&assertions, &pool, solver, deadline) {
                return Ok(Some(better));
            }
        }
        Ok(Some(first))
    }

    fn ask(
        &mut self,
        assertions: &[Term],
        pool: &BTreeSet<Box<str>>,
        solver: &mut Solver,
        deadline: Instant,
    ) -> Result<Option<Box<Witness>>, Reason> {
        let asked = decode::unknowns(&self.world, &self.tables);
        let script = Script::new(&self.world.terms, &mut self.world.oracle, assertions, &asked, pool);
        let names: Vec<String> = asked.iter().map(|&term| script.name(term).to_owned()).collect();
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Reason::Solver(Failure::Timeout));
        }
        match solver.check(&script.text, &names, left).map_err(Reason::Solver)? {
            Answer::Unsatisfiable => Ok(None),
            Answer::Satisfiable(given) => {
                let values = decode::constants(&self.world, &asked, &given, &script.ranks);
                let database = decode::database(&self.world, &self.tables, &values);
                Ok(Some(Box::new(database.ok_or(Reason::NoDatabase)?)))
            }
        }
    }

    /// The texts that functions of texts are tried on; empty where there is no such function.
    fn pool(&self, assertions: &[Term]) -> BTreeSet<Box<str>> {
        let terms = &self.world.terms;
        let mut pool = BTreeSet::new();
        let mut has_function = false;
        for term in terms.reachable(assertions) {
            match terms.node(term) {
                Node::Constant(Constant::Text(text)) => {
                    pool.insert(text.clone());
                }
                Node::Apply(_, _, args) => {
                    has_function |= args.iter().any(|&arg| terms.sort(arg) == Sort::Text);
                }
                _ => {}
            }
        }
        pool.extend(self.likely.iter().cloned());
        if has_function { pool } else { BTreeSet::new() }
    }

    /// That every text of the tables is among those.
    fn within(&mut self, pool: &BTreeSet<Box<str>>) -> Vec<Term> {
        if pool.is_empty() {
            return Vec::new();
        }
        let rows = self.tables.iter().filter_map(|id| self.world.tables.get(id)).flat_map(|rows| rows.iter());
        let cells: Vec<Term> = rows.flat_map(|row| row.values.iter().map(|value| value.text)).collect();
        let terms = &mut self.world.terms;
        let cells: Vec<Term> = cells.into_iter().filter(|&cell| terms.as_constant(cell).is_none()).collect();
        let named: Vec<Term> = pool.iter().map(|text| terms.text(text)).collect();
        let within = cells.into_iter().map(|cell| {
            let equal: Vec<Term> = named.iter().map(|&text| terms.equal(cell, text)).collect();
            terms.any(equal)
        });
        within.collect()
    }
}

/// The query without an ORDER BY that decides nothing.
fn without_idle_order(query: &Query, semantics: Semantics) -> Option<Query> {
    let is_idle = semantics != Semantics::List && query.limit.is_none() && !query.order_by.is_empty();
    is_idle.then(|| Query { order_by: Vec::new(), ..query.clone() })
}

/// What the symbolic execution of a query says of one database.
#[derive(Debug, Clone, PartialEq)]
pub enum OnDatabase {
    /// These rows, in no order.
    Rows(Vec<Vec<Stored>>),
    /// Nothing: SQL leaves a choice open there, a value is not of its column's type, or SQLite cannot compute a function.
    Open,
    /// That the database does not satisfy the schema.
    BreaksConstraints,
    /// The query has a construct that is not encoded.
    Unsupported(String),
}

/// The rows of a query on a database, as the symbolic execution has them: what the law of the encoding compares with
/// SQLite.
pub fn rows_on(schema: &Schema, query: &Query, database: &BTreeMap<TableId, Vec<Vec<Stored>>>) -> OnDatabase {
    let rows = database.values().map(Vec::len).max().unwrap_or_default();
    let outcome = stacker::maybe_grow(STACK_BYTES / 2, STACK_BYTES, || {
        symbolic::rows_on(schema, query, database, rows)
    });
    match outcome {
        Ok(outcome) => outcome,
        Err(Stop::Unsupported(construct)) => OnDatabase::Unsupported(construct),
        Err(Stop::Size | Stop::Timeout) => OnDatabase::Open,
    }
}
