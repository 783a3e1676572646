//! A table as `pandas.read_csv` makes a data frame of it: one type per column, guessed from all its texts.
//!
//! # Contract
//! As pandas 3 does by default, tried against it on random files:
//! - 19 texts are missing values (`""`, `NULL`, `NA`, `nan`, …), quoted or not.
//! - A column is the first of these that all its other texts are: integers of 64 bits, with or without sign (reals, where a value
//!   is missing); integers of any size; reals; truth values; texts.
//! - Integers from 2^63 on beside negative ones, or beside missing values, leave the column as its texts, and what is missing in it too.
//! - A file of many rows is guessed in pieces of 2^k rows, and the pieces are put together: different numbers become reals, other
//!   mixtures keep each piece's values.
//! - A first row that is longer than the header begins with index columns, which are no values.

use std::borrow::Cow;

use crate::number::{Integer, canonical_digits, integer, real};
use crate::table::{Cells, ResultFile, TextColumn, Value};

/// The type of a column of a data frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Signed,
    Unsigned,
    Float,
    Bool,
    Object,
}

/// A column of a data frame. A missing value is [`Value::Null`].
#[derive(Debug, Clone)]
pub(crate) struct FrameColumn<'a> {
    pub(crate) kind: Kind,
    pub(crate) values: Vec<Value<'a>>,
}

pub(crate) fn frame(table: &ResultFile) -> Vec<FrameColumn<'_>> {
    match &table.cells {
        Cells::Written(columns) => {
            let index = columns.len() - table.names.len().min(columns.len());
            let piece = rows_of_piece(columns.len());
            columns[index..].iter().map(|column| guess_column(column, piece)).collect()
        }
        Cells::Typed(columns) => columns.iter().map(|column| typed_column(column)).collect(),
    }
}

/// Rows that pandas guesses together: the largest power of two below 2^20 / 2 fields of the table.
fn rows_of_piece(width: usize) -> usize {
    let fields = (1 << 20) / width.max(1);
    let mut rows = 1;
    while rows * 2 < fields {
        rows *= 2;
    }
    rows
}

fn guess_column(column: &TextColumn, piece: usize) -> FrameColumn<'_> {
    let mut whole = FrameColumn { kind: Kind::Object, values: Vec::with_capacity(column.len()) };
    for start in (0..column.len()).step_by(piece) {
        let cells = column.cells(start, column.len().min(start + piece));
        let part = guess(cells);
        whole.kind = if start == 0 { part.kind } else { together(whole.kind, part.kind) };
        whole.values.extend(part.values);
    }
    if whole.kind == Kind::Float {
        whole.values.iter_mut().for_each(make_real);
    }
    whole
}

/// The kind of two pieces of a column.
fn together(first: Kind, second: Kind) -> Kind {
    match (first, second) {
        _ if first == second => first,
        (Kind::Bool | Kind::Object, _) | (_, Kind::Bool | Kind::Object) => Kind::Object,
        _ => Kind::Float,
    }
}

pub(crate) fn make_real(value: &mut Value<'_>) {
    if let Some(number) = value.number() {
        *value = Value::Float(number);
    }
}

/// The texts that pandas takes for missing values.
const MISSING: [&str; 19] = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
];

/// Whether a text is a missing value.
pub(crate) fn is_missing(text: &str) -> bool {
    text.len() <= 8 && MISSING.contains(&text)
}

/// What the texts of a column are as integers.
enum Integers {
    Signed,
    Unsigned,
    /// Of any size.
    Large,
    /// They cannot be told apart from texts.
    Conflict,
    No,
}

fn guess<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> FrameColumn<'a> {
    let present = || cells.clone().filter(|cell| !is_missing(cell));
    let has_missing = cells.clone().any(is_missing);
    let column = |kind, value: &dyn Fn(&'a str) -> Value<'a>| {
        let of_cell = |cell| if is_missing(cell) { Value::Null } else { value(cell) };
        FrameColumn { kind, values: cells.clone().map(of_cell).collect() }
    };
    if present().next().is_none() {
        return column(Kind::Float, &|_| Value::Null);
    }
    match integers(cells.clone()) {
        Integers::Signed if has_missing => {
            return column(Kind::Float, &|cell| Value::Float(whole(cell).number().unwrap_or(f64::NAN)));
        }
        Integers::Signed => return column(Kind::Signed, &whole),
        Integers::Unsigned => return column(Kind::Unsigned, &whole),
        Integers::Large => return column(Kind::Object, &whole),
        Integers::Conflict => {
            let values = cells.map(|cell| Value::Text(Cow::Borrowed(cell))).collect();
            return FrameColumn { kind: Kind::Object, values };
        }
        Integers::No => {}
    }
    if present().all(|cell| real(cell).is_some()) {
        return column(Kind::Float, &|cell| real(cell).map_or(Value::Null, Value::Float));
    }
    if present().all(|cell| truth(cell).is_some()) {
        let kind = if has_missing { Kind::Object } else { Kind::Bool };
        return column(kind, &|cell| truth(cell).map_or(Value::Null, Value::Bool));
    }
    column(Kind::Object, &|cell| Value::Text(Cow::Borrowed(cell)))
}

fn whole(cell: &str) -> Value<'_> {
    match integer(cell) {
        Integer::Fits(value) => Value::Int(value),
        Integer::Huge => Value::Huge(Cow::Owned(canonical_digits(cell))),
        Integer::No => Value::Text(Cow::Borrowed(cell)),
    }
}

/// Tries the sizes of integers in pandas' order. A text that is no integer counts only up to the first that is too large.
fn integers<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Integers {
    let present = || cells.clone().filter(|cell| !is_missing(cell));
    let mut first_odd = present().map(integer).filter(|value| !value.is_signed_64());
    match first_odd.next() {
        None => return Integers::Signed,
        Some(Integer::No) => return Integers::No,
        Some(_) => {}
    }
    let is_negative = |cell: &str| cell.trim_start().starts_with('-');
    for cell in present().filter(|cell| !is_negative(cell)) {
        match integer(cell) {
            Integer::No => return Integers::No,
            value if !value.is_unsigned_64() => return large(cells),
            _ => {}
        }
    }
    let is_beyond =
        |cell: &str| matches!(integer(cell), Integer::Fits(value) if value > i128::from(i64::MAX));
    let has_unsigned = present().any(is_beyond);
    if !has_unsigned {
        return large(cells);
    }
    if present().any(is_negative) || cells.clone().any(is_missing) {
        Integers::Conflict
    } else {
        Integers::Unsigned
    }
}

fn large<'a>(mut cells: impl Iterator<Item = &'a str>) -> Integers {
    let is_whole = |cell: &str| is_missing(cell) || integer(cell) != Integer::No;
    if cells.all(is_whole) { Integers::Large } else { Integers::Conflict }
}

fn truth(cell: &str) -> Option<bool> {
    if cell.eq_ignore_ascii_case("true") {
        return Some(true);
    }
    cell.eq_ignore_ascii_case("false").then_some(false)
}

/// A column of stated types, as a data frame of the same values has it.
fn typed_column<'a>(column: &'a [Value<'static>]) -> FrameColumn<'a> {
    let kind_of = |value: &Value<'_>| match value {
        Value::Int(value) if i64::try_from(*value).is_ok() => Kind::Signed,
        Value::Int(value) if u64::try_from(*value).is_ok() => Kind::Unsigned,
        Value::Float(_) | Value::Null => Kind::Float,
        Value::Bool(_) => Kind::Bool,
        Value::Int(_) | Value::Huge(_) | Value::Text(_) => Kind::Object,
    };
    let kind = column.iter().map(kind_of).reduce(together).unwrap_or(Kind::Object);
    let mut values: Vec<Value<'a>> = column.iter().map(Value::as_borrowed).collect();
    if kind == Kind::Float {
        values.iter_mut().for_each(make_real);
    }
    FrameColumn { kind, values }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv;

    /// The column's kind, and its values as Python writes them, of a file with one column of those cells.
    fn column(cells: &[&str]) -> (Kind, String) {
        let text = cells.iter().fold("a,b\n".to_owned(), |text, cell| text + cell + ",1\n");
        let table = csv::read(text.as_bytes(), usize::MAX, crate::table::MAX_COST).expect("a table");
        let column = frame(&table).swap_remove(0);
        let value = |value: &Value<'_>| match value {
            Value::Null => "nan".to_owned(),
            Value::Bool(truth) => truth.to_string(),
            Value::Int(integer) => integer.to_string(),
            Value::Float(real) => format!("{real:?}"),
            Value::Huge(text) | Value::Text(text) => format!("'{text}'"),
        };
        (column.kind, column.values.iter().map(value).collect::<Vec<_>>().join(" "))
    }

    /// Reference: `pandas.read_csv` 3.1.
    #[test]
    fn columns_have_the_types_that_pandas_guesses() {
        use Kind::{Bool, Float, Object, Signed, Unsigned};
        for (cells, kind, values) in [
            (&["007", " 1 ", "+2"][..], Signed, "7 1 2"),
            (&["1", ""], Float, "1.0 nan"),
            (&["1", "2.50"], Float, "1.0 2.5"),
            (&["", "NULL"], Float, "nan nan"),
            (&["\"NA\"", "x"], Object, "nan 'x'"),
            (&["1", "9223372036854775808"], Unsigned, "1 9223372036854775808"),
            (&["-1", "9223372036854775808"], Object, "'-1' '9223372036854775808'"),
            (&["", "9223372036854775808"], Object, "'' '9223372036854775808'"),
            (&["", "18446744073709551616"], Object, "nan 18446744073709551616"),
            (&["1.5", "18446744073709551616"], Float, "1.5 1.8446744073709552e19"),
            (&["18446744073709551616", "1.5"], Object, "'18446744073709551616' '1.5'"),
            (&["TRUE", "false", "tRue"], Bool, "true false true"),
            (&["True", "\"\""], Object, "true nan"),
            (&["True", "1"], Object, "'True' '1'"),
            (&["1", "x"], Object, "'1' 'x'"),
            (&[" NA", "x"], Object, "' NA' 'x'"),
            (&["inf", "-Infinity"], Float, "inf -inf"),
        ] {
            assert_eq!(column(cells), (kind, values.to_owned()), "{cells:?}");
        }
    }

    #[test]
    fn a_long_file_is_guessed_in_pieces() {
        // Two columns: pieces of 2^18 rows. The second piece has a text, the first keeps its integers.
        let rows = rows_of_piece(2);
        let cells: Vec<&str> = std::iter::repeat_n("1", rows).chain(["x"]).collect();
        let (kind, values) = column(&cells);
        assert_eq!((rows, kind), (1 << 18, Kind::Object));
        assert!(values.starts_with("1 1") && values.ends_with("1 'x'"));
    }
}
