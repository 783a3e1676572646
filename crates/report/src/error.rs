//! What can go wrong when a report is written.

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
    Csv(#[from] csv::Error),
    /// The items could not be read.
    #[error(transparent)]
    Run(#[from] sqlgauge_run::RunError),
    /// No format has that name.
    #[error("there is no report format `{name}`; the formats are {known}")]
    UnknownFormat {
        /// The name as given.
        name: String,
        /// The names that exist, comma-separated.
        known: String,
    },
}
