//! Running estimators over trials.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use sqlgauge_base::Random;
use sqlgauge_dataset::{Databases, Label};
use sqlgauge_engine::Engine;
use sqlgauge_estimate::estimators::Estimator;
use sqlgauge_estimate::{EstimateError, EstimateOptions, Loader, Pool, PoolEvidence, TargetLabels};
use sqlgauge_run::{Details, Item, StoredRun};

use super::protocol::{BenchRun, Selection, Trial};
use super::rows::RowsFile;

/// How trials are run.
pub struct BenchOptions<'a> {
    /// The estimators, with the name of each in the tables.
    pub methods: Vec<(String, &'a dyn Estimator)>,
    /// Level, sample sets; the seed is that of the trial.
    pub estimate: EstimateOptions,
    /// Share of the target's answers whose labels are given to the methods that ask for some.
    pub labelled: f64,
    /// Folders that have databases which are not where they were.
    pub databases: Vec<Databases>,
}

/// One estimate beside its truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    /// What was known and asked.
    pub transfer: String,
    /// Number of the random split.
    pub split: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// The system.
    pub system: String,
    /// The method.
    pub method: String,
    /// True accuracy, in [0, 1].
    pub truth: f64,
    /// Estimated accuracy.
    pub accuracy: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Whether the estimate called the target outside.
    pub outside: bool,
    /// The sliced distance of the target, where the estimate has it.
    pub distance: Option<f64>,
    /// Seconds of the method; the signals that all methods share are in [`Results::shared_seconds`].
    pub seconds: f64,
}

/// A method that gave no estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkippedMethod {
    /// The method.
    pub method: String,
    /// Why.
    pub reason: String,
    /// How often.
    pub count: usize,
}

/// All estimates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct Results {
    /// By trial, system and method.
    pub rows: Vec<BenchRow>,
    /// What could not be run.
    pub skipped: Vec<SkippedMethod>,
    /// Mean seconds for the signals of a trial, which all its systems and methods share.
    pub shared_seconds: f64,
}

impl Results {
    fn skip(&mut self, method: &str, reason: &str, count: usize) {
        match self.skipped.iter_mut().find(|one| one.method == method && one.reason == reason) {
            Some(row) => row.count += count,
            None => {
                self.skipped.push(SkippedMethod {
                    method: method.to_owned(),
                    reason: reason.to_owned(),
                    count,
                });
            }
        }
    }
}

/// A trial and the seeds with which its estimates are made.
#[derive(Debug, Clone, PartialEq)]
pub struct SeededTrial {
    /// What is known and asked.
    pub trial: Trial,
    /// The seeds.
    pub seeds: Vec<u64>,
}

impl SeededTrial {
    /// The trials of several seeds; those that are the same whatever the seed stand once, so that their signals are made once.
    pub fn of(seeds: impl IntoIterator<Item = u64>, trials: impl Fn(u64) -> Vec<Trial>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for seed in seeds {
            for trial in trials(seed) {
                match all.iter_mut().find(|one| one.trial == trial) {
                    Some(one) => one.seeds.push(seed),
                    None => all.push(Self { trial, seeds: vec![seed] }),
                }
            }
        }
        all
    }

    /// The estimates to make: by method, seed and system.
    fn cells<'a>(
        &'a self,
        options: &'a BenchOptions<'_>,
    ) -> impl Iterator<Item = (&'a (String, &'a dyn Estimator), u64, &'a str)> {
        options.methods.iter().flat_map(move |method| {
            let seeds = self.seeds.iter();
            seeds.flat_map(move |&seed| {
                self.trial.systems.iter().map(move |system| (method, seed, system.as_str()))
            })
        })
    }
}

/// Runs the methods over the trials; what is among the earlier estimates is taken from there. `progress` is told how many
/// trials are done.
///
/// # Errors
/// When a run cannot be turned into a pool, or an estimate cannot be written; a method that fails is listed and not an error.
pub fn run(
    runs: &[BenchRun],
    trials: &[SeededTrial],
    engine: &dyn Engine,
    options: &BenchOptions<'_>,
    rows: &mut RowsFile,
    progress: &dyn Fn(usize),
) -> Result<Results, EstimateError> {
    let mut results = Results::default();
    for (done, seeded) in trials.iter().enumerate() {
        let key = (seeded.trial.transfer.as_str(), seeded.trial.split);
        let earlier: Option<Vec<BenchRow>> = seeded
            .cells(options)
            .map(|((method, _), seed, system)| rows.earlier(key, seed, system, method).cloned())
            .collect();
        match earlier {
            Some(earlier) => results.rows.extend(earlier),
            None => run_trial(runs, seeded, engine, options, rows, &mut results)?,
        }
        progress(done + 1);
    }
    results.shared_seconds /= trials.len().max(1) as f64;
    Ok(results)
}

fn run_trial(
    runs: &[BenchRun],
    seeded: &SeededTrial,
    engine: &dyn Engine,
    options: &BenchOptions<'_>,
    rows: &mut RowsFile,
    results: &mut Results,
) -> Result<(), EstimateError> {
    let trial = &seeded.trial;
    let start = Instant::now();
    let pool = pool_of(runs, trial, engine, &options.databases)?;
    let mut evidence = PoolEvidence::new(&pool)?;
    results.shared_seconds += start.elapsed().as_secs_f64();
    for ((method, estimator), seed, system) in seeded.cells(options) {
        if let Some(row) = rows.earlier((trial.transfer.as_str(), trial.split), seed, system, method) {
            results.rows.push(row.clone());
            continue;
        }
        let target = pool.targets.iter().copied().find(|&target| pool[target] == system);
        let truth = truth(&runs[trial.target.run], &trial.target, system);
        let (Some(target), Some(truth)) = (target, truth) else { continue };
        evidence.labels = some_labels(runs, trial, &pool, options.labelled, seed)?;
        let case = evidence.case(target, EstimateOptions { seed, ..options.estimate });
        let start = Instant::now();
        let estimate = match estimator.estimate(&case) {
            Ok(estimate) => estimate,
            Err(error) => {
                results.skip(method, &error.to_string(), 1);
                continue;
            }
        };
        let row = BenchRow {
            transfer: trial.transfer.clone(),
            split: trial.split,
            seed,
            system: system.to_owned(),
            method: method.clone(),
            truth,
            accuracy: estimate.accuracy,
            low: estimate.interval.low,
            high: estimate.interval.high,
            outside: estimate.outside,
            distance: estimate.descriptors.get("swd").copied(),
            seconds: start.elapsed().as_secs_f64(),
        };
        rows.add(&row).map_err(|error| EstimateError::Computation(format!("{error:#}")))?;
        results.rows.push(row);
    }
    Ok(())
}

/// The pool of a trial. Labels of the held-out part are taken away before anything else sees it.
///
/// # Errors
/// When a database cannot be opened.
pub fn pool_of(
    runs: &[BenchRun],
    trial: &Trial,
    engine: &dyn Engine,
    databases: &[Databases],
) -> Result<Pool, EstimateError> {
    let mut loader = Loader::new(engine, None, databases.to_vec(), None);
    for selection in &trial.sources {
        let run = &runs[selection.run];
        let items = chosen(run, selection).map(|item| with_metric(item, Some(&run.metric)));
        let part = part_of(run, items.collect());
        if !part.items.is_empty() {
            loader.known_run(&run.path, part, None)?;
        }
    }
    let run = &runs[trial.target.run];
    let items = chosen(run, &trial.target).map(|item| with_metric(item, None));
    loader.target_run(&run.path, part_of(run, items.collect()), &trial.systems)?;
    Ok(loader.finish())
}

/// Items of a part that have a label: those that could not be judged have no truth.
fn chosen<'a>(run: &'a BenchRun, selection: &'a Selection) -> impl Iterator<Item = &'a Item> {
    run.stored.items.iter().filter(move |item| {
        selection.systems.contains(&item.system)
            && selection.databases.contains(&item.db_id)
            && item.metrics.get(&run.metric).is_some_and(Option::is_some)
    })
}

fn part_of(run: &BenchRun, items: Vec<Item>) -> StoredRun {
    let mut manifest = run.stored.manifest.clone();
    manifest.metrics = vec![run.metric.clone()];
    manifest.systems = Vec::new();
    StoredRun { manifest, items, summary: None }
}

/// An item with one metric or none, and without what may come from the gold.
fn with_metric(item: &Item, metric: Option<&str>) -> Item {
    let metrics = item.metrics.iter().filter(|(id, _)| Some(id.as_str()) == metric);
    let all = &item.details;
    let details = Details {
        question: all.question.clone(),
        evidence: all.evidence.clone(),
        prediction: all.prediction.clone(),
        prediction_bytes: all.prediction_bytes,
        confidence: all.confidence,
        result: all.result.clone(),
        ..Details::default()
    };
    Item { metrics: metrics.map(|(id, value)| (id.clone(), *value)).collect(), details, ..item.clone() }
}

fn truth(run: &BenchRun, part: &Selection, system: &str) -> Option<f64> {
    let labels: Vec<f64> = chosen(run, part)
        .filter(|item| item.system == system)
        .filter_map(|item| item.metrics.get(&run.metric).copied().flatten())
        .collect();
    (!labels.is_empty()).then(|| labels.iter().sum::<f64>() / labels.len() as f64)
}

/// Labels of a random share of each target's answers, for methods that ask for some.
fn some_labels(
    runs: &[BenchRun],
    trial: &Trial,
    pool: &Pool,
    share: f64,
    seed: u64,
) -> Result<TargetLabels, EstimateError> {
    let run = &runs[trial.target.run];
    let mut labels = TargetLabels::default();
    for &target in &pool.targets {
        let mut random = Random::new([seed, target.0 as u64]);
        let of_system: Vec<Label> = chosen(run, &trial.target)
            .filter(|item| item.system == pool[target] && random.unit() < share)
            .map(|item| Label {
                id: item.id.clone(),
                correct: item.metrics.get(&run.metric).copied().flatten(),
                shown: None,
            })
            .collect();
        labels.add(pool, target, &of_system, &run.path)?;
    }
    Ok(labels)
}
