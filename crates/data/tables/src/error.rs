//! Errors that end a whole run; a table that cannot be used does not ([`crate::FileRefusal`]).

use std::io;
use std::path::{Path, PathBuf};

/// Why no databases were made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TablesError {
    /// The operating system refused to read the folder of the tables.
    #[error("cannot read {path}: {source}; check that the path is right and that you may read it")]
    Read {
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The operating system refused to write.
    #[error("cannot write {path}: {source}; choose another folder, which is empty or not there")]
    Write {
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// No file that is a table by its name.
    #[error("{path} has no table: no file below it ends in {endings}; give the folder of the tables")]
    NoTables { path: PathBuf, endings: String },
    /// Tables, but none that can be used.
    #[error("{}", no_table(path, *count, first))]
    AllRefused {
        path: PathBuf,
        /// How many files.
        count: usize,
        first: String,
    },
    /// SQLite refused.
    #[error("{path}: SQLite says: {source}; check the room on the disk")]
    Database {
        path: PathBuf,
        /// What it said.
        source: rusqlite::Error,
    },
    /// A row that does not fit, in a strict run.
    #[error(
        "{path}, line {line}: {values} values, but the header has {names} names; fix the line, or leave --strict out"
    )]
    RaggedRow {
        path: PathBuf,
        line: u64,
        /// How many values it has.
        values: usize,
        /// How many names the header has.
        names: usize,
    },
    /// A file that cannot be read, in a strict run.
    #[error("{path}: {detail}; fix it, take it out of the folder, or leave --strict out")]
    UnreadableFile {
        path: PathBuf,
        /// Why.
        detail: String,
    },
}

fn no_table(path: &Path, count: usize, first: &str) -> String {
    let path = path.display();
    match count {
        1 => format!("the only file below {path} did not become a table: {first}"),
        _ => format!("none of the {count} files below {path} became a table; the first: {first}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_is_singular() {
        let message = |count| {
            TablesError::AllRefused { path: "csv".into(), count, first: "a.csv: empty".into() }.to_string()
        };
        assert_eq!(message(1), "the only file below csv did not become a table: a.csv: empty");
        assert_eq!(message(2), "none of the 2 files below csv became a table; the first: a.csv: empty");
    }
}
