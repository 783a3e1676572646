//! `sqlgauge import`.

use anyhow::Result;
use clap::Args;
use sqlgauge_core::ImportJob;

use crate::Verdict;
use crate::options::{column_help, columns, with_columns, workload_roles};
use crate::output::{command_line, print};

/// Import labels judged elsewhere as a scored run (runs no SQL)
#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(flatten)]
    job: ImportJob,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(workload_roles()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl Import {
    pub(crate) fn run(self) -> Result<Verdict> {
        let columns = columns(&self.columns)?;
        let job = ImportJob {
            systems: with_columns(self.job.systems, &columns),
            columns,
            command: command_line(),
            ..self.job
        };
        crate::engine::run(self.quiet, |context| job.run(context))?;
        if !self.quiet {
            print(&format!("Known run: {}\n", job.out.display()))?;
        }
        Ok(Verdict::Done)
    }
}
