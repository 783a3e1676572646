//! What every engine says of its locks.

use sqlgauge_engine::{FailureKind, Outcome};

/// For whom a role is made.
#[derive(Debug, Clone)]
pub struct Setup {
    pub role: String,
    pub database: String,
    /// What the role may read besides what it reads anyway: on PostgreSQL schemas (`public` where none is named), on MySQL further
    /// databases.
    pub schemas: Vec<String>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { role: "sqlgauge".into(), database: "DATABASE".into(), schemas: Vec::new() }
    }
}

/// A text that must fail, in one of those ways, or return no row where none is named.
#[derive(Clone, Copy)]
pub(crate) struct Attempt {
    /// What the lock is for.
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    pub(crate) expected: &'static [FailureKind],
    /// Whether our own reading of texts is part of the lock.
    pub(crate) is_read: bool,
    /// Whether the server may not know its words: what fails in a different way shows nothing.
    pub(crate) is_foreign: bool,
}

impl Attempt {
    pub(crate) const fn new(name: &'static str, sql: &'static str, expected: &'static [FailureKind]) -> Self {
        Self { name, sql, expected, is_read: false, is_foreign: false }
    }

    /// A lock that is not the server's, or not its alone.
    pub(crate) const fn read(self) -> Self {
        Self { is_read: true, ..self }
    }

    /// The same in words that some servers do not know.
    pub(crate) const fn foreign(self) -> Self {
        Self { is_foreign: true, ..self }
    }

    /// Whether that outcome shows that the lock holds; `None` if it shows nothing.
    pub(crate) fn holds(&self, outcome: &Outcome) -> Option<bool> {
        match outcome {
            Outcome::Rows(rows) => Some(self.expected.is_empty() && rows.is_empty()),
            Outcome::Failed(failure) if failure.message == NO_ROWS && !self.is_read => Some(false),
            Outcome::Failed(failure) if self.expected.contains(&failure.kind) => Some(true),
            Outcome::Failed(_) => (!self.is_foreign).then_some(false),
        }
    }
}

/// What is said of a text that the server would run, and that returns no rows: it is not run.
pub(crate) const NO_ROWS: &str = "only queries are run, and this returns no rows";

/// What became of the attempt to break a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockResult {
    /// What was tried.
    pub name: &'static str,
    /// Whether the lock held; `None` where the server has no such lock.
    pub holds: Option<bool>,
    /// What the server said, or what its owner can do instead.
    pub message: String,
}

impl LockResult {
    /// What the server has no lock for.
    pub(crate) fn none(name: &'static str, message: &str) -> Self {
        Self { name, holds: None, message: message.to_owned() }
    }
}
