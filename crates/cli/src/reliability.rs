//! What `estimate` leaves behind: its folder, its table, its alarms.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};
use sqlgauge_dataset::Benchmark;
use sqlgauge_estimate::{Estimate, Pool};
use sqlgauge_report::reliability::drift::{Point, Rules, Series};
use sqlgauge_report::reliability::{self, Answer, Interval, Part, Reliability, Signal, SystemEstimate};
use sqlgauge_run::Manifest;

/// Report, drift and alarms.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Report and drift")]
pub struct ReliabilityOptions {
    /// Folder to write: report.html, report.md, estimate.json, predictions.jsonl, run.json
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Estimate batches of N questions too, in the order of the target file; a rest below N/2 joins the last one
    #[arg(long, value_name = "N", conflicts_with = "history")]
    batch_size: Option<usize>,
    /// File to which this estimate is appended, and with whose earlier ones it is compared
    #[arg(long, value_name = "FILE", requires = "as_of")]
    history: Option<PathBuf>,
    /// What this estimate is called in the history, as a date or a version; the same again replaces it
    #[arg(long, value_name = "TEXT", requires = "history")]
    as_of: Option<String>,
    /// Exit with code 1 if the whole interval of an estimate is below X, from 0 to 1
    #[arg(long, value_name = "X")]
    alarm_below: Option<f64>,
    /// Exit with code 1 if an estimate is D or more below the first ones, from 0 to 1, and more than intervals explain
    #[arg(long, value_name = "D")]
    alarm_drop: Option<f64>,
}

impl ReliabilityOptions {
    /// Says what makes no sense before anything is computed.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [("--alarm-below", self.alarm_below), ("--alarm-drop", self.alarm_drop)] {
            if let Some(value) = value.filter(|value| !(0.0..=1.0).contains(value)) {
                bail!("{name} {value} is no share from 0 to 1; 40 % is 0.4");
            }
        }
        if self.batch_size == Some(0) {
            bail!("--batch-size 0: a batch has at least one question");
        }
        if self.alarm_drop.is_some() && self.batch_size.is_none() && self.history.is_none() {
            bail!("--alarm-drop compares estimates that follow each other; give --batch-size or --history");
        }
        if let Some(out) = self.out.as_ref().filter(|out| out.join("items.jsonl").exists()) {
            bail!(
                "{} holds a run with labels, which is not to be mixed with an estimate; choose another --out",
                out.display()
            );
        }
        Ok(())
    }

    /// The batches to estimate beside the whole, as ranges of the target file.
    pub fn batches(&self, questions: usize) -> Vec<std::ops::Range<usize>> {
        let Some(size) = self.batch_size else { return Vec::new() };
        let mut starts: Vec<usize> = (0..questions).step_by(size).collect();
        if starts.len() > 1 && 2 * (questions % size) < size && !questions.is_multiple_of(size) {
            starts.pop();
        }
        let ends = starts.iter().copied().skip(1).chain([questions]);
        starts.iter().copied().zip(ends).map(|(from, to)| from..to).collect()
    }

    /// Compares estimates that follow each other. `batches` has for each batch its range and the estimates of all
    /// systems; `whole` are those of the whole target.
    pub fn series(
        &self,
        whole: &[Estimate],
        questions: usize,
        batches: &[(std::ops::Range<usize>, Vec<Estimate>)],
    ) -> Result<Vec<Series>> {
        let rules = Rules { below: self.alarm_below, drop: self.alarm_drop };
        let earlier = match &self.history {
            Some(path) => read_history(path)?,
            None => Vec::new(),
        };
        let label = self.as_of.as_deref().unwrap_or("whole target");
        let series = whole.iter().enumerate().map(|(at, estimate)| {
            if !batches.is_empty() {
                let points = batches.iter().filter_map(|(range, estimates)| {
                    let label = format!("{}–{}", range.start + 1, range.end);
                    Some(point(&label, range.len(), estimates.get(at)?))
                });
                return Series::judged(estimate.system.clone(), points.collect(), rules, 0);
            }
            let mut points = past(&earlier, estimate, label);
            points.push(point(label, questions, estimate));
            let newest = points.len() - 1;
            Series::judged(estimate.system.clone(), points, rules, newest)
        });
        Ok(series.collect())
    }

    /// Whether the series are worth a chart, beyond the alarms.
    pub fn is_about_time(&self) -> bool {
        self.batch_size.is_some() || self.history.is_some() || self.alarm_below.is_some()
    }

    /// The bar, for the chart.
    pub fn alarm_below(&self) -> Option<f64> {
        self.alarm_below
    }

    /// Appends the estimates to the history, if one is kept.
    pub fn append(&self, estimates: &[Estimate], questions: usize) -> Result<()> {
        let (Some(path), Some(label)) = (&self.history, &self.as_of) else { return Ok(()) };
        let mut lines = Vec::new();
        for estimate in estimates {
            let line = json!({
                "as_of": label,
                "system": estimate.system,
                "method": estimate.method,
                "count": questions,
                "accuracy": estimate.accuracy,
                "level": estimate.interval.level,
                "low": estimate.interval.low,
                "high": estimate.interval.high,
                "outside": estimate.outside,
                "tool_version": env!("CARGO_PKG_VERSION"),
            });
            serde_json::to_writer(&mut lines, &line)?;
            lines.push(b'\n');
        }
        let written = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(&lines));
        written.with_context(|| {
            format!("{} cannot be written; choose another path with --history", path.display())
        })
    }

    /// Writes the folder, if one is wanted.
    pub fn write(&self, report: &Reliability) -> Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        let files = [
            ("run.json", format!("{}\n", serde_json::to_string_pretty(&report.manifest)?)),
            ("estimate.json", reliability::json(report)?),
            ("predictions.jsonl", predictions(report)?),
            ("report.html", reliability::html(report)),
            ("report.md", reliability::markdown(report)),
        ];
        let drift = if report.drift.is_empty() {
            None
        } else {
            Some(("drift.json", format!("{}\n", serde_json::to_string_pretty(&report.drift)?)))
        };
        fs::create_dir_all(out)
            .with_context(|| format!("{} cannot be made; choose another folder with --out", out.display()))?;
        for (name, text) in files.into_iter().chain(drift) {
            let path = out.join(name);
            fs::write(&path, text).with_context(|| {
                format!("{} cannot be written; choose another folder with --out", path.display())
            })?;
        }
        Ok(())
    }
}

/// A line of `predictions.jsonl` for each system and question.
fn predictions(report: &Reliability) -> Result<String> {
    let mut text = String::new();
    for estimate in &report.estimates {
        for item in &estimate.items {
            let line = json!({
                "system": estimate.system,
                "id": item.id,
                "db_id": item.db_id,
                "probability": item.probability,
                "status": item.status,
                "reasons": item.reasons,
            });
            text.push_str(&serde_json::to_string(&line)?);
            text.push('\n');
        }
    }
    Ok(text)
}

fn point(label: &str, count: usize, estimate: &Estimate) -> Point {
    Point {
        label: label.to_owned(),
        count,
        accuracy: estimate.accuracy,
        low: estimate.interval.low,
        high: estimate.interval.high,
        outside: estimate.outside,
    }
}

/// One line of a history.
#[derive(Debug)]
struct Line {
    system: String,
    method: String,
    point: Point,
}

fn read_history(path: &Path) -> Result<Vec<Line>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path)
        .with_context(|| format!("{} cannot be read; choose another path with --history", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let value: Option<Value> = serde_json::from_str(line).ok();
            value.as_ref().and_then(history_line).with_context(|| {
                format!("{}: line {} is no line of a history; remove or mend it", path.display(), at + 1)
            })
        })
        .collect()
}

fn history_line(value: &Value) -> Option<Line> {
    let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
    let number = |key: &str| value.get(key)?.as_f64();
    Some(Line {
        system: text("system")?,
        method: text("method")?,
        point: Point {
            label: text("as_of")?,
            count: usize::try_from(value.get("count")?.as_u64()?).ok()?,
            accuracy: number("accuracy")?,
            low: number("low")?,
            high: number("high")?,
            outside: value.get("outside")?.as_bool()?,
        },
    })
}

/// The earlier estimates of the same system by the same method, each label once with its last value, without the label
/// that is being estimated.
fn past(lines: &[Line], estimate: &Estimate, label: &str) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let same = |line: &&Line| line.system == estimate.system && line.method == estimate.method;
    for line in lines.iter().filter(same).filter(|line| line.point.label != label) {
        match points.iter_mut().find(|point| point.label == line.point.label) {
            Some(point) => *point = line.point.clone(),
            None => points.push(line.point.clone()),
        }
    }
    points
}

/// The place in the pool of each question of the target file, in the file's order. A pool numbers questions as they are
/// met, and one that a known run shares with the target was met there.
pub fn places(pool: &Pool, workload: &Benchmark) -> Vec<usize> {
    let key = |db_id: &str, id: &str, text: &str| {
        let text = if text.trim().is_empty() { id } else { text };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        (db_id.to_owned(), text)
    };
    let mut waiting: HashMap<(String, String), VecDeque<usize>> = HashMap::new();
    for place in pool.target_questions() {
        let question = &pool.questions[place];
        let db_id = &pool.databases[question.database].db_id;
        waiting.entry(key(db_id, &question.id, &question.text)).or_default().push_back(place);
    }
    let examples = workload.examples.iter().filter_map(|example| {
        let text = example.question.as_deref().unwrap_or_default();
        waiting.get_mut(&key(&example.db_id, &example.id, text))?.pop_front()
    });
    examples.collect()
}

/// The estimate as reports take it: its items in the order of the target file, with the file's ids.
pub fn system_estimate(
    estimate: &Estimate,
    order: &[usize],
    asked: &[usize],
    workload: &Benchmark,
) -> SystemEstimate {
    let at: HashMap<usize, usize> =
        asked.iter().copied().enumerate().map(|(at, place)| (place, at)).collect();
    let items = order.iter().zip(&workload.examples).filter_map(|(place, example)| {
        let item = estimate.items.get(*at.get(place)?)?;
        Some(Answer {
            id: example.id.clone(),
            db_id: item.db_id.clone(),
            question: item.question.clone(),
            prediction: item.prediction.clone(),
            status: item.status.clone(),
            probability: item.probability,
            reasons: item.reasons.clone(),
        })
    });
    let signal = |signal: &sqlgauge_estimate::SignalValue| Signal {
        name: signal.name.clone(),
        known: signal.known,
        target: signal.target,
        effect: signal.effect,
    };
    let interval = estimate.interval;
    SystemEstimate {
        system: estimate.system.clone(),
        accuracy: estimate.accuracy,
        interval: Interval { level: interval.level, low: interval.low, high: interval.high },
        outside: estimate.outside,
        method: estimate.method.clone(),
        signals: estimate.signals.iter().map(signal).collect(),
        descriptors: estimate.descriptors.clone(),
        by_database: estimate.by_database.iter().map(part).collect(),
        by_kind: estimate.by_kind.iter().map(part).collect(),
        notes: estimate.notes.clone(),
        items: items.collect(),
    }
}

fn part(part: &sqlgauge_estimate::Part) -> Part {
    Part {
        name: part.name.clone(),
        count: part.count,
        accuracy: part.accuracy,
        runs: part.runs,
        pull: part.pull,
    }
}

/// `run.json` of an estimate, without the digests of `inputs`.
pub fn manifest(
    engine: String,
    systems: Vec<String>,
    examples: usize,
    options: BTreeMap<String, Value>,
) -> Manifest {
    Manifest {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        engine,
        command: std::env::args().collect(),
        metrics: Vec::new(),
        systems,
        inputs: Vec::new(),
        options,
        examples,
    }
}

/// The files of known runs and the databases that were opened, with their roles.
pub fn input_files(known: &[PathBuf], pool: &Pool) -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for path in known {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push((format!("known:{name}"), path.join("run.json")));
        files.push((format!("known:{name}"), path.join("items.jsonl")));
    }
    let mut in_target = vec![false; pool.databases.len()];
    for place in pool.target_questions() {
        in_target[pool.questions[place].database] = true;
    }
    for (database, in_target) in pool.databases.iter().zip(in_target) {
        let role = if in_target { "database" } else { "known-database" };
        files.push((format!("{role}:{}", database.db_id), database.database.path().to_owned()));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(batch_size: usize) -> ReliabilityOptions {
        ReliabilityOptions {
            out: None,
            batch_size: Some(batch_size),
            history: None,
            as_of: None,
            alarm_below: None,
            alarm_drop: None,
        }
    }

    #[test]
    fn batches_cover_the_target_and_a_small_rest_joins_the_last() {
        type Cut<'a> = (usize, usize, &'a [(usize, usize)]);
        let cases: [Cut<'_>; 6] = [
            (10, 100, &[(0, 10)]),
            (10, 5, &[(0, 5), (5, 10)]),
            (12, 5, &[(0, 5), (5, 12)]),
            (13, 5, &[(0, 5), (5, 10), (10, 13)]),
            (1, 1, &[(0, 1)]),
            (2, 5, &[(0, 2)]),
        ];
        for (questions, size, expected) in cases {
            let found: Vec<_> = options(size).batches(questions).iter().map(|r| (r.start, r.end)).collect();
            assert_eq!(found, expected, "{questions} by {size}");
        }
    }

    #[test]
    fn a_history_keeps_the_last_line_of_a_label_and_of_one_method() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.jsonl");
        let line = |as_of: &str, method: &str, accuracy: f64| {
            json!({"as_of": as_of, "system": "s", "method": method, "count": 3, "accuracy": accuracy,
                "low": 0.0, "high": 1.0, "outside": false, "level": 0.9})
            .to_string()
        };
        let lines = [
            line("may", "signals", 0.1),
            line("june", "signals", 0.2),
            line("may", "signals", 0.3),
            line("may", "source", 0.9),
        ];
        fs::write(&path, lines.join("\n")).unwrap();
        let read = read_history(&path).unwrap();
        let estimate: Estimate = serde_json::from_value(json!({"system": "s", "accuracy": 0.5,
            "interval": {"level": 0.9, "low": 0.4, "high": 0.6}, "outside": false, "method": "signals", "signals": [],
            "descriptors": {}, "by_database": [], "by_kind": [], "notes": []}))
        .unwrap();
        let labels = |label: &str| -> Vec<(String, f64)> {
            past(&read, &estimate, label).into_iter().map(|point| (point.label, point.accuracy)).collect()
        };
        assert_eq!(labels("july"), [("may".to_owned(), 0.3), ("june".to_owned(), 0.2)]);
        assert_eq!(labels("may"), [("june".to_owned(), 0.2)]);
        fs::write(&path, "{}\n").unwrap();
        let error = format!("{:#}", read_history(&path).unwrap_err());
        assert!(error.contains("line 1 is no line of a history"), "{error}");
    }
}
