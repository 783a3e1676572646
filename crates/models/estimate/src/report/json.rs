//! `json`: the estimates, as `estimate --json` prints them.

use super::{Reliability, SystemEstimate};
use sqlgauge_report::ReportError;

/// All estimates as an array, indented, with a final line end.
///
/// # Errors
/// If the data cannot be turned into JSON.
pub fn json(report: &Reliability) -> Result<String, ReportError> {
    let all: Vec<_> = report.estimates.iter().map(SystemEstimate::with_sentence).collect();
    Ok(format!("{}\n", serde_json::to_string_pretty(&all)?))
}
