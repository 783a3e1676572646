//! `json`: the part of the benchmark that was scored, the warnings about its scores, then the summary as in `summary.json`. Characters
//! that a terminal would obey are escaped.

use std::io::Write;

use serde::Serialize;
use sqlgauge_base::printable_json;
use sqlgauge_run::Summary;

use super::ReportFormat;
use crate::{Report, ReportError, warnings};

/// The summary as indented JSON.
pub struct Json;

#[derive(Serialize)]
struct Warned<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(flatten)]
    summary: &'a Summary,
}

impl ReportFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let warned = Warned {
            part: crate::part(&report.manifest),
            warnings: warnings(&report.summary),
            summary: &report.summary,
        };
        out.write_all(printable_json(&serde_json::to_string_pretty(&warned)?).as_bytes())?;
        out.write_all(b"\n")?;
        Ok(())
    }
}
