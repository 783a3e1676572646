//! What can go wrong with an evaluator.

use std::path::PathBuf;

/// Why an evaluator could not be fitted, saved, loaded or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluatorError {
    /// The meta-set cannot be learnt from.
    #[error("the meta-set {0}")]
    MetaSet(String),
    /// A row of descriptors does not fit the evaluator.
    #[error("the descriptors {0}")]
    Descriptors(String),
    /// An option is out of its range.
    #[error("{0}")]
    Option(String),
    #[error("unknown regressor `{name}`; choose from {regressors}")]
    UnknownRegressor {
        /// What was asked for.
        name: String,
        /// The ids that exist.
        regressors: String,
    },
    /// Only networks can be trained further.
    #[error("an evaluator of kind `{0}` cannot be adapted or fine-tuned; fit one with the regressor `mlp`")]
    NotAdaptable(String),
    /// A library refused.
    #[error("the regressor `{regressor}` failed: {message}")]
    Regressor {
        regressor: &'static str,
        /// What its library said.
        message: String,
    },
    /// The shift could not be computed.
    #[error(transparent)]
    Shift(#[from] sqlgauge_shift::ShiftError),
    /// An embedding file could not be read.
    #[error(transparent)]
    Store(#[from] sqlgauge_encode::StoreError),
    /// A file was encoded otherwise than the source.
    #[error("{} was encoded with {encoder}, and the source with {expected}; what differs: {differing}; encode both alike", path.display())]
    Encoder {
        path: PathBuf,
        encoder: String,
        /// The encoder of the source.
        expected: String,
        differing: String,
    },
    /// A file cannot be read or written.
    #[error("{} cannot be {action}: {source}; {}", path.display(), if *action == "read" { "check the path" } else { sqlgauge_base::file::remedy(source) })]
    File {
        path: PathBuf,
        /// `read` or `written`.
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The folder holds no evaluator that this version understands.
    #[error("{} holds no usable evaluator: {reason}", path.display())]
    Folder {
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
}

impl EvaluatorError {
    /// Turns the error of a regressor's library into ours.
    pub(super) fn regressor<E: std::fmt::Display>(regressor: &'static str) -> impl Fn(E) -> Self {
        move |error| Self::Regressor { regressor, message: error.to_string() }
    }
}
