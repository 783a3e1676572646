//! Values and result sets as SQLite returns them.

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

use crate::decimal::Decimal;

/// One value of a result: SQLite's five storage classes, and the exact decimals of servers.
///
/// Equality and hashing are of the representation: `Integer(1)` and `Real(1.0)` differ, text is compared by
/// its bytes. Metrics define their own notion of equality on top.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub enum Value {
    /// NULL.
    #[default]
    Null,
    /// A 64-bit signed integer.
    Integer(i64),
    /// A floating point number, never NaN (SQLite turns NaN into NULL).
    Real(f64),
    /// Text as SQLite holds it. The bytes are UTF-8 only if the database kept that promise.
    Text(#[serde(with = "serde_bytes")] Box<[u8]>),
    /// Bytes.
    Blob(#[serde(with = "serde_bytes")] Box<[u8]>),
    /// An exact number that is no 64-bit integer, of a server; SQLite has none.
    Decimal(Decimal),
}

impl Value {
    /// The text, `None` for another class or for bytes that are not UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// Text from a string.
    pub fn text(text: &str) -> Self {
        Self::Text(text.as_bytes().into())
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Real(a), Self::Real(b)) => a.to_bits() == b.to_bits(),
            (Self::Text(a), Self::Text(b)) | (Self::Blob(a), Self::Blob(b)) => a == b,
            (Self::Decimal(a), Self::Decimal(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl std::hash::Hash for Value {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Null => {}
            Self::Integer(i) => i.hash(state),
            Self::Real(r) => r.to_bits().hash(state),
            Self::Text(bytes) | Self::Blob(bytes) => bytes.hash(state),
            Self::Decimal(decimal) => decimal.hash(state),
        }
    }
}

/// What [`ResultSet::fingerprint`] keeps of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Number of rows.
    pub rows: usize,
    /// Digest of the set of rows: what `ex-bird@1` compares.
    pub set: u64,
}

/// One round of splitmix64.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(crate) fn row_digest(row: &[Value]) -> u64 {
    row.iter().fold(0, |digest, value| mix(digest ^ value_digest(value)))
}

fn value_digest(value: &Value) -> u64 {
    let of_bytes =
        |kind: u64, bytes: &[u8]| bytes.iter().fold(mix(kind), |d, &byte| mix(d ^ u64::from(byte)));
    let of_real = |real: f64| mix(1 ^ mix(nine_digits(real).to_bits()));
    match value {
        Value::Null => mix(0),
        Value::Integer(integer) => of_real(*integer as f64),
        Value::Real(real) => of_real(*real),
        Value::Decimal(decimal) => of_real(decimal.to_float()),
        Value::Text(text) => of_bytes(2, text),
        Value::Blob(blob) => of_bytes(3, blob),
    }
}

/// The number rounded to nine digits, with one zero.
fn nine_digits(real: f64) -> f64 {
    if real == 0.0 || !real.is_finite() {
        return if real == 0.0 { 0.0 } else { real };
    }
    let scale = 10_f64.powf(9.0 - real.abs().log10().ceil());
    let rounded = (real * scale).round() / scale;
    if rounded.is_finite() { rounded } else { real }
}

/// The rows that a query returned, in the order in which SQLite returned them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultSet {
    /// Column names as SQLite reports them.
    pub columns: Vec<String>,
    /// All values, row after row: `rows × columns.len()` of them.
    values: Vec<Value>,
    #[serde(default)]
    is_beginning: bool,
}

impl ResultSet {
    /// A result set of those columns and row-major values.
    ///
    /// # Panics
    /// If the number of values is no multiple of the number of columns.
    pub fn new(columns: Vec<String>, values: Vec<Value>) -> Self {
        assert!(values.is_empty() || values.len().is_multiple_of(columns.len().max(1)));
        Self { columns, values, is_beginning: false }
    }

    /// The first rows of a result of unknown length.
    #[must_use]
    pub fn beginning(self) -> Self {
        Self { is_beginning: true, ..self }
    }

    /// Whether these are the first rows of a result only.
    pub fn is_beginning(&self) -> bool {
        self.is_beginning
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.columns.len()).unwrap_or(0)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The rows in order.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, Value> {
        self.values.chunks_exact(self.columns.len().max(1))
    }

    /// The row at that position.
    pub fn row(&self, index: usize) -> Option<&[Value]> {
        let width = self.columns.len();
        self.values.get(index * width..(index + 1) * width)
    }

    /// The result as a set of rows, for telling many results apart. Numbers that agree to nine digits are the same.
    /// The value depends on the result alone: not on the machine, nor on the version of the compiler.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut rows: Vec<u64> = self.rows().map(row_digest).collect();
        let count = rows.len();
        rows.sort_unstable();
        rows.dedup();
        let width = self.width() as u64;
        let set = rows.into_iter().fold(mix(width), |digest, row| mix(digest ^ row));
        Fingerprint { rows: count, set }
    }

    /// As [`ResultSet::fingerprint`], of the rows in their order.
    pub fn ordered_fingerprint(&self) -> Fingerprint {
        let set = self.rows().map(row_digest).fold(mix(self.width() as u64), |digest, row| mix(digest ^ row));
        Fingerprint { rows: self.len(), set }
    }

    /// All values, row after row.
    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(integer) => Self::Integer(integer),
            ValueRef::Real(real) => Self::Real(real),
            ValueRef::Text(bytes) => Self::Text(bytes.into()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.into()),
        }
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(integer) => ValueRef::Integer(*integer),
            Self::Real(real) => ValueRef::Real(*real),
            Self::Text(bytes) => ValueRef::Text(bytes),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
            Self::Decimal(decimal) => ValueRef::Text(decimal.as_str().as_bytes()),
        }))
    }
}

#[cfg(test)]
mod fingerprint_tests {
    use super::*;

    fn of(rows: &[&[Value]]) -> Fingerprint {
        let width = rows.first().map_or(1, |row| row.len());
        let columns = (0..width).map(|at| at.to_string()).collect();
        ResultSet::new(columns, rows.concat()).fingerprint()
    }

    #[test]
    fn rows_are_a_set_and_numbers_are_reals() {
        let (one, two) = ([Value::Integer(1)], [Value::Real(2.0)]);
        let forth = of(&[&one, &two]);
        assert_eq!(forth.set, of(&[&[Value::Integer(2)], &[Value::Real(1.0)], &one]).set);
        assert_eq!(forth.rows, 2);
        assert_eq!(of(&[&[Value::Real(0.1 + 0.2)]]), of(&[&[Value::Real(0.3)]]));
        for other in [Value::Integer(3), Value::text("1"), Value::Null, Value::text("")] {
            assert_ne!(forth.set, of(&[&[other], &two]).set);
        }
    }
}
