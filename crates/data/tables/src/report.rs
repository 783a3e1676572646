//! The lines of `tables.jsonl`: every decision about files, foreign keys and databases, and its reason.

use serde::Serialize;

use crate::values::{ColumnType, Doubt};

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "about", rename_all = "kebab-case")]
pub enum TablesRecord {
    File(FileRecord),
    /// An inclusion of columns that was looked at as a foreign key.
    ForeignKey(ForeignKeyRecord),
    Database(DatabaseRecord),
}

/// What was decided about all files, in the order of their paths; foreign keys; databases in the order of their names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TablesReport {
    pub files: Vec<FileRecord>,
    /// Every inclusion that was judged by its rows.
    pub foreign_keys: Vec<ForeignKeyRecord>,
    pub databases: Vec<DatabaseRecord>,
}

impl TablesReport {
    /// The lines of the report.
    pub fn records(&self) -> impl Iterator<Item = TablesRecord> + '_ {
        let files = self.files.iter().cloned().map(TablesRecord::File);
        let keys = self.foreign_keys.iter().cloned().map(TablesRecord::ForeignKey);
        files.chain(keys).chain(self.databases.iter().cloned().map(TablesRecord::Database))
    }
}

/// A file, by its path below the folder, with `/` between its parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileRecord {
    pub file: String,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: FileOutcome,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum FileOutcome {
    /// It is not used.
    Refused {
        /// Why, of a closed list.
        reason: FileRefusal,
        /// The same with its figures, and what to do about it.
        detail: String,
    },
    /// It is a table of a database.
    Used(Box<TableRecord>),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableRecord {
    /// Its database.
    pub db_id: String,
    pub table: String,
    /// Its rows, without those left out.
    pub rows: u64,
    /// How its text was read; none for Parquet.
    pub encoding: Option<Encoding>,
    /// What separates values; none for Parquet.
    pub delimiter: Option<char>,
    /// Whether the first line has the names of the columns; if not, they are `column_1` ….
    pub header: bool,
    /// Rows that have not as many values as the header has names.
    pub ragged: Ragged,
    /// Rows that repeat an earlier one and are left out.
    pub duplicate_rows: Lines,
    /// Columns without a value, which are left out.
    pub empty_columns: Vec<String>,
    /// The others.
    pub columns: Vec<ColumnRecord>,
    /// What was found as its key, after the splits.
    pub key: KeyRecord,
    pub splits: Vec<SplitRecord>,
    /// Whether the search for dependencies ended before its steps did.
    pub dependencies: KeySearch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Encoding {
    /// UTF-8; lines that are none were read as Windows-1252.
    Utf8 {
        /// Whether it began with a byte order mark.
        mark: bool,
        /// How many lines are no UTF-8.
        windows_1252_lines: u64,
    },
    /// UTF-16 with a byte order mark.
    Utf16 {
        /// Lone surrogates and half units, which became U+FFFD.
        replaced: u64,
    },
}

/// Rows that have not as many values as the header has names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Ragged {
    /// Rows with fewer values that are kept: what is missing is NULL.
    pub filled: Lines,
    /// Rows with more values than the header. The further ones are empty and are cut off.
    pub cut: u64,
    /// Rows with fewer values that are left out.
    pub short: Lines,
    /// Rows with more values: they are left out.
    pub long: Lines,
}

impl Ragged {
    /// How many rows are left out.
    pub fn left_out(&self) -> u64 {
        self.short.count + self.long.count
    }
}

/// How many lines of a file, and which.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Lines {
    /// How many.
    pub count: u64,
    /// The numbers of the first five; none for Parquet.
    pub first: Vec<u64>,
}

impl Lines {
    const NAMED: usize = 5;

    pub(crate) fn push(&mut self, line: Option<u64>) {
        self.count += 1;
        self.first.extend(line.filter(|_| self.first.len() < Self::NAMED));
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnRecord {
    /// Its name in the database.
    pub name: String,
    /// Its name in the file, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// Why it is a text although its values look like something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
    /// Values that the doubt is about, as they are written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// The currency or `%` that was taken off its numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How many rows have no value.
    pub nulls: u64,
    /// How many different values there are.
    pub distinct: u64,
}

/// How far a search got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeySearch {
    /// It looked at all there is.
    Complete,
    /// Its steps were used up.
    Budget,
}

/// What was found as a table's key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyRecord {
    /// The primary key; none if no set of columns is likely to be meant as one.
    pub columns: Option<Vec<String>>,
    /// Its score in [0, 1].
    pub score: Option<f64>,
    /// Other columns that could be the key; those that a foreign key refers to are declared UNIQUE.
    pub alternatives: Vec<String>,
    /// The first 20 minimal unique sets of columns of the sizes that were looked at.
    pub minimal: Vec<Vec<String>>,
    /// How many there are.
    pub minimal_sets: usize,
    /// How far the search got.
    pub search: KeySearch,
}

/// A table that was split off another along functional dependencies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SplitRecord {
    pub table: String,
    /// The table that refers to it.
    pub from: String,
    /// The column that determines the others, its key.
    pub determinant: String,
    /// What it determines.
    pub dependents: Vec<String>,
    pub rows: u64,
    /// The largest of log10 of the chance that a dependent column, its values dealt out anew, would be determined.
    pub log10_chance: f64,
}

/// What speaks for a foreign key; each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scores {
    /// How well the column's name names the other table's key.
    pub name: f64,
    /// The share of the key's values that occur in the column.
    pub coverage: f64,
    /// How much the values themselves say: texts with letters say more than small numbers.
    pub values: f64,
    /// All together.
    pub total: f64,
}

/// What became of an inclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForeignKeyOutcome {
    Declared,
    /// It is declared because a split made it.
    BySplit,
    /// Some values are not in the key.
    NotIncluded,
    /// Another inclusion of the same columns has a higher score.
    Outscored,
    /// With those that are declared it would lead from a table back to itself.
    Cycle,
    /// Its tables came into different databases.
    Apart,
}

/// An inclusion of columns that was looked at as a foreign key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForeignKeyRecord {
    pub file: String,
    /// The referring table.
    pub table: String,
    pub columns: Vec<String>,
    /// The file of the table referred to.
    pub to_file: String,
    /// The table referred to.
    pub to_table: String,
    pub to_columns: Vec<String>,
    /// What became of it.
    pub outcome: ForeignKeyOutcome,
    /// Different values of the columns.
    pub values: u64,
    /// How many of them the key does not have.
    pub missing: u64,
    /// What speaks for it.
    pub scores: Scores,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DatabaseRecord {
    pub db_id: String,
    /// Its tables with their rows.
    pub tables: Vec<(String, u64)>,
    pub foreign_keys: usize,
    /// Why its tables are together: `one-table`, `foreign-keys`, `similar`.
    pub together_by: Vec<String>,
}

sqlgauge_base::named! {
    /// Why a file is not used; [`FileRefusal::name`] is how the report calls it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FileRefusal by name {
        /// Its name does not end as that of a table.
        NotATable = "not-a-table",
        /// It is a link to a file outside of the folder.
        LinkOut = "link-out",
        /// It holds NUL bytes and no byte order mark: no text.
        Binary = "binary",
        /// It has more bytes than are read.
        TooLarge = "too-large",
        /// A line, or a value in quotes, has no end where one should be.
        Unended = "unended",
        /// It has nothing in it.
        Empty = "empty",
        /// It has more columns than are taken.
        TooManyColumns = "too-many-columns",
        /// It has fewer columns with values than are taken.
        TooFewColumns = "too-few-columns",
        /// It has more rows or cells than are taken.
        TooManyRows = "too-many-rows",
        /// It has fewer rows than are taken.
        TooFewRows = "too-few-rows",
        /// Too many of its rows have not as many values as the header has names.
        Ragged = "ragged",
        /// Too few of its letters are Latin.
        Script = "script",
        /// It holds the same table as an earlier file.
        DuplicateTable = "duplicate-table",
        /// It is Parquet, which this build cannot read.
        NotBuiltIn = "not-built-in",
        Damaged = "damaged",
        /// The operating system refuses to read it.
        Unreadable = "unreadable",
        /// It changed while it was read.
        Changed = "changed",
    }
}

impl FileRefusal {
    /// Whether the file could not be read, whatever it holds.
    pub(crate) fn is_unreadable(self) -> bool {
        matches!(
            self,
            Self::Binary
                | Self::Unended
                | Self::NotBuiltIn
                | Self::Damaged
                | Self::Unreadable
                | Self::Changed
        )
    }
}

impl Serialize for FileRefusal {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
