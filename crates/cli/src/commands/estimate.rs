//! `sqlgauge estimate`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use sqlgauge_core::{EstimateJob, MonitorJob, NamedFile, SystemLabels, Watch, check_estimate_options};
use sqlgauge_estimate::EstimateOptions;
use sqlgauge_estimate::report::Reliability;

use crate::Verdict;
use crate::llm_options::JudgeOptions;
use crate::options::{column_help, columns, with_columns, workload_roles};
use crate::output::{command_line, print, print_document, print_json};

/// Estimate accuracy without gold queries, from runs you have already scored
#[derive(Args)]
pub(crate) struct EstimateCommand {
    #[command(flatten)]
    job: EstimateJob,
    /// Evaluator by `sqlgauge fit`, instead of scored runs; --questions is then an embedding file
    #[arg(long, value_name = "DIR", conflicts_with_all = ["known", "predictions", "db", "tables"])]
    pub evaluator: Option<PathBuf>,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file; they may be empty. Or an address as `score` takes it: the
    /// predictions run there
    #[arg(long, value_name = "DIR", required_unless_present_any = ["evaluator", "tables"], conflicts_with = "tables")]
    db: Option<PathBuf>,
    /// Labels (id and 0 or 1) of some predictions on the target, for methods that need some (ppi). Leave out NAME if
    /// there is one --pred; repeat for more
    #[arg(long, value_name = "[NAME=]FILE")]
    labels: Vec<NamedFile>,
    /// Lowest confidence of a prediction that `--method doc` counts; 0 is the published method
    #[arg(long, value_name = "P", default_value_t = EstimateOptions::default().tau)]
    tau: f64,
    /// Sample sets that the methods `fusion*` learn from
    #[arg(long, value_name = "N", default_value_t = EstimateOptions::default().sample_sets)]
    sample_sets: usize,
    /// Probability that the interval contains the true accuracy (0.5 <= P < 1)
    #[arg(long, value_name = "P", default_value_t = 0.9)]
    level: f64,
    /// Seed of the random draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print the estimates as JSON
    #[arg(long)]
    json: bool,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(workload_roles()))]
    columns: Vec<String>,
    /// Print only the result and errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    pub judge: JudgeOptions,
}

impl EstimateCommand {
    pub(crate) fn run(self) -> Result<Verdict> {
        self.watched(None)
    }

    /// The same, compared with the batches before.
    pub(super) fn watched(self, watch: Option<Watch>) -> Result<Verdict> {
        let options = EstimateOptions {
            level: self.level,
            seed: self.seed,
            tau: self.tau,
            sample_sets: self.sample_sets,
        };
        check_estimate_options(options)?;
        #[cfg(feature = "evaluator")]
        if let Some(folder) = &self.evaluator {
            if watch.is_some() {
                bail!("monitor learns from scored runs; give them with --known, and no --evaluator");
            }
            if !self.job.subset.is_all() {
                bail!(
                    "--evaluator takes all items of its embedding file; leave --db-id, --ids, --where and --limit out"
                );
            }
            let target = self.job.target.file().unwrap_or_else(|| self.job.target.path());
            return super::evaluated::run(folder, target, self.level, self.json);
        }
        let estimate = self.job(options)?;
        let estimated = crate::engine::run(self.quiet, |context| match watch {
            Some(watch) => MonitorJob { estimate, watch }.run(context),
            None => estimate.run(context),
        })?;
        self.show(&estimated.report)?;
        Ok(if estimated.rings { Verdict::GateFailed } else { Verdict::Done })
    }

    fn show(&self, report: &Reliability) -> Result<()> {
        if self.json {
            return match report.printed().collect::<Vec<_>>().as_slice() {
                [one] => print_json(one),
                several => print_json(&several),
            };
        }
        print_document(&report.document())?;
        match self.job.out.as_ref().filter(|_| !self.quiet) {
            Some(out) => print(&format!("Report: {}\n", out.join("report.html").display())),
            None => Ok(()),
        }
    }

    fn job(&self, options: EstimateOptions) -> Result<EstimateJob> {
        let columns = columns(&self.columns)?;
        let mut job = self.job.clone();
        job.subset.seed = self.seed;
        #[cfg(feature = "services")]
        {
            job.judge = self.judge.settings(self.seed);
        }
        Ok(EstimateJob {
            systems: with_columns(job.systems, &columns),
            peers: with_columns(job.peers, &columns),
            columns,
            labels: self.labels.iter().map(|text| self.labels_of(text)).collect::<Result<_>>()?,
            // The arguments require it, or a schema file.
            db: self.db.clone().unwrap_or_default(),
            options,
            command: command_line(),
            ..job
        })
    }

    /// `[NAME=]FILE` of `--labels`.
    fn labels_of(&self, text: &str) -> Result<SystemLabels> {
        let of_name = |(name, _): &(&str, &str)| self.job.systems.iter().any(|system| system.name == *name);
        let (system, file) = match (text.split_once('=').filter(of_name), self.job.systems.as_slice()) {
            (Some((name, file)), _) => (name, file),
            (None, [only]) => (only.name.as_str(), text),
            (None, _) => {
                bail!("--labels {text}: write NAME=FILE with the name of a --pred")
            }
        };
        Ok(SystemLabels { system: system.to_owned(), file: PathBuf::from(file) })
    }
}
