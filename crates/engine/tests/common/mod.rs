//! What the integration tests of this crate share.
#![allow(dead_code, reason = "no test program uses all of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use sqlgauge_engine::{Limits, Outcome, SqliteEngine, Value, WorkerCommand};

/// The engine for untrusted texts: with this crate's own worker.
pub fn engine(limits: Limits) -> SqliteEngine {
    SqliteEngine::with_workers(limits, WorkerCommand::new(env!("CARGO_BIN_EXE_sqlgauge-worker"))).unwrap()
}

/// A database file in a folder of its own, made by running `ddl`.
pub fn database(folder: &Path, name: &str, ddl: &str) -> PathBuf {
    let path = folder.join(name);
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(ddl).unwrap();
    path
}

/// The status of an outcome; for rows, their values in short.
pub fn in_short(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed(failure) => failure.kind.to_string(),
        Outcome::Rows(rows) => {
            let rows: Vec<String> =
                rows.rows().map(|row| row.iter().map(value_in_short).collect::<Vec<_>>().join("|")).collect();
            rows.join("/")
        }
    }
}

fn value_in_short(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Blob(bytes) => format!("x{bytes:02x?}"),
    }
}

/// All files of a folder with their bytes.
pub fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

/// The folder of real data, or `None` (said aloud) where there is none; in CI that is an error.
pub fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("SQLGAUGE_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "no real data in {}", folder.display());
    eprintln!("skipped: no real data in {}", folder.display());
    None
}
