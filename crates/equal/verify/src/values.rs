//! Which values a counterexample may hold.

use std::str::FromStr;

use sqlgauge_search::{DeclaredColumns, Refutation};

sqlgauge_base::named! {
    /// Which values the columns of a counterexample may hold, and which a proof covers.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub enum ColumnValues by name {
        /// What their columns declare, but for columns of which the rows of the given database hold something else.
        #[default]
        Rows = "rows",
        /// What their columns declare, as in a STRICT table, and no NULL in a primary key.
        Declared = "declared",
        /// Whatever SQLite stores there.
        Any = "any",
    }
}

impl ColumnValues {
    /// The columns that hold what they declare. `rows` says so of those of the given database, if there is one.
    pub fn columns(self, rows: Option<DeclaredColumns>) -> DeclaredColumns {
        match (self, rows) {
            (Self::Any, _) => DeclaredColumns::None,
            (Self::Declared, _) | (Self::Rows, None) => DeclaredColumns::all(),
            (Self::Rows, Some(rows)) => rows,
        }
    }
}

/// There are no such values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid values {:?}: give one of {}", .0, ColumnValues::ALL.map(ColumnValues::name).join(", "))]
pub struct UnknownColumnValues(String);

impl FromStr for ColumnValues {
    type Err = UnknownColumnValues;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|values| values.name() == name)
            .ok_or_else(|| UnknownColumnValues(name.to_owned()))
    }
}

/// A difference that only values make which their columns do not declare.
#[derive(Debug, Clone, PartialEq)]
pub struct UndeclaredDifference {
    /// The columns, each with such a value, in words.
    pub columns: Vec<String>,
    /// The database on which the results differ.
    pub refutation: Refutation,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for values in ColumnValues::ALL {
            assert_eq!(values.name().parse(), Ok(values));
        }
        let error = "strict".parse::<ColumnValues>().unwrap_err().to_string();
        assert_eq!(error, "invalid values \"strict\": give one of rows, declared, any");
    }
}
