//! The dashboard as files: the list of runs and each run's report, for a folder or any server of files.

use std::path::{Path, PathBuf};

use sqlgauge_base::file::write_atomically;
use sqlgauge_core::StoredReport;
use sqlgauge_report::ReportError;
use sqlgauge_report::formats::Html;

use crate::records::{KnownKinds, RecordKind, find_records};
use crate::routes::home_of;
use crate::runs::RunRow;
use crate::{FoundRun, ViewError, find_runs};

/// Writes `index.html`, `run/ID/index.html` for every run below the folders, and `estimate/ID.html` for every estimate; returns the runs.
///
/// Labels and decisions are given to a server, and two runs are compared by one: neither is in the files.
///
/// # Errors
/// When there is no run, or a file cannot be written. A run or an estimate that cannot be read is listed with the reason.
pub fn export(folders: &[PathBuf], out: &Path) -> Result<Vec<FoundRun>, ViewError> {
    let runs = find_runs(folders)?;
    if runs.is_empty() {
        return Err(ViewError::NoRun { folders: folders.to_vec() });
    }
    let mut rows = Vec::new();
    for run in &runs {
        rows.push(match export_run(run, out) {
            Err(error @ (ViewError::Write { .. } | ViewError::Report(ReportError::Write(_)))) => {
                return Err(error);
            }
            Err(error) => RunRow::unreadable(run, &sqlgauge_core::sentence(&error)),
            Ok(()) => RunRow::of(run),
        });
    }
    let mut records = find_records(folders, &KnownKinds::default())?;
    // A finding is decided and an answer labelled on a page that a server answers.
    records
        .list
        .retain(|record| ![RecordKind::Audit, RecordKind::Plan].map(|kind| record.is(kind)).contains(&true));
    for record in records.list.iter_mut().filter(|record| record.is(RecordKind::Estimate)) {
        match record.page() {
            Ok(page) => {
                let path = folder_at(out.join("estimate"))?.join(format!("{}.html", record.id));
                write(&path, page.as_bytes())?;
            }
            Err(error) => record.problem = Some(sqlgauge_core::sentence(&error)),
        }
    }
    let path = out.join("index.html");
    let page = home_of(&rows, &records)
        .map_err(|error| ViewError::Write { path: path.clone(), source: error.into() })?;
    write(&path, page.as_bytes())?;
    Ok(runs)
}

fn export_run(run: &FoundRun, out: &Path) -> Result<(), ViewError> {
    let StoredReport { report, .. } = StoredReport::read(&run.path)?;
    let folder = folder_at(out.join("run").join(&run.id))?;
    Ok(Html.write_file_of_site(&report, &folder.join("index.html"), "../../index.html")?)
}

fn folder_at(folder: PathBuf) -> Result<PathBuf, ViewError> {
    match std::fs::create_dir_all(&folder) {
        Ok(()) => Ok(folder),
        Err(source) => Err(ViewError::Write { path: folder, source }),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), ViewError> {
    write_atomically(path, |file| file.write_all(bytes))
        .map_err(|source| ViewError::Write { path: path.to_owned(), source })
}
