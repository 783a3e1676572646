//! Constants.

/// A constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Literal {
    /// NULL.
    Null,
    /// TRUE or FALSE: the integers 1 and 0, but `x IS TRUE` is a test of its own.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(Real),
    /// A string.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// A real constant; compared by its bits so that it can be hashed. Never NaN.
#[derive(Debug, Clone, Copy)]
pub struct Real(f64);

impl Real {
    /// The constant of that value; NaN becomes 0, as SQLite has no NaN constant.
    pub fn new(value: f64) -> Self {
        Self(if value.is_nan() { 0.0 } else { value })
    }

    /// Its value.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl std::hash::Hash for Real {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A numeric token as SQLite reads it: hexadecimal, integer, or real where it is no 64-bit integer.
pub(crate) fn number(token: &str) -> Literal {
    let digits: String = token.chars().filter(|&c| c != '_').collect();
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return u64::from_str_radix(hex, 16)
            .map_or(Literal::Real(Real::new(f64::INFINITY)), |bits| Literal::Integer(bits.cast_signed()));
    }
    if let Ok(integer) = digits.parse::<i64>() {
        return Literal::Integer(integer);
    }
    Literal::Real(Real::new(digits.parse::<f64>().unwrap_or(f64::INFINITY)))
}

/// The negation of a numeric token; the most negative integer has no positive counterpart.
pub(crate) fn negative_number(token: &str) -> Literal {
    match number(token) {
        Literal::Integer(value) => Literal::Integer(value.wrapping_neg()),
        _ => number(&format!("-{token}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_sqlite_reads_them() {
        assert_eq!(number("0x10"), Literal::Integer(16));
        assert_eq!(number("0xFFFFFFFFFFFFFFFF"), Literal::Integer(-1));
        assert_eq!(number("1_000"), Literal::Integer(1000));
        assert_eq!(number("9223372036854775808"), Literal::Real(Real::new(9.223_372_036_854_776e18)));
        assert_eq!(number("1e999"), Literal::Real(Real::new(f64::INFINITY)));
        assert_eq!(negative_number("9223372036854775808"), Literal::Integer(i64::MIN));
        assert_eq!(negative_number("0x10"), Literal::Integer(-16));
        assert_eq!(number(".5"), Literal::Real(Real::new(0.5)));
    }
}
