//! `estimate`: the accuracy of predictions without labels.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::json;
use sqlgauge_core::{Context, EstimateJob, Source};
use sqlgauge_estimate::{Estimate, EstimateOptions};

use crate::call::call;
use crate::database::{Limited, not_ddl};
use crate::error::{Class, Failure};
use crate::inputs::{Frame, Given, SubsetArguments};
use crate::json::to_python;
use crate::process::threads;
use crate::program;
use crate::words::in_python;

/// A job as `sqlgauge.estimate` hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Job<'py> {
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
    timeout: Option<f64>,
    now: Option<String>,
    subset: SubsetArguments,
}

impl Job<'_> {
    fn read(self) -> PyResult<EstimateJob> {
        let target = Frame::read(&self.target, &self.columns, &[&self.predictions, &self.peers])?;
        let (systems, peers) = (target.systems(&self.predictions)?, target.systems(&self.peers)?);
        self.db.as_deref().map_or(Ok(()), not_ddl)?;
        let limits = Limited { timeout: self.timeout, now: self.now, ..Limited::default() };
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
            limits: limits.limits()?,
            subset: self.subset.subset()?,
            now: limits.moment()?,
            tables: self.tables.map(Source::File),
            ..EstimateJob::new("", self.db.unwrap_or_default())
        })
    }
}

/// The estimates as `sqlgauge estimate --json` prints them, and what loading noticed.
#[pyfunction]
fn estimate_systems<'py>(py: Python<'py>, job: Job<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (job, worker, pool) = (job.read()?, program::worker(py)?, threads(py)?);
    let estimated = call(py, move |stop| {
        let context = Context::default().with_worker(worker).stopped_by(Arc::clone(stop));
        let done = pool.install(|| job.run(&context))?;
        let estimates: Vec<_> = done.report.estimates.iter().map(Estimate::with_sentence).collect();
        let estimates = serde_json::to_value(&estimates);
        let estimates = estimates.map_err(|error| Failure::of(Class::Internal, &error))?;
        let sentences = |notes: &[String]| notes.iter().map(|note| in_python(note)).collect::<Vec<String>>();
        let of_estimates: Vec<Vec<String>> =
            done.report.estimates.iter().map(|one| sentences(&one.notes)).collect();
        Ok(json!({"estimates": estimates, "own": of_estimates, "notes": sentences(&done.notes)}))
    })?;
    to_python(py, &estimated)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(estimate_systems, module)?)
}
