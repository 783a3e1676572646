//! One result file to a table, by its ending.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use sqlgauge_base::regular;

use crate::error::Unreadable;
use crate::table::{MAX_COST, ResultFile};
use crate::{csv, json};

struct Format {
    endings: &'static [&'static str],
    read: fn(File, usize) -> Result<ResultFile, Unreadable>,
}

const FORMATS: [Format; 4] = [
    Format { endings: &["csv"], read: |file, most_rows| csv::read(file, most_rows, MAX_COST) },
    Format { endings: &["json"], read: json::read },
    Format { endings: &["jsonl"], read: json::read_lines },
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
    let ending = ending_of(path);
    let format = FORMATS.iter().find(|format| format.endings.contains(&ending.as_str()));
    let unknown = || {
        let names = endings().collect::<Vec<_>>().join(", ");
        Unreadable::Malformed(format!("the ending {ending:?} is not that of a result; use one of {names}"))
    };
    (format.ok_or_else(unknown)?.read)(open(path)?, most_rows)
}

/// The ending of a file's name in small letters, without the point.
pub(crate) fn ending_of(path: &Path) -> String {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase()
}

fn open(path: &Path) -> Result<File, Unreadable> {
    let is_link = || path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    regular::open(path).map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied => error.into(),
        ErrorKind::IsADirectory => Unreadable::NotAFile("it is a folder".to_owned()),
        ErrorKind::InvalidInput => Unreadable::NotAFile("it is a pipe, a device or a socket".to_owned()),
        _ if is_link() => Unreadable::NotAFile("it is a link that leads to no file".to_owned()),
        _ => error.into(),
    })
}

/// Whether a file can be opened, so that its bytes are an input of the run.
pub fn is_readable(path: &Path) -> bool {
    open(path).is_ok()
}

#[cfg(feature = "parquet")]
fn parquet(file: File) -> Result<ResultFile, Unreadable> {
    crate::parquet::read(file)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: File) -> Result<ResultFile, Unreadable> {
    Err(Unreadable::NotBuiltIn(sqlgauge_base::NotBuiltIn { what: "a Parquet file", feature: "parquet" }))
}
