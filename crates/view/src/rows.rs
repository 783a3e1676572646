//! Files of JSON lines that change row by row: labels and decisions.
//!
//! # Contract
//! - A file is read whole, or it is an error that names the file and the line, and nothing is written.
//! - A change takes its turn among all processes ([`Dashboard::turn`]), from before the file is read until it is replaced.
//! - Lines that a change does not concern keep their bytes. A reader and a crash see the old file or the new one.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlgauge_base::file::{AtomicFile, lock_within};
use sqlgauge_base::regular;

use crate::{Dashboard, ViewError};

/// How long a change waits for the one of another process.
const MOST_WAIT: Duration = Duration::from_secs(10);

/// The rows of a file, each with its line.
pub(crate) struct Rows<T> {
    path: PathBuf,
    rows: Vec<(Vec<u8>, T)>,
}

impl<T: Serialize + DeserializeOwned> Rows<T> {
    /// Reads a file; one that does not exist has no row.
    pub(crate) fn read(path: PathBuf) -> Result<Self, ViewError> {
        let bytes = match regular::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(ViewError::Folder { path, source }),
        };
        let lines = (1..).zip(bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii));
        let row = |(line, text): (usize, &[u8])| match serde_json::from_slice(text) {
            Ok(row) => Ok((text.to_owned(), row)),
            Err(error) => Err(ViewError::Row { path: path.clone(), line, message: reason(&error) }),
        };
        let rows = lines.filter(|(_, text)| !text.is_empty()).map(row).collect::<Result<_, _>>()?;
        Ok(Self { path, rows })
    }

    /// The rows, in the order of the file.
    pub(crate) fn into_rows(self) -> Vec<T> {
        self.rows.into_iter().map(|(_, row)| row).collect()
    }

    /// The rows, in the order of the file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows.iter().map(|(_, row)| row)
    }

    /// Puts a row in the place of those that it replaces, or at the end. Without a row it takes them out.
    pub(crate) fn put(&mut self, row: Option<T>, replaces: impl Fn(&T) -> bool) -> Result<(), ViewError> {
        let place = self.rows.iter().position(|(_, row)| replaces(row)).unwrap_or(self.rows.len());
        self.rows.retain(|(_, row)| !replaces(row));
        if let Some(row) = row {
            let line = serde_json::to_vec(&row).map_err(|error| self.unwritable(error.into()))?;
            self.rows.insert(place, (line, row));
        }
        Ok(())
    }

    /// The file as it is to become.
    pub(crate) fn prepared(&self) -> Result<AtomicFile, ViewError> {
        let prepare = || {
            make_folder_of(&self.path)?;
            let mut file = AtomicFile::create(&self.path)?;
            self.rows.iter().try_for_each(|(line, _)| file.write_all(&[line, b"\n".as_slice()].concat()))?;
            Ok(file)
        };
        prepare().map_err(|source| self.unwritable(source))
    }

    /// Puts prepared files in place of what they are made of.
    pub(crate) fn commit(&self, files: impl IntoIterator<Item = AtomicFile>) -> Result<(), ViewError> {
        AtomicFile::commit_all(files).map_err(|source| self.unwritable(source))
    }

    fn unwritable(&self, source: io::Error) -> ViewError {
        ViewError::Write { path: self.path.clone(), source }
    }
}

impl Dashboard {
    /// The turn of this process to change files of its person, for as long as it is held.
    pub(crate) fn turn(&self) -> Result<File, ViewError> {
        let path = self.own_folder().join("lock");
        let locked = make_folder_of(&path).and_then(|()| lock_within(&path, MOST_WAIT));
        locked.map_err(|source| ViewError::Write { path, source })
    }
}

/// Why a line cannot be read, without the place in it, which begins with a line 1 of its own.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

fn make_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)
}
