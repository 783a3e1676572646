//! Bounded proofs: whether two queries can differ on any database of at most k rows per table.
//!
//! # Contract
//! [`bounded`] executes both queries on tables of symbolic rows and asks an SMT solver for rows on which their permitted
//! results differ. [`ProofOutcome::NoDifference`] is a proof up to its bound, under what it `assumes`: the encoding takes
//! every database that satisfies the schema and the assumptions into account, and may only see differences that are
//! not there, never miss one that is. A candidate is therefore nothing until a real SQLite has replayed it, which the caller
//! does: [`ProofOutcome::Different`] is what it confirmed.
//! What cannot be encoded so is [`ProofOutcome::Unsupported`] with the construct by name.

mod apart;
mod calendar;
mod date;
mod decode;
mod defect;
mod differ;
mod evaluate;
mod exec;
mod ir;
mod joint;
mod lower;
mod machine;
mod number;
mod oracle;
mod pattern;
mod pool;
pub mod process;
mod question;
mod reading;
mod script;
mod symbolic;
mod table;
mod text;
mod value;
mod world;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use sqlgauge_base::on_deep_stack;
use sqlgauge_engine::Value as Stored;
use sqlgauge_sql::schema::{Schema, TableId};
use sqlgauge_sql::tree::Query;

pub use self::defect::EncoderDefect;
pub use self::process::{NoSolver, SOLVER_REMEDY, Solver, SolverFailure, SolverLimits, locate};
use self::question::{Asked, BoundedQuestion, Halt, How, SolverOutcome, keeps_cut};
use self::world::Stop;
use sqlgauge_search::{DeclaredColumns, Witness};

/// When two results count as the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResultSemantics {
    /// The same set of rows.
    Set,
    /// The same bag of rows.
    Bag,
    /// The same bag, and in the left query's order where it asks for one; ties are free.
    #[default]
    List,
    /// The same bag, and in the order that either query asks for.
    Lists,
}

impl ResultSemantics {
    /// Whether the order of rows counts.
    fn has_order(self) -> bool {
        matches!(self, Self::List | Self::Lists)
    }
}

/// How far a proof goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds<'a> {
    pub rows_per_table: usize,
    /// Steps of the solver for the pair, all bounds together: they decide.
    pub steps: u64,
    /// Wall-clock time for the pair, the outer net: a machine under load runs into it first.
    pub time: Duration,
    /// Only databases on which one of the queries returns a row.
    pub with_rows: bool,
    /// What is asked of the results that the queries permit.
    pub permitted: Permitted,
    /// The columns that hold what they declare: BOOLEAN 0 and 1, DATE and TIME what SQLite reads as a time as it stands.
    pub columns: &'a DeclaredColumns,
}

/// What is asked of the results that two queries permit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Permitted {
    /// Whether they are the same.
    #[default]
    Same,
    /// Whether the right query permits none that the left one does not.
    NoMore,
}

impl Default for Bounds<'_> {
    fn default() -> Self {
        Self {
            rows_per_table: 3,
            steps: process::STEPS,
            time: Duration::from_mins(5),
            with_rows: false,
            permitted: Permitted::Same,
            columns: &DeclaredColumns::None,
        }
    }
}

/// What a proof rests on besides the constraints of the schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProofAssumption {
    /// A column holds NULL or values of its declared type only: integers, real numbers or text; NUMERIC either
    /// number; DATE and TIME text; no type any of them. Nowhere is there a blob. Where [`Bounds::columns`] says so, BOOLEAN is 0 or 1,
    /// and DATE and TIME are what SQLite reads as a time.
    ValuesOfDeclaredType,
    /// No column of a primary key holds NULL, though SQLite would let it.
    NoNullInKey,
    /// Integers stay within 53 bits where they are stored, and computing with them never overflows 64 bits.
    NoOverflow,
    /// Real numbers are computed without rounding, and so are those that are made of stored or computed integers. Constants that are
    /// converted are rounded as SQLite does.
    ExactReals,
    /// Real numbers are finite where they are stored.
    FiniteNumbers,
    /// No text has a character with the code 0, at which LIKE, GLOB and many functions end.
    TextsWithoutNul,
    /// No recursion takes more rounds.
    Recursion(usize),
    /// Rows keep this foreign key, which SQLite enforces only where a connection asks for it.
    ForeignKey(Box<str>),
}

impl ProofAssumption {
    /// Its name in a verdict.
    pub fn code(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::ValuesOfDeclaredType => "values-of-declared-type",
            Self::NoNullInKey => "no-null-in-key",
            Self::NoOverflow => "no-overflow",
            Self::ExactReals => "exact-reals",
            Self::FiniteNumbers => "finite-numbers",
            Self::TextsWithoutNul => "texts-without-nul",
            Self::Recursion(rounds) => return Cow::Owned(format!("recursion-within-{rounds}-rounds")),
            Self::ForeignKey(key) => return Cow::Owned(format!("FOREIGN KEY {key}")),
        })
    }
}

/// Why there is neither a proof nor a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProofReason {
    Solver(SolverFailure),
    /// The formula would be too large to make, or for the solver.
    Size,
    /// Each of so many candidates was refused.
    Refused(usize),
    /// There are databases on which the results may differ, and on each of them SQLite may choose so that they do not.
    Choice,
}

impl ProofReason {
    /// Whether steps or size ended it. That is the same on every machine, and casts no doubt on a proof for fewer rows.
    pub fn is_budget(self) -> bool {
        matches!(self, Self::Size | Self::Solver(SolverFailure::Steps))
    }

    /// Its name in a verdict.
    pub fn code(self) -> String {
        match self {
            Self::Solver(failure) => failure.to_string(),
            Self::Size => "size".to_owned(),
            Self::Refused(_) => "spurious".to_owned(),
            Self::Choice => "nondeterministic".to_owned(),
        }
    }
}

impl fmt::Display for ProofReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solver(failure) => write!(f, "the solver came to no end ({failure})"),
            Self::Size => f.write_str("the formula would be too large for the solver"),
            Self::Refused(1) => f.write_str("the solver's counterexample is none on SQLite"),
            Self::Refused(count) => {
                write!(f, "none of the solver's {count} counterexamples is one on SQLite")
            }
            Self::Choice => {
                f.write_str("where the results differ, SQLite may also choose so that they do not")
            }
        }
    }
}

/// What came of a pair.
#[derive(Debug, Clone, PartialEq)]
pub enum ProofOutcome<T> {
    /// No database of at most `bound` rows per table tells the queries apart.
    NoDifference {
        /// Rows per table.
        bound: usize,
        /// What it rests on.
        assumes: Vec<ProofAssumption>,
    },
    /// A candidate was confirmed.
    Different {
        found: T,
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
        reason: ProofReason,
        /// The largest bound for which there is a proof.
        proved: Option<usize>,
        /// What that proof rests on.
        assumes: Vec<ProofAssumption>,
    },
}

/// Looks for a database of at most so many rows per table on which the permitted results of the queries differ.
/// `confirm` replays a candidate; one that it refuses is no counterexample, and the search goes on.
/// Beside the outcome: the calls of the queries about which the solver knew less than SQLite. Without any the encoding is exact.
pub fn bounded<T>(
    schema: &Schema,
    pair: (&Query, &Query),
    semantics: ResultSemantics,
    bounds: Bounds<'_>,
    solver: &mut Solver,
    confirm: &mut dyn FnMut(&Witness) -> Option<T>,
) -> (ProofOutcome<T>, BTreeSet<Box<str>>) {
    let Bounds { steps, time, with_rows, permitted, columns, .. } = bounds;
    solver.allow(steps);
    let how = How { semantics, deadline: Instant::now() + time, with_rows, permitted, columns };
    let mut inexact = BTreeSet::new();
    let outcome =
        on_deep_stack(|| up_to((schema, pair, how), bounds.rows_per_table, solver, &mut inexact, confirm));
    (outcome, inexact)
}

fn up_to<T>(
    input: Asked<'_>,
    bound: usize,
    solver: &mut Solver,
    inexact: &mut BTreeSet<Box<str>>,
    confirm: &mut dyn FnMut(&Witness) -> Option<T>,
) -> ProofOutcome<T> {
    let (mut proved, mut open) = (None, None);
    let mut assumes = BTreeSet::new();
    // Who assumes that recursion ends after two rounds need not say that it ends after three.
    let listed = |assumes: BTreeSet<ProofAssumption>| {
        let mut assumes: Vec<_> = assumes.into_iter().collect();
        assumes.dedup_by(|more, less| {
            matches!((more, less), (ProofAssumption::Recursion(_), ProofAssumption::Recursion(_)))
        });
        assumes
    };
    for rows in 1..=bound {
        let settled = BoundedQuestion::new(input, rows, keeps_cut(input)).and_then(|question| {
            assumes.extend(question.assumes());
            inexact.extend(question.inexact().iter().cloned());
            question.settle(solver, confirm)
        });
        match settled {
            Ok(SolverOutcome::Same) if open.is_none() => proved = Some(rows),
            Ok(SolverOutcome::Same) => {}
            Ok(SolverOutcome::Different(witness)) => {
                return ProofOutcome::Different { found: witness, bound: rows };
            }
            // More rows may show what is only SQLite's choice among fewer.
            Ok(SolverOutcome::Open(reason)) => open = open.or(Some(reason)),
            Err(Halt::Unsupported(construct)) => return ProofOutcome::Unsupported { construct },
            Err(Halt::Unknown(reason)) => {
                let reason = open.unwrap_or(reason);
                return ProofOutcome::Unknown { reason, proved, assumes: listed(assumes) };
            }
        }
    }
    match open {
        Some(reason) => ProofOutcome::Unknown { reason, proved, assumes: listed(assumes) },
        None => ProofOutcome::NoDifference { bound, assumes: listed(assumes) },
    }
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
    rows_by(schema, query, database, None)
}

/// The same of an encoder with a defect, which the law must find.
pub fn rows_of_broken(
    schema: &Schema,
    query: &Query,
    database: &BTreeMap<TableId, Vec<Vec<Stored>>>,
    defect: EncoderDefect,
) -> OnDatabase {
    rows_by(schema, query, database, Some(defect))
}

fn rows_by(
    schema: &Schema,
    query: &Query,
    database: &BTreeMap<TableId, Vec<Vec<Stored>>>,
    defect: Option<EncoderDefect>,
) -> OnDatabase {
    let rows = database.values().map(Vec::len).max().unwrap_or_default();
    let outcome = on_deep_stack(|| symbolic::rows_on(schema, query, database, (rows, defect)));
    match outcome {
        Ok(outcome) => outcome,
        Err(Stop::Unsupported(construct)) => OnDatabase::Unsupported(construct),
        Err(Stop::Size | Stop::Timeout) => OnDatabase::Open,
    }
}
