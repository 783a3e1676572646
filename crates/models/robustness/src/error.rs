//! What can go wrong.

use std::path::PathBuf;

use sqlgauge_run::RunError;

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RobustnessError {
    /// A file of an evolved benchmark cannot be read.
    #[error("{} cannot be read: {source}; give the folder that `sqlgauge evolve` wrote", path.display())]
    Unreadable {
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of an evolved benchmark is not what `evolve` writes.
    #[error("{}: {reason}; give the folder that `sqlgauge evolve` wrote", path.display())]
    Malformed {
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder has no evolved benchmark.
    #[error("{} has no evolved benchmark (a folder with dev.json and changes.jsonl)", path.display())]
    Nothing { path: PathBuf },
    /// The original run lacks a metric.
    #[error(
        "{} does not score {metric}; score the original with --metrics {} and give that run",
        path.display(),
        crate::METRICS.join(",")
    )]
    Metric {
        /// The run.
        path: PathBuf,
        metric: String,
    },
    /// The original run has no such system.
    #[error("{} has no system {name:?}; its systems are {systems}", path.display())]
    System {
        /// The run.
        path: PathBuf,
        name: String,
        /// Those that there are.
        systems: String,
    },
    /// An evolved item is not of the benchmark that the original run scored.
    #[error(
        "{}: item {id:?} comes from item {index} of the original, and the original run has {present} there; give the run \
         of the benchmark that was evolved",
        path.display()
    )]
    Stranger {
        /// The evolved benchmark.
        path: PathBuf,
        /// The id of the item in the original, as the evolved benchmark has it.
        id: String,
        /// Its position there.
        index: usize,
        /// What the run has there.
        present: String,
    },
    /// A run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
}
