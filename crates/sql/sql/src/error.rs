//! Errors: why a text does not resolve to a query.

use std::fmt;

use sqlgauge_base::budget::{self, TooComplex};

use crate::locate::{TextPosition, place_of};

/// What is wrong with the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text has no statement.
    #[error("the text has no statement")]
    Empty,
    /// The text has more than one statement.
    #[error("there is more than one statement")]
    MultipleStatements,
    /// The statement is no query; it names what it is.
    #[error("the statement is not a query: {0}")]
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
    /// A function that SQLite does not have.
    #[error("no such function: {0}")]
    UnknownFunction(String),
    /// A function with a number of arguments that it does not take.
    #[error("wrong number of arguments to function {0}()")]
    WrongArgumentCount(String),
    /// An aggregate where its groups are not known, or inside another one.
    #[error("misuse of aggregate: {0}()")]
    MisusedAggregate(String),
    /// A window function outside of the results and ORDER BY, or without OVER.
    #[error("misuse of window function {0}()")]
    MisusedWindow(String),
    /// FILTER or ORDER BY (first) with a function that is no aggregate (second).
    #[error("{0} may not be used with non-aggregate {1}()")]
    NoAggregate(&'static str, String),
    /// DISTINCT inside an aggregate with none or several arguments.
    #[error("DISTINCT aggregates must have exactly one argument")]
    DistinctArguments,
    /// What a window cannot say.
    #[error("{0}")]
    Window(String),
    /// HAVING without GROUP BY and aggregates.
    #[error("HAVING clause on a non-aggregate query")]
    HavingWithoutGroups,
    /// A subquery with another number of columns than is asked for.
    #[error("sub-select returns {columns} columns - expected {expected}")]
    SubqueryWidth {
        /// How many it has.
        columns: usize,
        /// How many are asked for.
        expected: usize,
    },
    /// Several values where one is asked for, or compared with another number of them.
    #[error("row value misused")]
    RowValue,
    /// Operands of a set operation (its operator) with different numbers of columns.
    #[error("SELECTs to the left and right of {0} do not have the same number of result columns")]
    OperandWidths(&'static str),
    /// An ordinal in ORDER BY or GROUP BY that no result column has.
    #[error("{clause} term {term} out of range: should be between 1 and {width}")]
    OrdinalOutOfRange {
        /// ORDER BY or GROUP BY.
        clause: &'static str,
        /// Which term, from 1.
        term: usize,
        /// The number of result columns.
        width: usize,
    },
    /// A term of a compound's ORDER BY (which, from 1) that is no result column.
    #[error("ORDER BY term {0} does not match any column in the result set")]
    UnmatchedOrderTerm(usize),
    /// A collation that SQLite does not have.
    #[error("no such collation sequence: {0}")]
    UnknownCollation(String),
    /// A common table expression that reads itself where it may not.
    #[error("{0}")]
    Recursion(String),
    /// Another rule of SQLite is broken.
    #[error("{0}")]
    Invalid(String),
    /// Its analysis takes more than its budget ([`sqlgauge_base::budget`]). Whoever asks has no answer, and not a wrong one.
    #[error("{0}")]
    TooComplex(TooComplex),
    /// SQLite may run it, but the resolved query cannot express it; it names the construct.
    #[error("unsupported construct: {0}")]
    Unsupported(String),
}

impl ErrorKind {
    /// The word of the text that shows the error, if there is one.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::UnknownTable(name)
            | Self::UnknownColumn(name)
            | Self::AmbiguousColumn(name)
            | Self::UnknownFunction(name)
            | Self::WrongArgumentCount(name)
            | Self::MisusedAggregate(name)
            | Self::MisusedWindow(name)
            | Self::NoAggregate(_, name)
            | Self::UnknownCollation(name) => Some(name),
            Self::HavingWithoutGroups => Some("HAVING"),
            Self::DistinctArguments => Some("DISTINCT"),
            Self::Window(_) => Some("OVER"),
            Self::OperandWidths(operator) => operator.split(' ').next(),
            Self::OrdinalOutOfRange { clause, .. } => clause.split(' ').next(),
            Self::UnmatchedOrderTerm(_) => Some("ORDER"),
            Self::Recursion(_) => Some("WITH"),
            _ => None,
        }
    }

    /// Whether a name is at fault, whose place is found by the name.
    fn is_naming(&self) -> bool {
        matches!(self, Self::UnknownTable(_) | Self::UnknownColumn(_) | Self::AmbiguousColumn(_))
    }
}

/// Why a text could not be resolved, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveError {
    kind: ErrorKind,
    position: Option<TextPosition>,
    /// How often its place was looked for.
    sought: u8,
}

/// How many parts of a text around an error are looked for in it, innermost first.
const MOST_SOUGHT: u8 = 3;

impl ResolveError {
    /// An error without a place.
    pub(crate) fn new(kind: ErrorKind) -> Self {
        Self { kind, position: None, sought: 0 }
    }

    /// The same error at that place, unless it has one.
    pub(crate) fn at(mut self, position: Option<TextPosition>) -> Self {
        self.position = self.position.or(position);
        self
    }

    /// The same error at the place of that part of the text, unless it has a place or is about a name.
    pub(crate) fn within(mut self, text: &str, part: impl FnOnce() -> String) -> Self {
        let is_general = self.kind.is_naming() || matches!(self.kind, ErrorKind::Unsupported(_));
        if self.position.is_some() || is_general || text.is_empty() || self.sought == MOST_SOUGHT {
            return self;
        }
        self.sought += 1;
        budget::spend(text.len());
        let position = place_of(text, &part());
        self.at(position)
    }

    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Where: the first place in the text that shows it, if it can be named.
    pub fn position(&self) -> Option<TextPosition> {
        self.position
    }
}

impl From<ErrorKind> for ResolveError {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "{} ({position})", self.kind),
            None => write!(f, "{}", self.kind),
        }
    }
}

impl std::error::Error for ResolveError {}
