//! The places where SQLite is free to choose, as people are told of them.

use std::fmt;

use crate::verdict::Side;

sqlgauge_base::named! {
    /// What SQLite chooses.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Choice by name {
        /// Which of several rows with equal sort keys a LIMIT keeps.
        Limit = "ties under LIMIT",
        /// Which of its rows a subquery gives that stands for one value.
        FirstRow = "the row that a subquery gives",
        /// From which row of its group a column comes that is neither grouped nor aggregated.
        BareColumn = "bare column",
        /// In which order an aggregate joins its rows.
        RowOrder = "the order of joined rows",
        /// Which of tied rows a window function takes first.
        Window = "ties in a window",
        /// In which order numbers are added that are not exact.
        Sum = "the order of inexact additions",
        /// Which of several texts stands for all that a collation takes for equal.
        EqualTexts = "one of several texts that a collation takes for equal",
        /// By the affinity of which SELECT of a compound a column is compared.
        Affinity = "the affinity of a compound's column",
        /// What time it is.
        Clock = "the present time",
        /// Something that cannot be checked.
        Unchecked = "a choice that cannot be checked",
    }
}

/// A place of a query that leaves a choice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub(crate) choice: Choice,
    /// The part of the query, as SQL, where it has words for it.
    pub(crate) part: Option<String>,
}

impl Place {
    pub(crate) fn of(choice: Choice) -> Self {
        Self { choice, part: None }
    }
}

/// A place of one of the two queries that leaves a choice, found open on a database on which their results differed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenPlace {
    /// In which query.
    pub side: Side,
    /// What SQLite chooses there.
    pub choice: Choice,
    /// The part of the query, as SQL, where it has words for it.
    pub part: Option<String>,
}

impl fmt::Display for OpenPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.side.name(), self.choice.name())?;
        self.part.iter().try_for_each(|part| write!(f, ", {part}"))
    }
}
