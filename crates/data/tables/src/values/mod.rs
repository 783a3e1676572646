//! Texts to typed values: what a column is follows from all of its values.
//!
//! # Contract
//! - An empty text is NULL. So are the spellings of [`MARKS`] in a column whose other values are numbers, dates or times. In a
//!   column of texts, only those are that no text means; `NA` is NULL there too, unless the others are codes of two capital
//!   letters, of which it is one (Namibia).
//! - INTEGER: digits with or without `-`, at most 18, no zero before others (those are codes, and texts). Whole numbers that are all
//!   written with `.0`, as tools do where values are missing, are integers.
//! - REAL: at most 17 digits, a point or an exponent; integers among them are reals.
//! - Numbers as people write them (`$1,234.50`, `3,5`) are numbers where all values of the column have one reading: see
//!   [`numbers`].
//! - BOOLEAN: words for yes and no as 1 and 0, where [`crate::TablesOptions::booleans`] asks for it: see [`flags`].
//! - DATE, DATETIME, TIME: see [`date`]; stored as ISO 8601.
//! - Everything else is TEXT, as it is written but for blanks around it. [`Doubt`] says why a column of numbers, dates or
//!   yes and no is one.

mod amount;
mod class;
mod column;
mod date;
mod flags;
mod moments;
mod number;
mod numbers;

pub use amount::DecimalMark;
pub(crate) use column::{Column, Typing};
pub use moments::DateOrder;

use amount::Amount;
use class::Class;

sqlgauge_base::named! {
    /// What a column holds.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum ColumnType by name {
        /// 64-bit integers.
        Integer = "INTEGER",
        /// Double-precision numbers.
        Real = "REAL",
        /// Texts.
        Text = "TEXT",
        /// `2013-01-31`.
        Date = "DATE",
        /// `2013-01-31 10:00:00`.
        Datetime = "DATETIME",
        /// `10:00:00`.
        Time = "TIME",
        /// 1 for yes and 0 for no.
        Boolean = "BOOLEAN",
    }
}

/// Why a column stays as it is written, although its values look like something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// No value tells whether the day or the month comes first.
    DateOrderUnknown,
    /// Some values have the day first and some the month.
    DateOrderMixed,
    /// Some are dates and some are dates with times, or some have a time zone.
    DatePrecisionMixed,
    /// No value tells whether `,` and `.` stand before a fraction or group digits.
    DecimalMarkUnknown,
    /// Some values have a decimal point and some a decimal comma.
    DecimalMarkMixed,
    /// Values have different currencies, or some have one and some have none.
    UnitMixed,
    /// Numbers in brackets may be negative.
    Brackets,
    /// The values are words for yes and no.
    YesNo,
    /// At least three of four values are numbers, the others are not.
    NearlyNumbers,
    /// At least three of four values are dates or times, the others are not.
    NearlyDates,
}

/// A doubt with values that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason {
    pub(crate) doubt: Doubt,
    pub(crate) examples: Vec<String>,
}

impl Reason {
    fn new<'a>(doubt: Doubt, classes: impl IntoIterator<Item = &'a Class>) -> Self {
        Self { doubt, examples: classes.into_iter().filter_map(Class::example).collect() }
    }
}

/// Spellings of a missing value, in lower case.
const MARKS: [&str; 14] =
    ["na", "n/a", "null", "nan", "none", "nil", "\\n", "#n/a", "<na>", "missing", "-", "--", ".", "?"];

/// Those that are no text that somebody means.
const MARKS_OF_TEXTS: [&str; 7] = ["n/a", "null", "nan", "\\n", "#n/a", "<na>", "na"];

/// Whether a text is a number, a date or a time: not what a column is called.
pub(crate) fn is_plain_value(text: &str) -> bool {
    let is_amount = || Amount::read(text).is_some();
    number::is_integer(text) || number::is_real(text) || date::read(text).is_some() || is_amount()
}
