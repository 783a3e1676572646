//! `json`: the summary, as `summary.json` has it; what a terminal would obey stands as an escape.

use std::io::Write;

use sqlgauge_base::printable_json;

use super::ReportFormat;
use crate::{Report, ReportError};

/// The summary as indented JSON.
pub struct Json;

impl ReportFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        out.write_all(printable_json(&serde_json::to_string_pretty(&report.summary)?).as_bytes())?;
        out.write_all(b"\n")?;
        Ok(())
    }
}
