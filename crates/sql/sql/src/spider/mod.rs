//! The SQL of the Spider benchmark as its official scripts read it.
//!
//! The exact-set-match metric and the hardness levels of Spider are defined by a small hand-written parser
//! (`process_sql.py` of the Spider and test-suite repositories). It reads a narrow subset of SQL, and its
//! limits are part of the metric: a query that it cannot read scores as the empty query. This module
//! accepts and refuses the same texts and yields the same structure. For anything but compatibility use
//! the resolved query of this crate.
//!
//! The pipeline is [`tokenize`](mod@tokenize) (quoted values masked, words split as NLTK's `word_tokenize`
//! splits them), then [`parse`] against a [`Catalog`], then [`hardness`].
//!
//! ```
//! use sqlgauge_sql::spider::{Catalog, Hardness, hardness, parse};
//! let catalog = Catalog::new([("singer", ["name", "age"])]);
//! let query = parse(&catalog, "SELECT name FROM singer WHERE age > 20")?;
//! assert_eq!(hardness(&query)?, Hardness::Easy);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod catalog;
mod grammar;
mod hardness;
mod number;
mod query;
pub mod tokenize;
mod words;

use std::borrow::Cow;

pub use catalog::{Catalog, ColumnId};
pub use grammar::parse;
pub use hardness::{Hardness, hardness};
pub use query::{
    ColumnUnit, Condition, ConditionItem, ConditionOp, ConditionUnit, OrderBy, SelectItem, SpiderAggregate,
    SpiderDirection, SpiderFrom, SpiderQuery, SpiderSelect, SpiderValue, TableUnit, UnitOp, ValueUnit,
};

/// Why the official parser cannot read a text. Every one of them was an uncaught assertion or look-up error
/// there, and makes a prediction count as the empty query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseFailure {
    /// An odd number of quote characters, of both kinds together.
    #[error("the quotes do not pair up: there is an odd number of ' and \" together")]
    UnbalancedQuotes,
    /// The text is longer than positions can count (4 GiB).
    #[error("the text is longer than 4 GiB; shorten it")]
    TooLong,
    /// The text ends, or the part given to a value ends, where a word is needed.
    #[error("the query ends where another word is needed")]
    UnexpectedEnd,
    /// An alias is also the name of a table of the database.
    #[error("the alias {0:?} is also a table of the database; the official parser refuses that")]
    AliasIsTable(String),
    /// Neither a table nor an alias.
    #[error("{0:?} is neither a table of the database nor an alias")]
    UnknownTable(String),
    /// No such column in the tables of the FROM clause, or in the table that qualifies it.
    #[error("the column {0:?} is not found in the tables of its query")]
    UnknownColumn(String),
    /// A dotted name that does not have exactly two parts.
    #[error("the name {0:?} does not have the form table.column")]
    MalformedName(String),
    /// No FROM follows.
    #[error("no FROM clause follows; the official parser needs one for every SELECT")]
    NoFrom,
    /// Another word stands where a certain one is needed.
    #[error("expected {expected}, found {word:?}")]
    Unexpected {
        /// What is needed there.
        expected: &'static str,
        /// What stands there.
        word: String,
    },
    /// Nested deeper than Python's recursion limit lets the official parser go.
    #[error("the query is nested too deeply for the official parser (Python's limit of 1000 calls)")]
    TooDeep,
}

/// A condition list that the official parser built but that its evaluator cannot take apart.
///
/// Two conditions without AND or OR between them (`a = 1 b = 2 AND c = 3`) shift the alternation of conditions
/// and operators, so that an operator stands where a condition is expected. The official evaluator stops
/// with an error there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("two conditions stand side by side without AND or OR, so the conditions cannot be told apart")]
pub struct MisplacedOperator;

/// The prediction text as the official evaluator changes it before anything else: the text `value`, a
/// placeholder of models that predict no values, becomes `1` wherever it stands.
pub fn fill_placeholders(prediction: &str) -> Cow<'_, str> {
    if prediction.contains("value") {
        Cow::Owned(prediction.replace("value", "1"))
    } else {
        Cow::Borrowed(prediction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_wherever_they_stand() {
        for (text, filled) in [
            ("a = value and b = 2", "a = 1 and b = 2"),
            ("a = 'value'", "a = '1'"),
            ("a = VALUE", "a = VALUE"),
            ("T1.value_points", "T1.1_points"),
        ] {
            assert_eq!(fill_placeholders(text), filled);
        }
    }
}
