//! Finds columns that can be split or merged, and takes their values apart and together.
//!
//! # Contract
//! [`split`] recognises what the values of a column are made of (a person's full name, a date, an address, a telephone
//! number, a code of a prefix and a number) and [`merge_candidates`] which columns of a table make a whole that people
//! store as one. Both give SQL for either direction, and only after **every** value that they are shown has been taken apart
//! and composed, byte for byte and type for type; else they say why not ([`ValuesRefusal`], a closed list). NULL stays NULL. What
//! they are shown may be the distinct values. Nothing here reads a database.
//!
//! New names are written as those that they replace, and are free in their table.

mod composition;
mod date;
mod merge;
mod split;

use sqlgauge_engine::Value;

use crate::change::SplitPart;
use sqlgauge_names::{Convention, NamesInUse};

pub use self::merge::MergeCandidate;
pub(crate) use self::merge::merge_candidates;
pub use self::split::split;

/// What a value is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompositeKind {
    /// First and last name of a person.
    FullName,
    /// Year, month, day, and perhaps a time of day.
    Date,
    /// Street, city and what follows them.
    Address,
    /// Area code and number.
    Telephone,
    /// Letters and a number.
    Code,
}

/// Why a column is not split, or columns are not merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValuesRefusal {
    /// There is no value to learn from.
    #[error("every value is NULL")]
    NoValues,
    /// A value is not of the storage class that is needed.
    #[error("a value is not text, or is not valid text")]
    NotText,
    /// Name and values do not tell of anything that has parts.
    #[error("the values are not names of people, dates, addresses, telephone numbers or codes")]
    Unrecognised,
    /// The parts of some value do not give it back.
    #[error("the parts of the value {0:?} do not give it back")]
    NoRoundTrip(String),
    /// The names of the new columns are taken.
    #[error("the name {0:?} of a new column is taken")]
    NameTaken(String),
}

/// A column and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub table: &'a str,
    pub column: &'a str,
    /// All columns of the table.
    pub columns: &'a [&'a str],
    /// How names of the schema are written.
    pub convention: Convention,
    /// The names that new columns cannot have.
    pub in_use: &'a NamesInUse,
}

/// A column that is split: what [`Change::SplitColumn`](crate::Change) holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnSplit {
    /// What its values are made of.
    pub kind: CompositeKind,
    /// The new columns, each with its value over the old one.
    pub parts: Vec<SplitPart>,
    /// The old value over the new columns.
    pub whole: String,
}

/// Columns that are merged: what [`Change::MergeColumns`](crate::Change) holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMerge {
    /// What the new values are made of.
    pub kind: CompositeKind,
    /// The new column with its value over the old ones.
    pub whole: SplitPart,
    /// The old columns, each with its value over the new one.
    pub columns: Vec<(String, String)>,
}

/// A value as a message shows it.
fn in_message(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => real.to_string(),
        Value::Text(_) => value.as_str().map_or_else(|| "text that is not UTF-8".to_owned(), str::to_owned),
        Value::Decimal(decimal) => decimal.to_string(),
        Value::Blob(_) => "a blob".to_owned(),
    }
}

#[cfg(test)]
mod tests;
