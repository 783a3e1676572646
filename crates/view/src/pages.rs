//! The pages of runs, made when somebody first looks and again when the log has grown.
//!
//! Servers may share a folder of pages. A lock beside each page lets one of them write it while none reads it.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sqlgauge_core::StoredReport;
use sqlgauge_report::formats::ServedHtml;
use sqlgauge_run::{Items, Reasons};
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
    states: Mutex<HashMap<String, Arc<Mutex<MadeOf>>>>,
    rows: Mutex<HashMap<String, KnownRow>>,
}

/// What a page was made of; held while it is made.
#[derive(Default)]
struct MadeOf {
    log: LogState,
    source: Option<Source>,
}

/// What single items of a page are taken from.
type Source = (Items, Arc<Reasons>);

/// A row, and the state of the log that it was read from.
type KnownRow = (LogState, RunRow);

impl Pages {
    /// Keeps pages in a folder of that cache, from one start to the next, or else in one that goes with the process.
    pub(crate) fn new(cache: Option<&Path>) -> Result<Self, ViewError> {
        let permanent = cache.map(|cache| cache.join("view"));
        let (folder, temporary) = if let Some(folder) = permanent.filter(|folder| can_keep(folder)) {
            (folder, None)
        } else {
            // Nobody but this user may look into it.
            let temporary =
                tempfile::Builder::new().prefix("sqlgauge-view-").tempdir().map_err(ViewError::Start)?;
            (temporary.path().to_owned(), Some(temporary))
        };
        Ok(Self { folder, _temporary: temporary, states: Mutex::default(), rows: Mutex::default() })
    }

    /// What the list says of a run; read again when its log has changed.
    pub(crate) fn row(&self, run: &FoundRun) -> RunRow {
        let state = run.state();
        let cached = self.rows.lock().unwrap_or_else(PoisonError::into_inner).get(&run.id).cloned();
        if let Some((_, row)) = cached.filter(|(of, row)| *of == state && row.name == run.name) {
            return row;
        }
        let row = RunRow::of(run);
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).insert(run.id.clone(), (state, row.clone()));
        row
    }

    /// The page of a run as it is now.
    pub(crate) fn of(&self, run: &FoundRun) -> Result<Page, ViewError> {
        let state = {
            let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(states.entry(run.id.clone()).or_default())
        };
        let folder = self.folder.join(&run.id);
        let lock = lock_beside(&folder)?;
        let about = |source| ViewError::Write { path: folder.clone(), source };
        // Two requests for one run wait for each other; those for others do not.
        let mut of = state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = run.state();
        if of.log != now || now == (0, 0) {
            lock.lock().map_err(about)?;
            let source = write_page(run, &folder)?;
            *of = MadeOf { log: now, source: Some(source) };
        }
        lock.lock_shared().map_err(about)?;
        let source = of.source.clone();
        Ok(Page { folder, source, _lock: lock })
    }
}

/// A run's page, which nobody writes anew as long as this lives.
pub(crate) struct Page {
    /// Where its files are.
    pub(crate) folder: PathBuf,
    source: Option<Source>,
    _lock: File,
}

impl Page {
    /// The items with those numbers, as the page asks for them.
    pub(crate) fn piece(&self, numbers: &[usize]) -> Result<Vec<u8>, ViewError> {
        let Some((items, reasons)) = &self.source else { return Err(ViewError::UnknownRun) };
        let lines: Vec<Option<Vec<u8>>> = numbers.iter().map(|number| items.line(*number)).collect();
        Ok(ServedHtml::piece_of(&lines, reasons)?)
    }
}

/// The file beside a page's folder that is locked.
fn lock_beside(folder: &Path) -> Result<File, ViewError> {
    let path = folder.with_extension("lock");
    let opened = check_no_link(&path, std::fs::Metadata::is_file)
        .and_then(|()| OpenOptions::new().write(true).create(true).truncate(false).open(&path));
    opened.map_err(|source| ViewError::Write { path, source })
}

/// Whether something of that kind is at the path itself, or nothing.
fn check_no_link(path: &Path, is_kind: impl Fn(&std::fs::Metadata) -> bool) -> std::io::Result<()> {
    match path.symlink_metadata() {
        Ok(entry) if !is_kind(&entry) => {
            let message = "something else is there: remove it, or name another folder with --cache";
            Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message))
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes the folder, readable by this user alone, unless it exists, and tries to write to it and to lock. Nobody else may write to it:
/// what lies there is served.
fn can_keep(folder: &Path) -> bool {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).is_ok()
        && check_no_link(folder, std::fs::Metadata::is_dir).is_ok()
        && tempfile::tempfile_in(folder)
            .is_ok_and(|file| file.try_lock_shared().is_ok() && is_private(folder, &file))
}

/// Whether only the user whose file that is may write to the folder.
#[cfg(unix)]
fn is_private(folder: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(folder), Ok(file)) = (folder.metadata(), file.metadata()) else { return false };
    folder.uid() == file.uid() && folder.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_private(_: &Path, _: &File) -> bool {
    true
}

fn write_page(run: &FoundRun, folder: &Path) -> Result<Source, ViewError> {
    check_no_link(folder, std::fs::Metadata::is_dir)
        .and_then(|()| std::fs::create_dir_all(folder))
        .map_err(|source| ViewError::Write { path: folder.to_owned(), source })?;
    let StoredReport { report, .. } = StoredReport::read(&run.path)?;
    let page = ServedHtml { assets: "/assets/", home: "/", run: &run.id };
    page.write_file(&report, &folder.join(PAGE))?;
    let reasons = report.reasons.unwrap_or_else(|| Arc::new(Reasons::of_run(&run.path, &report.manifest)));
    Ok((report.items, reasons))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use sqlgauge_core::{Context, Sample};

    use super::*;
    use crate::find_runs;

    #[cfg(unix)]
    #[test]
    fn a_cache_that_others_write_to_keeps_nothing() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let cache = folder.path().join("cache");
        let keeps = || Pages::new(Some(&cache)).expect("a server").folder == cache.join("view");
        assert!(keeps());
        std::fs::set_permissions(cache.join("view"), PermissionsExt::from_mode(0o777)).expect("a mode");
        assert!(!keeps());
        std::fs::rename(cache.join("view"), folder.path().join("elsewhere")).expect("a move");
        symlink(folder.path().join("elsewhere"), cache.join("view")).expect("a link");
        assert!(!keeps());
    }

    /// A link that lies in a cache leads no write elsewhere.
    #[cfg(unix)]
    #[test]
    fn links_in_a_cache_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = folder.path().join("outside");
        let page = folder.path().join("page");
        for link in [&page, &page.with_extension("lock")] {
            std::os::unix::fs::symlink(&outside, link).expect("a link");
        }
        assert!(lock_beside(&page).is_err());
        assert!(check_no_link(&page, std::fs::Metadata::is_dir).is_err());
        assert!(!outside.exists());
    }

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
