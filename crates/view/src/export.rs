//! The dashboard as files: the list of runs and each run's report, for a folder or any server of files.

use std::path::{Path, PathBuf};

use sqlgauge::StoredReport;
use sqlgauge_base::file::write_atomically;
use sqlgauge_report::formats::Html;

use crate::records::{KnownKinds, MOST_OF_PAGE, RecordKind, find_records, read};
use crate::routes::home_of;
use crate::runs::RunRow;
use crate::{FoundRun, ViewError, find_runs};

/// Writes `index.html`, `run/ID/index.html` for every run below the folders, and `estimate/ID.html` for every estimate; returns the runs.
///
/// Labels and decisions are given to a server, and two runs are compared by one: neither is in the files.
///
/// # Errors
/// When there is no run, or a file cannot be written. A run that cannot be read is listed with the reason.
pub fn export(folders: &[PathBuf], out: &Path) -> Result<Vec<FoundRun>, ViewError> {
    let runs = find_runs(folders)?;
    if runs.is_empty() {
        return Err(ViewError::NoRun { folders: folders.to_vec() });
    }
    for run in &runs {
        let Ok(StoredReport { report, .. }) = StoredReport::read(&run.path) else { continue };
        let folder = made(out.join("run").join(&run.id))?;
        Html.write_file_of_site(&report, &folder.join("index.html"), "../../index.html")?;
    }
    let mut records = find_records(folders, &KnownKinds::default())?;
    // A finding is decided on a page that a server answers.
    records.found.retain(|record| !record.is(RecordKind::Audit));
    for record in &records.found {
        if let Some(report) = record.report() {
            let page = made(out.join("estimate"))?.join(format!("{}.html", record.id));
            let bytes = read(&report, MOST_OF_PAGE)?;
            write(&page, &bytes)?;
        }
    }
    let rows: Vec<RunRow> = runs.iter().map(RunRow::of).collect();
    let path = out.join("index.html");
    let page = home_of(&rows, &records)
        .map_err(|error| ViewError::Write { path: path.clone(), source: error.into() })?;
    write(&path, page.as_bytes())?;
    Ok(runs)
}

fn made(folder: PathBuf) -> Result<PathBuf, ViewError> {
    match std::fs::create_dir_all(&folder) {
        Ok(()) => Ok(folder),
        Err(source) => Err(ViewError::Write { path: folder, source }),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ViewError> {
    write_atomically(path, |file| file.write_all(bytes))
        .map_err(|source| ViewError::Write { path: path.to_owned(), source })
}
