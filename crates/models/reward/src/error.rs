//! Failures of the machinery, which are never a value.

use std::io;
use std::path::PathBuf;

use sqlgauge_dataset::DatasetError;
use sqlgauge_engine::EngineError;
use sqlgauge_search::SearchError;
use thiserror::Error;

/// Why there is no reward at all.
#[derive(Debug, Error)]
pub enum RewardError {
    #[error("{0}")]
    Option(String),
    /// The folder of the databases, or a database that it lacks.
    #[error(transparent)]
    Databases(#[from] DatasetError),
    /// A database that cannot be used, or no process to run queries in.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A database that broke while it was read.
    #[error(
        "database `{db_id}` cannot be read any more ({message}): restore its file and score the batch again"
    )]
    Database { db_id: String, message: String },
    #[error("request {0} has no gold: give at least one gold query for each prediction")]
    NoGold(usize),
    #[error("the witnesses in `{}` cannot be {what} ({source}); {remedy}", path.display())]
    Witnesses {
        path: PathBuf,
        /// What was tried: read or written.
        what: &'static str,
        source: io::Error,
        remedy: &'static str,
    },
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error("no thread could be started ({0}): allow more processes (ulimit -u), or use fewer threads")]
    Thread(#[source] io::Error),
    #[error("scoring failed by a defect of sqlgauge ({message}) on the answer `{answer}`: report both")]
    Defect { message: String, answer: String },
}
