//! The run directory: who may write it, what it is a run of, and its files.
//!
//! | file | content | written |
//! |---|---|---|
//! | `run.json` | [`Manifest`] | once, atomically, before anything is scored |
//! | `items.jsonl` | one [`Item`] per line in canonical order | appended while scoring |
//! | `items.index` | where each line of the log is, and its scores and labels | appended while scoring |
//! | `summary.json` | [`Summary`] | atomically, when all items are there |
//! | `report.html`, `report-items` | the report; of a large run its items | when all items are there |
//! | `answers.jsonl` | what `sqlgauge run` was answered | atomically, before `run.json` |
//! | `run.lock` | nothing | locked while a process writes; the lock ends with the process, however it ends |

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use sqlgauge_base::file::{self, AtomicFile, is_partial, sweep};
use sqlgauge_base::regular;
use sqlgauge_dataset::Example;

use crate::digest::sha256_of_file;
use crate::error::RunError;
use crate::index::{self, INDEX, Index};
use crate::indexer::Indexer;
use crate::items::Items;
use crate::log;
use crate::record::{Item, Manifest, PAIRED_BY, Summary};
use crate::shard::{Recorded, seal, sealed, without_seal};

/// What was run: the file of [`Manifest`].
pub const MANIFEST: &str = "run.json";
/// The log.
pub const ITEMS: &str = "items.jsonl";
const SUMMARY: &str = "summary.json";
/// The page of the run.
pub const REPORT: &str = "report.html";
/// The items of a large run, for its report.
const REPORT_ITEMS: &str = "report-items";
const LOCK: &str = "run.lock";
/// What a folder of `estimate` has beside its `run.json`, which names no metric.
const ESTIMATE: &str = "estimate.json";
/// The answers that a run scores, where it asked for them itself. It is an input of the run, and may be there before it.
pub const ANSWERS: &str = "answers.jsonl";
/// The files that a run directory holds.
pub const RUN_FILES: [&str; 6] = [MANIFEST, ITEMS, INDEX, SUMMARY, REPORT, LOCK];

/// What to do with a run that is already in the folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Start {
    /// Continue it if it is the same run, refuse if it is another.
    #[default]
    Continue,
    /// Discard it and begin again.
    Restart,
}

/// A run directory that this process, and no other, may write. Dropping it gives it free.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    manifest: Manifest,
    /// Of the log as this process left it.
    index: Mutex<Option<Arc<Index>>>,
    /// Of the log as it was found, until it is gone on with.
    indexer: Mutex<Option<Indexer>>,
    lock: File,
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        // Closing the file would give the lock free too, but only once no child process that was started
        // meanwhile holds a copy of it.
        let _ = self.lock.unlock();
    }
}

impl RunDirectory {
    /// Takes the folder for a run: makes it, or continues the run that is in it.
    ///
    /// Two commands are the same run when tool version, engine, metrics, systems, options, number of examples
    /// and the SHA-256 and role of every input agree; paths and the command line may differ.
    ///
    /// # Errors
    /// [`RunError`] when the folder cannot be written, holds something that is not a run, holds another run
    /// (all differences are named), or another process is writing it. A folder that this call made is removed
    /// again when it fails.
    pub fn create(path: &Path, manifest: &Manifest, start: Start) -> Result<Self, RunError> {
        let folders = make_folder(path)?;
        let result = Self::take(path, manifest, start, !folders.is_empty());
        // A folder that another process has taken meanwhile is that one's, whoever made it.
        if result.as_ref().is_err_and(|error| !matches!(error, RunError::Locked { .. })) {
            // Only folders of this call, and only while empty: the innermost first.
            for folder in folders.iter().rev() {
                let _ = fs::remove_dir(folder);
            }
        }
        result
    }

    fn take(path: &Path, manifest: &Manifest, start: Start, is_new: bool) -> Result<Self, RunError> {
        check_files(path)?;
        refuse_occupied(path)?;
        let lock = lock(path)?;
        let settled = Self::settle(path, manifest, start);
        if settled.is_err() && is_new {
            // While it is held: a lock of another process is never removed.
            let _ = fs::remove_file(path.join(LOCK));
        }
        let manifest = settled?;
        Ok(Self { path: path.to_owned(), manifest, index: Mutex::default(), indexer: Mutex::default(), lock })
    }

    /// Makes the folder that of the run, whose lock is held.
    fn settle(path: &Path, manifest: &Manifest, start: Start) -> Result<Manifest, RunError> {
        sweep(path);
        let stored = read_record::<Manifest>(&path.join(MANIFEST));
        match (stored, start) {
            (Ok(Some(stored)), Start::Continue) => {
                let stored = without_seal(stored);
                let differences = differences(&stored, manifest);
                if !differences.is_empty() {
                    return Err(RunError::OtherRun { path: path.to_owned(), differences });
                }
                Ok(stored)
            }
            (Err(error), Start::Continue) => Err(error),
            (Ok(None), _) | (_, Start::Restart) => {
                // The log goes before the manifest changes, so that a kill between the two leaves no item
                // under a manifest that it does not belong to.
                for name in [SUMMARY, REPORT, INDEX, ITEMS] {
                    remove_if_there(&path.join(name))?;
                }
                remove_folder_if_there(&path.join(REPORT_ITEMS))?;
                write_record(&path.join(MANIFEST), manifest)?;
                Ok(manifest.clone())
            }
        }
    }

    /// Whether a run, whole or not, lies in that folder.
    pub fn is_at(path: &Path) -> bool {
        path.join(MANIFEST).is_file()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the run is of, as its first command stored it.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Path of `items.jsonl`.
    pub fn items_path(&self) -> PathBuf {
        self.path.join(ITEMS)
    }

    /// Writes `summary.json` atomically. The manifest of a shard gets the digest of the log, see [`Shards`](crate::Shards).
    ///
    /// # Errors
    /// [`RunError::Unwritable`]; [`RunError::EditedLog`] where the log of a shard is not the one that it finished with before.
    pub fn write_summary(&self, summary: &Summary) -> Result<(), RunError> {
        if Recorded::of(&self.manifest).is_some() {
            self.seal()?;
        }
        write_record(&self.path.join(SUMMARY), summary)
    }

    fn seal(&self) -> Result<(), RunError> {
        let mut manifest = read_manifest(&self.path)?;
        if !keeps_its_seal(&self.path, &manifest)? {
            let path = self.items_path();
            let digest = sha256_of_file(&path).map_err(|source| RunError::Unreadable { path, source })?;
            seal(&mut manifest, &digest);
            write_record(&self.path.join(MANIFEST), &manifest)?;
        }
        Ok(())
    }

    /// Writes another file of the run (a report) atomically.
    ///
    /// # Errors
    /// [`RunError::Unwritable`], and what `write` says.
    pub fn write_file<E: From<RunError>>(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        write_atomically(&self.path.join(name), write)
    }

    /// How many items are finished without doubt: the log has them in canonical order, as its index says, which has a
    /// hash of them. There may be more. `examples` are those of the run.
    ///
    /// # Errors
    /// [`RunError`] when the log cannot be read or its index not be written.
    pub fn finished(&self, examples: &[Example]) -> Result<usize, RunError> {
        let indexer = self.take_indexer(examples)?;
        let finished = indexer.index().lines.len();
        *self.indexer.lock().unwrap_or_else(PoisonError::into_inner) = Some(indexer);
        Ok(finished)
    }

    /// The index of the log, to go on with it.
    pub(crate) fn take_indexer(&self, examples: &[Example]) -> Result<Indexer, RunError> {
        let indexer = self.indexer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ids = examples.iter().map(|example| example.id.as_str());
        indexer.map_or_else(|| Indexer::open(&self.items_path(), index::identity(&self.manifest), ids), Ok)
    }

    /// The items that are in the log.
    pub fn items(&self) -> Items {
        let index = self.index.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Items::in_log(&self.items_path(), &self.manifest, index)
    }

    /// Remembers the index of the log, which nobody but this process writes.
    pub(crate) fn keep_index(&self, index: Index) {
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(index));
    }
}

/// A run as it lies on disk, its items still there. It may be in progress.
#[derive(Debug, Clone)]
pub struct RunFiles {
    pub manifest: Manifest,
    pub items: Items,
    /// The summary, once the run has finished.
    pub summary: Option<Summary>,
}

impl RunFiles {
    /// Opens a run directory without changing it.
    ///
    /// # Errors
    /// [`RunError`] when there is no run, or a file of it cannot be read.
    pub fn open(path: &Path) -> Result<Self, RunError> {
        let manifest = read_manifest(path)?;
        let items = Items::in_log(&path.join(ITEMS), &manifest, None);
        // A summary belongs to the items only while all of them are there.
        let wanted = manifest.total();
        let complete = log::count_lines(&path.join(ITEMS))? == wanted;
        let summary = if complete { read_record(&path.join(SUMMARY))? } else { None };
        Ok(Self { manifest, items, summary })
    }
}

/// A run as it lies on disk, for reading. It may still be in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    pub manifest: Manifest,
    /// The items, as [`Items`] has them.
    pub items: Vec<Item>,
    /// The summary, once the run has finished.
    pub summary: Option<Summary>,
}

impl StoredRun {
    /// Reads a run directory without changing it; a torn last line is left out.
    ///
    /// # Errors
    /// [`RunError`] when there is no run, or a file of it cannot be read.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let manifest = read_manifest(path)?;
        let items = Items::in_log(&path.join(ITEMS), &manifest, None).to_vec()?;
        let summary = read_record(&path.join(SUMMARY))?;
        Ok(Self { manifest, items, summary })
    }

    /// Whether every item that the manifest asks for is there.
    pub fn is_complete(&self) -> bool {
        self.items.len() == self.manifest.total()
    }
}

/// Reads `run.json` of a run directory.
///
/// # Errors
/// [`RunError::NoRun`] when it does not exist, [`RunError::Estimate`] when it is that of an estimate, [`RunError::BadRecord`] when it
/// cannot be understood; [`RunError::Unreadable`] when a file of the run is a link, a pipe or a device.
pub fn read_manifest(path: &Path) -> Result<Manifest, RunError> {
    check_files(path)?;
    match read_record::<Manifest>(&path.join(MANIFEST))? {
        None => Err(RunError::NoRun { path: path.to_owned() }),
        Some(run) if run.metrics.is_empty() && path.join(ESTIMATE).exists() => {
            Err(RunError::Estimate { path: path.to_owned() })
        }
        Some(run) => Ok(run),
    }
}

/// Refuses a run directory with a link, a pipe or a device in place of one of its files. The directory may be somebody else's, and a
/// link in it may lead to any file of its reader, to be shown or to be written over.
fn check_files(path: &Path) -> Result<(), RunError> {
    let unreadable = |path: PathBuf| |source| RunError::Unreadable { path, source };
    for file in RUN_FILES.map(|name| path.join(name)) {
        regular::check_unlinked(&file).map_err(unreadable(file))?;
    }
    let items = path.join(REPORT_ITEMS);
    regular::refuse_link(&items).map_err(unreadable(items))
}

/// Whether the log of a shard is the one that it finished with; false where the manifest has no digest of it.
///
/// # Errors
/// [`RunError::EditedLog`] where it is another.
pub(crate) fn keeps_its_seal(folder: &Path, manifest: &Manifest) -> Result<bool, RunError> {
    let Some(digest) = sealed(manifest) else { return Ok(false) };
    let path = folder.join(ITEMS);
    match sha256_of_file(&path) {
        Ok(hash) if hash == digest => Ok(true),
        Ok(_) => Err(RunError::EditedLog { path }),
        Err(source) => Err(RunError::Unreadable { path, source }),
    }
}

/// Makes the folder with its parents; returns those that were not there, the outermost first.
fn make_folder(path: &Path) -> Result<Vec<PathBuf>, RunError> {
    // Asked once: another process may make it meanwhile.
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Ok(Vec::new()),
        Ok(_) => return Err(RunError::NotAFolder { path: path.to_owned() }),
        Err(_) => {}
    }
    let mut missing: Vec<PathBuf> = path
        .ancestors()
        .take_while(|a| !a.as_os_str().is_empty() && !a.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    fs::create_dir_all(path).map_err(|source| {
        for folder in missing.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
        RunError::Unwritable { path: path.to_owned(), source }
    })?;
    Ok(missing)
}

fn refuse_occupied(path: &Path) -> Result<(), RunError> {
    if RunDirectory::is_at(path) {
        return Ok(());
    }
    let unreadable = |source| RunError::Unreadable { path: path.to_owned(), source };
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
        // Another process may have begun the run since it was looked for.
        if name == MANIFEST {
            return Ok(());
        }
        // What a process leaves that was killed before its run.json was in place.
        if name != LOCK && name != ANSWERS && !is_partial(Path::new(&name)) {
            return Err(RunError::Occupied { path: path.to_owned(), file: name });
        }
    }
    Ok(())
}

fn lock(path: &Path) -> Result<File, RunError> {
    let unwritable = |source| RunError::Unwritable { path: path.to_owned(), source };
    let file = regular::write_unlinked(&path.join(LOCK)).map_err(unwritable)?;
    match file.try_lock() {
        Ok(()) if is_at(&file, &path.join(LOCK)) => Ok(file),
        // Another process removed it, with the folder that it had made, since it was opened.
        Ok(()) | Err(TryLockError::WouldBlock) => Err(RunError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(unwritable(source)),
    }
}

/// Whether the file is the one at that path.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let (Ok(ours), Ok(theirs)) = (file.metadata(), fs::metadata(path)) else { return false };
        (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
    }
    // An open file cannot be removed.
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

/// What makes `asked` another run than `stored`, for people; empty when they are the same.
pub(crate) fn differences(stored: &Manifest, current: &Manifest) -> Vec<String> {
    let mut texts = Vec::new();
    let mut differ = |what: &str, before: String, now: String| {
        if before != now {
            texts.push(format!("{what} was {before} and is now {now}"));
        }
    };
    differ("tool version", stored.tool_version.clone(), current.tool_version.clone());
    differ("engine", stored.engine.clone(), current.engine.clone());
    differ("metrics", stored.metrics.join(","), current.metrics.join(","));
    differ("systems", stored.systems.join(","), current.systems.join(","));
    differ("number of examples", stored.examples.to_string(), current.examples.to_string());
    let mut names: std::collections::BTreeSet<_> =
        stored.options.keys().chain(current.options.keys()).collect();
    names.retain(|name| *name != PAIRED_BY);
    for name in names {
        let show =
            |m: &Manifest| m.options.get(name).map_or_else(|| "not set".to_owned(), ToString::to_string);
        differ(&format!("option {name}"), show(stored), show(current));
    }
    texts.extend(input_differences(stored, current));
    texts
}

fn input_differences(stored: &Manifest, current: &Manifest) -> Vec<String> {
    let digests = |m: &Manifest| {
        let mut all: Vec<_> = m.inputs.iter().map(|i| (i.role.clone(), i.sha256.clone())).collect();
        all.sort_unstable();
        all
    };
    let (before, now) = (digests(stored), digests(current));
    let path = |role: &str| current.inputs.iter().find(|i| i.role == role).map(|i| i.path.clone());
    let mut texts: Vec<String> = now
        .iter()
        .filter(|entry| before.binary_search(entry).is_err())
        .map(|(role, _)| {
            let verb = if before.iter().any(|(r, _)| r == role) { "has changed" } else { "is new" };
            format!("input {role} ({}) {verb}", path(role).unwrap_or_default())
        })
        .collect();
    let gone = before.iter().filter(|(role, _)| !now.iter().any(|(r, _)| r == role));
    texts.extend(gone.map(|(role, _)| format!("input {role} is no longer given")));
    texts
}

fn read_record<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, RunError> {
    let bytes = match regular::read_unlinked(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(RunError::Unreadable { path: path.to_owned(), source }),
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|source| RunError::BadRecord { path: path.to_owned(), source })
}

fn write_record<T: serde::Serialize>(path: &Path, record: &T) -> Result<(), RunError> {
    file::write_json(path, record).map_err(|source| RunError::Unwritable { path: path.to_owned(), source })
}

/// Writes a file whole or not at all ([`AtomicFile`]): when `write` fails, the old bytes stay.
///
/// # Errors
/// [`RunError::Unwritable`], and what `write` says.
pub fn write_atomically<E: From<RunError>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let unwritable = |source| RunError::Unwritable { path: path.to_owned(), source };
    let mut file = AtomicFile::create(path).map_err(unwritable)?;
    write(&mut file)?;
    Ok(file.commit().map_err(unwritable)?)
}

fn remove_folder_if_there(path: &Path) -> Result<(), RunError> {
    unless_absent(path, fs::remove_dir_all(path))
}

/// Removes a file, if it exists.
///
/// # Errors
/// [`RunError::Unwritable`].
pub fn remove_if_there(path: &Path) -> Result<(), RunError> {
    unless_absent(path, fs::remove_file(path))
}

fn unless_absent(path: &Path, removed: io::Result<()>) -> Result<(), RunError> {
    match removed {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(RunError::Unwritable { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
