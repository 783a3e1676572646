//! `sqlgauge witnesses`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_core::{OutputPath, SuiteJob, SuiteSize};

use crate::Verdict;
use crate::output::print;
use sqlgauge_base::counted;

/// Write the counterexamples of a run as a test suite: SQLite files beside the benchmark's databases
///
/// For each question the fewest databases are kept that tell the gold from as many of the predictions as all of them do,
/// by ex, or ex-bird where the run compared sets. The folder is one for `--db`: `suite@1` and the official scripts run every file of a database's folder.
#[derive(Debug, Args)]
pub struct Witnesses {
    /// Run directory with `verify` among its metrics
    run: PathBuf,
    /// Folder to write; it must be empty or not there
    #[arg(long, alias = "export", value_name = "DIR")]
    out: OutputPath,
}

impl Witnesses {
    pub fn run(self) -> Result<Verdict> {
        let job = SuiteJob::new(self.run, &self.out);
        let SuiteSize { databases, predictions, refuted, metric } =
            crate::engine::run(false, |context| job.run(context))?;
        print(&format!(
            "{} in {}: told from their golds by {metric}: {refuted} of {predictions} refuted predictions\n",
            counted(databases, "database"),
            self.out.display(),
        ))?;
        Ok(Verdict::Done)
    }
}
