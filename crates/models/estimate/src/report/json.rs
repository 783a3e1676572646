//! `json`: the estimates, as `estimate --json` prints them.

use super::Reliability;
use sqlgauge_report::ReportError;

/// All estimates as an array, indented, with a final line end.
///
/// # Errors
/// If the data cannot be turned into JSON.
pub fn json(report: &Reliability) -> Result<String, ReportError> {
    Ok(format!("{}\n", serde_json::to_string_pretty(&report.estimates)?))
}
