//! What ends a whole run; a table that cannot be used does not ([`crate::FileRefusal`]).

use std::io;
use std::path::PathBuf;

/// Why no databases were made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TablesError {
    /// The operating system refused to read.
    #[error("cannot read {path}: {source}; check that the path is right and that you may read it")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The operating system refused to write.
    #[error("cannot write {path}: {source}; choose another folder, which is empty or not there")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// No file that is a table by its name.
    #[error("{path} has no table: no file below it ends in {known}; give the folder of the tables")]
    NoTables {
        /// The folder.
        path: PathBuf,
        /// The endings of tables.
        known: String,
    },
    /// Tables, but none that can be used.
    #[error("none of the {count} files below {path} became a table; the first: {first}")]
    AllRefused {
        /// The folder.
        path: PathBuf,
        /// How many files.
        count: usize,
        /// The first refusal with its file.
        first: String,
    },
    /// SQLite refused.
    #[error("{path}: SQLite says: {source}; check the room on the disk")]
    Database {
        /// The database.
        path: PathBuf,
        /// What it said.
        source: rusqlite::Error,
    },
    /// A file that was read twice was not the same.
    #[error("{path} changed while it was read; run again when nobody writes it")]
    Changed {
        /// The file.
        path: PathBuf,
    },
}
