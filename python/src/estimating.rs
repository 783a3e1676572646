//! `estimate` and `monitor`: the accuracy of predictions without labels.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde_json::json;
use sqlgauge_core::{EstimateJob, MonitorJob, Source, SystemLabels, Watch};
use sqlgauge_estimate::EstimateOptions;

use crate::database::{Limited, not_ddl};
use crate::inputs::{Frame, Given, SubsetArguments};
use crate::json::to_python;
use crate::watching::watched;
use crate::words::in_python;

/// The options of `sqlgauge.monitor`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct WatchArguments {
    log: Option<PathBuf>,
    as_of: Option<String>,
    batch_size: Option<usize>,
    new_reference: bool,
    per_year: f64,
    alarm_below: Option<f64>,
    prometheus: Option<PathBuf>,
}

/// A job as `sqlgauge.estimate` and `sqlgauge.monitor` hand it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Job<'py> {
    known: Vec<PathBuf>,
    known_db: Vec<PathBuf>,
    target: Bound<'py, PyAny>,
    predictions: Given<'py>,
    peers: Given<'py>,
    columns: Vec<(String, String)>,
    db: Option<PathBuf>,
    tables: Option<PathBuf>,
    method: String,
    metric: Option<String>,
    level: f64,
    seed: u64,
    tau: f64,
    sample_sets: usize,
    labels: Vec<(String, PathBuf)>,
    out: Option<PathBuf>,
    timeout: Option<f64>,
    now: Option<String>,
    subset: SubsetArguments,
    watch: Option<WatchArguments>,
}

impl From<WatchArguments> for Watch {
    fn from(watch: WatchArguments) -> Self {
        let WatchArguments { log, as_of, batch_size, new_reference, per_year, alarm_below, prometheus } =
            watch;
        let (log, prometheus) = (log.map(Into::into), prometheus.map(Into::into));
        Self { log, as_of, batch_size, new_reference, per_year, alarm_below, prometheus }
    }
}

impl Job<'_> {
    fn read(self) -> PyResult<EstimateJob> {
        let target = Frame::read(&self.target, &self.columns, &[&self.predictions, &self.peers])?;
        let (systems, peers) = (target.systems(&self.predictions)?, target.systems(&self.peers)?);
        self.db.as_deref().map_or(Ok(()), not_ddl)?;
        let limits = Limited { timeout: self.timeout, now: self.now, ..Limited::default() };
        let labels = self.labels.into_iter().map(|(system, file)| SystemLabels { system, file });
        Ok(EstimateJob {
            known: self.known,
            known_db: self.known_db,
            target: target.source,
            columns: target.columns,
            systems,
            peers,
            method: self.method,
            metric: self.metric,
            options: EstimateOptions {
                level: self.level,
                seed: self.seed,
                tau: self.tau,
                sample_sets: self.sample_sets,
            },
            labels: labels.collect(),
            out: self.out.map(Into::into),
            limits: limits.limits()?,
            subset: self.subset.subset()?,
            now: limits.moment()?,
            tables: self.tables.map(Source::File),
            ..EstimateJob::new("", self.db.unwrap_or_default())
        })
    }
}

/// The estimates as the command prints them with `--json`, whether an alarm rings, and what was noticed.
#[pyfunction]
pub(crate) fn estimate_systems<'py>(py: Python<'py>, mut job: Job<'py>) -> PyResult<Bound<'py, PyAny>> {
    let watch = job.watch.take().map(Watch::from);
    let call = if watch.is_some() { "sqlgauge.monitor" } else { "sqlgauge.estimate" };
    let estimate = EstimateJob { command: vec![call.to_owned()], ..job.read()? };
    let (mut estimated, notes) = watched(py, None, move |context| {
        let done = match watch {
            Some(watch) => MonitorJob { estimate, watch }.run(context),
            None => estimate.run(context),
        }?;
        let estimates: Vec<_> = done.report.printed().collect();
        let sentences = |notes: &[String]| notes.iter().map(|note| in_python(note)).collect::<Vec<String>>();
        let of_estimates: Vec<_> = done.report.estimates.iter().map(|one| sentences(&one.notes)).collect();
        Ok(json!({"estimates": estimates, "own": of_estimates, "rings": done.rings}))
    })?;
    estimated["notes"] = notes.into();
    to_python(py, &estimated)
}
