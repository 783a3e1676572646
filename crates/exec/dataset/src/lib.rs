//! Reads the benchmark and prediction formats that people have.
//!
//! A file is read once into an [`Input`], its [`FileFormat`] is detected (or given), and what it says becomes a
//! [`Benchmark`], a [`PredictionSet`] or a [`Tables`]. Every accident of text has a defined outcome (see
//! [`Input`]), every repair is noted, and whatever cannot be read without guessing is a [`DatasetError`] that
//! names the file, the place and the remedy.

mod abstention;
mod alternatives;
mod benchmark;
mod columns;
mod error;
mod extract;
mod fence;
mod formats;
mod input;
mod json;
mod labels;
mod locate;
mod matching;
mod model;
mod pairing;
mod pairs;
mod predictions;
mod prompts;
mod tables;
mod text;
mod text_columns;
mod transcript;

use std::path::Path;

pub use abstention::is_abstention;
pub use benchmark::{BenchmarkSource, WorkloadSource, load_benchmark, parse_benchmark, parse_workload};
pub use columns::{ColumnRole, Columns};
pub use error::DatasetError;
pub use extract::{
    EXTRACTION, Extraction, MARKERS, Marker, MarkerForm, MarkerRule, Removed, chat_note, extract_sql,
    is_other_statement,
};
pub use formats::FileFormat;
pub use input::Input;
pub use labels::{Label, parse_labels, take_out_other_answers};
pub use locate::{Databases, Location};
pub use model::{Benchmark, EarlierQueries, Example, Prediction, PredictionSet, Turn};
pub use pairing::PairedBy;
pub use pairs::{Over, Pairs, RIGHT, parse_pairs};
pub use predictions::{
    PairedRows, PredictionOptions, has_row, pair_rows, parse_predictions, repeats_questions,
};
pub use tables::{Tables, TablesEntry, parse_tables};
pub use text::text_list;
pub use transcript::is_transcript;

/// Reads a workload: questions whose golds nobody has, or that must not be looked at.
///
/// Every format of a benchmark is read but lines of SQL. Golds and difficulties of the file (the latter were judged
/// by the former) are not read: the examples have an empty [`Example::golds`] and no [`Example::difficulty`],
/// whatever the file says there.
///
/// # Errors
/// When the file cannot be read, is malformed, has no item, or an item has no question or no database.
pub fn load_workload(source: &WorkloadSource) -> Result<Benchmark, DatasetError> {
    parse_workload(&Input::read(&source.path)?, source.format, &source.columns)
}

/// Reads one system's predictions and matches them to the benchmark's examples.
///
/// # Errors
/// When the file cannot be read, is malformed, or its items do not match the examples (unknown or duplicate
/// ids, wrong number of lines, another database than the example's). Missing items are no error: they are
/// `None` and noted.
pub fn load_predictions(
    system: &str,
    path: &Path,
    benchmark: &Benchmark,
    options: &PredictionOptions,
) -> Result<PredictionSet, DatasetError> {
    parse_predictions(system, Input::read(path)?, benchmark, options)
}

/// Reads labels that somebody judged elsewhere; see [`parse_labels`].
///
/// # Errors
/// When the file cannot be read or is malformed, or a row has no id, no label, the id of another row, or a label that
/// is no number between 0 and 1.
pub fn load_labels(
    path: &Path,
    system: Option<&str>,
    column: Option<&str>,
    columns: &Columns,
) -> Result<Vec<Label>, DatasetError> {
    parse_labels(&Input::read(path)?, system, column, columns)
}

/// Reads a Spider `tables.json` or a BIRD `dev_tables.json`.
///
/// # Errors
/// When the file cannot be read or is malformed; an entry at fault is named.
pub fn load_tables(path: &Path) -> Result<Tables, DatasetError> {
    parse_tables(&Input::read(path)?)
}
