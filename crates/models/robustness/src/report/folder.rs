//! The folder of a report.

use std::path::Path;

use super::{RobustnessReport, csv, json, jsonl, junit};
use sqlgauge_report::document::STEP_SUMMARY;
use sqlgauge_report::{ReportError, write_together};

/// What the folder of a report holds besides the runs.
pub const FILES: [&str; 6] =
    ["robustness.json", "robustness.jsonl", "robustness.csv", "report.html", "report.md", "junit.xml"];

impl RobustnessReport {
    /// Writes the files of [`FILES`]. They are put in place together: a full disk leaves the earlier ones.
    ///
    /// # Errors
    /// When the folder cannot be made or a file not be written.
    pub fn write_to(&self, folder: &Path) -> Result<(), ReportError> {
        let document = self.document();
        let texts = [
            json(self)?,
            jsonl(self)?,
            csv(self)?,
            document.html(),
            document.markdown(STEP_SUMMARY),
            junit(self)?,
        ];
        write_together(folder, FILES.into_iter().zip(texts))?;
        Ok(())
    }
}
