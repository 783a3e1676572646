//! `sqlgauge show`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge::ShowJob;
use sqlgauge_report::{ShowOptions, show};

use crate::Verdict;
use crate::options::LimitOptions;
use crate::output::{colour, print_json, print_painted, width};

/// Show one item: question, both queries, both results, every metric and why
#[derive(Debug, Args)]
pub struct Show {
    /// Run directory
    run: PathBuf,
    /// Name of the system; may be left out when the run has one
    #[arg(long)]
    system: Option<String>,
    /// Id of the item
    #[arg(long)]
    id: String,
    /// Rows of each result to show
    #[arg(long, default_value_t = 10)]
    rows: usize,
    /// Print JSON: a list with the item of the system, or of every system without --system
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: LimitOptions,
}

impl Show {
    pub fn run(self) -> Result<Verdict> {
        let job =
            ShowJob { system: self.system, limits: self.limits.limits()?, ..ShowJob::new(self.run, self.id) };
        if self.json {
            print_json(&job.items()?)?;
            return Ok(Verdict::Done);
        }
        let shown = crate::engine::run(false, |context| job.run(context))?;
        let options = ShowOptions { width: width(), colour: colour(), rows: self.rows };
        let (gold, prediction) = (shown.gold_rows.as_deref(), shown.prediction_rows.as_deref());
        print_painted(&show(&shown.item, gold, prediction, options))?;
        Ok(Verdict::Done)
    }
}
