//! `sqlgauge estimate`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use sqlgauge::{EstimateJob, NOW, SystemLabels, check_estimate_options, digest_sources};
use sqlgauge_dataset::Format;
use sqlgauge_engine::{Engine, Moment};
use sqlgauge_estimate::EstimateOptions;
use sqlgauge_estimate::report::drift::Series;
use sqlgauge_estimate::report::{Reliability, table};
use sqlgauge_run::Manifest;

use crate::Verdict;
use crate::engine::engine;
use crate::judge_options::JudgeOptions;
use crate::options::{
    ClockOptions, LimitOptions, SystemFile, column_help, columns, format, system_file, systems,
    workload_roles,
};
use crate::output::{colour, command_line, print, print_json, print_painted, width};
use crate::reliability::ReliabilityOptions;
use crate::stdin::{input_file, source};

/// Estimate the accuracy of predictions without labels, with an interval and reasons
#[derive(Debug, Args)]
pub struct EstimateCommand {
    /// Run directory with labels (`sqlgauge score` or `sqlgauge import` makes one); may be given several times
    #[arg(long = "known", value_name = "DIR")]
    known: Vec<PathBuf>,
    /// Evaluator that `sqlgauge fit` made; the target is then an embedding file, and nothing else is needed
    #[arg(long, value_name = "DIR", conflicts_with_all = ["known", "predictions", "db"])]
    evaluator: Option<PathBuf>,
    /// File with the target's questions (golds in it are not read), or its embeddings (.parquet) with --evaluator
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    target: PathBuf,
    /// Predictions of a system to estimate; may be given several times
    #[arg(long = "pred", value_name = "NAME=FILE", required_unless_present = "evaluator", value_parser = system_file)]
    predictions: Vec<SystemFile>,
    /// Predictions of another system on the target, to compare with; may be given several times
    #[arg(long = "peer", value_name = "NAME=FILE", value_parser = system_file)]
    peers: Vec<SystemFile>,
    /// Folder with `DB_ID/DB_ID.sqlite` of the target; rows are not needed
    #[arg(long, value_name = "DIR", required_unless_present = "evaluator")]
    db: Option<PathBuf>,
    /// Folder that has databases of known runs which are not where they were; may be given several times
    #[arg(long, value_name = "DIR")]
    known_db: Vec<PathBuf>,
    /// Method
    #[arg(long, value_name = "ID", default_value = "auto")]
    method: String,
    /// Labels of some of a system's predictions on the target, as ids and 0 or 1, for the methods that need some (ppi);
    /// the name may be left out if there is one --pred. May be given several times
    #[arg(long, value_name = "[NAME=]FILE")]
    labels: Vec<String>,
    /// Confidence below which a prediction does not count for doc; 0 is the published method
    #[arg(long, value_name = "P", default_value_t = EstimateOptions::default().tau)]
    tau: f64,
    /// Metric of the known runs that is meant by accuracy; each run's first one of 0 and 1 by default
    #[arg(long, value_name = "ID")]
    metric: Option<String>,
    /// Probability with which the interval is to hold the true accuracy
    #[arg(long, value_name = "P", default_value_t = 0.9)]
    level: f64,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print the estimates as JSON
    #[arg(long)]
    json: bool,
    /// Format of the target, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    format: Option<Format>,
    /// Format of the prediction files, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pred_format: Option<Format>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(workload_roles()))]
    columns: Vec<String>,
    /// Print nothing but the result and errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    clock: ClockOptions,
    #[command(flatten)]
    reliability: ReliabilityOptions,
    #[command(flatten)]
    judge: JudgeOptions,
}

impl EstimateCommand {
    pub fn run(self) -> Result<Verdict> {
        let options = EstimateOptions { level: self.level, seed: self.seed, tau: self.tau };
        check_estimate_options(options)?;
        if let Some(folder) = &self.evaluator {
            return super::evaluated::estimate(folder, &self.target, self.level, self.json);
        }
        self.reliability.check()?;
        let history = self.reliability.history()?;
        let job = self.job(options)?;
        job.check()?;
        let services = self.judge.services(&self.method, self.seed, self.quiet)?;
        let now = self.clock.moment();
        let engine: Arc<dyn Engine> = Arc::new(engine(self.limits.limits()?)?.at(now));
        let pool = job.load(engine.as_ref())?;
        if !self.quiet {
            pool.notes.iter().for_each(crate::output::note);
        }
        let inputs = job.inputs(&pool);
        self.reliability.keep_inputs(&inputs)?;
        let mut evidence = job.evidence(&pool, services)?;
        let estimates = job.estimate(&evidence)?;
        let asked = evidence.questions.clone();
        let mut batches = Vec::new();
        for range in self.reliability.batches(asked.len()) {
            evidence.questions = asked[range.clone()].to_vec();
            batches.push((range, job.estimate(&evidence)?));
        }
        let series = self.reliability.series(&estimates, asked.len(), &batches, history.as_ref());
        let rings = series.iter().any(Series::rings);
        let report = Reliability {
            manifest: Manifest {
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                engine: engine.name_and_version(),
                command: command_line(),
                metrics: Vec::new(),
                systems: estimates.iter().map(|estimate| estimate.system.clone()).collect(),
                inputs: if self.reliability.writes() { digest_sources(&inputs)? } else { Vec::new() },
                options: self.recorded_options(now),
                examples: asked.len(),
            },
            target: self.target.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            estimates,
            drift: if self.reliability.is_about_time() { series } else { Vec::new() },
            alarm_below: self.reliability.alarm_below(),
        };
        self.reliability.write(&report, history)?;
        self.show(&report)?;
        Ok(if rings { Verdict::GateFailed } else { Verdict::Done })
    }

    fn show(&self, report: &Reliability) -> Result<()> {
        if self.json {
            return match report.estimates.as_slice() {
                [one] => print_json(one),
                several => print_json(&several),
            };
        }
        print_painted(&table(report, width(), colour()))?;
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
            target: source(self.target.clone()),
            format: self.format,
            systems: systems(self.predictions.clone(), &columns),
            peers: systems(self.peers.clone(), &columns),
            columns,
            prediction_format: self.pred_format,
            labels: self.labels.iter().map(|text| self.labels_of(text)).collect::<Result<_>>()?,
            // The arguments require it.
            db: self.db.clone().unwrap_or_default(),
            method: self.method.clone(),
            metric: self.metric.clone(),
            options,
        })
    }

    /// `[NAME=]FILE` of `--labels`.
    fn labels_of(&self, text: &str) -> Result<SystemLabels> {
        let of_name = |(name, _): &(&str, &str)| self.predictions.iter().any(|file| file.system == *name);
        let (system, file) = match (text.split_once('=').filter(of_name), self.predictions.as_slice()) {
            (Some((name, file)), _) => (name, file),
            (None, [only]) => (only.system.as_str(), text),
            (None, _) => {
                bail!("--labels {text}: say whose labels they are, as NAME=FILE with the name of a --pred")
            }
        };
        Ok(SystemLabels { system: system.to_owned(), file: PathBuf::from(file) })
    }

    /// What decides the result, for `run.json`; the command line has the rest.
    fn recorded_options(&self, now: Moment) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("method".to_owned(), json!(self.method)),
            ("level".to_owned(), json!(self.level)),
            ("seed".to_owned(), json!(self.seed)),
            ("tau".to_owned(), json!(self.tau)),
            ("metric".to_owned(), json!(self.metric)),
            (NOW.to_owned(), json!(now.to_string())),
        ])
    }
}
