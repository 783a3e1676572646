//! Why a benchmark could not be evolved.

use std::io;
use std::path::PathBuf;

use sqlgauge_base::pool::{NoThread, Panicked};
use sqlgauge_dataset::DatasetError;
use sqlgauge_engine::EngineError;

use crate::kind::ChangeKind;
use crate::migrate::MigrationError;
use crate::step::ChangeError;

/// Why a benchmark could not be evolved.
#[derive(Debug, thiserror::Error)]
pub enum EvolveError {
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Thread(#[from] NoThread),
    #[error(transparent)]
    Defect(#[from] Panicked),
    /// A new database that cannot be written.
    #[error(transparent)]
    Migration(#[from] MigrationError),
    /// What the run depends on cannot be written as JSON.
    #[error("what the run depends on cannot be written as JSON: {0}")]
    Inputs(#[from] serde_json::Error),
    #[error("{} cannot be written ({source}): {}", path.display(), sqlgauge_base::file::remedy(source))]
    Write { path: PathBuf, source: io::Error },
    /// A file of an earlier run that cannot be read.
    #[error("{} cannot be read ({message}): remove its folder and run again", path.display())]
    Read { path: PathBuf, message: String },
    /// A change of a script does not fit.
    #[error("the script's change number {number} of {db_id}: {source}")]
    Script {
        db_id: String,
        /// Which of its changes, from 1.
        number: usize,
        source: ChangeError,
    },
    /// The changes of a script are of a database that no gold asks about.
    #[error(
        "the script changes {db_id:?}, which no gold asks about; write the db_id of a database that one asks about, or take those lines out"
    )]
    ScriptDatabase { db_id: String },
    /// A history of kinds that are out of scope or leave the schema as it is.
    #[error(
        "a history needs a kind that changes the schema and whose questions can still be answered; none of the given kinds is one: add one such as {}",
        ChangeKind::RenameColumns
    )]
    NoStep,
    /// The tables.json says nothing of a database.
    #[error(
        "the tables.json has no database {db_id:?}, which the golds ask about; give the file of this benchmark"
    )]
    NoEntry { db_id: String },
    #[error("another process is writing {}; wait for it, or choose another --out", path.display())]
    Locked { path: PathBuf },
    #[error("{} holds a benchmark evolved with other options; choose another --out, or remove it", path.display())]
    Occupied { path: PathBuf },
}
