//! The pages of runs, made when somebody first looks and again when the log has grown.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sqlgauge::StoredReport;
use sqlgauge_report::formats::ServedHtml;
use sqlgauge_run::REPORT;
use tempfile::TempDir;

use crate::ViewError;
use crate::runs::{FoundRun, LogState, RunRow};

/// Name of a run's page.
pub(crate) const PAGE: &str = "index.html";

/// What was made of runs, by their id.
pub(crate) struct Pages {
    /// Goes with the process.
    folder: TempDir,
    made: Mutex<HashMap<String, MadeOf>>,
    rows: Mutex<HashMap<String, KnownRow>>,
}

/// The state of the log that a page was made of; held while it is made.
type MadeOf = Arc<Mutex<LogState>>;
/// A row, and the state of the log that it was read from.
type KnownRow = (LogState, RunRow);

impl Pages {
    pub(crate) fn new() -> Result<Self, ViewError> {
        // Nobody but this user may look into it.
        let folder = tempfile::Builder::new().prefix("sqlgauge-view-").tempdir().map_err(ViewError::Start)?;
        Ok(Self { folder, made: Mutex::default(), rows: Mutex::default() })
    }

    /// What the list says of a run; read again when its log has changed.
    pub(crate) fn row(&self, run: &FoundRun) -> RunRow {
        let state = run.state();
        let known = self.rows.lock().unwrap_or_else(PoisonError::into_inner).get(&run.id).cloned();
        if let Some((_, row)) = known.filter(|(of, row)| *of == state && row.name == run.name) {
            return row;
        }
        let row = RunRow::of(run);
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).insert(run.id.clone(), (state, row.clone()));
        row
    }

    /// The folder with the page of a run as it is now.
    pub(crate) fn of(&self, run: &FoundRun) -> Result<PathBuf, ViewError> {
        let state = {
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(made.entry(run.id.clone()).or_default())
        };
        let folder = self.folder.path().join(&run.id);
        // Two requests for one run wait for each other; those for others do not.
        let mut of = state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = run.state();
        if *of != now || now == (0, 0) {
            write_page(run, &folder)?;
            *of = now;
        }
        Ok(folder)
    }
}

fn write_page(run: &FoundRun, folder: &Path) -> Result<(), ViewError> {
    std::fs::create_dir_all(folder).map_err(|source| ViewError::Write { path: folder.to_owned(), source })?;
    let StoredReport { report, .. } = StoredReport::read(&run.path)?;
    let items = ServedHtml::items_of(&folder.join(PAGE));
    if !items.exists() {
        take_over(&ServedHtml::items_of(&run.path.join(REPORT)), &items);
    }
    let page = ServedHtml { assets: "/assets/", home: "/", run: &run.id };
    Ok(page.write_file(&report, &folder.join(PAGE))?)
}

/// Takes over the files that `score` made for its own report: the page keeps those that are whole and of this log, and makes others
/// anew. What cannot be taken is made, too.
fn take_over(from: &Path, to: &Path) {
    let Ok(entries) = std::fs::read_dir(from) else { return };
    if std::fs::create_dir(to).is_err() {
        return;
    }
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
        let place = to.join(entry.file_name());
        // A link costs nothing where both are on one disk.
        let _ = std::fs::hard_link(entry.path(), &place)
            .or_else(|_| std::fs::copy(entry.path(), &place).map(drop));
    }
}
