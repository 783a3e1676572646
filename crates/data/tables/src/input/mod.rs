//! Files to rows: every reader gives the names of the columns, then row after row as texts, the empty one for no value.

mod decode;
mod delimiter;
mod find;
mod parquet;
mod separated;

use csv::StringRecord;

pub(crate) use find::{ENDINGS, Source, find};

use crate::options::Options;
use crate::report::{Encoding, Ragged, Refusal};

/// A part of a table.
pub(crate) enum Part<'a> {
    /// The names of the columns, first of all.
    Header(&'a StringRecord),
    /// A row of as many values.
    Row(&'a StringRecord),
}

/// What takes the parts of a table; it may refuse the rest.
pub(crate) type Take<'a> = &'a mut dyn FnMut(Part<'_>) -> Result<(), Refused>;

/// How a file was read.
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
    pub(crate) reason: Refusal,
    pub(crate) detail: String,
}

impl Refused {
    pub(crate) fn new(reason: Refusal, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

/// Reads a table from its beginning to its end.
pub(crate) fn read(source: &Source, options: &Options, take: Take<'_>) -> Result<Reading, Refused> {
    let length = std::fs::metadata(&source.path).map_err(|error| unreadable(&error))?.len();
    if length > options.max_file_bytes {
        return Err(Refused::new(
            Refusal::TooLarge,
            format!("{length} bytes, of which at most {} are read; split the file", options.max_file_bytes),
        ));
    }
    match source.ending.as_str() {
        "parquet" => parquet::read(source, take),
        ending => separated::read(source, ending == "tsv", options, take),
    }
}

fn unreadable(error: &std::io::Error) -> Refused {
    Refused::new(Refusal::Unreadable, format!("{error}; check that you may read the file"))
}
