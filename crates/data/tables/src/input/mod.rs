//! Files to rows: every reader gives the names of the columns, then row after row as texts, the empty one for no value.

mod decode;
mod delimiter;
mod find;
mod parquet;
mod records;
mod separated;

use csv::StringRecord;
use std::io;

pub(crate) use find::{ENDINGS, Source, find};
pub(crate) use separated::line;

use crate::error::TablesError;
use crate::options::TablesOptions;
use crate::report::{Encoding, FileRefusal, Ragged};

pub(crate) enum Part<'a> {
    /// The names of the columns, first of all.
    Header(&'a StringRecord),
    Row(&'a StringRecord),
}

/// What takes the parts of a table; it may refuse the rest.
pub(crate) type Take<'a> = &'a mut dyn FnMut(Part<'_>) -> Result<(), NotRead>;

#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    pub(crate) encoding: Option<Encoding>,
    pub(crate) delimiter: Option<char>,
    pub(crate) header: bool,
    pub(crate) ragged: Ragged,
}

/// Why a file is not used, with its figures.
#[derive(Debug, Clone)]
pub(crate) struct Refused {
    pub(crate) reason: FileRefusal,
    pub(crate) detail: String,
}

impl Refused {
    pub(crate) fn new(reason: FileRefusal, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

/// Why a file is not read.
pub(crate) enum NotRead {
    /// It is not used.
    Refused(Refused),
    /// The run ends.
    Ended(TablesError),
}

impl From<Refused> for NotRead {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<TablesError> for NotRead {
    fn from(error: TablesError) -> Self {
        Self::Ended(error)
    }
}

/// Reads a table from its beginning to its end.
pub(crate) fn read(source: &Source, options: &TablesOptions, take: Take<'_>) -> Result<Reading, NotRead> {
    let length = std::fs::metadata(&source.path).map_err(|error| unreadable(&error))?.len();
    if length > options.max_file_bytes {
        return Err(Refused::new(
            FileRefusal::TooLarge,
            format!("{length} bytes, more than the {} that are read; split the file", options.max_file_bytes),
        )
        .into());
    }
    match source.ending.as_str() {
        "parquet" => parquet::read(source, take),
        ending => separated::read(source, ending == "tsv", options, take),
    }
}

/// The system refuses to read the file.
fn unreadable(error: &io::Error) -> Refused {
    let detail = format!("it cannot be read ({error}); check that it is a file and that you may read it");
    Refused::new(FileRefusal::Unreadable, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_refuses_to_read_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), "a,b\n1,2\n").unwrap();
        for ending in ["csv", "tsv", "parquet"] {
            let path = folder.path().join(format!("a.csv/below.{ending}"));
            let source = Source { path, name: "a".to_owned(), ending: ending.to_owned(), closed: None };
            match read(&source, &TablesOptions::default(), &mut |_| Ok(())) {
                Err(NotRead::Refused(refused)) => assert_eq!(refused.reason, FileRefusal::Unreadable),
                _ => panic!("{ending}: it cannot be read"),
            }
        }
    }
}
