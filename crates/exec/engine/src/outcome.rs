//! The outcome of a query.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::value::ResultSet;

/// One execution of one SQL text on one database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// Rows, or why there are none.
    pub outcome: Outcome,
    /// Virtual-machine steps that the engine took; the machine-independent cost. 0 for a text that was never
    /// started.
    pub vm_steps: u64,
    /// Wall-clock time of preparation and all rows. A query that had to be run twice (see
    /// [`SqliteEngine`](crate::SqliteEngine)) counts its last run.
    pub elapsed: Duration,
    /// What the outcome depends on besides text and database.
    pub depends_on: Dependence,
}

/// What the outcome of a query depends on besides its text and its database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dependence {
    /// It asked what time it is, or for the local time zone: the engine's [`Moment`](crate::Moment), and UTC.
    pub time: bool,
    /// It drew random numbers, which begin anew with every query.
    pub chance: bool,
}

impl Dependence {
    /// That of two queries.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { time: self.time || other.time, chance: self.chance || other.chance }
    }
}

impl Execution {
    /// The rows, `None` when the query failed.
    pub fn rows(&self) -> Option<&Arc<ResultSet>> {
        self.outcome.rows()
    }

    /// A query that failed before it took a step.
    pub fn failed(failure: Failure) -> Self {
        Self {
            outcome: Outcome::Failed(failure),
            vm_steps: 0,
            elapsed: Duration::ZERO,
            depends_on: Dependence::default(),
        }
    }
}

/// Rows, or a typed failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The complete result.
    Rows(Arc<ResultSet>),
    /// No result, and why.
    Failed(Failure),
}

impl Outcome {
    /// `"ok"`, or the failure's [`FailureKind::as_str`]: the `status` of an item record.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Rows(_) => "ok",
            Self::Failed(failure) => failure.kind.as_str(),
        }
    }

    /// The rows, `None` when the query failed.
    pub fn rows(&self) -> Option<&Arc<ResultSet>> {
        match self {
            Self::Rows(rows) => Some(rows),
            Self::Failed(_) => None,
        }
    }

    /// The failure, `None` when there are rows.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Rows(_) => None,
            Self::Failed(failure) => Some(failure),
        }
    }
}

/// Why a query has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The class of the failure.
    pub kind: FailureKind,
    /// One sentence for people; the engine's own message where it has one.
    pub message: String,
}

impl Failure {
    /// A failure of that class.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.message)
    }
}

sqlgauge_base::named! {
    /// The classes of failure.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FailureKind by as_str {
        /// The text holds no statement: nothing, or only space, comments and semicolons.
        Empty = "empty",
        /// The text holds more than one statement.
        MultipleStatements = "multiple_statements",
        /// The text holds a NUL byte, which no SQL text may.
        NulByte = "nul_byte",
        /// Not SQL.
        SyntaxError = "syntax_error",
        /// Names a table or view that the database lacks.
        NoSuchTable = "no_such_table",
        /// Names a column that no relation in scope has.
        NoSuchColumn = "no_such_column",
        /// Names a column that several relations in scope have.
        AmbiguousColumn = "ambiguous_column",
        /// Names a function that the engine lacks.
        NoSuchFunction = "no_such_function",
        /// Well-formed text that the engine refuses for its meaning: misuse of an aggregate, wrong number of
        /// arguments, sides of UNION with different widths, …
        InvalidQuery = "invalid_query",
        /// Holds parameters (`?`, `:name`), for which a benchmark has no values.
        Parameters = "parameters",
        /// Not a query, or asks for something that untrusted SQL may not do.
        Denied = "denied",
        /// Ran longer than [`Limits::timeout`](crate::Limits::timeout).
        Timeout = "timeout",
        /// Text, result, a value, working memory or the number of steps passed a limit.
        TooLarge = "too_large",
        /// Failed while it ran (integer overflow, malformed JSON, …).
        RuntimeError = "runtime_error",
        /// The database file is damaged or cannot be read any more.
        DatabaseError = "database_error",
        /// The machine failed: too many open files, a disk that cannot be read. It says nothing of the query, so no record has
        /// it: [`Engine::check`](crate::Engine::check) returns the error.
        Machine = "machine_error",
    }
}
