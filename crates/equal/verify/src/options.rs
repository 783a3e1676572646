//! How a pair is verified.

use std::str::FromStr;
use std::time::Duration;

use sqlgauge_engine::compare::Semantics;

use crate::values::ColumnValues;
use sqlgauge_prove::{Bounds, Permitted};

/// Databases on which queries that the rules call equal must return the same.
pub(crate) const BELT_DATABASES: usize = 48;

/// The least number of rows per table that a proof must cover: one row makes no group, tie or duplicate.
pub(crate) const LEAST_BOUND: usize = 2;

/// Rows of each table among which the solver looks for a counterexample that is not over empty results: more than
/// most counts in HAVING.
const ROWS_FOR_RESULT: usize = 9;

/// A stage that decides alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnlyStage {
    /// The bounded proof, as `SpotIt` publishes it: a solver is asked for 1, 2, 3, … rows per table.
    Solver,
}

impl OnlyStage {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::Solver];

    pub fn name(self) -> &'static str {
        match self {
            Self::Solver => "solver",
        }
    }
}

/// A stage that does not stand alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid stage {:?}: give one of {}", .0, OnlyStage::ALL.map(OnlyStage::name).join(", "))]
pub struct UnknownStage(String);

impl FromStr for OnlyStage {
    type Err = UnknownStage;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|stage| stage.name() == name).ok_or_else(|| UnknownStage(name.to_owned()))
    }
}

/// How a pair is verified. With the same options, texts and schema the verdict is the same, but for pairs that run
/// out of time before they run out of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyOptions {
    /// When two results count as equal.
    pub semantics: Semantics,
    /// Where the random numbers of the search begin.
    pub seed: u64,
    /// Rows of each table up to which a bounded proof goes, as far as the steps last.
    pub bound: usize,
    /// Time for one pair, all stages together, the outer net around their budgets of steps.
    pub solver_time: Duration,
    /// Steps of the solver for one pair: they decide, so that a verdict depends neither on the machine nor on its load.
    pub solver_steps: u64,
    /// Whether queries differ where the left one, the gold, permits one result alone on a database and the right one
    /// permits another too.
    pub counts_choices: bool,
    /// Which values a counterexample may hold.
    pub values: ColumnValues,
    /// The stage that decides alone; all of them where none is named.
    pub only: Option<OnlyStage>,
    /// Whether the solver looks for a counterexample with fewer rows, and may prove that none exists.
    pub proves_fewest: bool,
    /// Whether a counterexample comes with what makes the right query another than the left, in words.
    pub words: bool,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        let Bounds { rows_per_table, steps, time, .. } = Bounds::default();
        Self {
            semantics: Semantics::default(),
            seed: 0,
            bound: rows_per_table,
            solver_time: time,
            solver_steps: steps,
            counts_choices: true,
            values: ColumnValues::default(),
            only: None,
            proves_fewest: false,
            words: false,
        }
    }
}

impl VerifyOptions {
    pub fn search(&self) -> sqlgauge_search::SearchOptions {
        let contract =
            sqlgauge_search::Contract { semantics: self.semantics, ..sqlgauge_search::Contract::default() };
        sqlgauge_search::SearchOptions {
            seed: self.seed,
            contract,
            counts_choices: self.counts_choices,
            tells_open_golds: true,
            ..sqlgauge_search::SearchOptions::default()
        }
    }

    /// How far a bounded proof goes.
    pub(crate) fn bounds(&self) -> Bounds<'static> {
        let Self { bound, solver_steps, solver_time, .. } = *self;
        Bounds { rows_per_table: bound, steps: solver_steps, time: solver_time, ..Bounds::default() }
    }

    /// How far a bounded proof goes that the right query permits nothing that the left one does not.
    pub(crate) fn bounds_of_no_more(&self) -> Bounds<'static> {
        Bounds { permitted: Permitted::NoMore, ..self.bounds() }
    }

    /// How far the solver looks for rows in the results of queries of which the search has found none.
    pub(crate) fn bounds_with_rows(&self) -> Bounds<'static> {
        Bounds { rows_per_table: self.bound.max(ROWS_FOR_RESULT), with_rows: true, ..self.bounds() }
    }

    /// What of a result counts for a bounded proof.
    pub(crate) fn bounded_semantics(&self) -> sqlgauge_prove::ResultSemantics {
        match self.semantics {
            Semantics::Ex => sqlgauge_prove::ResultSemantics::List,
            Semantics::Set => sqlgauge_prove::ResultSemantics::Set,
            Semantics::Bag => sqlgauge_prove::ResultSemantics::Bag,
            Semantics::List => sqlgauge_prove::ResultSemantics::Lists,
        }
    }
}
