//! A fact about a value, known or unknown.

use super::{Affinity, Collation};

/// A fact, or that none follows. Unknown never stands for a default: it may be anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fact<T> {
    /// It holds for every database that satisfies the schema.
    Known(T),
    /// Nothing follows.
    Unknown,
}

impl<T> Fact<T> {
    /// The fact, if there is one.
    pub fn known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown => None,
        }
    }

    /// Borrows what is inside.
    pub fn as_ref(&self) -> Fact<&T> {
        match self {
            Self::Known(value) => Fact::Known(value),
            Self::Unknown => Fact::Unknown,
        }
    }

    /// Whether it is known to be that value.
    pub fn is(&self, value: &T) -> bool
    where
        T: PartialEq,
    {
        matches!(self, Self::Known(content) if content == value)
    }
}

/// Which values an expression can have, so far as a comparison can take different ones for equal. NULL is not
/// among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ValueDomain(u8);

impl ValueDomain {
    /// No value but NULL.
    pub const NONE: Self = Self(0);
    /// Integers.
    pub const INTEGER: Self = Self(1);
    /// Real numbers that equal an integer of 64 bits, as 1.0 does.
    pub const WHOLE_REAL: Self = Self(1 << 1);
    /// All other real numbers.
    pub const OTHER_REAL: Self = Self(1 << 2);
    /// Texts that numeric affinity makes numbers, as `'1'`.
    pub const NUMBER_TEXT: Self = Self(1 << 3);
    /// All other texts.
    pub const OTHER_TEXT: Self = Self(1 << 4);
    /// Blobs.
    pub const BLOB: Self = Self(1 << 5);
    /// Real numbers.
    pub const REAL: Self = Self::WHOLE_REAL.or(Self::OTHER_REAL);
    /// Numbers.
    pub const NUMBER: Self = Self::INTEGER.or(Self::REAL);
    /// Texts.
    pub const TEXT: Self = Self::NUMBER_TEXT.or(Self::OTHER_TEXT);
    /// Anything.
    pub const ANY: Self = Self::NUMBER.or(Self::TEXT).or(Self::BLOB);

    /// Values of either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it can have some of those values.
    pub const fn may_be(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether it can have those values only.
    pub const fn only(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// What a column of that affinity in an ordinary table can hold: numeric affinity makes numbers of texts that
    /// look like one and integers of 1.0; REAL makes 1.0 of 1; TEXT makes texts of numbers; none converts nothing.
    ///
    /// The real number −2^63 is the one whole real that a column with INTEGER or NUMERIC affinity keeps; beside the
    /// least integer it is passed over here.
    pub fn stored(affinity: Affinity) -> Self {
        match affinity {
            Affinity::Integer | Affinity::Numeric => {
                Self::INTEGER.or(Self::OTHER_REAL).or(Self::OTHER_TEXT).or(Self::BLOB)
            }
            Affinity::Real => Self::REAL.or(Self::OTHER_TEXT).or(Self::BLOB),
            Affinity::Text => Self::TEXT.or(Self::BLOB),
            Affinity::Blob => Self::ANY,
        }
    }

    /// What a CAST to a type of that affinity gives.
    pub fn cast(affinity: Affinity) -> Self {
        match affinity {
            Affinity::Integer => Self::INTEGER,
            Affinity::Numeric => Self::NUMBER,
            Affinity::Real => Self::REAL,
            Affinity::Text => Self::TEXT,
            Affinity::Blob => Self::BLOB,
        }
    }

    /// Whether it can have two different numbers that are equal: 1 and 1.0.
    pub const fn mixes_numbers(self) -> bool {
        self.may_be(Self::INTEGER) && self.may_be(Self::WHOLE_REAL)
    }
}

/// The collation that a column brings into a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ColumnCollation {
    /// One that gives way to a COLLATE, and to that of an operand further left.
    Own(Collation),
    /// None, for it is the rowid.
    Rowid,
    /// That of a rowid which is read through a subquery or a view: none where SQLite puts the subquery into the query
    /// around it, BINARY elsewhere. Which of the two depends on the version as well.
    RowidInside,
}

/// What is known of one column of a relation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnFacts {
    /// Whether it may be NULL; true also where nothing is known.
    pub nullable: bool,
    /// Its affinity in comparisons; `None` for an expression without one.
    pub affinity: Fact<Option<Affinity>>,
    /// The collation that it brings into a comparison.
    pub collation: Fact<ColumnCollation>,
    /// Which values it can have.
    pub values: ValueDomain,
    /// Whether it comes from a compound whose SELECTs give it different affinities: what a comparison with it does
    /// then depends on whether SQLite evaluates it over the compound or inside each SELECT.
    pub is_mixed: bool,
}

impl ColumnFacts {
    /// Of an unknown column.
    pub const UNKNOWN: Self = Self {
        nullable: true,
        affinity: Fact::Unknown,
        collation: Fact::Unknown,
        values: ValueDomain::ANY,
        is_mixed: false,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_fact_is_no_value() {
        assert!(!Fact::<Collation>::Unknown.is(&Collation::Binary));
        assert!(Fact::Known(Collation::Binary).is(&Collation::Binary));
        assert_eq!(Fact::<u8>::Unknown.known(), None);
    }

    #[test]
    fn only_a_column_without_affinity_mixes_numbers() {
        for affinity in [Affinity::Integer, Affinity::Numeric, Affinity::Real, Affinity::Text] {
            assert!(!ValueDomain::stored(affinity).mixes_numbers(), "{affinity:?}");
        }
        assert!(ValueDomain::stored(Affinity::Blob).mixes_numbers());
    }
}
