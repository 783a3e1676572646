//! What can go wrong when a report is written.

use std::path::PathBuf;

/// A report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The output did not take the bytes.
    #[error("the report could not be written: {0}; check that the folder exists and has space")]
    Write(#[from] std::io::Error),
    /// The data could not be turned into JSON.
    #[error("the report's data could not be turned into JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The data could not be turned into CSV.
    #[error("the report's data could not be turned into CSV: {0}")]
    Csv(csv::Error),
    /// A run could not be read, or a file not be written.
    #[error(transparent)]
    Run(#[from] sqlgauge_run::RunError),
    /// The place of the pieces of a report is taken.
    #[error(
        "the folder {} is where the items of the report go, and it holds {entry:?}, which is none of them; move the \
         folder away or choose another path",
        path.display()
    )]
    ForeignFolder { path: PathBuf, entry: String },
    /// A log could not be read.
    #[error("{} cannot be read: {source}; choose another path with --log", path.display())]
    UnreadableHistory {
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A line is no line of a log.
    #[error("{}: line {line} is not a line of a log by `monitor`; remove or mend it", path.display())]
    NoHistory {
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
    },
    /// A file of an estimate's folder does not have the form that `estimate` writes.
    #[error("{}, line {line}: {message}; write the folder again with `sqlgauge estimate … --out DIR`", path.display())]
    MalformedEstimate {
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    #[error("unknown report format `{name}`; the formats are {formats}")]
    UnknownFormat {
        name: String,
        /// The names that exist, comma-separated.
        formats: String,
    },
}

/// An output that takes no more bytes is one whatever was written, so that a closed pipe is known as such.
impl From<csv::Error> for ReportError {
    fn from(error: csv::Error) -> Self {
        if !error.is_io_error() {
            return Self::Csv(error);
        }
        match error.into_kind() {
            csv::ErrorKind::Io(error) => Self::Write(error),
            kind => Self::Write(std::io::Error::other(format!("{kind:?}"))),
        }
    }
}
