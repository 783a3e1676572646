//! `sqlgauge robustness`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_core::RobustnessJob;
use sqlgauge_dataset::ColumnRole;

use crate::Verdict;
use crate::options::{column_help, columns};
use crate::output::{command_line, print, print_document, print_json, say};

/// Measure what systems lose when schemas change
#[derive(Debug, Args)]
pub(crate) struct RobustnessCommand {
    /// Folders that `sqlgauge evolve` wrote, as for several intensities
    #[arg(value_name = "EVOLVED", required_unless_present = "evolved")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    job: RobustnessJob,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help([ColumnRole::Id, ColumnRole::Database, ColumnRole::Prediction].into_iter()))]
    columns: Vec<String>,
    /// Print the comparison as JSON, as robustness.json has it
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl RobustnessCommand {
    pub(crate) fn run(self) -> Result<Verdict> {
        let evolved = self.folders.into_iter().chain(self.job.evolved).collect();
        let job =
            RobustnessJob { evolved, columns: columns(&self.columns)?, command: command_line(), ..self.job };
        let report = crate::engine::run(self.quiet, |context| job.run(context))?;
        if self.json {
            print_json(&report.robustness)?;
        } else if !self.quiet {
            print_document(&report.document())?;
            print(&format!("Report: {}\n", job.out.join("report.html").display()))?;
        }
        let failures = report.failures().count();
        if failures > 0 {
            let most = job.max_drop.unwrap_or_default();
            say(&format!("{failures} losses are greater than --max-drop {most}"));
            return Ok(Verdict::GateFailed);
        }
        Ok(Verdict::Done)
    }
}
