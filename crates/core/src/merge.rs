//! Merges the shards of a run: `sqlgauge merge`.

use std::path::{Path, PathBuf};

use sqlgauge_report::Report;
use sqlgauge_run::Shards;

use crate::context::Watcher;
use crate::error::Error;
use crate::open_run::finish_run;
use crate::settings::gates_of;

/// Writes the run directory that the parts are parts of, with its summary and its page; `gates` are the bars that the means
/// are to reach, and `command` is what its record says that it was made by, given the command of the first part. `watcher` is told what a
/// person should know of the parts.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, Sample, ScoreJob, merge_runs};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let now = Some("2026-01-01T00:00:00Z".parse()?);
/// let parts = ["1/2", "2/2"].map(|shard| folder.path().join(shard.replace('/', "-of-")));
/// for (shard, out) in ["1/2", "2/2"].into_iter().zip(&parts) {
///     let job = ScoreJob { shard: Some(shard.parse()?), now, ..sample.score_job(&["ex"], out)? };
///     job.run(&Context::default())?;
/// }
/// let report = merge_runs(&parts, &folder.path().join("run"), &[], <[String]>::to_vec, &())?;
/// assert_eq!(report.manifest.examples, 41);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the folders are not all the finished parts of one run, a bar names no metric of it, or the run cannot be written.
pub fn merge_runs(
    parts: &[PathBuf],
    out: &Path,
    gates: &[String],
    command: impl FnOnce(&[String]) -> Vec<String>,
    watcher: &dyn Watcher,
) -> Result<Report, Error> {
    let shards = Shards::open(parts)?;
    for folder in shards.unsealed() {
        watcher.note(&format!(
            "{} has no digest of its log, as shards of older versions: a change of its scores would not be seen",
            folder.display()
        ));
    }
    let gates = gates_of(gates, &shards.manifest().metrics)?;
    let command = command(&shards.manifest().command);
    finish_run(&shards.with_command(command).write(out)?, gates)
}
