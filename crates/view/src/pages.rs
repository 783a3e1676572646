//! The pages of runs, made when somebody first looks and again when the log has grown.
//!
//! Servers may share a folder of pages. A lock beside each page lets one of them write it while none reads it.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sqlgauge::StoredReport;
use sqlgauge_base::regular;
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

    /// The page of a run as it is now.
    pub(crate) fn of(&self, run: &FoundRun) -> Result<Page, ViewError> {
        let state = {
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(made.entry(run.id.clone()).or_default())
        };
        let folder = self.folder.join(&run.id);
        let lock = lock_beside(&folder)?;
        let about = |source| ViewError::Write { path: folder.clone(), source };
        // Two requests for one run wait for each other; those for others do not.
        let mut of = state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = run.state();
        if of.log != now || now == (0, 0) {
            lock.lock().map_err(about)?;
            let items = write_page(run, &folder)?;
            *of = MadeOf { log: now, items: Some(items) };
        }
        lock.lock_shared().map_err(about)?;
        let items = of.items.clone();
        Ok(Page { folder, items, _lock: lock })
    }
}

/// A run's page, which nobody writes anew as long as this lives.
pub(crate) struct Page {
    /// Where its files are.
    pub(crate) folder: PathBuf,
    items: Option<Items>,
    _lock: File,
}

impl Page {
    /// The lines of the run's log with those numbers, by its index.
    pub(crate) fn lines(&self, numbers: &[usize]) -> Vec<Option<Vec<u8>>> {
        numbers.iter().map(|number| self.items.as_ref()?.line(*number)).collect()
    }
}

/// The file beside a page's folder that is locked.
fn lock_beside(folder: &Path) -> Result<File, ViewError> {
    let path = folder.with_extension("lock");
    let opened = regular::check(&path)
        .and_then(|()| OpenOptions::new().write(true).create(true).truncate(false).open(&path));
    opened.map_err(|source| ViewError::Write { path, source })
}

/// Makes the folder, readable by this user alone, unless it exists, and tries to write to it and to lock.
fn can_keep(folder: &Path) -> bool {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).is_ok()
        && tempfile::tempfile_in(folder).is_ok_and(|file| file.try_lock_shared().is_ok())
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use sqlgauge::{Context, Sample};

    use super::*;
    use crate::find_runs;

    #[test]
    fn servers_that_share_a_folder_write_a_page_while_none_of_them_reads_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let sample = Sample::unpack(&folder.path().join("sample")).expect("unpacked");
        let score = |name: &str| {
            let job = sample.score_job(&["ex"], folder.path().join("runs").join(name)).expect("a job");
            job.run(&Context::default()).expect("a run");
        };
        score("a");
        let run = find_runs(&[folder.path().join("runs")]).expect("runs").remove(0);
        let cache = folder.path().join("cache");
        let servers = [(); 2].map(|()| Pages::new(Some(&cache)).expect("a server"));
        let read = servers[0].of(&run).expect("a page");
        let (say, hear) = mpsc::channel();
        std::thread::scope(|scope| {
            let (other, run) = (&servers[1], &run);
            scope.spawn(move || {
                // Both may read it, but the other must first make sure that it is the page of this log.
                let page = other.of(run).expect("a page");
                say.send(page.folder.join(PAGE)).expect("somebody listens");
            });
            assert!(hear.recv_timeout(Duration::from_millis(200)).is_err(), "written while it is read");
            let page = read.folder.join(PAGE);
            drop(read);
            assert_eq!(hear.recv().expect("the page"), page);
            assert!(page.is_file());
        });
    }
}
