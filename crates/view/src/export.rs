//! The dashboard as files: the list of runs and each run's report, for a folder or any server of files.

use std::path::Path;

use sqlgauge::StoredReport;
use sqlgauge_base::file::write_atomically;
use sqlgauge_report::formats::ExportedHtml;

use crate::routes::home_of;
use crate::runs::RunRow;
use crate::{FoundRun, ViewError, find_runs};

/// Writes `index.html` and `run/ID/index.html` for every run below the folders, and returns the runs.
///
/// Labels are given to a server, and two runs are compared by one: neither is in the files.
///
/// # Errors
/// When there is no run, or a file cannot be written. A run that cannot be read is listed with the reason.
pub fn export(folders: &[std::path::PathBuf], out: &Path) -> Result<Vec<FoundRun>, ViewError> {
    let runs = find_runs(folders)?;
    if runs.is_empty() {
        return Err(ViewError::NoRun { folders: folders.to_vec() });
    }
    let html = ExportedHtml { home: "../../index.html" };
    for run in &runs {
        let Ok(StoredReport { report, .. }) = StoredReport::read(&run.path) else { continue };
        let folder = out.join("run").join(&run.id);
        std::fs::create_dir_all(&folder)
            .map_err(|source| ViewError::Write { path: folder.clone(), source })?;
        html.write_file(&report, &folder.join("index.html"))?;
    }
    let rows: Vec<RunRow> = runs.iter().map(RunRow::of).collect();
    let path = out.join("index.html");
    let about = |source| ViewError::Write { path: path.clone(), source };
    let page = home_of(&rows).map_err(|error| about(error.into()))?;
    write_atomically(&path, |file| file.write_all(page.as_bytes())).map_err(about)?;
    Ok(runs)
}
