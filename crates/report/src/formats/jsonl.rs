//! `jsonl`: the items, one JSON object per line, as `items.jsonl` has them.

use std::io::Write;

use super::Format;
use crate::{Report, ReportError};

/// The items, one JSON object per line.
pub struct Jsonl;

impl Format for Jsonl {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn extension(&self) -> &'static str {
        "jsonl"
    }

    fn render(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        report.items.for_each(|item| {
            serde_json::to_writer(&mut *out, item)?;
            Ok(out.write_all(b"\n")?)
        })
    }
}
