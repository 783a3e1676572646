//! `sqlgauge compat bird`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow};
use clap::Args;
use rayon::prelude::*;
use sqlgauge_dataset::{BenchmarkSource, Databases, PredictionOptions, load_benchmark, load_predictions};
use sqlgauge_engine::{Limits, SqliteEngine};
use sqlgauge_metrics::{Pair, find};
use sqlgauge_run::UsedDatabases;

use crate::Verdict;
use crate::output::print;

/// `evaluation.py` of BIRD
#[derive(Debug, Args)]
pub struct Bird {
    /// JSON file of the predictions, or what stands before `predict_DATA_MODE.json`
    #[arg(long = "predicted_sql_path")]
    predicted_sql_path: PathBuf,
    /// File of the gold queries, or what stands before `DATA_MODE_gold.sql`
    #[arg(long = "ground_truth_path")]
    ground_truth_path: PathBuf,
    /// Folder with `DB_ID/DB_ID.sqlite`
    #[arg(long = "db_root_path")]
    db_root_path: PathBuf,
    /// dev, train or test: part of the file names
    #[arg(long = "data_mode", default_value = "dev")]
    data_mode: String,
    /// Worker threads
    #[arg(long = "num_cpus", default_value_t = 0)]
    num_cpus: usize,
    /// Seconds that one query may take
    #[arg(long = "meta_time_out", default_value_t = 30.0)]
    meta_time_out: f64,
    /// JSON file with the difficulty of each question
    #[arg(long = "diff_json_path")]
    diff_json_path: Option<PathBuf>,
    /// Taken for compatibility: the kind of the gold file is detected
    #[arg(long = "mode_gt", default_value = "gt")]
    mode_gt: String,
    /// Taken for compatibility: the kind of the prediction file is detected
    #[arg(long = "mode_predict", default_value = "gpt")]
    mode_predict: String,
    /// Taken for compatibility: all difficulties are printed
    #[arg(long, default_value = "simple")]
    difficulty: String,
}

const LEVELS: [&str; 3] = ["simple", "moderate", "challenging"];

impl Bird {
    pub fn run(self) -> Result<Verdict> {
        let gold = file_or_prefix(&self.ground_truth_path, &format!("{}_gold.sql", self.data_mode))?;
        let predicted =
            file_or_prefix(&self.predicted_sql_path, &format!("predict_{}.json", self.data_mode))?;
        let source = BenchmarkSource { gold, questions: self.diff_json_path, ..BenchmarkSource::default() };
        let benchmark = load_benchmark(&source)?;
        let predictions =
            load_predictions("prediction", &predicted, &benchmark, &PredictionOptions::default())?;
        let timeout = Duration::try_from_secs_f64(self.meta_time_out)
            .map_err(|_| anyhow!("--meta_time_out {} is no number of seconds", self.meta_time_out))?;
        let engine = SqliteEngine::new(Limits { timeout, ..Limits::default() });
        let used = UsedDatabases::locate(&Databases::open(&self.db_root_path)?, &benchmark.examples, false)?;
        let targets = used.open(&engine, None)?;
        let metric = find("ex-bird@1")?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.num_cpus).build()?;
        let right: Vec<bool> = pool.install(|| {
            let pairs = benchmark.examples.par_iter().zip(&predictions.predictions);
            let is_right = pairs.map(|(example, prediction)| {
                let text = prediction.as_ref().map_or("", |prediction| prediction.sql.as_str());
                let pair = Pair::new(&engine, &targets[&example.db_id], &example.golds[0], text, None);
                prediction.is_some() && metric.score(&pair).value == Some(1.0)
            });
            is_right.collect()
        });
        let levels = benchmark.examples.iter().map(|example| example.difficulty.as_deref());
        let scored: Vec<(Option<&str>, bool)> = levels.zip(right).collect();
        print(table(&scored).as_bytes())?;
        Ok(Verdict::Done)
    }
}

/// The scripts join a prefix and a name; a whole file name is taken as well.
fn file_or_prefix(path: &Path, name: &str) -> Result<PathBuf> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    let mut joined = path.as_os_str().to_owned();
    joined.push(name);
    let candidates = [PathBuf::from(joined), path.join(name)];
    candidates.iter().find(|candidate| candidate.is_file()).cloned().ok_or_else(|| {
        anyhow!("neither {} nor {} is a file; give the file itself", path.display(), candidates[0].display())
    })
}

/// The official table: count and accuracy in percent per difficulty and in total.
fn table(scored: &[(Option<&str>, bool)]) -> String {
    let count =
        |level: Option<&str>| scored.iter().filter(|(own, _)| level.is_none() || *own == level).count();
    let right = |level: Option<&str>| {
        scored.iter().filter(|(own, ok)| *ok && (level.is_none() || *own == level)).count()
    };
    let accuracy = |level: Option<&str>| match count(level) {
        0 => 0.0,
        all => 100.0 * right(level) as f64 / all as f64,
    };
    let groups = LEVELS.map(Some).into_iter().chain([None]);
    let mut text = format!("{:20} ", "");
    let mut counts = format!("{:20} ", "count");
    let mut accuracies = format!("{:20} ", "accuracy");
    for level in groups {
        let _ = write!(text, "{:20} ", level.unwrap_or("total"));
        let _ = write!(counts, "{:<20} ", count(level));
        let _ = write!(accuracies, "{:<20.2} ", accuracy(level));
    }
    let heading =
        "======================================    ACCURACY    =====================================";
    let lines = [text.trim_end(), counts.trim_end(), heading, accuracies.trim_end()];
    lines.join("\n") + "\n"
}
