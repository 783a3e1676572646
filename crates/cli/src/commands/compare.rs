//! `sqlgauge compare`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge::CompareJob;
use sqlgauge_report::Versus;
use sqlgauge_report::formats::TextTables;

use crate::Verdict;
use crate::output::{colour, print_json, print_painted, width};

/// Compare two systems of a run: paired test, interval of the difference, items that differ
#[derive(Debug, Args)]
pub struct Compare {
    /// Run directory
    run: PathBuf,
    /// The two systems, separated by a comma; may be left out when the run has two
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    systems: Vec<String>,
    /// Metric whose differing items are listed; the run's first without it
    #[arg(long)]
    metric: Option<String>,
    /// Number of differing items to list for each side
    #[arg(long, default_value_t = 20)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Compare {
    pub fn run(self) -> Result<Verdict> {
        let job = CompareJob { folder: self.run, systems: self.systems, metric: self.metric };
        let comparison = job.run()?;
        if self.json {
            print_json(&comparison.to_json())?;
            return Ok(Verdict::Done);
        }
        let versus = Versus {
            summary: &comparison.summary,
            metric: &comparison.metric,
            only_first: &comparison.only_first,
            only_second: &comparison.only_second,
            limit: self.limit,
        };
        print_painted(&versus.render(TextTables { width: width(), colour: colour() })?)?;
        Ok(Verdict::Done)
    }
}
