//! Writes files whole or not at all.
//!
//! An [`AtomicFile`] is prepared beside its target under a name that ends in [`PARTIAL`], made durable, and put in
//! place by a rename: a reader, a crash or a full disk sees the old or the new bytes. While it is prepared its writer
//! holds a lock on it, which ends with the process however that ends. So what a killed process left behind is known by
//! a lock that nobody holds, and the next writer in that folder takes it away ([`sweep`]).
//!
//! An [`AtomicFolder`] is the same for a folder that is written once: prepared beside its place, and renamed.
//!
//! [`append_lines`] is for files to which lines are added: a line is there whole, or it is not there.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::regular;

/// How the name of a file ends that is being prepared.
pub const PARTIAL: &str = ".sqlgauge-partial";

/// The files that this process is preparing. Whoever holds the lock is alone in putting one in place.
static PENDING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// The folders that this process has cleaned.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn pending() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that replaces its target when it is committed. Dropped before, it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    target: PathBuf,
    /// `None` for a device or a pipe, which is no file that could be replaced: it is written at once.
    partial: Option<PathBuf>,
    file: BufWriter<File>,
}

impl AtomicFile {
    /// Starts a new version of a file. A link to a file below its folder stays one: what it leads to is replaced.
    ///
    /// # Errors
    /// When the path is a folder, write-protected or a link that leads elsewhere, or nothing can be created beside it.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = place_of(path)?;
        let metadata = fs::metadata(&target).ok();
        match &metadata {
            Some(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Some(metadata) if metadata.is_file() && metadata.permissions().readonly() => {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is write-protected"));
            }
            Some(metadata) if !metadata.is_file() => {
                let file = OpenOptions::new().write(true).open(&target)?;
                return Ok(Self { target, partial: None, file: BufWriter::new(file) });
            }
            _ => {}
        }
        sweep_once(folder_of(&target));
        let (partial, file) =
            new_partial(&target, |partial| OpenOptions::new().write(true).create_new(true).open(partial))?;
        if let Some(metadata) = metadata {
            // Who may read the old version may read the new one; a file system without permissions has none to keep.
            let _ = file.set_permissions(metadata.permissions());
        }
        let file = BufWriter::with_capacity(1 << 18, file);
        Ok(Self { target, partial: Some(partial), file })
    }

    /// Puts the file in place.
    ///
    /// # Errors
    /// When the rest cannot be written or the target not be replaced; it is then as it was.
    pub fn commit(self) -> io::Result<()> {
        Self::commit_all([self])
    }

    /// Puts several files in place, one right after the other once all of them are durable.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`]; when one cannot be written, no target is touched.
    pub fn commit_all(files: impl IntoIterator<Item = Self>) -> io::Result<()> {
        let mut files: Vec<Self> = files.into_iter().collect();
        for file in &mut files {
            file.file.flush()?;
            if file.partial.is_some() {
                file.file.get_ref().sync_all()?;
            }
        }
        let mut pending = pending();
        let mut outcome = Ok(());
        for file in &mut files {
            let Some(partial) = &file.partial else { continue };
            outcome = outcome.and_then(|()| fs::rename(partial, &file.target));
            if outcome.is_err() {
                break;
            }
            pending.remove(partial);
            file.partial = None;
            sync_folder(&file.target);
        }
        // What is left over locks the list when it is dropped.
        drop(pending);
        outcome
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        forget(self.partial.take());
    }
}

/// A folder that is put in place when it is committed, where there is none or an empty one. Dropped before, it leaves
/// nothing.
#[derive(Debug)]
pub struct AtomicFolder {
    target: PathBuf,
    partial: Option<PathBuf>,
    /// Whose lock says that the folder is being prepared.
    _lock: File,
}

impl AtomicFolder {
    /// Starts a folder; the folders around it are made if need be.
    ///
    /// # Errors
    /// When there is a folder already that is not empty, or none can be made beside it.
    pub fn create(path: &Path) -> io::Result<Self> {
        refuse_filled(path)?;
        fs::create_dir_all(folder_of(path))?;
        sweep_once(folder_of(path));
        let (partial, lock) = new_partial(path, |partial| {
            fs::create_dir(partial)?;
            // Where a folder cannot be opened it cannot be locked, and nobody takes it for left behind either.
            File::open(partial).map_err(|error| match error.kind() {
                // Another process has found it unlocked, and taken it away.
                io::ErrorKind::NotFound => io::ErrorKind::AlreadyExists.into(),
                _ => error,
            })
        })?;
        Ok(Self { target: path.to_owned(), partial: Some(partial), _lock: lock })
    }

    /// Where its files are to be written.
    pub fn path(&self) -> &Path {
        self.partial.as_deref().unwrap_or(&self.target)
    }

    /// Puts the folder in place, its files made durable.
    ///
    /// # Errors
    /// When that cannot be done, or another process has put one there meanwhile.
    pub fn commit(mut self) -> io::Result<()> {
        sync_all_of(self.path())?;
        refuse_filled(&self.target)?;
        let mut pending = pending();
        let Some(partial) = &self.partial else { return Ok(()) };
        let outcome = replace_empty(partial, &self.target);
        if outcome.is_ok() {
            pending.remove(partial);
            self.partial = None;
            sync_folder(&self.target);
        }
        // What is left over locks the list when it is dropped.
        drop(pending);
        outcome
    }
}

impl Drop for AtomicFolder {
    fn drop(&mut self) {
        forget(self.partial.take());
    }
}

fn refuse_filled(folder: &Path) -> io::Result<()> {
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Renames a folder to `target`, where there is nothing or an empty folder. What another process put there since it was
/// looked at is the same error as what was found there ([`refuse_filled`]); the system has words of its own for it.
fn replace_empty(partial: &Path, target: &Path) -> io::Result<()> {
    let removed = match fs::remove_dir(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    };
    removed.and_then(|()| fs::rename(partial, target)).map_err(|error| match error.kind() {
        io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {
            io::ErrorKind::DirectoryNotEmpty.into()
        }
        _ => error,
    })
}

/// Makes all files below a folder durable.
fn sync_all_of(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sync_all_of(&path)?;
        } else {
            File::open(&path)?.sync_all()?;
        }
    }
    Ok(())
}

/// Takes away what was being prepared.
fn forget(partial: Option<PathBuf>) {
    if let Some(partial) = partial {
        let mut pending = pending();
        remove(&partial);
        pending.remove(&partial);
    }
}

fn remove(partial: &Path) {
    let _ = if partial.is_dir() { fs::remove_dir_all(partial) } else { fs::remove_file(partial) };
}

/// Writes a file whole or not at all.
///
/// # Errors
/// What `write` says, and what [`AtomicFile`] says.
pub fn write_atomically<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let mut file = AtomicFile::create(path)?;
    write(&mut file)?;
    Ok(file.commit()?)
}

/// Writes a value as indented JSON, whole or not at all.
///
/// # Errors
/// When it cannot be written, or has no form in JSON.
pub fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    write_atomically(path, |out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        out.write_all(b"\n")
    })
}

/// Takes away what this process is preparing, for a process that is about to end; from then on nothing is put in place
/// any more.
pub fn abandon_pending() {
    let pending = pending();
    pending.iter().for_each(|partial| remove(partial));
    std::mem::forget(pending);
}

/// Removes from a folder what dead processes were preparing there. What cannot be judged or removed stays.
pub fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if is_partial(&path) && !is_locked(&path) {
            remove(&path);
        }
    }
}

/// Whether the name is one of a file that is being prepared.
pub fn is_partial(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(PARTIAL.as_bytes())
}

/// Locks a file, which is made if need be, for as long as what is returned lives; `None` if another process holds it.
///
/// # Errors
/// When the file can be neither made nor locked.
pub fn lock(path: &Path) -> io::Result<Option<File>> {
    regular::check(path)?;
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(place_of(path)?)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(source),
    }
}

/// Locks a file as [`lock`] does, and waits at most that long for another process to let go of it.
///
/// # Errors
/// As [`lock`]; [`io::ErrorKind::TimedOut`] when the other process still has it.
pub fn lock_within(path: &Path, most: Duration) -> io::Result<File> {
    let started = Instant::now();
    loop {
        if let Some(locked) = lock(path)? {
            return Ok(locked);
        }
        if started.elapsed() >= most {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "another process has locked it"));
        }
        sleep(Duration::from_millis(2));
    }
}

/// Whether a process holds a lock on the file or folder, or that cannot be told.
pub(crate) fn is_locked(path: &Path) -> bool {
    if !path.is_dir() && regular::check(path).is_err() {
        return true;
    }
    let opened = if path.is_dir() { File::open(path) } else { OpenOptions::new().write(true).open(path) };
    opened.map_or(true, |file| file.try_lock().is_err())
}

/// Adds lines, which end in a line feed, to the end of a file that is made if need be. Writers in several processes
/// take turns: `lines` is given what the file holds when it is this one's turn. `is_torn` is asked about an end without
/// a line feed: true cuts it off, false makes it a line.
///
/// # Errors
/// When the file cannot be written; it then has the lines that it had.
pub fn append_lines(
    path: &Path,
    lines: impl FnOnce(&[u8]) -> Vec<u8>,
    is_torn: impl Fn(&[u8]) -> bool,
) -> io::Result<()> {
    let path = place_of(path)?;
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    if !file.metadata()?.is_file() {
        return file.write_all(&lines(&[]));
    }
    file.lock()?;
    let mut contents = Vec::new();
    file.read_to_end(&mut contents)?;
    let whole = contents.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let rest = &contents[whole..];
    let mut added = Vec::new();
    let mut length = contents.len() as u64;
    if !rest.is_empty() && is_torn(rest) {
        length = whole as u64;
        file.set_len(length)?;
    } else if !rest.is_empty() {
        added.push(b'\n');
    }
    added.extend(lines(&contents));
    file.seek(SeekFrom::Start(length))?;
    if let Err(error) = file.write_all(&added).and_then(|()| file.sync_data()) {
        // A full disk may have taken half of it.
        let _ = file.set_len(length);
        return Err(error);
    }
    Ok(())
}

/// What to do where a file could not be written.
pub fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, then run the same command again"
        }
        io::ErrorKind::FileTooLarge => {
            "lift the limit on the size of files (ulimit -f), then run the same command again"
        }
        _ => "make it writable or choose another path",
    }
}

/// Where a file lies that is about to be written. A link leads to a place below its folder or is refused: the folder may be a
/// stranger's, and the link lead to a file of the user. What the system has below `/dev` leads anywhere.
///
/// # Errors
/// When the path is a link that leads elsewhere.
fn place_of(path: &Path) -> io::Result<PathBuf> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        // The link of a pipe leads to no name.
        Err(_) if !is_link || path.starts_with("/dev") => return Ok(path.to_owned()),
        Err(error) => return Err(error),
    };
    if is_link && !path.starts_with("/dev") && !target.starts_with(fs::canonicalize(folder_of(path))?) {
        let message = format!("it is a link to {}: name that file, or remove the link", target.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(target)
}

/// Makes a rename durable. Not every system lets a folder be opened; there the rename is only atomic.
fn sync_folder(path: &Path) {
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn sweep_once(folder: &Path) {
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if swept.insert(folder.to_owned()) {
        sweep(folder);
    }
}

/// What `make` makes beside the target, locked.
fn new_partial(target: &Path, make: impl Fn(&Path) -> io::Result<File>) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    loop {
        let mut partial_name = name.to_owned();
        partial_name.push(format!(
            ".{}-{}{PARTIAL}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        ));
        let partial = folder_of(target).join(partial_name);
        // Known before it is there: who ends the process in between takes it away.
        let mut pending = pending();
        let file = match make(&partial) {
            // Left by a process of the same number, on another machine or long ago, or swept away in the moment that it was made.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            file => file?,
        };
        // Another process may have found it in the moment before it was locked, and taken it away.
        let locked = file.try_lock();
        let swept = matches!(locked, Err(TryLockError::WouldBlock)) || !partial.exists();
        if !swept {
            pending.insert(partial.clone());
            return Ok((partial, file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_when_it_is_whole_and_stays_when_it_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let write = |text: &str| {
            write_atomically::<io::Error>(&path, |out| {
                out.write_all(text.as_bytes())?;
                if text == "torn" { Err(io::Error::other("stop")) } else { Ok(()) }
            })
        };
        write("one").unwrap();
        write("torn").unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        write("two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn several_files_are_replaced_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        for name in ["a", "b"] {
            fs::write(folder.path().join(name), "old").unwrap();
            let mut file = AtomicFile::create(&folder.path().join(name)).unwrap();
            file.write_all(b"new").unwrap();
            files.push(file);
        }
        let mut unfinished = AtomicFile::create(&folder.path().join("a")).unwrap();
        unfinished.write_all(b"never").unwrap();
        AtomicFile::commit_all(files).unwrap();
        drop(unfinished);
        let contents = ["a", "b"].map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
        assert_eq!(contents, ["new", "new"]);
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[test]
    fn what_a_dead_process_left_is_taken_away_and_what_a_living_one_prepares_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let living = AtomicFile::create(&folder.path().join("a")).unwrap();
        let partial = living.partial.clone().unwrap();
        fs::write(folder.path().join(format!("b.1-0{PARTIAL}")), "half").unwrap();
        fs::write(folder.path().join("b.partial"), "somebody's").unwrap();
        sweep(folder.path());
        let partial = partial.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(names(folder.path()), [partial, "b.partial".to_owned()]);
        drop(living);
        assert_eq!(names(folder.path()), ["b.partial"]);
    }

    #[test]
    fn a_folder_is_there_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite");
        let prepare = || {
            let prepared = AtomicFolder::create(&path).unwrap();
            fs::create_dir(prepared.path().join("inner")).unwrap();
            fs::write(prepared.path().join("inner/a"), "new").unwrap();
            prepared
        };
        drop(prepare());
        assert_eq!(names(folder.path()), [""; 0]);
        let (first, second) = (prepare(), prepare());
        sweep(folder.path());
        // An empty folder is as good as none.
        fs::create_dir(&path).unwrap();
        first.commit().unwrap();
        assert_eq!(second.commit().unwrap_err().kind(), io::ErrorKind::DirectoryNotEmpty);
        assert_eq!(names(folder.path()), ["suite"]);
        assert_eq!(fs::read_to_string(path.join("inner/a")).unwrap(), "new");
        assert_eq!(AtomicFolder::create(&path).unwrap_err().kind(), io::ErrorKind::DirectoryNotEmpty);
        // What a dead process left.
        fs::create_dir(folder.path().join(format!("suite.1-0{PARTIAL}"))).unwrap();
        sweep(folder.path());
        assert_eq!(names(folder.path()), ["suite"]);
    }

    #[test]
    fn of_many_that_put_a_folder_in_place_at_once_the_others_are_told_that_one_is_there() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..50 {
            let path = folder.path().join(round.to_string());
            if round % 2 == 0 {
                fs::create_dir(&path).unwrap();
            }
            let prepared: Vec<AtomicFolder> = (0..8)
                .map(|writer| {
                    let prepared = AtomicFolder::create(&path).unwrap();
                    fs::write(prepared.path().join("writer"), writer.to_string()).unwrap();
                    prepared
                })
                .collect();
            let outcomes: Vec<io::Result<()>> = std::thread::scope(|scope| {
                let writers: Vec<_> =
                    prepared.into_iter().map(|prepared| scope.spawn(|| prepared.commit())).collect();
                writers.into_iter().map(|writer| writer.join().unwrap()).collect()
            });
            assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
            for error in outcomes.into_iter().filter_map(Result::err) {
                assert_eq!(error.to_string(), "directory not empty");
            }
        }
    }

    #[test]
    fn folders_and_protected_files_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(AtomicFile::create(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        let path = folder.path().join("kept");
        fs::write(&path, "kept").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        assert_eq!(AtomicFile::create(&path).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomically::<io::Error>(&link, |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    /// No writer follows a link out of the folder that the link is in, whether its target is there or not.
    #[cfg(unix)]
    #[test]
    fn a_link_out_of_its_folder_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "old").unwrap();
        fs::create_dir(at("run")).unwrap();
        std::os::unix::fs::symlink(at("file"), at("run/link")).unwrap();
        std::os::unix::fs::symlink(at("new"), at("run/dangling")).unwrap();
        std::os::unix::fs::symlink("/dev/full", at("run/device")).unwrap();
        for name in ["run/link", "run/dangling", "run/device"] {
            let path = at(name);
            assert!(AtomicFile::create(&path).is_err(), "{name}");
            assert!(append_lines(&path, |_| b"{}\n".to_vec(), |_| false).is_err(), "{name}");
            assert!(lock(&path).is_err(), "{name}");
        }
        assert_eq!(fs::read_to_string(at("file")).unwrap(), "old");
        assert_eq!(names(folder.path()), ["file", "run"]);
        assert!(AtomicFile::create(Path::new("/dev/stdout")).is_ok());
    }

    #[test]
    fn lines_are_added_after_whole_lines_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let is_torn = |rest: &[u8]| !rest.ends_with(b"}");
        for (contents, expected) in [
            ("", "{2}\n"),
            ("{1}\n", "{1}\n{2}\n"),
            ("{1}\n{to", "{1}\n{2}\n"),
            ("{1}", "{1}\n{2}\n"),
            ("{to", "{2}\n"),
        ] {
            fs::write(&path, contents).unwrap();
            append_lines(&path, |_| b"{2}\n".to_vec(), is_torn).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{contents:?}");
        }
    }
}
