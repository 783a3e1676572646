//! One result file to a table, by its ending.

use std::fs::File;
use std::path::Path;

use sqlgauge_base::regular;

use crate::error::Unreadable;
use crate::table::{MAX_COST, ResultFile};
use crate::{csv, json};

/// A format of result files.
struct Format {
    endings: &'static [&'static str],
    read: fn(File, usize) -> Result<ResultFile, Unreadable>,
}

const FORMATS: [Format; 4] = [
    Format { endings: &["csv"], read: |file, most_rows| csv::read(file, most_rows, MAX_COST) },
    Format { endings: &["json"], read: |file, _| json::read(file) },
    Format { endings: &["jsonl"], read: |file, _| json::read_lines(file) },
    Format { endings: &["parquet"], read: |file, _| parquet(file) },
];

/// Endings of result files, the official one first.
pub fn endings() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().flat_map(|format| format.endings).copied()
}

/// Reads a file. Of more than `most_rows` rows the rest may be left.
///
/// # Errors
/// What is wrong with the file.
pub fn read_table(path: &Path, most_rows: usize) -> Result<ResultFile, Unreadable> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let format = FORMATS.iter().find(|format| format.endings.contains(&ending));
    let unknown = || {
        let known = endings().collect::<Vec<_>>().join(", ");
        Unreadable::Malformed(format!("the ending {ending:?} is not that of a result; use one of {known}"))
    };
    (format.ok_or_else(unknown)?.read)(regular::open(path)?, most_rows)
}

#[cfg(feature = "parquet")]
fn parquet(file: File) -> Result<ResultFile, Unreadable> {
    crate::parquet::read(file)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: File) -> Result<ResultFile, Unreadable> {
    Err(Unreadable::NotBuiltIn(sqlgauge_base::NotBuiltIn { what: "a Parquet file", feature: "parquet" }))
}
