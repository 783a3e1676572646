//! Files of JSON lines that change row by row: labels and decisions of people.
//!
//! # Contract
//! - A file is read whole, or it is an error that names the file and the line, and nothing is written.
//! - A change takes its turn among all processes ([`turn`]), from before the file is read until it is replaced.
//! - Lines that a change does not concern keep their bytes. A reader and a crash see the old file or the new one.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::file::{AtomicFile, lock_within};
use crate::regular;

/// How long a change waits for the one of another process.
const MOST_WAIT: Duration = Duration::from_secs(10);

/// Why a file of rows cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line of it cannot be understood.
    #[error(
        "{path}, line {line} cannot be read ({message}); nothing was written: mend this line, or move the file elsewhere"
    )]
    Row {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        message: String,
    },
    /// It cannot be written.
    #[error("{path} cannot be written: {source}; make its folder writable or choose another one")]
    Write {
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The rows of a file, each with its line.
#[derive(Debug)]
pub struct Rows<T> {
    path: PathBuf,
    rows: Vec<(Vec<u8>, T)>,
}

impl<T: Serialize + DeserializeOwned> Rows<T> {
    /// Reads a file; one that does not exist has no row.
    ///
    /// # Errors
    /// When it cannot be read, or a line is not such a row.
    pub fn read(path: PathBuf) -> Result<Self, RowsError> {
        let bytes = match regular::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(RowsError::Read { path, source }),
        };
        let lines = (1..).zip(bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii));
        let row = |(line, text): (usize, &[u8])| match serde_json::from_slice(text) {
            Ok(row) => Ok((text.to_owned(), row)),
            Err(error) => Err(RowsError::Row { path: path.clone(), line, message: reason(&error) }),
        };
        let rows = lines.filter(|(_, text)| !text.is_empty()).map(row).collect::<Result<_, _>>()?;
        Ok(Self { path, rows })
    }

    /// The rows, in the order of the file.
    pub fn into_rows(self) -> Vec<T> {
        self.rows.into_iter().map(|(_, row)| row).collect()
    }

    /// The rows, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows.iter().map(|(_, row)| row)
    }

    /// Puts a row in the place of those that it replaces, or at the end. Without a row it takes them out.
    ///
    /// # Errors
    /// When the row cannot be written as JSON.
    pub fn put(&mut self, row: Option<T>, replaces: impl Fn(&T) -> bool) -> Result<(), RowsError> {
        let place = self.rows.iter().position(|(_, row)| replaces(row)).unwrap_or(self.rows.len());
        self.rows.retain(|(_, row)| !replaces(row));
        if let Some(row) = row {
            let line = serde_json::to_vec(&row).map_err(|error| self.unwritable(error.into()))?;
            self.rows.insert(place, (line, row));
        }
        Ok(())
    }

    /// The file as it is to become.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn prepared(&self) -> Result<AtomicFile, RowsError> {
        let prepare = || {
            make_folder_of(&self.path)?;
            let mut file = AtomicFile::create(&self.path)?;
            self.rows.iter().try_for_each(|(line, _)| file.write_all(&[line, b"\n".as_slice()].concat()))?;
            Ok(file)
        };
        prepare().map_err(|source| self.unwritable(source))
    }

    /// Puts prepared files in place of what they are made of.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn commit(&self, files: impl IntoIterator<Item = AtomicFile>) -> Result<(), RowsError> {
        AtomicFile::commit_all(files).map_err(|source| self.unwritable(source))
    }

    fn unwritable(&self, source: io::Error) -> RowsError {
        RowsError::Write { path: self.path.clone(), source }
    }
}

/// The turn of this process to change files of a folder, which is made if need be, for as long as what is returned lives.
///
/// # Errors
/// When another process does not let go of it, or nothing can be written there.
pub fn turn(folder: &Path) -> Result<File, RowsError> {
    let path = folder.join("lock");
    let locked = make_folder_of(&path).and_then(|()| lock_within(&path, MOST_WAIT));
    locked.map_err(|source| RowsError::Write { path, source })
}

/// Seconds since 1970, for rows that say when.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Why a line cannot be read, without the place in it, which begins with a line 1 of its own.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

fn make_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)
}
