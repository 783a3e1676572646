//! The values of a table as numbers, for questions about which rows agree.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use rusqlite::types::Value;
use twox_hash::{XxHash3_64, XxHash3_128};

use crate::sketch::Sketch;
use crate::values::ColumnType;

/// The number of NULL.
pub(crate) const NULL: u32 = 0;

/// A hasher of numbers that are hashes already, or pairs of numbers that count up.
#[derive(Debug, Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.chunks(8).for_each(|chunk| {
            let mut part = [0; 8];
            part[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(part));
        });
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

pub(crate) type MixMap<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

pub(crate) type MixSet<K> = HashSet<K, BuildHasherDefault<Mix>>;

/// A column, its values numbered from 1 in the order in which they first occur, and 0 for NULL.
#[derive(Debug, Clone)]
pub(crate) struct Coded {
    pub(crate) kind: ColumnType,
    pub(crate) codes: Vec<u32>,
    /// Different values, NULL not counted.
    pub(crate) distinct: u32,
}

/// Numbers the values of a column as they pass by. Two values have one number if 128 bits of their hashes agree.
#[derive(Debug)]
pub(crate) struct Numbering {
    kind: ColumnType,
    numbers: MixMap<u128, u32>,
    hashes: Vec<u64>,
    codes: Vec<u32>,
    pub(crate) nulls: u64,
    /// Bytes of the texts.
    bytes: u64,
    with_letters: u64,
    least: i64,
    most: i64,
}

impl Numbering {
    pub(crate) fn new(kind: ColumnType) -> Self {
        Self {
            kind,
            numbers: MixMap::default(),
            hashes: Vec::new(),
            codes: Vec::new(),
            nulls: 0,
            bytes: 0,
            with_letters: 0,
            least: i64::MAX,
            most: i64::MIN,
        }
    }

    pub(crate) fn number(&mut self, value: &Value) -> u32 {
        let text = match value {
            Value::Null | Value::Blob(_) => return NULL,
            Value::Integer(value) => {
                (self.least, self.most) = (self.least.min(*value), self.most.max(*value));
                value.to_le_bytes().to_vec()
            }
            // Numbers that are equal are one value, whatever their bits.
            Value::Real(value) => (if *value == 0.0 { 0.0 } else { *value }).to_bits().to_le_bytes().to_vec(),
            Value::Text(text) => text.as_bytes().to_vec(),
        };
        let next = u32::try_from(self.numbers.len() + 1).unwrap_or(u32::MAX);
        *self.numbers.entry(XxHash3_128::oneshot(&text)).or_insert_with(|| {
            self.hashes.push(XxHash3_64::oneshot(&text));
            self.bytes += text.len() as u64;
            let is_text = matches!(value, Value::Text(_));
            self.with_letters +=
                u64::from(is_text && text.iter().any(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80));
            next
        })
    }

    /// Takes the number of the next row.
    pub(crate) fn push(&mut self, code: u32) {
        self.nulls += u64::from(code == NULL);
        self.codes.push(code);
    }

    /// The column and what is known of it beyond its rows.
    pub(crate) fn finish(self) -> (Coded, Traits) {
        let distinct = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        let per_value = |sum: u64| sum as f64 / f64::from(distinct.max(1));
        let traits = Traits {
            kind: self.kind,
            distinct: u64::from(distinct),
            nulls: self.nulls,
            mean_bytes: per_value(self.bytes),
            letters: per_value(self.with_letters),
            range: (self.kind == ColumnType::Integer && distinct > 0).then_some((self.least, self.most)),
            sketch: Sketch::new(self.hashes),
        };
        (Coded { kind: self.kind, codes: self.codes, distinct }, traits)
    }
}

/// What is kept of a column after its rows have passed by.
#[derive(Debug, Clone)]
pub(crate) struct Traits {
    pub(crate) kind: ColumnType,
    pub(crate) distinct: u64,
    pub(crate) nulls: u64,
    /// Mean length of its different values.
    pub(crate) mean_bytes: f64,
    /// The share of its different values that have letters.
    pub(crate) letters: f64,
    /// The least and the largest integer.
    pub(crate) range: Option<(i64, i64)>,
    pub(crate) sketch: Sketch,
}

/// Numbers of the pairs of two columns' numbers, and how many there are.
pub(crate) fn pairs(one: &[u32], other: &[u32]) -> (Vec<u32>, u32) {
    let mut numbers: MixMap<u64, u32> = MixMap::default();
    let codes = one.iter().zip(other).map(|(one, other)| {
        let next = u32::try_from(numbers.len() + 1).unwrap_or(u32::MAX);
        *numbers.entry((u64::from(*one) << 32) | u64::from(*other)).or_insert(next)
    });
    let codes = codes.collect();
    (codes, u32::try_from(numbers.len()).unwrap_or(u32::MAX))
}
