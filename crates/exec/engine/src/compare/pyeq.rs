//! Values as Python sees them: the equality, hashing, `str()` and text decoding on which the official scripts
//! rest.
//!
//! - `1 == 1.0`, and integers and floats are compared exactly: `2**53 + 1 != float(2**53 + 1)`.
//! - `None`, text and bytes equal only their own kind.
//! - The Spider script decodes text with errors ignored, so bytes that are not UTF-8 vanish. The BIRD
//!   scripts decode strictly, so such a value makes the query fail.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{BuildHasherDefault, Hasher};

use crate::{ResultSet, Value};

/// A value up to Python's equality: two values are `==` in Python if and only if their keys are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PythonKey<'a> {
    /// `None`.
    None,
    /// An `int`, or a `float` with the value of one that SQLite can hold.
    Int(i64),
    /// Any other `float`, by its bits.
    Float(u64),
    /// `str`, as UTF-8.
    Str(Cow<'a, [u8]>),
    /// `bytes`.
    Bytes(&'a [u8]),
    /// A `Decimal` that equals no `int` of 64 bits and no `float`, by its digits.
    Decimal(&'a str),
}

impl<'a> PythonKey<'a> {
    /// The key of a value; text is decoded with errors ignored.
    pub fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::None,
            Value::Integer(i) => Self::Int(*i),
            Value::Real(r) => exact_integer(*r).map_or(Self::Float(r.to_bits()), Self::Int),
            Value::Text(bytes) => Self::Str(decode_ignoring_errors(bytes)),
            Value::Blob(bytes) => Self::Bytes(bytes),
            Value::Decimal(decimal) => decimal
                .exact_float()
                .map_or(Self::Decimal(decimal.as_str()), |float| Self::Float(float.to_bits())),
        }
    }
}

/// The 64-bit integer that equals the float exactly, if there is one.
#[expect(clippy::cast_possible_truncation, reason = "the bounds are checked before the cast")]
pub fn exact_integer(float: f64) -> Option<i64> {
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    (float.trunc().to_bits() == float.to_bits() && (-BOUND..BOUND).contains(&float)).then_some(float as i64)
}

/// The bytes as UTF-8 without what is not: `bytes.decode(errors="ignore")`.
pub(crate) fn decode_ignoring_errors(bytes: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(bytes).is_ok() {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.utf8_chunks().flat_map(|chunk| chunk.valid().bytes()).collect())
}

/// Whether every text is UTF-8, as Python's default text factory demands.
pub fn all_text_is_utf8(rows: &ResultSet) -> bool {
    rows.values().iter().all(|value| match value {
        Value::Text(bytes) => std::str::from_utf8(bytes).is_ok(),
        _ => true,
    })
}

/// `str(x) + str(type(x))`: the key by which the Spider script sorts the values of a row.
pub fn str_and_type(value: &Value) -> Vec<u8> {
    match value {
        Value::Null => b"None<class 'NoneType'>".to_vec(),
        Value::Integer(i) => format!("{i}<class 'int'>").into_bytes(),
        Value::Real(r) => (float_repr(*r) + "<class 'float'>").into_bytes(),
        Value::Text(bytes) => [&decode_ignoring_errors(bytes), b"<class 'str'>".as_slice()].concat(),
        Value::Blob(bytes) => (bytes_repr(bytes) + "<class 'bytes'>").into_bytes(),
        Value::Decimal(decimal) => format!("{decimal}<class 'decimal.Decimal'>").into_bytes(),
    }
}

/// `repr()` of a float: the shortest digits that read back, in scientific notation below 1e-4 and from 1e16.
pub fn float_repr(float: f64) -> String {
    if !float.is_finite() {
        return if float.is_nan() { "nan".into() } else { format!("{float}") };
    }
    let scientific = format!("{float:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{float}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// `repr()` of bytes.
pub(crate) fn bytes_repr(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    let mut text = format!("b{quote}");
    for &byte in bytes {
        match byte {
            b'\t' => text.push_str("\\t"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' if char::from(byte) == quote => text.extend(['\\', quote]),
            b' '..=b'~' => text.push(char::from(byte)),
            // Writing to a String cannot fail.
            _ => _ = write!(text, "\\x{byte:02x}"),
        }
    }
    text.push(quote);
    text
}

/// A result as a grid of numbers that are equal where the values are equal in Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// Number of columns.
    pub width: usize,
    /// Row after row.
    pub cells: Vec<u32>,
}

impl Grid {
    /// The rows in order.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, u32> {
        self.cells.chunks_exact(self.width.max(1))
    }

    /// The column at that position.
    pub fn column(&self, index: usize) -> impl Iterator<Item = u32> + '_ {
        self.cells.iter().skip(index).step_by(self.width.max(1)).copied()
    }
}

/// Both results of a pair as grids over one numbering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridPair {
    /// The gold's result.
    pub gold: Grid,
    /// The prediction's result.
    pub prediction: Grid,
    /// Whether some number occurs in more than one spelling, so that Python sorts equal values apart.
    pub has_mixed_spellings: bool,
}

impl GridPair {
    /// The grids of two results.
    pub fn of(gold: &ResultSet, prediction: &ResultSet) -> Self {
        let mut interner = Interner::default();
        let (gold, prediction) = (interner.grid(gold), interner.grid(prediction));
        Self { gold, prediction, has_mixed_spellings: interner.has_mixed_spellings() }
    }
}

/// A hasher for small keys that come by the hundred thousand: one multiplication per eight bytes, folded.
#[derive(Debug, Clone, Copy, Default)]
pub struct FoldHasher(u64);

/// A map that hashes with [`FoldHasher`].
pub type FoldMap<K, V> = HashMap<K, V, BuildHasherDefault<FoldHasher>>;

impl Hasher for FoldHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.write_u64(word.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)));
        }
        let rest = words.remainder();
        self.write_u64(rest.iter().fold(rest.len() as u64, |number, &byte| number << 8 | u64::from(byte)));
    }

    #[expect(clippy::cast_possible_truncation, reason = "both halves of the product are wanted")]
    fn write_u64(&mut self, number: u64) {
        let product =
            u128::from(self.0.rotate_left(5) ^ number ^ 0x2d35_8dcc_aa6c_78a5) * 0x8bb8_4b93_962e_acc9;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

/// Numbers the values of several results so that equal values share a number.
#[derive(Debug, Default)]
pub struct Interner<'a> {
    numbers: FoldMap<PythonKey<'a>, u32>,
    /// For each number, which of Python's spellings of one number were seen (`1`, `1.0`, `-0.0`).
    spellings: Vec<u8>,
}

impl<'a> Interner<'a> {
    /// The grid of a result.
    pub fn grid(&mut self, rows: &'a ResultSet) -> Grid {
        let cells = rows.values().iter().map(|value| self.number(value)).collect();
        Grid { width: rows.width(), cells }
    }

    fn number(&mut self, value: &'a Value) -> u32 {
        let next = u32::try_from(self.spellings.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(PythonKey::of(value)).or_insert(next);
        if number == next {
            self.spellings.push(0);
        }
        let spelling = match value {
            Value::Real(r) if r.is_sign_negative() && *r == 0.0 => 4,
            Value::Real(_) => 2,
            _ => 1,
        };
        if let Some(seen) = self.spellings.get_mut(number as usize) {
            *seen |= spelling;
        }
        number
    }

    /// Whether some number was seen in more than one spelling, so that Python sorts equal values apart.
    pub fn has_mixed_spellings(&self) -> bool {
        self.spellings.iter().any(|seen| seen.count_ones() > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_equal_exactly_as_in_python() {
        let key = |value: &Value| format!("{:?}", PythonKey::of(value));
        let same = |a: &Value, b: &Value| key(a) == key(b);
        assert!(same(&Value::Integer(1), &Value::Real(1.0)));
        assert!(same(&Value::Integer(0), &Value::Real(-0.0)));
        assert!(same(&Value::Integer(i64::MIN), &Value::Real(-9_223_372_036_854_775_808.0)));
        assert!(!same(&Value::Integer(i64::MAX), &Value::Real(9_223_372_036_854_775_807.0)));
        assert!(!same(&Value::Integer((1 << 53) + 1), &Value::Real(9_007_199_254_740_993.0)));
        assert!(!same(&Value::Integer(1), &Value::text("1")));
        assert!(!same(&Value::Blob((*b"a").into()), &Value::text("a")));
        assert!(!same(&Value::Null, &Value::text("None")));
    }

    /// Expected values are what Python 3.11 prints.
    #[test]
    fn floats_print_as_in_python() {
        for (float, expected) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (0.000_123_45, "0.00012345"),
            (-0.0, "-0.0"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (1.5e300, "1.5e+300"),
            (5e-324, "5e-324"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (123_456.789, "123456.789"),
        ] {
            assert_eq!(float_repr(float), expected);
        }
    }

    #[test]
    fn bytes_print_as_in_python() {
        for (bytes, expected) in [
            (b"it's".as_slice(), "b\"it's\""),
            (b"a\"b", "b'a\"b'"),
            (b"a'b\"c", "b'a\\'b\"c'"),
            (b"\x00\xff\n\\t\t\x7f", "b'\\x00\\xff\\n\\\\t\\t\\x7f'"),
        ] {
            assert_eq!(bytes_repr(bytes), expected);
        }
    }

    #[test]
    fn invalid_bytes_vanish_as_in_python() {
        for (bytes, expected) in [
            (b"a\xffb".as_slice(), "ab"),
            (b"\xe2\x82", ""),
            (b"a\xe2\x28\xa1", "a("),
            (b"\xed\xa0\x80x", "x"),
            (b"\xf4\x90\x80\x80", ""),
            (b"\xe0\x80\x80z", "z"),
            ("é".as_bytes(), "é"),
        ] {
            assert_eq!(&*decode_ignoring_errors(bytes), expected.as_bytes());
        }
    }
}
