//! Running estimators over trials.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use sqlgauge_base::Random;
use sqlgauge_dataset::{Databases, Label};
use sqlgauge_engine::Engine;
use sqlgauge_estimate::estimators::Estimator;
use sqlgauge_estimate::{EstimateError, EstimateOptions, Loader, Pool, PoolEvidence, TargetLabels};
use sqlgauge_run::{Item, StoredRun};

use super::protocol::{BenchRun, Selection, Trial};

/// How trials are run.
pub struct BenchOptions<'a> {
    /// The estimators, with the name of each in the tables.
    pub methods: Vec<(String, &'a dyn Estimator)>,
    /// Level, seed.
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
    /// Adds the estimates of another seed, of as many trials.
    pub fn add(&mut self, other: Self) {
        let seeds =
            |results: &Self| results.rows.iter().map(|row| row.seed).collect::<BTreeSet<_>>().len() as f64;
        let (here, there) = (seeds(self), seeds(&other));
        let seconds = self.shared_seconds * here + other.shared_seconds * there;
        self.shared_seconds = seconds / (here + there).max(1.0);
        self.rows.extend(other.rows);
        for skipped in other.skipped {
            let same =
                |one: &&mut SkippedMethod| one.method == skipped.method && one.reason == skipped.reason;
            match self.skipped.iter_mut().find(same) {
                Some(row) => row.count += skipped.count,
                None => self.skipped.push(skipped),
            }
        }
    }
}

/// Runs the methods over the trials. `progress` is told how many trials are done.
///
/// # Errors
/// When a run cannot be turned into a pool; a method that fails is listed and not an error.
pub fn run(
    runs: &[BenchRun],
    trials: &[Trial],
    engine: &dyn Engine,
    options: &BenchOptions<'_>,
    progress: &dyn Fn(usize),
) -> Result<Results, EstimateError> {
    let mut results = Results::default();
    let mut skipped: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (done, trial) in trials.iter().enumerate() {
        let start = Instant::now();
        let pool = pool_of(runs, trial, engine, &options.databases)?;
        let labels = some_labels(runs, trial, &pool, options)?;
        let evidence = PoolEvidence::new(&pool)?.with_labels(labels);
        results.shared_seconds += start.elapsed().as_secs_f64() / trials.len() as f64;
        for &target in &pool.targets {
            let case = evidence.case(target, options.estimate);
            let system = &pool[target];
            let Some(truth) = truth(&runs[trial.target.run], &trial.target, system) else { continue };
            for (method, estimator) in &options.methods {
                let start = Instant::now();
                match estimator.estimate(&case) {
                    Ok(estimate) => results.rows.push(BenchRow {
                        transfer: trial.transfer.clone(),
                        split: trial.split,
                        seed: options.estimate.seed,
                        system: system.clone(),
                        method: method.clone(),
                        truth,
                        accuracy: estimate.accuracy,
                        low: estimate.interval.low,
                        high: estimate.interval.high,
                        outside: estimate.outside,
                        distance: estimate.descriptors.get("swd").copied(),
                        seconds: start.elapsed().as_secs_f64(),
                    }),
                    Err(error) => *skipped.entry((method.clone(), error.to_string())).or_default() += 1,
                }
            }
        }
        progress(done + 1);
    }
    results.skipped = skipped
        .into_iter()
        .map(|((method, reason), count)| SkippedMethod { method, reason, count })
        .collect();
    Ok(results)
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
    let mut loader = Loader::new(engine, databases.to_vec(), None);
    for selection in &trial.sources {
        let run = &runs[selection.run];
        let items = chosen(run, selection).map(|item| with_metric(item, Some(&run.metric)));
        let part = part_of(run, items.collect());
        if !part.items.is_empty() {
            loader.known_run(&run.path, part)?;
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
    Item {
        metrics: metrics.map(|(id, value)| (id.clone(), *value)).collect(),
        details: item.details.without_gold(),
        ..item.clone()
    }
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
    options: &BenchOptions<'_>,
) -> Result<TargetLabels, EstimateError> {
    let run = &runs[trial.target.run];
    let mut labels = TargetLabels::default();
    for &target in &pool.targets {
        let mut random = Random::new([options.estimate.seed, target.0 as u64]);
        let of_system: Vec<Label> = chosen(run, &trial.target)
            .filter(|item| item.system == pool[target] && random.unit() < options.labelled)
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
