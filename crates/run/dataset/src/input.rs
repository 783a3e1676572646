//! A file in memory.

use sqlgauge_base::regular;

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::DatasetError;
use crate::text;

/// The bytes of a file with the name that messages use for it.
///
/// What becomes of accidents in a text file:
/// | accident | outcome |
/// |---|---|
/// | invalid UTF-8 | each maximal invalid part becomes U+FFFD; the lines are noted (the official scripts crash) |
/// | UTF-8 byte order mark | removed, noted |
/// | UTF-16 with a byte order mark | decoded, noted; an odd last byte or a lone surrogate becomes U+FFFD |
/// | `\r\n`, lone `\r` | end a line, as `\n` does |
/// | U+2028, U+2029, NEL, VT, FF | ordinary characters inside a line |
/// | NUL | kept and noted; the database engine decides |
/// | no line end after the last line | the line counts |
/// | blank lines at the end | nothing, unless they are needed to reach the number of examples |
/// | a line of any length | read whole |
/// | more than 1 GiB | [`DatasetError::TooLarge`] |
/// | gzip, zip, zstd or a SQLite file | [`DatasetError::NotReadable`] that says so |
#[derive(Debug, Clone)]
pub struct Input {
    path: PathBuf,
    bytes: Arc<Vec<u8>>,
}

/// First bytes of files that are not text, and what to tell the user who gave one.
const FOREIGN: [(&[u8], &str, &str); 5] = [
    (b"\x1F\x8B", "is compressed with gzip", "unpack it with gunzip first"),
    (b"PK\x03\x04", "is a zip archive or a spreadsheet", "unpack it, or save the sheet as CSV"),
    (b"\x28\xB5\x2F\xFD", "is compressed with zstd", "unpack it with unzstd first"),
    (b"SQLite format 3\0", "is a SQLite database", "give databases with --db"),
    (b"\xFF\xFE\0\0", "looks like UTF-32", "convert it to UTF-8, for example with iconv"),
];

impl Input {
    /// The most that is read of one file: 1 GiB.
    pub const MAX_BYTES: u64 = 1 << 30;

    /// Reads a file (or a pipe) of at most [`Input::MAX_BYTES`].
    ///
    /// # Errors
    /// When the system refuses or the file is larger.
    pub fn read(path: &Path) -> Result<Self, DatasetError> {
        Self::read_up_to(path, Self::MAX_BYTES)
    }

    fn read_up_to(path: &Path, limit: u64) -> Result<Self, DatasetError> {
        let refused = |source| DatasetError::Read { path: path.to_owned(), source };
        let too_large = || DatasetError::TooLarge { path: path.to_owned(), limit };
        let file = regular::open_named(path).map_err(refused)?;
        let announced = file.metadata().map_err(refused)?.len();
        if announced > limit {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(announced).unwrap_or(0));
        file.take(limit + 1).read_to_end(&mut bytes).map_err(refused)?;
        if bytes.len() as u64 > limit {
            return Err(too_large());
        }
        Ok(Self::from_bytes(path, bytes))
    }

    /// Bytes that are in memory already, under the name of a file.
    pub fn from_bytes(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Self {
        Self::of_shared(path, Arc::new(bytes))
    }

    /// The same for bytes that somebody else holds too.
    pub fn of_shared(path: impl Into<PathBuf>, bytes: Arc<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes }
    }

    /// The name of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file holds.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The name alone, for messages about what was read.
    pub(crate) fn without_bytes(self) -> Self {
        Self { bytes: Arc::default(), ..self }
    }

    /// The file as text; repairs are added to `notes`.
    pub(crate) fn text(&self, notes: &mut Vec<String>) -> Result<Cow<'_, str>, DatasetError> {
        for (signature, problem, remedy) in FOREIGN {
            if self.bytes.starts_with(signature) {
                return Err(self.not_readable(problem, remedy));
            }
        }
        Ok(text::decode(&self.bytes, notes))
    }

    /// An error about one place of this file.
    pub(crate) fn malformed(
        &self,
        place: impl std::fmt::Display,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> DatasetError {
        DatasetError::Malformed {
            path: self.path.clone(),
            place: place.to_string(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// An error about this file as a whole.
    pub(crate) fn not_readable(&self, problem: impl Into<String>, remedy: impl Into<String>) -> DatasetError {
        DatasetError::NotReadable { path: self.path.clone(), problem: problem.into(), remedy: remedy.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_over_the_guard_is_refused_and_one_at_the_guard_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gold.sql");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(Input::read_up_to(&path, 5).unwrap().bytes(), b"12345");
        assert!(matches!(Input::read_up_to(&path, 4), Err(DatasetError::TooLarge { limit: 4, .. })));
    }

    #[test]
    fn a_missing_file_and_a_folder_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Input::read(&folder.path().join("nothing.sql")).unwrap_err().to_string();
        assert!(missing.contains("nothing.sql"), "{missing}");
        assert!(matches!(Input::read(folder.path()), Err(DatasetError::Read { .. })));
    }

    #[test]
    fn files_that_are_no_text_say_what_they_are() {
        for (signature, problem, _) in FOREIGN {
            let input = Input::from_bytes("x", signature.to_vec());
            let message = input.text(&mut Vec::new()).unwrap_err().to_string();
            assert!(message.contains(problem), "{message}");
        }
    }
}
