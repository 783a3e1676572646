//! `sqlgauge estimate`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use sqlgauge_core::{EstimateJob, SystemLabels, check_estimate_options};
use sqlgauge_estimate::EstimateOptions;
use sqlgauge_estimate::report::Reliability;

use crate::Verdict;
use crate::judge_options::JudgeOptions;
use crate::options::{
    ClockOptions, FormatOptions, LimitOptions, SubsetOptions, SystemFile, column_help, columns, system_file,
    systems, workload_roles,
};
use crate::output::{command_line, print, print_document, print_json};
use crate::reliability::ReliabilityOptions;
use crate::stdin::{input_file, source};
use crate::values::NamedFile;

/// Estimate accuracy without gold queries, from runs you have already scored
#[derive(Debug, Args)]
pub(crate) struct EstimateCommand {
    /// Scored run to learn from (a folder by `sqlgauge score` or `sqlgauge import`); repeat for more
    #[arg(long = "known", value_name = "DIR")]
    known: Vec<PathBuf>,
    /// Evaluator by `sqlgauge fit`, instead of scored runs; --questions is then an embedding file
    #[arg(long, value_name = "DIR", conflicts_with_all = ["known", "predictions", "db"])]
    pub evaluator: Option<PathBuf>,
    /// File with the questions to estimate on (its gold queries are ignored); with --evaluator, an embedding file
    #[arg(long, alias = "target", value_name = "FILE", value_parser = input_file)]
    questions: PathBuf,
    /// Predictions of a system to estimate; repeat for more
    #[arg(long = "pred", value_name = "NAME=FILE", required_unless_present = "evaluator", value_parser = system_file)]
    predictions: Vec<SystemFile>,
    /// Predictions of another system on the same questions, to compare answers with; repeat for more
    #[arg(long = "peer", value_name = "NAME=FILE", value_parser = system_file)]
    peers: Vec<SystemFile>,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file; they may be empty
    #[arg(long, value_name = "DIR", required_unless_present = "evaluator")]
    db: Option<PathBuf>,
    /// Folder with databases of the scored runs that have moved since; repeat for more
    #[arg(long, value_name = "DIR")]
    known_db: Vec<PathBuf>,
    /// Method; `auto` chooses one
    #[arg(long, value_name = "ID", default_value = "auto")]
    method: String,
    /// Labels (id and 0 or 1) of some predictions on the target, for methods that need some (ppi). Leave out NAME if
    /// there is one --pred; repeat for more
    #[arg(long, value_name = "[NAME=]FILE")]
    labels: Vec<NamedFile>,
    /// Lowest confidence of a prediction that `--method doc` counts; 0 is the published method
    #[arg(long, value_name = "P", default_value_t = EstimateOptions::default().tau)]
    tau: f64,
    /// Metric of the scored runs that accuracy means [default: the first metric of 0 and 1 of each run]
    #[arg(long, value_name = "ID")]
    metric: Option<String>,
    /// Probability that the interval contains the true accuracy (0.5 <= P < 1)
    #[arg(long, value_name = "P", default_value_t = 0.9)]
    level: f64,
    /// Seed of the random draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print the estimates as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    formats: FormatOptions,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(workload_roles()))]
    columns: Vec<String>,
    /// Print only the result and errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    clock: ClockOptions,
    #[command(flatten)]
    reliability: ReliabilityOptions,
    #[command(flatten)]
    pub judge: JudgeOptions,
    #[command(flatten)]
    subset: SubsetOptions,
}

impl EstimateCommand {
    pub(crate) fn run(self) -> Result<Verdict> {
        let options = EstimateOptions { level: self.level, seed: self.seed, tau: self.tau };
        check_estimate_options(options)?;
        #[cfg(feature = "evaluator")]
        if let Some(folder) = &self.evaluator {
            if self.subset.is_given() {
                bail!(
                    "--evaluator takes all items of its embedding file; leave --db-id, --ids, --where and --limit out"
                );
            }
            return super::evaluated::run(folder, &self.questions, self.level, self.json);
        }
        let job = self.job(options)?;
        let estimated = crate::engine::run(self.quiet, |context| job.run(context))?;
        self.show(&estimated.report)?;
        Ok(if estimated.rings { Verdict::GateFailed } else { Verdict::Done })
    }

    fn show(&self, report: &Reliability) -> Result<()> {
        if self.json {
            return match report.estimates.as_slice() {
                [one] => print_json(one),
                several => print_json(&several),
            };
        }
        print_document(&report.document())?;
        match self.reliability.out.as_ref().filter(|_| !self.quiet) {
            Some(out) => print(&format!("Report: {}\n", out.join("report.html").display())),
            None => Ok(()),
        }
    }

    fn job(&self, options: EstimateOptions) -> Result<EstimateJob> {
        let columns = columns(&self.columns)?;
        Ok(EstimateJob {
            known: self.known.clone(),
            known_db: self.known_db.clone(),
            target: source(self.questions.clone()),
            format: self.formats.format,
            subset: self.subset.subset(self.seed)?,
            systems: systems(self.predictions.clone(), &columns),
            peers: systems(self.peers.clone(), &columns),
            columns,
            prediction_format: self.formats.pred_format,
            labels: self.labels.iter().map(|text| self.labels_of(text)).collect::<Result<_>>()?,
            // The arguments require it.
            db: self.db.clone().unwrap_or_default(),
            method: self.method.clone(),
            metric: self.metric.clone(),
            options,
            limits: self.limits.limits()?,
            now: self.clock.now,
            #[cfg(feature = "services")]
            judge: self.judge.settings(self.seed)?,
            records: self.reliability.records(),
            command: command_line(),
        })
    }

    /// `[NAME=]FILE` of `--labels`.
    fn labels_of(&self, text: &str) -> Result<SystemLabels> {
        let of_name = |(name, _): &(&str, &str)| self.predictions.iter().any(|file| file.system == *name);
        let (system, file) = match (text.split_once('=').filter(of_name), self.predictions.as_slice()) {
            (Some((name, file)), _) => (name, file),
            (None, [only]) => (only.system.as_str(), text),
            (None, _) => {
                bail!("--labels {text}: write NAME=FILE with the name of a --pred")
            }
        };
        Ok(SystemLabels { system: system.to_owned(), file: PathBuf::from(file) })
    }
}
