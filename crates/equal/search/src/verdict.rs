//! What a search can say of two queries.

use std::fmt;

use sqlgauge_engine::{Failure, FailureKind, ResultSet};

use super::freedom::OpenPlace;
use super::needs::Need;
use super::witness::Witness;

/// Which of the two queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The first, the gold.
    Left,
    /// The second, the prediction.
    Right,
}

impl Side {
    /// Its name for a reader: `gold`, `prediction`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Left => "gold",
            Self::Right => "prediction",
        }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchVerdict {
    /// A database on which the results differ.
    Refuted(Box<Refutation>),
    /// None was found, which proves nothing.
    Survived(Survived),
    /// The pair cannot be searched.
    Inapplicable(Inapplicable),
}

impl SearchVerdict {
    /// The refutation, if there is one.
    pub fn refutation(&self) -> Option<&Refutation> {
        match self {
            Self::Refuted(refutation) => Some(refutation),
            Self::Survived(_) | Self::Inapplicable(_) => None,
        }
    }

    /// Whether the pair was refuted.
    pub fn is_refuted(&self) -> bool {
        self.refutation().is_some()
    }
}

/// A search that found no difference.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Survived {
    /// Databases on which both queries ran and could be compared with the same outcome.
    pub databases: usize,
    /// Databases on which the results differed, but a freedom of SQLite's (ties under LIMIT, bare columns, …) may be
    /// to blame.
    pub undecided: usize,
    /// The places that were open on the first of these databases, in order.
    pub open: Vec<OpenPlace>,
    /// Databases on which a query failed or reached a limit.
    pub failed: usize,
    /// A difference that only values make which their columns do not declare ([`super::Search::hold`]).
    pub undeclared: Option<Box<Refutation>>,
}

/// Why a pair cannot be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inapplicable {
    pub reason: SearchReason,
    /// The query at fault, if it is one.
    pub side: Option<Side>,
    /// In words, for people.
    pub message: String,
}

/// The classes of reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchReason {
    /// The text does not resolve against the schema, or SQLite does not compile it.
    Parse,
    /// The result depends on chance: `random()` and its like.
    Nondeterministic,
    /// The search cannot handle the named construct.
    Unsupported(&'static str),
    /// It takes more steps, or SQLite would make more of it, than a search may.
    TooComplex,
}

/// Why the analysis of a query has no end.
pub(super) const TOO_MANY_STEPS: &str = "its analysis takes more steps than a search may";

impl Inapplicable {
    pub(super) fn unsupported(construct: &'static str, message: impl Into<String>) -> Self {
        Self { reason: SearchReason::Unsupported(construct), side: None, message: message.into() }
    }

    pub(super) fn parse(message: impl Into<String>) -> Self {
        Self { reason: SearchReason::Parse, side: None, message: message.into() }
    }

    pub(super) fn nondeterministic(message: impl Into<String>) -> Self {
        Self { reason: SearchReason::Nondeterministic, side: None, message: message.into() }
    }

    pub(super) fn too_complex(message: impl Into<String>) -> Self {
        Self { reason: SearchReason::TooComplex, side: None, message: message.into() }
    }

    pub(super) fn of(mut self, side: Side) -> Self {
        self.side = Some(side);
        self
    }

    /// The reason as a code: `parse`, `nondeterministic`, `unsupported:view`, …
    pub fn code(&self) -> String {
        match &self.reason {
            SearchReason::Parse => "parse".to_owned(),
            SearchReason::Nondeterministic => "nondeterministic".to_owned(),
            SearchReason::TooComplex => "too_complex".to_owned(),
            SearchReason::Unsupported(construct) => format!("unsupported:{construct}"),
        }
    }
}

impl From<Failure> for Inapplicable {
    fn from(failure: Failure) -> Self {
        match failure.kind {
            // The others are SQLite's own, as that a join has more tables than it takes.
            FailureKind::Timeout => Self::too_complex(failure.message),
            _ => Self::parse(failure.message),
        }
    }
}

impl Inapplicable {
    /// The message, with the query that it is about.
    pub fn sentence(&self) -> String {
        let side = match self.side {
            Some(Side::Left) => "left query: ",
            Some(Side::Right) => "right query: ",
            None => "",
        };
        format!("{side}{}", self.message)
    }
}

impl fmt::Display for Inapplicable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.sentence())
    }
}

/// Proof that two queries are not equivalent: a database that satisfies the schema, on which a fresh SQLite has
/// returned different results. Only a replay makes one.
#[derive(Debug, Clone, PartialEq)]
pub struct Refutation {
    database: Witness,
    left: ResultSet,
    right: ResultSet,
    difference: String,
    databases: usize,
    needs: Vec<Need>,
    depends_on_clock: bool,
    kind: DifferenceKind,
}

/// How what the right query permits on a counterexample stands to what the left one, the gold, permits there.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum DifferenceKind {
    /// It permits no result that the gold permits.
    #[default]
    PermitsNone,
    /// The gold permits one result alone, and the right query permits several: the one that differs, and this one.
    PermitsMore(Box<ResultSet>),
    /// The gold permits one result alone, and the right query returned another. Whether it permits the gold's too is not known.
    PermitsAnother,
}

impl DifferenceKind {
    /// Its name in records: `permits-none`, `permits-more`, `permits-another`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PermitsNone => "permits-none",
            Self::PermitsMore(_) => "permits-more",
            Self::PermitsAnother => "permits-another",
        }
    }
}

impl Refutation {
    /// Only for the replay.
    pub(super) fn new(
        database: Witness,
        results: (ResultSet, ResultSet),
        difference: String,
        needs: Vec<Need>,
        depends_on_clock: bool,
    ) -> Self {
        let (left, right) = results;
        let kind = DifferenceKind::default();
        Self { database, left, right, difference, databases: 1, needs, depends_on_clock, kind }
    }

    pub(super) fn of_kind(self, kind: DifferenceKind) -> Self {
        Self { kind, ..self }
    }

    /// How what the right query permits there stands to what the left one permits.
    pub fn kind(&self) -> &DifferenceKind {
        &self.kind
    }

    /// Whether no choice of SQLite's could have made the results equal.
    pub fn is_certain(&self) -> bool {
        matches!(self.kind, DifferenceKind::PermitsNone)
    }

    pub(super) fn after(mut self, databases: usize) -> Self {
        self.databases = databases;
        self
    }

    pub fn database(&self) -> &Witness {
        &self.database
    }

    /// What the left query returns on it.
    pub fn left(&self) -> &ResultSet {
        &self.left
    }

    /// What the right query returns on it.
    pub fn right(&self) -> &ResultSet {
        &self.right
    }

    pub fn difference(&self) -> &str {
        &self.difference
    }

    /// How many databases the search had tried when it found this one.
    pub fn databases(&self) -> usize {
        self.databases
    }

    /// What the database holds that a real one rarely does, because the search found none without; empty for a plain one.
    pub fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// Whether a query asks for the present time, so that the results may be others on another day.
    pub fn depends_on_clock(&self) -> bool {
        self.depends_on_clock
    }
}
