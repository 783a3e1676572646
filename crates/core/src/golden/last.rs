//! The run that a new one is compared with.
//!
//! # Contract
//! It is the last one before it, in the folder of runs, that was of the same file of questions, finished, and passed its bars: a run that
//! fell below them is not what the next is measured by.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sqlgauge_base::file::write_atomically;
use sqlgauge_base::regular;
use sqlgauge_engine::Moment;
use sqlgauge_run::{GoldenOutcome, Manifest, RunFiles};

use crate::error::Error;
use crate::settings::recorded_now;

/// The file of a run that says whether it passed its bars.
const PASSED: &str = "passed.json";

/// Keeps whether a run passed its bars.
pub(super) fn keep_passed(run: &Path, passed: bool, compared_with: Option<&Path>) -> Result<(), Error> {
    let path = run.join(PASSED);
    let record = GoldenOutcome { passed, compared_with: compared_with.map(Path::to_owned) };
    let written =
        write_atomically(&path, |out| serde_json::to_writer(out, &record).map_err(std::io::Error::from));
    written.map_err(|source| Error::Unwritable { path, source })
}

/// The run in that folder which a new one is compared with.
///
/// # Errors
/// When the record of the new run holds something else than a time.
pub(super) fn last_before(runs: &Path, run: &Path, manifest: &Manifest) -> Result<Option<PathBuf>, Error> {
    let began = recorded_now(manifest)?;
    let entries = std::fs::read_dir(runs).into_iter().flatten().filter_map(Result::ok);
    let others =
        entries.map(|entry| entry.path()).filter(|path| !same_file::is_same_file(path, run).unwrap_or(false));
    let earlier = others.filter_map(|path| Some((began_if_comparable(&path, manifest)?, ended(&path), path)));
    Ok(earlier.filter(|(of_other, ..)| Some(*of_other) <= began).max().map(|(.., path)| path))
}

/// When a run ended, which tells apart two that began in the same second.
fn ended(run: &Path) -> Option<SystemTime> {
    std::fs::metadata(run.join(PASSED)).and_then(|metadata| metadata.modified()).ok()
}

/// When a run began, if it passed and asked the same questions; `None` for any other folder, and for a damaged one.
fn began_if_comparable(path: &Path, manifest: &Manifest) -> Option<Moment> {
    let outcome: GoldenOutcome =
        serde_json::from_slice(&regular::read_unlinked(&path.join(PASSED)).ok()?).ok()?;
    let run = RunFiles::open(path).ok().filter(|run| outcome.passed && run.summary.is_some())?;
    let gold = |manifest: &Manifest| manifest.inputs.iter().find(|input| input.role == "gold").cloned();
    let (ours, theirs) = (gold(manifest)?, gold(&run.manifest)?);
    let is_same = ours.path == theirs.path || ours.sha256 == theirs.sha256;
    recorded_now(&run.manifest).ok().flatten().filter(|_| is_same)
}
