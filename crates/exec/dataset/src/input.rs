//! A file in memory.

use sqlgauge_base::regular;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
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
    /// The content stays in the file, whose lines are plain text.
    stays: bool,
}

/// Above this size a file of JSON lines stays on disk.
const LARGE: u64 = 16 << 20;

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

    /// As [`Input::read`], but a large file of JSON lines stays on disk and is read line by line, if its name says that it is one
    /// and no line needs a repair. Then [`Input::bytes`] has none.
    ///
    /// # Errors
    /// As [`Input::read`].
    pub fn read_or_leave(path: &Path) -> Result<Self, DatasetError> {
        Self::leave_above(path, LARGE)
    }

    fn leave_above(path: &Path, size: u64) -> Result<Self, DatasetError> {
        let is_named = path
            .extension()
            .is_some_and(|ending| ["jsonl", "ndjson"].iter().any(|name| ending.eq_ignore_ascii_case(name)));
        let is_large = |length: u64| length > size && length <= Self::MAX_BYTES;
        let may_stay =
            is_named && std::fs::metadata(path).is_ok_and(|file| file.is_file() && is_large(file.len()));
        if may_stay
            && is_plain(path).map_err(|source| DatasetError::Read { path: path.to_owned(), source })?
        {
            return Ok(Self { path: path.to_owned(), bytes: Arc::default(), stays: true });
        }
        Self::read(path)
    }

    /// The lines of a file that stays on disk; `None` of any other.
    pub(crate) fn lines(&self) -> Result<Option<PlainLines>, DatasetError> {
        if !self.stays {
            return Ok(None);
        }
        let file = regular::open(&self.path).map_err(|source| self.unreadable(source))?;
        Ok(Some(PlainLines { file: BufReader::new(file), line: Vec::new() }))
    }

    /// What the system says of the file.
    pub(crate) fn unreadable(&self, source: io::Error) -> DatasetError {
        DatasetError::Read { path: self.path.clone(), source }
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
        Self { path: path.into(), bytes, stays: false }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file holds; nothing where it stays on disk ([`Input::read_or_leave`]).
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The name alone, for messages about what was read.
    pub(crate) fn without_bytes(self) -> Self {
        Self { bytes: Arc::default(), stays: false, ..self }
    }

    /// The file as text; repairs are added to `notes`.
    pub(crate) fn text(&self, notes: &mut Vec<String>) -> Result<Cow<'_, str>, DatasetError> {
        if self.stays {
            let whole = Self::read(&self.path)?;
            return Ok(Cow::Owned(whole.text(notes)?.into_owned()));
        }
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

    /// An error about two items of this file with one id.
    pub(crate) fn twice(
        &self,
        id: String,
        first: impl std::fmt::Display,
        second: impl std::fmt::Display,
    ) -> DatasetError {
        let path = self.path.clone();
        DatasetError::DuplicateId { path, id, first: first.to_string(), second: second.to_string() }
    }

    /// An error about this file as a whole.
    pub(crate) fn not_readable(&self, problem: impl Into<String>, remedy: impl Into<String>) -> DatasetError {
        DatasetError::NotReadable { path: self.path.clone(), problem: problem.into(), remedy: remedy.into() }
    }
}

/// The lines of a file that was found to be plain.
pub(crate) struct PlainLines {
    file: BufReader<File>,
    line: Vec<u8>,
}

impl PlainLines {
    /// The next line, without its end.
    ///
    /// # Errors
    /// What the system says, and where the file is not any more what it was.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<&str>> {
        self.line.clear();
        if self.file.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        std::str::from_utf8(line).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// Whether each line is UTF-8 without a NUL byte or a line end inside, and none begins with a byte order mark.
fn is_plain(path: &Path) -> io::Result<bool> {
    let mut lines = PlainLines { file: BufReader::new(regular::open(path)?), line: Vec::new() };
    loop {
        match lines.next_line() {
            Ok(None) => return Ok(true),
            Ok(Some(line)) if !line.starts_with('\u{feff}') && !line.contains(['\0', '\r']) => {}
            Ok(Some(_)) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(false),
            Err(error) => return Err(error),
        }
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
    fn lines_that_stay_on_disk_are_the_same_as_those_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        for (text, stays) in [
            ("{\"a\": 1}\n\n{\"a\": \"é\"}\r\n{\"a\": 3}", true),
            ("{\"a\": 1}\n", true),
            ("{\"a\": 1}\r{\"a\": 2}\n", false),
            ("\u{feff}{\"a\": 1}\n", false),
            ("{\"a\": \"\0\"}\n", false),
        ] {
            std::fs::write(&path, text).unwrap();
            let input = Input::leave_above(&path, 2).unwrap();
            assert_eq!(input.stays, stays, "{text:?}");
            let rows = |input: &Input| {
                let (mut rows, mut notes) = (Vec::new(), Vec::new());
                let format: crate::FileFormat = "jsonl".parse().unwrap();
                let read = format.read(input, &mut notes, &mut |part| {
                    rows.push(format!("{part:?}"));
                    Ok(())
                });
                (rows, notes, read.map_err(|error| error.to_string()))
            };
            assert_eq!(rows(&input), rows(&Input::read(&path).unwrap()), "{text:?}");
            assert_eq!(
                input.text(&mut Vec::new()).unwrap(),
                Input::read(&path).unwrap().text(&mut Vec::new()).unwrap()
            );
        }
        std::fs::write(&path, b"{\"a\": \"\xff\"}\n").unwrap();
        assert!(!Input::leave_above(&path, 2).unwrap().stays);
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
