//! `sqlgauge compat bird`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use sqlgauge_base::file::append_lines;
use sqlgauge_base::pool::Pool;
use sqlgauge_dataset::{BenchmarkSource, Databases, PredictionOptions, load_benchmark, load_predictions};
use sqlgauge_engine::Limits;
use sqlgauge_metrics::{Pair, find};
use sqlgauge_run::UsedDatabases;

use crate::Verdict;
use crate::engine::engine;
use crate::options::ClockOptions;
use crate::output::{print, print_json};
use crate::scoring::asks;
use sqlgauge_core::{OutputPath, keep_database, keep_inputs};

/// `evaluation.py` of BIRD; `evaluation_ex.py`, `evaluation_f1.py` and `evaluation_ves.py` of Mini-Dev
#[derive(Debug, Args)]
pub(crate) struct Bird {
    /// JSON file of the predictions, or what stands before `predict_DATA_MODE.json`
    #[arg(long = "predicted_sql_path")]
    predicted_sql_path: PathBuf,
    /// File of the gold queries, or what stands before `DATA_MODE_gold.sql`
    #[arg(long = "ground_truth_path")]
    ground_truth_path: PathBuf,
    /// Folder with `DB_ID/DB_ID.sqlite`
    #[arg(long = "db_root_path")]
    db_root_path: PathBuf,
    /// What to compute; without it, ex, or accuracy where no flag is Mini-Dev's
    #[arg(long, value_enum)]
    metric: Option<Measure>,
    /// dev, train or test: part of the file names
    #[arg(long = "data_mode", default_value = "dev")]
    data_mode: String,
    /// Worker threads; 0 means one per core, and for r-ves, which measures time, one
    #[arg(long = "num_cpus", default_value_t = 0)]
    num_cpus: usize,
    /// Seconds that one query may take
    #[arg(long = "meta_time_out", default_value_t = 30.0)]
    meta_time_out: f64,
    /// JSON or JSONL file with the difficulty of each question
    #[arg(long = "diff_json_path")]
    diff_json_path: Option<PathBuf>,
    /// Mini-Dev's: the dialect of both queries; only `SQLite` can be run
    #[arg(long = "sql_dialect")]
    sql_dialect: Option<String>,
    /// Mini-Dev's: the table is appended to this file as well
    #[arg(long = "output_log_path")]
    output_log_path: Option<OutputPath>,
    /// Taken for compatibility: the kind of the gold file is detected
    #[arg(long = "mode_gt", default_value = "gt")]
    mode_gt: String,
    /// Taken for compatibility: the kind of the prediction file is detected
    #[arg(long = "mode_predict", default_value = "gpt")]
    mode_predict: String,
    /// Taken for compatibility: all difficulties are printed
    #[arg(long, default_value = "simple")]
    difficulty: String,
    /// Taken for compatibility: the name of the model that made the predictions
    #[arg(long, default_value = "")]
    engine: String,
    #[command(flatten)]
    clock: ClockOptions,
    /// Print JSON instead of the official table
    #[arg(long)]
    json: bool,
}

/// What one of the official scripts computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Measure {
    /// `evaluation.py` of BIRD
    Accuracy,
    /// `evaluation_ex.py` of Mini-Dev
    Ex,
    /// `evaluation_f1.py` of Mini-Dev
    SoftF1,
    /// `evaluation_ves.py` of Mini-Dev
    RVes,
}

impl Measure {
    fn metric(self) -> &'static str {
        match self {
            Self::Accuracy | Self::Ex => "ex-bird@1",
            Self::SoftF1 => "soft-f1@1",
            Self::RVes => "r-ves@1",
        }
    }

    /// What stands in the heading of the table and before its last row.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Accuracy => ("ACCURACY", "accuracy"),
            Self::Ex => ("EX", "EX"),
            Self::SoftF1 => ("Soft-F1", "Soft-F1"),
            Self::RVes => ("R-VES", "R-VES"),
        }
    }
}

const LEVELS: [&str; 3] = ["simple", "moderate", "challenging"];

impl Bird {
    pub(crate) fn run(self) -> Result<Verdict> {
        if let Some(dialect) = self.sql_dialect.as_deref().filter(|d| !d.eq_ignore_ascii_case("sqlite")) {
            bail!(
                "--sql_dialect {dialect}: only SQLite can be run; give the SQLite version of the benchmark"
            );
        }
        let gold = file_or_prefix(&self.ground_truth_path, &format!("{}_gold.sql", self.data_mode))?;
        let predicted =
            file_or_prefix(&self.predicted_sql_path, &format!("predict_{}.json", self.data_mode))?;
        let questions = self.diff_json_path.clone();
        if let Some(log) = &self.output_log_path {
            let inputs =
                [("gold", Some(&gold)), ("predictions", Some(&predicted)), ("questions", questions.as_ref())];
            let paths = inputs.into_iter().filter_map(|(role, path)| Some((role, path?.as_path())));
            keep_inputs("--output_log_path", log, paths)?;
            keep_database("--output_log_path", log)?;
        }
        let benchmark = load_benchmark(&BenchmarkSource { gold, questions, ..BenchmarkSource::default() })?;
        let predictions =
            load_predictions("prediction", &predicted, &benchmark, &PredictionOptions::default())?;
        let timeout = Duration::try_from_secs_f64(self.meta_time_out)
            .map_err(|_| anyhow!("--meta_time_out {} is not a number of seconds", self.meta_time_out))?;
        let engine = engine(Limits { timeout, ..Limits::default() })?.at(self.clock.moment());
        let used = UsedDatabases::locate(&Databases::open(&self.db_root_path)?, &benchmark.examples, false)
            .with_context(|| asks(&self.ground_truth_path))?;
        let targets = used.open(&engine, None)?;
        let measure = self.measure();
        let metric = find(measure.metric())?;
        let score = |place: usize| {
            let (example, prediction) = (&benchmark.examples[place], &predictions.predictions[place]);
            let text = prediction.as_ref().map_or("", |prediction| prediction.sql.as_str());
            // A gold that fails gives 0, as in the scripts, and so does one that is not there.
            let Some(gold) = example.golds.first() else { return Ok(0.0) };
            let pair = Pair::new(&engine, &targets[&example.db_id], gold, text, None);
            Ok(prediction.as_ref().and_then(|_| metric.score(&pair).value).unwrap_or(0.0))
        };
        let scores: Vec<f64> =
            Pool::of(self.threads(measure)).try_map::<_, anyhow::Error>(benchmark.examples.len(), score)?;
        let levels = benchmark.examples.iter().map(|example| example.difficulty.as_deref());
        let graded: Vec<(Option<&str>, f64)> = levels.zip(scores).collect();
        let text = page(measure, &graded);
        self.log(&text)?;
        if self.json {
            print_json(&json(measure, &graded))?;
        } else {
            print(&text)?;
        }
        Ok(Verdict::Done)
    }

    fn measure(&self) -> Measure {
        let is_mini_dev = self.sql_dialect.is_some() || self.output_log_path.is_some();
        self.metric.unwrap_or(if is_mini_dev { Measure::Ex } else { Measure::Accuracy })
    }

    fn threads(&self, measure: Measure) -> usize {
        if measure == Measure::RVes && self.num_cpus == 0 { 1 } else { self.num_cpus }
    }

    fn log(&self, text: &str) -> Result<()> {
        let Some(path) = &self.output_log_path else { return Ok(()) };
        append_lines(path, |_| text.as_bytes().to_vec(), |_| false)
            .with_context(|| format!("--output_log_path {} cannot be written", path.display()))
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

/// What the script prints.
fn page(measure: Measure, scored: &[(Option<&str>, f64)]) -> String {
    let table = table(measure, scored);
    if measure == Measure::Accuracy {
        return table;
    }
    let line = "=".repeat(91);
    let (_, name) = measure.names();
    let what = if measure == Measure::SoftF1 { "Soft F1" } else { name };
    format!("start calculate {what}\n{table}{line}\nFinished {name} evaluation for SQLite on Mini Dev set\n")
}

/// Name, count and mean score in [0, 1] of each difficulty that a question has, and of all questions.
fn levels(items: &[(Option<&str>, f64)]) -> Vec<(&'static str, usize, Option<f64>)> {
    let level = |name: Option<&'static str>| {
        let scores = items.iter().filter(|(difficulty, _)| name.is_none() || *difficulty == name);
        let scores: Vec<f64> = scores.map(|(_, score)| *score).collect();
        let mean = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
        (name.unwrap_or("total"), scores.len(), mean)
    };
    let rows = LEVELS.map(Some).into_iter().map(level).filter(|(_, count, _)| *count > 0);
    rows.chain([level(None)]).collect()
}

/// The same as JSON: `{"metric", "levels": [{"name", "count", "mean"}]}`, means in [0, 1] and unrounded.
fn json(measure: Measure, scored: &[(Option<&str>, f64)]) -> serde_json::Value {
    let level = |(name, count, mean)| serde_json::json!({"name": name, "count": count, "mean": mean});
    let levels: Vec<serde_json::Value> = levels(scored).into_iter().map(level).collect();
    serde_json::json!({"metric": measure.metric(), "levels": levels})
}

/// The official table: count and mean in percent per difficulty and in total. A difficulty that no question has, or
/// that is not known because there is no file for it, has no column; the scripts stop on it.
fn table(measure: Measure, scored: &[(Option<&str>, f64)]) -> String {
    let (heading, name) = measure.names();
    let (mut titles, mut counts, mut means) =
        (vec![String::new()], vec!["count".to_owned()], vec![name.to_owned()]);
    for (level, count, mean) in levels(scored) {
        titles.push(level.to_owned());
        counts.push(count.to_string());
        means.push(mean.map_or_else(|| "-".to_owned(), |mean| format!("{:.2}", 100.0 * mean)));
    }
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:20}")).collect();
        cells.join(" ").trim_end().to_owned()
    };
    let heading = format!(
        "======================================    {heading}    ====================================="
    );
    [line(&titles), line(&counts), heading, line(&means)].join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difficulties_that_nobody_knows_have_no_column() {
        let unknown = [(None, 1.0), (None, 0.0)];
        let text = table(Measure::Accuracy, &unknown);
        assert!(text.contains("total") && text.contains("50.00"), "{text}");
        assert!(LEVELS.iter().all(|level| !text.contains(level)) && !text.contains("0.00 "), "{text}");
        let some = [(Some("simple"), 1.0), (Some("challenging"), 0.25)];
        let text = table(Measure::SoftF1, &some);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["simple", "challenging", "total"]);
        assert_eq!(rows[1], ["count", "1", "1", "2"]);
        assert_eq!(rows[3], ["Soft-F1", "100.00", "25.00", "62.50"]);
        let json = json(Measure::SoftF1, &some);
        assert_eq!(json["levels"][1], serde_json::json!({"name": "challenging", "count": 1, "mean": 0.25}));
    }
}
