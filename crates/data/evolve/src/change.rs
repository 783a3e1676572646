//! Schema modification operators: what `changes.jsonl` records and `--script` replays.
//!
//! Names are those of the schema that the change is applied to. SQL expressions are SQLite's, over the columns of one
//! row that they name.

use serde::{Deserialize, Serialize};
use sqlgauge_sql::schema::Column;

/// One change of a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "operator", rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// A column gets another name; foreign keys, indexes, CHECKs and views follow.
    RenameColumn {
        table: String,
        /// Its name before.
        column: String,
        /// Its name afterwards.
        to: String,
    },
    /// A table gets another name.
    RenameTable {
        /// Its name before.
        table: String,
        /// Its name afterwards.
        to: String,
    },
    /// A column is added.
    AddColumn {
        table: String,
        /// Name, type and constraints.
        #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
        column: Box<Column>,
        /// Its position among the columns; at the end without one.
        at: Option<u32>,
        /// Its value in each row, as an expression over the other columns of the row.
        value: String,
    },
    /// A column is removed, with the foreign keys, indexes and constraints that name it.
    DropColumn { table: String, column: String },
    /// A table is added.
    AddTable {
        /// The statement that creates it.
        ddl: String,
        /// Its rows, as a query over the other tables; empty without one.
        rows: Option<String>,
    },
    /// A table is removed, with the foreign keys that refer to it.
    DropTable { table: String },
    /// A column becomes several.
    SplitColumn {
        table: String,
        /// The column that goes.
        column: String,
        /// What takes its place, in order.
        parts: Vec<SplitPart>,
        /// The old value, as an expression over the parts.
        whole: String,
    },
    /// Several columns of a table become one, which stands where the first of them stood.
    MergeColumns {
        table: String,
        /// The column that comes; its value is an expression over those that go.
        whole: SplitPart,
        /// The columns that go, each with its old value as an expression over the one that comes.
        columns: Vec<(String, String)>,
    },
    /// A table becomes several that share its key; the first one keeps the foreign keys that referred to it.
    SplitTable {
        table: String,
        /// What takes its place: the name and the columns besides the key.
        fragments: Vec<(String, Vec<String>)>,
    },
    /// Two tables that a foreign key links become one.
    MergeTables {
        /// The table with the foreign key.
        child: String,
        /// The columns of that foreign key.
        key: Vec<String>,
        /// The table that it refers to.
        parent: String,
        /// The name of what takes their place.
        to: String,
        /// The columns of either that get another name there, as `table.column`.
        renamed: Vec<(String, String)>,
        /// Which rows of the two have no partner.
        shape: MergeShape,
    },
}

/// Which rows of two tables that become one have no partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MergeShape {
    /// None: every row of the child has its parent, and every parent a child.
    Inner,
    /// Some children have no parent.
    Left,
    /// Some parents have no child.
    Right,
    /// Both.
    Full,
}

impl MergeShape {
    /// Whether some children have no parent.
    pub(crate) fn has_orphans(self) -> bool {
        matches!(self, Self::Left | Self::Full)
    }

    /// Whether some parents have no child.
    pub(crate) fn has_childless(self) -> bool {
        matches!(self, Self::Right | Self::Full)
    }
}

/// A column that takes the place of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SplitPart {
    /// Its name.
    pub name: String,
    /// Its declared type.
    pub declared_type: Option<String>,
    /// Whether it is declared NOT NULL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_null: bool,
    /// Its value, as an expression over the columns whose place it takes.
    pub value: String,
}
