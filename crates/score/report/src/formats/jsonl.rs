//! `jsonl`: the items, one JSON object per line, as in `items.jsonl`. Characters that a terminal would obey are escaped.

use std::io::Write;

use sqlgauge_base::printable_json;

use super::ReportFormat;
use crate::{Report, ReportError};

/// The items, one JSON object per line.
pub struct Jsonl;

impl ReportFormat for Jsonl {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn extension(&self) -> &'static str {
        "jsonl"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        report.items.for_each(|item| {
            out.write_all(printable_json(&serde_json::to_string(item)?).as_bytes())?;
            Ok(out.write_all(b"\n")?)
        })
    }
}
