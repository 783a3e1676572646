//! Why there is no estimate.

use std::path::PathBuf;

/// What every method but those of a judge needs.
pub(crate) const NEEDED_LABELS: &str = "labelled predictions for questions that are not the target's own";

/// How to come by a labelled run.
pub(crate) const LABELLED_RUN: &str = "give a run with --known, the best one on these databases: `sqlgauge synth --for DB --count 500 \
     --out mine` makes questions with golds; let the system answer them, and `sqlgauge score` its answers";

/// Why no estimate could be made. Every message names the input at fault and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EstimateError {
    /// The method is left out of this build.
    #[error(transparent)]
    NotBuiltIn(#[from] sqlgauge_base::NotBuiltIn),
    /// A run directory could not be read.
    #[error(transparent)]
    Run(#[from] sqlgauge_run::RunError),
    /// A file of questions or predictions could not be read.
    #[error(transparent)]
    Dataset(Box<sqlgauge_dataset::DatasetError>),
    #[error(transparent)]
    Engine(#[from] sqlgauge_engine::EngineError),
    /// No database in memory for generated data.
    #[error(transparent)]
    Search(#[from] sqlgauge_search::SearchError),
    /// The run directory has no label of the metric asked for.
    #[error("the run in {} has no label of {metric}; it has {}: choose one with --metric", path.display(), if metrics.is_empty() { "none".to_owned() } else { metrics.join(", ") })]
    NoMetric {
        path: PathBuf,
        metric: String,
        /// Metrics of the run with scores in [0, 1].
        metrics: Vec<String>,
    },
    /// A database of a known run is not where it was.
    #[error("database `{db_id}` of the run in {} is not at {}; name its folder or address with --known-db", run.display(), path.display())]
    MissingDatabase {
        db_id: String,
        run: PathBuf,
        /// Where it was when the run was made.
        path: PathBuf,
    },
    #[error("{0} has no question; an accuracy needs at least one")]
    EmptyTarget(PathBuf),
    /// The method needs something that is not there.
    #[error("{method} needs {needs}; {remedy}")]
    Needs { method: &'static str, needs: String, remedy: &'static str },
    /// A label belongs to nothing that is asked.
    #[error("the label file {} labels `{id}`, which is not in the target; use the target file's ids", path.display())]
    StrayLabel { path: PathBuf, id: String },
    #[error("unknown method `{name}`; the methods are {}", methods.join(", "))]
    UnknownMethod { name: String, methods: Vec<&'static str> },
    #[error("{0}")]
    Computation(String),
}

impl From<sqlgauge_dataset::DatasetError> for EstimateError {
    fn from(error: sqlgauge_dataset::DatasetError) -> Self {
        Self::Dataset(Box::new(error))
    }
}
