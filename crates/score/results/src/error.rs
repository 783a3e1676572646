//! Why results could not be read.

use std::io;
use std::path::PathBuf;

/// Why one result cannot be compared. It is an outcome of its item, and no other item suffers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unreadable {
    /// The system refused.
    #[error("cannot be read: {0}; check that you may read it")]
    Refused(String),
    /// It is a folder, a pipe, or a link that leads to no file.
    #[error("is not a file: {0}; write the result as a file of that name")]
    NotAFile(String),
    /// It is not UTF-8.
    #[error("line {line} is not UTF-8; convert the file, for example with `iconv -f latin1 -t utf-8`")]
    Encoding {
        /// The line, from 1.
        line: u64,
    },
    /// It has no header.
    #[error("has no column; write a header line even without rows")]
    Empty,
    /// A quote is not closed.
    #[error("the quote that opens in line {line} is never closed; double the quotes inside of a field")]
    OpenQuote {
        /// The line, from 1.
        line: u64,
    },
    /// It takes more memory than a comparison may.
    #[error("takes more than {} MiB of memory; leave out columns or rows", limit >> 20)]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// It is not what its ending says.
    #[error("{0}")]
    Malformed(String),
    /// The format is left out of this build.
    #[error("{0}")]
    NotBuiltIn(sqlgauge_base::NotBuiltIn),
}

impl Unreadable {
    /// The status of an item with such a result.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Refused(_) => "unreadable",
            Self::NotAFile(_) => "not_a_file",
            Self::Encoding { .. } => "not_utf8",
            Self::Empty => "no_columns",
            Self::OpenQuote { .. } | Self::Malformed(_) => "malformed",
            Self::TooLarge { .. } => "too_large",
            Self::NotBuiltIn(_) => "not_built_in",
        }
    }

    /// Whether a system with such a result is wrong; otherwise nobody knows.
    pub fn is_wrong(&self) -> bool {
        !matches!(self, Self::TooLarge { .. } | Self::NotBuiltIn(_) | Self::Refused(_))
    }
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Why a folder of results, a configuration or a bundle cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The system refused.
    #[error("cannot read {path}: {source}; check that the path is right and that you may read it")]
    Read {
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line is not what it should be.
    #[error("{path}, line {line}: {problem}; {remedy}")]
    Line {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
        remedy: &'static str,
    },
    #[error("{path} {problem}; {remedy}")]
    Nothing {
        path: PathBuf,
        /// What is wrong, as the rest of a sentence.
        problem: &'static str,
        remedy: &'static str,
    },
    /// A bundle is damaged.
    #[error("{path} is not a whole bundle: {problem}; copy it again from where it was written")]
    Damaged {
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}
