//! `json`: the summary, as `summary.json` has it.

use std::io::Write;

use super::Format;
use crate::{Report, ReportError};

/// The summary as indented JSON.
pub struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        serde_json::to_writer_pretty(&mut *out, &report.summary)?;
        out.write_all(b"\n")?;
        Ok(())
    }
}
