//! Why labels cannot be planned, taken or counted.

use std::path::PathBuf;

use sqlgauge_base::rows::RowsError;

/// Each names the thing at fault and the remedy; nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// There is not a plan in the folder.
    #[error("{} has no plan.json ({source}); make one with `sqlgauge label plan --out {}`", .folder.display(), .folder.display())]
    NoPlan { folder: PathBuf, source: std::io::Error },
    #[error("{} cannot be used: {fault}; make the plan again in a new folder", .path.display())]
    Plan { path: PathBuf, fault: String },
    /// The folder has a different plan.
    #[error(
        "{} has a different plan with {labels}; choose a new --out, and take the labels over with `sqlgauge label add --from {}`",
        .folder.display(), .folder.join("labels.jsonl").display()
    )]
    Planned { folder: PathBuf, labels: String },
    #[error(
        "{}, line {line} {fault}; bring back plan.json and draws.jsonl as they were written together, or make a new plan", .path.display()
    )]
    Draws { path: PathBuf, line: usize, fault: String },
    /// The labels to add do not fit the plan.
    #[error("{from}: {fault}")]
    Refused {
        /// The file, or the option.
        from: String,
        fault: String,
    },
}
