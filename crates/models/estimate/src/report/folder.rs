//! The folder of a report.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use sqlgauge_run::remove_if_there;

use super::{Reliability, json as estimates};
use sqlgauge_report::document::STEP_SUMMARY;
use sqlgauge_report::{ReportError, write_together};

/// Batches or earlier estimates; only where there are some.
pub(super) const DRIFT: &str = "drift.json";

/// What the folder of a report holds.
pub const FILES: [&str; 6] =
    ["run.json", "estimate.json", "predictions.jsonl", "report.html", "report.md", DRIFT];

impl Reliability {
    /// Writes the files of [`FILES`], `drift.json` only where there is something to say of it. They are put in place
    /// together: a full disk leaves the earlier ones.
    ///
    /// # Errors
    /// When the folder cannot be made or a file not be written.
    pub fn write_to(&self, folder: &Path) -> Result<(), ReportError> {
        let document = self.document();
        let mut texts = vec![
            line(serde_json::to_string_pretty(&self.manifest)?),
            estimates(self)?,
            self.predictions()?,
            document.html(),
            document.markdown(STEP_SUMMARY),
        ];
        if !self.drift.is_empty() {
            texts.push(line(serde_json::to_string_pretty(&self.drift)?));
        }
        write_together(folder, FILES.into_iter().zip(texts))?;
        if self.drift.is_empty() {
            // What an earlier call left there would be taken for this one's.
            remove_if_there(&folder.join(DRIFT))?;
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
                    "question": item.question,
                    "prediction": item.prediction,
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

fn line(mut text: String) -> String {
    text.push('\n');
    text
}
