//! `sqlgauge estimate`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};
use sqlgauge_dataset::{
    Benchmark, Databases, Format, PredictionOptions, WorkloadSource, load_labels, load_predictions,
    load_workload,
};
use sqlgauge_engine::{Engine, Moment};
use sqlgauge_estimate::{EstimateOptions, Evidence, Loader, Pool, TargetLabels, estimators};
use sqlgauge_report::reliability::drift::Series;
use sqlgauge_report::reliability::{Reliability, table};
use sqlgauge_run::{Manifest, digest_inputs};

use crate::Verdict;
use crate::engine::engine;
use crate::judge_options::JudgeOptions;
use crate::options::{
    ClockOptions, LimitOptions, SystemFile, column_help, columns, format, system_file, workload_roles,
};
use crate::output::{colour, command_line, print, print_json, print_painted, width};
use crate::reliability::ReliabilityOptions;
use crate::scoring::{NOW, asks};
use crate::stdin::input_file;

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
        if !(0.5..1.0).contains(&self.level) {
            bail!("--level {} is no probability from 0.5 to below 1", self.level);
        }
        if !(0.0..=1.0).contains(&self.tau) {
            bail!("--tau {} is no confidence from 0 to 1", self.tau);
        }
        if let Some(folder) = &self.evaluator {
            return super::evaluated::estimate(folder, &self.target, self.level, self.json);
        }
        self.reliability.check()?;
        let history = self.reliability.history()?;
        let estimator = estimators::find(&self.method)?;
        let services = self.judge.services(&self.method, self.seed, self.quiet)?;
        let now = self.clock.moment();
        let engine: Arc<dyn Engine> = Arc::new(engine(self.limits.limits()?)?.at(now));
        let workload = self.workload()?;
        let pool = self.pool(engine.as_ref(), &workload)?;
        if !self.quiet {
            pool.notes.iter().for_each(crate::output::note);
        }
        self.reliability.keep_inputs(&self.input_files(&pool))?;
        let labels = self.target_labels(&pool)?;
        let mut evidence = Evidence::new(&pool)?.with_labels(labels).with_services(services);
        let options = EstimateOptions { level: self.level, seed: self.seed, tau: self.tau };
        let estimate_all = |evidence: &Evidence<'_>| {
            let cases = pool.targets.iter().map(|&target| evidence.case(target, options));
            cases.map(|case| estimator.estimate(&case)).collect::<Result<Vec<_>, _>>()
        };
        let estimates = estimate_all(&evidence)?;
        let asked = evidence.questions.clone();
        let mut batches = Vec::new();
        for range in self.reliability.batches(asked.len()) {
            evidence.questions = asked[range.clone()].to_vec();
            batches.push((range, estimate_all(&evidence)?));
        }
        let series = self.reliability.series(&estimates, asked.len(), &batches, history.as_ref());
        let rings = series.iter().any(Series::rings);
        let inputs =
            if self.reliability.writes() { digest_inputs(&self.input_files(&pool))? } else { Vec::new() };
        let report = Reliability {
            manifest: Manifest {
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                engine: engine.name_and_version(),
                command: command_line(),
                metrics: Vec::new(),
                systems: estimates.iter().map(|estimate| estimate.system.clone()).collect(),
                inputs,
                options: self.recorded_options(now),
                examples: asked.len(),
            },
            target: self.target.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            estimates,
            drift: if self.reliability.is_about_time() { series } else { Vec::new() },
            alarm_below: self.reliability.alarm_below(),
        };
        self.reliability.write(&report, history)?;
        if self.json {
            match report.estimates.as_slice() {
                [one] => print_json(one)?,
                several => print_json(&several)?,
            }
        } else {
            print_painted(&table(&report, width(), colour()))?;
        }
        if let Some(out) = self.reliability.out.as_ref().filter(|_| !self.quiet && !self.json) {
            print(&format!("Report: {}\n", out.join("report.html").display()))?;
        }
        Ok(if rings { Verdict::GateFailed } else { Verdict::Done })
    }

    fn target_labels(&self, pool: &Pool) -> Result<TargetLabels> {
        let columns = columns(&self.columns)?;
        let mut labels = TargetLabels::default();
        for text in &self.labels {
            let of_name = |(name, _): &(&str, &str)| self.predictions.iter().any(|file| file.system == *name);
            let (system, path) = match (text.split_once('=').filter(of_name), self.predictions.as_slice()) {
                (Some((name, path)), _) => (name, path),
                (None, [only]) => (only.system.as_str(), text.as_str()),
                (None, _) => bail!(
                    "--labels {text}: say whose labels they are, as NAME=FILE with the name of a --pred"
                ),
            };
            let path = Path::new(path);
            let Some(system) = pool.systems.iter().position(|known| known == system) else { continue };
            labels.add(pool, system, &load_labels(path, None, &columns)?, path)?;
        }
        Ok(labels)
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

    fn input_files(&self, pool: &Pool) -> Vec<(String, PathBuf)> {
        let mut files = vec![("target".to_owned(), self.target.clone())];
        let systems = |role: &str, of: &[SystemFile]| -> Vec<(String, PathBuf)> {
            of.iter().map(|file| (format!("{role}:{}", file.system), file.path.clone())).collect()
        };
        files.extend(systems("predictions", &self.predictions));
        files.extend(systems("peer", &self.peers));
        files.extend(self.labels.iter().map(|text| {
            let path = if Path::new(text).exists() {
                text
            } else {
                text.split_once('=').map_or(text.as_str(), |(_, path)| path)
            };
            ("labels".to_owned(), PathBuf::from(path))
        }));
        for path in &self.known {
            let role = format!("known:{}", path.file_name().unwrap_or_default().to_string_lossy());
            files.extend(["run.json", "items.jsonl"].map(|name| (role.clone(), path.join(name))));
        }
        files.extend(pool.database_files());
        files
    }

    fn workload(&self) -> Result<Benchmark> {
        let columns = columns(&self.columns)?;
        Ok(load_workload(&WorkloadSource { path: self.target.clone(), format: self.format, columns })?)
    }

    fn pool(&self, engine: &dyn Engine, workload: &Benchmark) -> Result<Pool> {
        let columns = columns(&self.columns)?;
        let folders =
            self.known_db.iter().map(|path| Databases::open(path)).collect::<Result<Vec<_>, _>>()?;
        let mut loader = Loader::new(engine, folders, self.metric.clone());
        self.known.iter().try_for_each(|path| loader.known(path))?;
        let options =
            PredictionOptions { format: self.pred_format, columns, extract: false, only_sql: false };
        let systems = self
            .predictions
            .iter()
            .chain(&self.peers)
            .map(|file| load_predictions(&file.system, &file.path, workload, &options))
            .collect::<Result<Vec<_>, _>>()?;
        let databases = Databases::open(self.db.as_deref().unwrap_or(Path::new("")))?;
        loader
            .target(&self.target, workload, &databases, &systems, self.predictions.len())
            .with_context(|| asks(&self.target))?;
        Ok(loader.finish())
    }
}
