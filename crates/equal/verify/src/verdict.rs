//! What can be said of two queries.
//!
//! The types keep the promise: there is no `equivalent` without the proof that the rules made, and no `different`
//! without the refutation that only a replay makes.

use std::time::Duration;

use sqlgauge_causes::DifferenceRecord;
use sqlgauge_engine::ResultSet;
use sqlgauge_engine::compare::Semantics;
use sqlgauge_etm::{Application, MatchReport};

use sqlgauge_prove::ProofAssumption;
use sqlgauge_search::{Minimality, OpenPlace, Refutation, Resemblance, Side, Unexercised};

use serde::{Deserialize, Serialize};

use crate::spelling::Spelled;
use crate::values::{ColumnValues, UndeclaredDifference};

/// Whether two queries permit the same results on every database that satisfies the schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Equivalent(Proof),
    /// They do on every database of at most so many rows per table; or the right query permits some of the left one's results, and
    /// no other ([`BoundedProof::permits_less`]).
    EquivalentUpTo(BoundedProof),
    Different(Box<Counterexample>),
    Unknown(Unknown),
}

impl Verdict {
    /// Its name: `equivalent`, `equivalent_up_to`, `different`, `unknown`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Equivalent(_) => "equivalent",
            Self::EquivalentUpTo(_) => "equivalent_up_to",
            Self::Different(_) => "different",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// A proof by rules, each of which holds on every database that keeps the constraints named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    rules: Vec<String>,
    assumes: Vec<String>,
    /// Whether it holds for rows as they are compared alone, and not for results as lists.
    rows_as: Option<Semantics>,
}

impl Proof {
    /// The proof that a comparison found; `None` if it found none.
    pub(crate) fn of(comparison: &MatchReport) -> Option<Self> {
        comparison.verdict.is_equal().then(|| Self {
            rules: chain(comparison),
            assumes: comparison.assumes.iter().map(ToString::to_string).collect(),
            rows_as: None,
        })
    }

    /// The proof of queries whose rows are compared so, before the rules.
    pub(crate) fn with_rows_as(mut self, semantics: Semantics) -> Self {
        self.rules.insert(0, format!("both: rows as a {semantics}"));
        self.rows_as = Some(semantics);
        self
    }

    /// The proof on databases without NULL in the columns of primary keys.
    pub(crate) fn without_null_in_keys(mut self) -> Self {
        self.assumes.push(ProofAssumption::NoNullInKey.code().into_owned());
        self
    }

    /// As what the rows must be compared for it to hold: a bag or a set; `None` where it holds for any comparison.
    pub fn rows_as(&self) -> Option<Semantics> {
        self.rows_as
    }

    /// The rules in the order of their use, with the query and the clause that they changed: `gold: 22 between in WHERE`.
    /// Empty where name resolution alone made the queries one.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// The constraints of the schema without which the queries would not be found equal.
    pub fn assumes(&self) -> &[String] {
        &self.assumes
    }
}

fn chain(comparison: &MatchReport) -> Vec<String> {
    let sides = [(Side::Left, &comparison.left), (Side::Right, &comparison.right)];
    let steps = sides.into_iter().flat_map(|(side, form)| {
        let named = move |step: &Application| {
            format!("{}: {} {} in {}", side.name(), step.rule.id, step.rule.name, step.scope)
        };
        form.iter().flat_map(|form| &form.applications).map(named)
    });
    let mut chain: Vec<String> = steps.collect();
    chain.dedup();
    chain
}

/// A proof that on no database of at most so many rows per table the right query is wrong by the left one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundedProof {
    pub(crate) bound: usize,
    pub(crate) wanted_bound: usize,
    pub(crate) assumes: Vec<ProofAssumption>,
    pub(crate) permits_less: bool,
}

impl BoundedProof {
    /// Rows per table.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// The rows per table that were asked for, where the proof for more than [`Self::bound`] was too large.
    pub fn wanted_bound(&self) -> Option<usize> {
        Some(self.wanted_bound).filter(|rows| *rows > self.bound)
    }

    /// Whether it is proved the one way only: each result that the right query permits, the left one, the gold, permits too, which
    /// permits others besides (ties under its LIMIT).
    pub fn permits_less(&self) -> bool {
        self.permits_less
    }

    /// What it rests on besides the constraints of the schema.
    pub fn assumes(&self) -> &[ProofAssumption] {
        &self.assumes
    }
}

/// A database on which the queries return different results.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample {
    pub refutation: Refutation,
    /// How small it is; `None` where it was left as it was found, as one that contradicts a proof.
    pub minimality: Option<Minimality>,
    /// What the queries read of the database, by table.
    pub tables: Vec<(String, ResultSet)>,
    /// One sentence on the clause that makes the difference, where one does.
    pub explanation: Option<String>,
    /// What makes the right query another than the left, in words, or why that is unclear; `None` where no words are asked for.
    pub words: Option<DifferenceRecord>,
    /// Where a database was given, what it keeps of what the rows there keep.
    pub resemblance: Option<Resemblance>,
    /// The rules that called the queries equal nevertheless: one of them is wrong.
    pub defect: Option<Defect>,
}

/// A proof that a counterexample contradicts: a defect of this program, to be reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    pub proof: Proof,
    /// A command line that shows the contradiction, whole in itself.
    pub reproduce: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unknown {
    /// The reason as a code: `nondeterministic`, `unsupported:view`, `timeout`, `no-solver`, …
    pub reason: String,
    /// The same in words, with what was tried.
    pub message: String,
    /// Where SQLite is free to choose, so that the results differed and prove nothing.
    pub places: Vec<OpenPlace>,
    /// What of the queries the databases of the search did not exercise, where a difference may hide.
    pub unexercised: Vec<Unexercised>,
}

/// A text that SQLite refuses, which gets its error and no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {} query does not run: {message}", .side.name())]
pub struct RefusedText {
    pub side: Side,
    pub message: String,
}

/// What a pair goes through, in this order, until something is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Proof by rules, of which the first databases of the search must know nothing to the contrary.
    Rules,
    /// A slice of the given database.
    Data,
    /// Search for a database that tells the queries apart.
    Search,
    /// Bounded proof by an SMT solver.
    Smt,
}

impl Stage {
    pub fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Data => "data",
            Self::Search => "search",
            Self::Smt => "smt",
        }
    }
}

/// What the solver did for a pair that it decides alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SolverRecord {
    /// Rows per table at which a counterexample was confirmed, else up to which none exists; absent where neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<usize>,
    /// Whether the pair has an encoding.
    pub encoded: bool,
    /// Calls about which the solver knows less than SQLite. A pair with an encoding and none of these is encoded exactly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inexact: Vec<String>,
    /// Databases that the solver proposed.
    pub candidates: usize,
    /// Of these, the ones that SQLite confirmed.
    pub confirmed: usize,
}

impl SolverRecord {
    /// Whether every term of the encoding says what SQLite computes.
    pub fn is_exact(&self) -> bool {
        self.encoded && self.inexact.is_empty()
    }
}

/// The reason of what is unknown because nobody could look for a bounded proof.
pub const NO_SOLVER: &str = "no-solver";

/// What is said where the results differ on the given database, and both are right there.
pub const TIE: &str = "the gold permits several results (a tie); both are among them";

/// A verdict with its provenance.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifyReport {
    pub verdict: Verdict,
    /// The stage that gave it; for [`Verdict::Unknown`] the last one.
    pub stage: Stage,
    /// The queries in other words, left and right, where SQLite refuses them as they are written; they were verified.
    pub spelled: [Option<Spelled>; 2],
    /// The results differ on the given database, and the left query permits both there: see [`TIE`].
    pub is_tie: bool,
    /// Whether the results differ on the given database; `None` without one, or where a query has no result there.
    pub differs_on_database: Option<bool>,
    /// Which values were allowed: [`ColumnValues::Any`], or what the columns declare.
    pub values: ColumnValues,
    /// The columns that the queries' tables have, `t.a`, and that may nevertheless hold any value, as the given rows do.
    pub free_columns: Vec<String>,
    /// Where there is no difference within those values, one beyond them.
    pub undeclared: Option<UndeclaredDifference>,
    /// What the solver did, where it decides alone.
    pub solver: Option<SolverRecord>,
    /// The time that each stage took, in order. No part of the verdict.
    pub times: Vec<(Stage, Duration)>,
}
