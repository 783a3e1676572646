//! What can go wrong.

use std::io;
use std::path::PathBuf;

use sqlgauge_base::rows::RowsError;
use thiserror::Error;

/// Why the dashboard cannot do something.
#[derive(Debug, Error)]
pub enum ViewError {
    /// The port cannot be listened on.
    #[error("port {port} cannot be listened on: {source}; leave --port out for a free one")]
    Port {
        port: u16,
        /// Why.
        source: io::Error,
    },
    /// The server cannot begin or go on.
    #[error("the server cannot run: {0}")]
    Start(#[source] io::Error),
    /// There is not a single run.
    #[error("found no run below {}; `sqlgauge score … --out DIR` makes one", folders.iter().map(|one| one.display().to_string()).collect::<Vec<_>>().join(", "))]
    NoRun {
        /// Where it was looked for.
        folders: Vec<PathBuf>,
    },
    /// A folder that was given cannot be read.
    #[error("{path}: {source}")]
    Folder {
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No run, audit or estimate has that name.
    #[error("this page does not exist, or no longer: open the list again")]
    UnknownRun,
    /// A run has no such item.
    #[error("the run has no item {id:?} of a system {system:?}")]
    UnknownItem { system: String, id: String },
    /// An audit has no such finding.
    #[error("the audit has no finding of {rule} on {id}; it may have been written again: look at it again")]
    UnknownFinding {
        /// The item.
        id: String,
        rule: String,
    },
    /// A finding is rejected without a reason.
    #[error("give a reason for rejecting {rule} on {id}: `audit --allow` needs one")]
    NoReason {
        /// The item.
        id: String,
        rule: String,
    },
    /// A file of another command cannot be understood.
    #[error("{path}, line {line}: {message}; write it again with the command that made it")]
    Record {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        message: String,
    },
    /// A person's labels or decisions cannot be understood.
    #[error(transparent)]
    Rows(RowsError),
    /// What a person saw is not what is there now.
    #[error(
        "{what} has changed since this page was loaded, and nothing was written: reload the page and look at it again"
    )]
    Changed {
        /// The answer or the gold.
        what: String,
    },
    /// The log of a run has only the beginning of an answer.
    #[error("the run has only the beginning of the answer of {system:?} to {id:?}, so it cannot be labelled")]
    Cut {
        system: String,
        /// The item.
        id: String,
    },
    /// A file is too large to be shown, alone or with those before it.
    #[error("{path} is too large to be shown here; name a folder with fewer or smaller files")]
    TooLarge { path: PathBuf },
    /// A file cannot be written.
    #[error("{path} cannot be written: {source}; --labels DIR and --export DIR name folders that can")]
    Write {
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A run cannot be read.
    #[error(transparent)]
    Run(#[from] sqlgauge_run::RunError),
    /// A page cannot be made.
    #[error(transparent)]
    Report(#[from] sqlgauge_report::ReportError),
    /// A run cannot be read, or two cannot be compared.
    #[error(transparent)]
    Job(#[from] sqlgauge_core::Error),
}

impl From<RowsError> for ViewError {
    fn from(error: RowsError) -> Self {
        match error {
            RowsError::Write { path, source } => Self::Write { path, source },
            error => Self::Rows(error),
        }
    }
}
