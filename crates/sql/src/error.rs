//! Why a text is not a resolved query.

use std::fmt;

/// A place in the text: line and column from 1, columns counted in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// What is wrong with the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text has no statement.
    #[error("there is no statement")]
    Empty,
    /// The text has more than one statement.
    #[error("there is more than one statement")]
    MultipleStatements,
    /// The statement is no query; it names what it is.
    #[error("the statement is no query: {0}")]
    NotAQuery(&'static str),
    /// The text is not SQL.
    #[error("{0}")]
    Syntax(String),
    /// A table that the schema does not have.
    #[error("no such table: {0}")]
    UnknownTable(String),
    /// A column that no relation in scope has.
    #[error("no such column: {0}")]
    UnknownColumn(String),
    /// A column that two relations in scope have.
    #[error("ambiguous column name: {0}")]
    AmbiguousColumn(String),
    /// A rule of SQLite other than naming is broken: wrong number of columns, ORDER BY term out of range, …
    #[error("{0}")]
    Invalid(String),
    /// SQLite may run it, but the resolved query cannot express it; it names the construct.
    #[error("unsupported construct: {0}")]
    Unsupported(String),
}

/// Why a text could not be resolved, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    position: Option<Position>,
}

impl Error {
    /// An error without a place.
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self { kind, position: None }
    }

    /// The same error at that place, unless it has one.
    pub(crate) fn at(mut self, position: Option<Position>) -> Self {
        self.position = self.position.or(position);
        self
    }

    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Where: the first place in the text that shows it, if it can be named.
    pub fn position(&self) -> Option<Position> {
        self.position
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "{} ({position})", self.kind),
            None => write!(f, "{}", self.kind),
        }
    }
}

impl std::error::Error for Error {}
