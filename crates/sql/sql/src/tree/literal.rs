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
