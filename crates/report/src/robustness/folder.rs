//! The folder of a report.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use sqlgauge_base::file::AtomicFile;
use sqlgauge_run::RunError;

use super::{RobustnessReport, csv, html, json, jsonl, junit, markdown};
use crate::error::ReportError;

/// What the folder of a report holds besides the runs.
pub const FILES: [&str; 6] =
    ["robustness.json", "robustness.jsonl", "robustness.csv", "report.html", "report.md", "junit.xml"];

impl RobustnessReport {
    /// Writes the files of [`FILES`]. They are put in place together: a full disk leaves the earlier ones.
    ///
    /// # Errors
    /// When the folder cannot be made or a file not be written.
    pub fn write_to(&self, folder: &Path) -> Result<(), ReportError> {
        let unwritable = |path: &Path, source| RunError::Unwritable { path: path.to_owned(), source };
        fs::create_dir_all(folder).map_err(|source| unwritable(folder, source))?;
        let texts = [json(self)?, jsonl(self)?, csv(self)?, html(self), markdown(self), junit(self)?];
        let mut files = Vec::with_capacity(texts.len());
        for (name, text) in FILES.iter().zip(texts) {
            let path = folder.join(name);
            let mut file = AtomicFile::create(&path).map_err(|source| unwritable(&path, source))?;
            file.write_all(text.as_bytes()).map_err(|source| unwritable(&path, source))?;
            files.push(file);
        }
        AtomicFile::commit_all(files).map_err(|source| unwritable(folder, source))?;
        Ok(())
    }
}
