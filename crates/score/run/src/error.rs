//! Errors of a run directory.

use std::io;
use std::path::PathBuf;

use sqlgauge_base::counted_of;
use sqlgauge_base::file::remedy;
use sqlgauge_base::pool::NoThread;

use crate::shard::Shard;

/// Why a run directory cannot be created, continued, written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The folder or a file in it cannot be made.
    #[error("cannot write to {}: {source}; {}, or write elsewhere with --out", path.display(), remedy(source))]
    Unwritable {
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The path is there and is no folder.
    #[error("{} is not a folder; choose another folder with --out", path.display())]
    NotAFolder { path: PathBuf },
    /// The folder holds something that is not a run.
    #[error("{} is not empty and holds no run.json (found {file}); choose a new or empty folder with --out", path.display())]
    Occupied { path: PathBuf, file: String },
    /// The folder to read holds no run.
    #[error("{} holds no run.json; give a folder that `sqlgauge score --out` has written", path.display())]
    NoRun { path: PathBuf },
    /// The folder to read holds an estimate.
    #[error("{} is an estimate, not a scored run: its report is {}", path.display(), path.join("report.md").display())]
    Estimate { path: PathBuf },
    /// `run.json` or `summary.json` is not what this version writes.
    #[error("{} is not readable: {source}; score again with --restart, or choose another folder with --out", path.display())]
    BadRecord {
        path: PathBuf,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// The folder holds a run of other inputs, metrics or options.
    #[error(
        "{} holds another run: {}; choose another folder with --out, or --restart to discard it",
        path.display(),
        differences.join("; ")
    )]
    OtherRun { path: PathBuf, differences: Vec<String> },
    /// The folder to merge is no part of a run.
    #[error("{} is not a shard; give folders that `score --shard` has written", path.display())]
    NoShard { path: PathBuf },
    /// Two folders are shards of different runs.
    #[error(
        "{} is a shard of another run than {}: {}; score it again as the others",
        path.display(),
        first.display(),
        differences.join("; ")
    )]
    OtherShards {
        path: PathBuf,
        /// The folder that it was compared with.
        first: PathBuf,
        differences: Vec<String>,
    },
    #[error("{} and {} are both shard {shard}; give one of them", first.display(), second.display())]
    SameShard {
        shard: Shard,
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    #[error("{count} of {of} shards are missing: {}; score them and name their folders too", numbers(missing, *count))]
    MissingShards {
        /// How many there are.
        of: usize,
        /// How many are missing.
        count: usize,
        /// The numbers of the first of those.
        missing: Vec<usize>,
    },
    /// A shard is not finished.
    #[error("{} has {} of shard {shard}; the command of the shard scores the others", path.display(), counted_of(*done, *total, "item"))]
    UnfinishedShard {
        path: PathBuf,
        shard: Shard,
        /// Items that are there.
        done: usize,
        /// Items that it has.
        total: usize,
    },
    /// Another process is writing the run.
    #[error("another process is writing {}; wait for it, or choose another folder with --out", path.display())]
    Locked { path: PathBuf },
    /// A complete line of `items.jsonl` cannot be read.
    #[error(
        "{} line {line} is not an item: {reason}; remove the line, or score again with --restart",
        path.display()
    )]
    CorruptLine {
        path: PathBuf,
        /// Line number from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A line of `items.jsonl` does not belong to the run.
    #[error(
        "{} line {line} is foreign to this run (system {system}, id {id}: {reason}); remove the line, or score again with --restart",
        path.display()
    )]
    ForeignLine {
        path: PathBuf,
        /// Line number from 1.
        line: usize,
        system: String,
        id: String,
        /// What does not fit.
        reason: String,
    },
    /// The log of a finished shard was changed.
    #[error(
        "{} is not the log that its shard finished with: put the original back, or score the shard again with --restart",
        path.display()
    )]
    EditedLog { path: PathBuf },
    /// A file cannot be read.
    #[error("cannot read {}: {source}; check that the file is there and readable", path.display())]
    Unreadable {
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Predictions and benchmark do not fit together.
    #[error("{0}")]
    BadPlan(String),
    /// A benchmark file or a database of it is not there or not readable.
    #[error(transparent)]
    Dataset(#[from] sqlgauge_dataset::DatasetError),
    /// A database cannot be used.
    #[error(transparent)]
    Engine(#[from] sqlgauge_engine::EngineError),
    /// An item has no result, for a reason that is not the system's.
    #[error("item {id} (database {db_id}) could not be scored and is not in the log: {source}")]
    NotScored {
        /// Id of the example.
        id: String,
        /// Its database.
        db_id: String,
        /// What happened.
        source: sqlgauge_engine::EngineError,
    },
    /// The operating system refuses threads.
    #[error(transparent)]
    Worker(#[from] NoThread),
}

/// The numbers, and whether there are more.
fn numbers(places: &[usize], count: usize) -> String {
    let numbers: Vec<String> = places.iter().map(ToString::to_string).collect();
    let more = if count > places.len() { ", …" } else { "" };
    format!("{}{more}", numbers.join(", "))
}
