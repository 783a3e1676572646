//! The kinds of schema change: EvoSchema's ten in scope and its two out of scope, and one of our own.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

sqlgauge_base::named! {
    // In the order of the paper's Table 2, those out of scope last.
    /// A kind of schema change (EvoSchema, section 3.6).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum ChangeKind by name {
        /// Columns are added; the golds stay.
        AddColumns = "add-columns",
        /// Columns that no gold needs are removed.
        RemoveColumns = "remove-columns",
        /// Columns get names of the same meaning.
        RenameColumns = "rename-columns",
        /// A column becomes several: a full name first and last name.
        SplitColumns = "split-columns",
        /// Several columns become one.
        MergeColumns = "merge-columns",
        /// Other tables of the same database are shown beside those that the gold needs; schema and golds stay.
        AddTables = "add-tables",
        /// Tables that the database did not have are added; the golds stay. Not of the paper.
        InventTables = "invent-tables",
        /// Tables that no gold needs are removed.
        RemoveTables = "remove-tables",
        /// Tables get names of the same meaning.
        RenameTables = "rename-tables",
        /// A table becomes several that share its key.
        SplitTables = "split-tables",
        /// Two tables that a foreign key links become one.
        MergeTables = "merge-tables",
        /// Columns that the gold needs are removed: the right answer is an abstention.
        RemoveColumnsInGold = "remove-columns-in-gold",
        /// Tables that the gold needs are removed: the right answer is an abstention.
        RemoveTablesInGold = "remove-tables-in-gold",
    }
}

/// Whether a question can still be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answerability {
    /// It can: the item has a rewritten gold.
    In,
    /// It cannot: the item has no gold, and the right answer is an abstention.
    Out,
}

impl ChangeKind {
    /// Whether its questions can still be answered.
    pub fn scope(self) -> Answerability {
        match self {
            Self::RemoveColumnsInGold | Self::RemoveTablesInGold => Answerability::Out,
            _ => Answerability::In,
        }
    }

    /// Whether it changes the schema; `add-tables` changes what an item shows of it.
    pub fn changes_schema(self) -> bool {
        self != Self::AddTables
    }

    /// The sentence that the paper takes for the right answer to a question out of scope.
    pub fn abstention(self) -> Option<&'static str> {
        match self {
            Self::RemoveColumnsInGold => Some(
                "The given column information is insufficient to generate an SQL query to answer the question",
            ),
            Self::RemoveTablesInGold => Some(
                "The given table information is insufficient to generate an SQL query to answer the question",
            ),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind of change {name:?}; choose from {}", ChangeKind::ALL.map(ChangeKind::name).join(", "))]
pub struct UnknownKind {
    name: String,
}

impl FromStr for ChangeKind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == name);
        kind.ok_or_else(|| UnknownKind { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_everywhere_and_reads_back() {
        for kind in ChangeKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(kind.abstention().is_some(), kind.scope() == Answerability::Out);
        }
        assert!("rename".parse::<ChangeKind>().unwrap_err().to_string().contains("rename-columns"));
    }
}
