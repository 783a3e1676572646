//! The records that `evolve` writes.
//!
//! # Contract
//! `OUT/<kind>/` is a benchmark in the layout of Spider and BIRD:
//! - `dev.json`: an array of [`EvolvedItem`];
//! - `tables.json`: the evolved schemas, as Spider's;
//! - `database/<db_id>/<db_id>.sqlite`: the evolved databases, and beside each `old_over_new.sql`, a script of temporary
//!   views under the old names, on which the unchanged golds return what they returned;
//! - `changes.jsonl`: one [`ChangeRecord`] per line: the [`ChangesHeader`], a [`SchemaRecord`] per evolved database, an [`ItemRecord`]
//!   per item of the original, the [`Statistics`].
//!
//! Steps of a history are `OUT/step-1/`, `OUT/step-2/`, … of the same layout. The folder is byte-equal for equal inputs and
//! seeds, whatever the number of threads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::kind::ChangeKind;
use sqlgauge_names::Naturalness;

/// The version of the format of `changes.jsonl`.
pub const FORMAT_VERSION: u32 = 2;

/// An item of `dev.json`. The fields that Spider and BIRD have carry their names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvolvedItem {
    /// Position of the item in the original file, from 0.
    pub source_index: usize,
    /// The id of the item in the original.
    pub question_id: String,
    /// The evolved database.
    pub db_id: String,
    /// The database of the original item.
    pub source_db_id: String,
    /// The question, unchanged; null where the original has none.
    pub question: Option<String>,
    /// BIRD's evidence, unchanged; null where the original has none.
    pub evidence: Option<String>,
    /// BIRD's difficulty label, unchanged; null where the original has none.
    pub difficulty: Option<String>,
    /// The gold over the evolved schema; of a question out of scope the sentence of the paper ([`ChangeKind::abstention`]).
    pub query: String,
    /// The gold over the original schema.
    pub source_query: String,
    /// Whether the question can be answered on the evolved schema.
    pub answerable: bool,
    /// The DDL of all tables of the evolved schema.
    pub ddl: String,
    /// The DDL of the tables that matter for the question: those that the gold reads, what took the place of those that it
    /// read, and what the kind added to them ([`ChangeKind::AddTables`], [`ChangeKind::InventTables`]).
    pub ddl_relevant: String,
    /// The same without what the kind added: the tables that the question needs.
    pub ddl_needed: String,
}

/// A line of `changes.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum ChangeRecord {
    /// What was asked for.
    Header(ChangesHeader),
    /// An evolved schema.
    Schema(Box<SchemaRecord>),
    /// What became of an item.
    Item(ItemRecord),
    /// The folder in numbers.
    Statistics(Statistics),
}

/// What was asked for: the first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "EvolvedHeader"))]
pub struct ChangesHeader {
    /// [`FORMAT_VERSION`].
    pub format: u32,
    /// The version of sqlgauge.
    pub tool_version: String,
    /// The kind of change; null for a script.
    pub kind: Option<ChangeKind>,
    /// The seed that the proposals are drawn from.
    pub seed: u64,
    /// How much is changed, between 0 and 1.
    pub intensity: f64,
    /// How readable new names are.
    pub naturalness: Naturalness,
    /// The model whose names are given; null where they are the lexicon's.
    #[serde(default)]
    pub names: Option<String>,
    /// Whether each item has a schema of its own.
    #[serde(default)]
    pub per_item: bool,
    /// The step of a history, from 1; null without one.
    pub step: Option<u32>,
    /// The items of the original.
    pub items: usize,
    /// A hash of the items and databases of the original.
    pub inputs: String,
}

/// An evolved schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchemaRecord {
    /// The evolved database.
    pub db_id: String,
    /// The database that it was made of.
    pub source_db_id: String,
    /// The operators from the original schema to this one, in their order; none where the kind is not feasible there.
    pub changes: Vec<Change>,
    /// Why the kind is not feasible for the database; null where it is.
    pub infeasible: Option<EvolveReason>,
    /// The reason in words, with names; null where there is nothing to say.
    pub detail: Option<String>,
    /// Every old table as a query over the new ones, by name.
    pub old_over_new: BTreeMap<String, String>,
    /// Every new table as a query over the old ones, by name: the migration of the data.
    pub new_over_old: BTreeMap<String, String>,
    /// Old tables that changed.
    pub changed_tables: Vec<String>,
    /// Old columns that changed, as `table.column`.
    pub changed_columns: Vec<String>,
    /// What the new schema could not keep, by name: `index i`, `trigger t`, `foreign key …`.
    pub left_out: Vec<String>,
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ItemRecord {
    /// Position of the item in the original file, from 0.
    pub source_index: usize,
    /// The evolved database.
    pub db_id: String,
    /// Whether it was written.
    pub written: bool,
    /// Why it was not; null where it was.
    pub reason: Option<EvolveReason>,
    /// The reason in words, with names; null where it was written.
    pub detail: Option<String>,
    /// Whether the gold had to be changed.
    pub gold_changed: bool,
    /// Columns or tables of the schema change that the original gold reads.
    pub manipulated: usize,
    /// Whether `etm@1` proves that the new gold, taken back through the mapping, means what the old one means. Null where that is
    /// not asked: where the item was not written, cannot be answered, or the mapping splits or merges.
    pub equivalent: Option<bool>,
}

sqlgauge_base::named! {
    /// Why an item has no evolved form, or a database none of a kind: a closed list.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum EvolveReason by name {
        /// The gold does not run on the original database, or not within its limits.
        GoldFails = "gold-fails",
        /// The gold cannot be resolved.
        GoldUnresolved = "gold-unresolved",
        /// The schema has nothing that this kind could change.
        NothingToChange = "nothing-to-change",
        /// The gold needs what was removed.
        NeedsRemoved = "needs-removed",
        /// The rows that the gold returns are not determined by the data: ties at a LIMIT, bare columns, the order of a
        /// concatenation, the time, random numbers.
        Undetermined = "undetermined",
        /// The rewritten gold has no text in SQL.
        NotExpressible = "not-expressible",
        /// The rewriting took more steps than it may.
        TooComplex = "too-complex",
        /// The data could not be migrated.
        MigrationFails = "migration-fails",
        /// The rewritten gold does not return the original's rows: a defect of the rewriting.
        RowsDiffer = "rows-differ",
        /// The unchanged gold does not return the original's rows through the views of the old tables.
        ViewsDiffer = "views-differ",
        /// The rewritten gold, or the unchanged one through the views, does not end within the limits, which the gold did.
        OverLimits = "over-limits",
        /// The gold reads a rowid or names an index, which views do not have, so that the second check cannot be made.
        NotThroughViews = "not-through-views",
        /// The gold still runs although what it needs was to be removed.
        StillRuns = "still-runs",
    }
}

/// The folder in numbers: the last line. Min, mean, median and max as in the paper's Table 2; null of nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statistics {
    /// Items written.
    pub written: usize,
    /// Items not written, by reason.
    pub not_written: BTreeMap<EvolveReason, usize>,
    /// Written items whose gold had to be changed.
    pub golds_changed: usize,
    /// Columns or tables changed per changed table.
    pub manipulated_per_table: Option<SizeSpread>,
    /// Columns or tables that a written item's gold reads and that changed, per item.
    pub manipulated_per_query: Option<SizeSpread>,
    /// Length of the new gold by that of the old one, of golds that were changed.
    pub length_ratio: Option<SizeSpread>,
}

/// Least, mean, median and greatest of a list.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SizeSpread {
    /// Least.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Median; the mean of the two in the middle of an even number.
    pub median: f64,
    /// Greatest.
    pub max: f64,
}

impl SizeSpread {
    /// That of those values, `None` of none.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let (&min, &max) = (values.first()?, values.last()?);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Some(Self { min, mean: values.iter().sum::<f64>() / values.len() as f64, median, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_read_back() {
        let change = Change::RenameTable { table: "a b".to_owned(), to: "c".to_owned() };
        let record = ChangeRecord::Schema(Box::new(SchemaRecord {
            db_id: "d".to_owned(),
            source_db_id: "d".to_owned(),
            changes: vec![change],
            infeasible: Some(EvolveReason::NothingToChange),
            detail: None,
            old_over_new: BTreeMap::new(),
            new_over_old: BTreeMap::new(),
            changed_tables: Vec::new(),
            changed_columns: Vec::new(),
            left_out: Vec::new(),
        }));
        let line = serde_json::to_string(&record).unwrap();
        assert!(line.starts_with(r#"{"record":"schema","db_id":"d""#), "{line}");
        assert!(
            line.contains(r#""operator":"rename_table""#) && line.contains(r#""nothing-to-change""#),
            "{line}"
        );
        assert_eq!(serde_json::from_str::<ChangeRecord>(&line).unwrap(), record);
        assert_eq!(
            serde_json::to_value(EvolveReason::ViewsDiffer).unwrap(),
            EvolveReason::ViewsDiffer.name()
        );
    }

    #[test]
    fn a_spread_is_that_of_the_sorted_values() {
        let spread = SizeSpread::of(vec![4.0, 1.0, 2.0, 5.0]).unwrap();
        assert_eq!((spread.min, spread.mean, spread.median, spread.max), (1.0, 3.0, 3.0, 5.0));
        assert_eq!(SizeSpread::of(Vec::new()), None);
    }
}
