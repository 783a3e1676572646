//! `sqlgauge bundle`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_core::{BundleJob, BundleSize, OutputPath};

use crate::Verdict;
use crate::output::print;
use sqlgauge_base::counted;

/// Write the results of a run as one file that anyone can score again
///
/// Executes golds and predictions of the run once more and keeps every result with its types, the engine, and the hashes of all
/// inputs. `sqlgauge score --results FILE.bundle --out DIR` scores it, without databases.
#[derive(Debug, Args)]
pub(crate) struct Bundle {
    /// Run directory
    run: PathBuf,
    /// Folder with the databases of the run, or one database file
    #[arg(long, value_name = "DIR")]
    db: PathBuf,
    /// File to write
    #[arg(long, value_name = "FILE")]
    out: OutputPath,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Bundle {
    pub(crate) fn run(self) -> Result<Verdict> {
        let job = BundleJob::new(self.run, self.db, &self.out);
        let BundleSize { golds, results, failed } =
            crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            let out = self.out.display();
            let (golds, results) = (counted(golds, "gold"), counted(results, "result"));
            print(&format!("{out}: {golds}, {results} of systems, {failed} of all failed\n"))?;
        }
        Ok(Verdict::Done)
    }
}
