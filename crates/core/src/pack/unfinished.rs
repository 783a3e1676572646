//! The questions of a pack that is not finished: `OUT.unfinished`, JSON Lines.
//!
//! # Contract
//! A line counts only for the question, gold, answers, schema and settings that it was made of. A line that does not parse, as
//! the last one of a killed process, is made again. Once the pack is written the file goes.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sqlgauge_base::regular;
use sqlgauge_run::sha256_of_bytes;
use sqlgauge_verify::pack::PackQuestion;

use crate::error::Error;

/// What is done of a pack, and where more of it goes.
pub(super) struct Unfinished {
    path: PathBuf,
    /// By key.
    before: HashMap<String, PackQuestion>,
    file: Mutex<File>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    question: PackQuestion,
}

impl Unfinished {
    /// Opens the file of that pack.
    pub(super) fn open(pack: &Path) -> Result<Self, Error> {
        let mut name = pack.as_os_str().to_owned();
        name.push(".unfinished");
        let path = PathBuf::from(name);
        let of_file = |source| Error::Unwritable { path: path.clone(), source };
        regular::check_unlinked(&path).map_err(&of_file)?;
        let bytes = match regular::open_unlinked(&path).and_then(io::read_to_string) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.map_err(&of_file)?,
        };
        let lines = bytes.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let before = lines.map(|line| (line.key, line.question)).collect();
        let mut file = OpenOptions::new().append(true).create(true).open(&path).map_err(&of_file)?;
        if !bytes.is_empty() && !bytes.ends_with('\n') {
            file.write_all(b"\n").map_err(of_file)?;
        }
        Ok(Self { path, before, file: file.into() })
    }

    /// The question, if it was made of the same before.
    pub(super) fn question(&self, key: &str) -> Option<PackQuestion> {
        self.before.get(key).cloned()
    }

    /// Adds a question. The pack does not depend on it, so a failure is an error only where the pack is written.
    pub(super) fn add(&self, key: &str, question: &PackQuestion) {
        let line = Line { key: key.to_owned(), question: question.clone() };
        let Ok(mut line) = serde_json::to_vec(&line) else { return };
        line.push(b'\n');
        let _not_kept = self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
    }

    /// Removes the file.
    pub(super) fn finish(self) {
        let _is_left = fs::remove_file(self.path);
    }
}

/// The key of what those texts make; no two lists of texts have one key.
pub(super) fn key<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    sha256_of_bytes(&bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::{Context, PackJob, Sample, Source, Watcher};

    /// Asks to stop after so many questions, and counts those that were done before.
    struct Stopper {
        after: usize,
        stop: Arc<AtomicBool>,
        resumed: AtomicUsize,
    }

    impl Watcher for Stopper {
        fn started(&self, _: &'static str, _: usize, resumed: usize) {
            self.resumed.store(resumed, Ordering::Relaxed);
        }

        fn advanced(&self, done: usize) {
            if done >= self.after {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    fn watched(job: &PackJob, after: usize) -> (Result<(), Error>, usize) {
        let stopper = Stopper { after, stop: Arc::default(), resumed: AtomicUsize::default() };
        let context = Context::default().watched_by(&stopper).stopped_by(Arc::clone(&stopper.stop));
        (job.run(&context).map(drop), stopper.resumed.into_inner())
    }

    /// A pack that was stopped and whose file was torn is the pack of one go.
    #[test]
    fn a_stopped_pack_goes_on_to_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let sample = Sample::unpack(folder.path()).unwrap();
        let job = |name: &str| {
            let gold = Source::from(sample.questions.as_path());
            let mut job = PackJob::new(gold, sample.databases.clone(), Vec::new(), folder.path().join(name));
            (job.subset.limit, job.jobs) = (Some(5), 1);
            job
        };
        let unfinished = folder.path().join("stopped.unfinished");
        let (stopped, resumed) = watched(&job("stopped"), 2);
        assert!(matches!(stopped, Err(Error::StoppedAsking(_))), "{stopped:?}");
        assert_eq!((resumed, fs::read_to_string(&unfinished).unwrap().lines().count()), (0, 2));

        OpenOptions::new().append(true).open(&unfinished).unwrap().write_all(b"{\"key\": \"torn").unwrap();
        // Other settings make other questions.
        let mut other = job("stopped");
        other.settings.mutations = 1;
        assert_eq!(watched(&other, 1).1, 0);
        let (finished, resumed) = watched(&job("stopped"), usize::MAX);
        finished.unwrap();
        assert_eq!((resumed, unfinished.exists()), (2, false));

        watched(&job("whole"), usize::MAX).0.unwrap();
        let bytes = |name: &str| fs::read(folder.path().join(name)).unwrap();
        assert_eq!(bytes("stopped"), bytes("whole"));
    }
}
