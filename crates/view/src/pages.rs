//! The pages of runs, made when somebody first looks and again when the log has grown.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sqlgauge::StoredReport;
use sqlgauge_report::formats::ServedHtml;
use sqlgauge_run::{Items, REPORT};
use tempfile::TempDir;

use crate::ViewError;
use crate::runs::{FoundRun, LogState, RunRow};

/// Name of a run's page.
pub(crate) const PAGE: &str = "index.html";

/// What was made of runs, by their id.
pub(crate) struct Pages {
    folder: PathBuf,
    /// Goes with the process.
    _temporary: Option<TempDir>,
    made: Mutex<HashMap<String, Arc<Mutex<MadeOf>>>>,
    rows: Mutex<HashMap<String, KnownRow>>,
}

/// What a page was made of; held while it is made.
#[derive(Default)]
struct MadeOf {
    log: LogState,
    items: Option<Items>,
}

/// A row, and the state of the log that it was read from.
type KnownRow = (LogState, RunRow);

impl Pages {
    /// Keeps pages in a folder of that cache, from one start to the next, or else in one that goes with the process.
    pub(crate) fn new(cache: Option<&Path>) -> Result<Self, ViewError> {
        let kept = cache.map(|cache| cache.join("view"));
        let (folder, temporary) = if let Some(folder) = kept.filter(|folder| can_keep(folder)) {
            (folder, None)
        } else {
            // Nobody but this user may look into it.
            let temporary =
                tempfile::Builder::new().prefix("sqlgauge-view-").tempdir().map_err(ViewError::Start)?;
            (temporary.path().to_owned(), Some(temporary))
        };
        Ok(Self { folder, _temporary: temporary, made: Mutex::default(), rows: Mutex::default() })
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
        self.made(run).map(|(folder, _)| folder)
    }

    /// The lines of a run's log with those numbers, by its index.
    pub(crate) fn lines(&self, run: &FoundRun, numbers: &[usize]) -> Result<Vec<Option<Vec<u8>>>, ViewError> {
        let (_, items) = self.made(run)?;
        Ok(numbers.iter().map(|number| items.as_ref()?.line(*number)).collect())
    }

    fn made(&self, run: &FoundRun) -> Result<(PathBuf, Option<Items>), ViewError> {
        let state = {
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(made.entry(run.id.clone()).or_default())
        };
        let folder = self.folder.join(&run.id);
        // Two requests for one run wait for each other; those for others do not.
        let mut of = state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = run.state();
        if of.log != now || now == (0, 0) {
            let items = write_page(run, &folder)?;
            *of = MadeOf { log: now, items: Some(items) };
        }
        Ok((folder, of.items.clone()))
    }
}

/// Makes the folder, readable by this user alone, unless it exists, and tries to write to it.
fn can_keep(folder: &Path) -> bool {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).is_ok() && tempfile::tempfile_in(folder).is_ok()
}

fn write_page(run: &FoundRun, folder: &Path) -> Result<Items, ViewError> {
    std::fs::create_dir_all(folder).map_err(|source| ViewError::Write { path: folder.to_owned(), source })?;
    let StoredReport { report, .. } = StoredReport::read(&run.path)?;
    let items = ServedHtml::items_of(&folder.join(PAGE));
    if !items.exists() {
        take_over(&ServedHtml::items_of(&run.path.join(REPORT)), &items);
    }
    let page = ServedHtml { assets: "/assets/", home: "/", run: &run.id };
    page.write_file(&report, &folder.join(PAGE))?;
    Ok(report.items)
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
