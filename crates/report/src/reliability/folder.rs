//! The folder of a report.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::json;
use sqlgauge_run::{RunError, write_atomically};

use super::{Reliability, html, json as estimates, markdown};
use crate::error::ReportError;

/// Batches or earlier estimates; only where there are some.
const DRIFT: &str = "drift.json";

impl Reliability {
    /// Writes `run.json`, `estimate.json`, `predictions.jsonl`, `report.html`, `report.md`, and `drift.json` where there
    /// is something to say of it. Each file is replaced as a whole: who reads it sees the old or the new one.
    ///
    /// # Errors
    /// When the folder cannot be made or a file not be written.
    pub fn write_to(&self, folder: &Path) -> Result<(), ReportError> {
        fs::create_dir_all(folder)
            .map_err(|source| RunError::Unwritable { path: folder.to_owned(), source })?;
        let drift = folder.join(DRIFT);
        if self.drift.is_empty() {
            // What an earlier call left there would be taken for this one's.
            match fs::remove_file(&drift) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(RunError::Unwritable { path: drift, source }.into());
                }
                _ => {}
            }
        } else {
            write_text(&drift, &line(serde_json::to_string_pretty(&self.drift)?))?;
        }
        let files = [
            ("run.json", line(serde_json::to_string_pretty(&self.manifest)?)),
            ("estimate.json", estimates(self)?),
            ("predictions.jsonl", self.predictions()?),
            ("report.html", html(self)),
            ("report.md", markdown(self)),
        ];
        for (name, text) in files {
            write_text(&folder.join(name), &text)?;
        }
        Ok(())
    }

    /// A line of `predictions.jsonl` for each system and question.
    fn predictions(&self) -> Result<String, serde_json::Error> {
        let mut text = String::new();
        for estimate in &self.estimates {
            for item in &estimate.items {
                let item = json!({
                    "system": estimate.system,
                    "id": item.id,
                    "db_id": item.db_id,
                    "probability": item.probability,
                    "status": item.status,
                    "reasons": item.reasons,
                });
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{}", serde_json::to_string(&item)?);
            }
        }
        Ok(text)
    }
}

/// Replaces a file as a whole.
pub(super) fn write_text(path: &Path, text: &str) -> Result<(), ReportError> {
    write_atomically(path, |out| {
        out.write_all(text.as_bytes())
            .map_err(|source| RunError::Unwritable { path: path.to_owned(), source }.into())
    })
}

fn line(mut text: String) -> String {
    text.push('\n');
    text
}
