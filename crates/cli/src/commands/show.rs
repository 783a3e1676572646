//! `sqlgauge show`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use sqlgauge_core::{ShowJob, failed_questions, items_of_cause};
use sqlgauge_engine::Limits;
use sqlgauge_report::{ShowOptions, show};

use crate::Verdict;
use crate::output::{colour, print_json, print_painted, width};

/// Show items: both queries, both results, and why each score
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// Run directory
    run: PathBuf,
    /// Name of the system; may be left out when the run has one
    #[arg(long)]
    system: Option<String>,
    /// Id of an item; may be given several times
    #[arg(long = "id", value_name = "ID")]
    ids: Vec<String>,
    /// Show the first answers of the system that are wrong, at most N
    #[arg(long, value_name = "N", conflicts_with = "ids")]
    wrong: Option<usize>,
    /// Show the wrong answers of a cause, by its name or id; with --wrong at most so many
    #[arg(long, value_name = "CAUSE", conflicts_with = "ids")]
    cause: Option<String>,
    /// Rows of each result to show
    #[arg(long, default_value_t = 10)]
    rows: usize,
    /// Print JSON: a list with the item of the system, or of every system without --system
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: Limits,
}

impl Show {
    pub(crate) fn run(self) -> Result<Verdict> {
        let jobs = self.ids()?.into_iter().map(|id| ShowJob {
            system: self.system.clone(),
            limits: self.limits,
            ..ShowJob::new(self.run.clone(), id)
        });
        if self.json {
            let items = jobs.map(|job| job.items()).collect::<Result<Vec<_>, _>>()?;
            print_json(&items.concat())?;
            return Ok(Verdict::Done);
        }
        let options = ShowOptions { width: width(), colour: colour(), rows: self.rows };
        for (at, job) in jobs.enumerate() {
            let view = crate::engine::run(false, |context| job.run(context))?;
            let (gold, prediction) = (view.gold_rows.as_deref(), view.prediction_rows.as_deref());
            let space = if at > 0 { "\n\n" } else { "" };
            print_painted(&format!(
                "{space}{}",
                show(&view.item, view.why.as_ref(), gold, prediction, &view.metrics, options)
            ))?;
        }
        Ok(Verdict::Done)
    }

    /// The items that are asked for.
    fn ids(&self) -> Result<Vec<String>> {
        let system = self.system.as_deref();
        let mut ids = match (&self.cause, self.wrong) {
            (Some(cause), _) => items_of_cause(&self.run, system, cause)?,
            (None, Some(_)) => failed_questions(&self.run, system.as_slice())?.ids,
            (None, None) if self.ids.is_empty() => {
                bail!("name the items to show: --id ID, --wrong N or --cause CAUSE")
            }
            (None, None) => self.ids.clone(),
        };
        ids.truncate(self.wrong.unwrap_or(ids.len()));
        Ok(ids)
    }
}
