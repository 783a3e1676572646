//! Relational databases from loose tables: folders of CSV and Parquet files become typed SQLite databases with keys.
//!
//! # Contract
//! [`build`] reads every table below a folder and writes `DB_ID/DB_ID.sqlite` for each database that it finds, and
//! [`REPORT_FILE`], a line of JSON for each decision with its reason ([`TablesRecord`]). The same files and [`TablesOptions`] give the
//! same databases and report, whatever the number of threads.
//!
//! - **Reading** (`input`): encodings, delimiters, ragged rows, headers; what cannot be read without guessing is refused by
//!   name ([`FileRefusal`]).
//! - **Types** (`values`): INTEGER, REAL, DATE, DATETIME, TIME, BOOLEAN or TEXT, by every value of a column; numbers and dates as people
//!   write them are read only where all values of the column have one reading.
//! - **Cleaning**: duplicate rows and tables, empty columns, sizes, script.
//! - **Keys** (`keys`): the minimal sets of columns that no two rows agree in; one becomes the primary key.
//! - **Normalisation** (`normalise`): a column that determines others, and repeats, gets a table of its own with them. It is
//!   lossless: a left join along the new foreign key gives the old table's rows.
//! - **Foreign keys** (`foreign`): a column whose values are all found in another table's key, and whose name or values say
//!   that it means it. Inclusion is exact; SQLite itself judges it.
//! - **Databases** (`cluster`): tables that foreign keys, names of columns or topics bring together.
//!
//! Tables are read row by row, twice. Of a table, a number of four bytes per cell is held while it is analysed, and
//! afterwards a sketch of some hundred bytes per column; rows wait in a SQLite file.

mod analyse;
mod cluster;
mod databases;
mod error;
mod foreign;
mod input;
mod keys;
mod names;
mod normalise;
mod notes;
mod options;
mod profile;
mod report;
mod sketch;
mod stage;
mod values;
mod write;

pub use error::TablesError;
pub use notes::Notes;
pub use options::TablesOptions;
pub use report::{
    ColumnRecord, DatabaseRecord, Encoding, FileOutcome, FileRecord, FileRefusal, ForeignKeyOutcome,
    ForeignKeyRecord, KeyRecord, KeySearch, Lines, Ragged, Scores, SplitRecord, TablesRecord, TablesReport,
};
pub use values::{ColumnType, DateOrder, DecimalMark, Doubt};
pub use write::build;

/// The name of the file that says what was decided and why.
pub const REPORT_FILE: &str = "tables.jsonl";
