//! `score` and `score_many`: one pair, and whole frames into a run directory.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use sqlgauge_core::{
    SampleRules, SamplesJob, ScoreJob, ScorePairJob, Source, Subset, System, VerifySettings, VersionsJob,
    VoteBy, VoteJob, metrics_of, verifies,
};
use sqlgauge_engine::Stoppable;
use sqlgauge_metrics::Metric;
use sqlgauge_prove::locate;
use sqlgauge_run::Shard;

use crate::call::call;
use crate::database::{Database, Limited, Opened, not_ddl};
use crate::error::{Class, Failure};
use crate::inputs::{Frame, Given, SubsetArguments, columns};
use crate::json::to_python;
use crate::watching::watched;

/// How `verify` verifies, as `sqlgauge._options.VerifyOptions` hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct VerifyArguments {
    /// Without, `ex`; in a run it says which metric `verify` is.
    semantics: Option<String>,
    /// Without, what the given rows keep.
    values: Option<String>,
    bound: usize,
    timeout: f64,
    seed: u64,
    /// A stage that decides alone.
    only: Option<String>,
    /// The solver that was named, by the caller or the environment.
    solver: Option<PathBuf>,
    /// Where programs are looked for.
    path: Option<std::ffi::OsString>,
}

impl VerifyArguments {
    pub(crate) fn settings(&self) -> Result<VerifySettings, Failure> {
        let semantics = self.semantics.as_deref().map(str::parse).transpose();
        let semantics = semantics.map_err(|error| Failure::of(Class::Input, &error))?;
        let values = self.values.as_deref().map(str::parse).transpose();
        let values = values.map_err(|error| Failure::of(Class::Input, &error))?;
        let only = self.only.as_deref().map(str::parse).transpose();
        let only = only.map_err(|error| Failure::of(Class::Input, &error))?;
        let pair_timeout = Duration::try_from_secs_f64(self.timeout).ok().filter(|time| !time.is_zero());
        let pair_timeout = pair_timeout.ok_or_else(|| {
            Failure::input(&format!("timeout {} is not a positive number of seconds", self.timeout))
        })?;
        let solver = match locate(self.solver.as_deref(), self.path.as_deref()) {
            Ok(program) => Some(program.into()),
            Err(error) if self.solver.is_some() => return Err(Failure::of(Class::Input, &error)),
            Err(_) => None,
        };
        Ok(VerifySettings {
            semantics,
            bound: Some(self.bound),
            pair_timeout: Some(pair_timeout),
            values,
            only,
            seed: self.seed,
            solver,
            ..VerifySettings::default()
        })
    }
}

fn metrics(names: &[String]) -> Result<Vec<&'static dyn Metric>, Failure> {
    Ok(metrics_of(names.iter().flat_map(|name| name.split(',')))?)
}

/// What `verify` is to do, if it is among the metrics.
fn verification(
    metrics: &[&'static dyn Metric],
    arguments: &VerifyArguments,
) -> Result<VerifySettings, Failure> {
    if !verifies(metrics) {
        return Ok(VerifySettings::default());
    }
    arguments.settings()
}

#[pyfunction]
pub(crate) fn score_pair<'py>(
    py: Python<'py>,
    prediction: Option<String>,
    golds: Vec<String>,
    db: PyRef<'py, Database>,
    metric_names: Vec<String>,
    verify: VerifyArguments,
) -> PyResult<Bound<'py, PyAny>> {
    let metrics = metrics(&metric_names)?;
    let settings = verification(&metrics, &verify)?;
    let Opened { engine, database } = db.opened(py)?;
    let scored = call(py, move |stop| {
        let engine = Arc::new(Stoppable::new(engine, Arc::clone(stop)));
        let job = ScorePairJob { prediction, golds, metrics, verify: settings };
        let judgement = job.run(engine, database)?;
        Ok(json!({
            "status": judgement.status,
            "metrics": judgement.metrics,
            "details": judgement.details,
        }))
    });
    db.forget_if_interrupted(py, &scored);
    to_python(py, &scored?)
}

fn shard(text: &str) -> Result<Shard, Failure> {
    text.parse().map_err(|error| Failure::of(Class::Input, &error))
}

/// A job as `sqlgauge.score_many` hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Job<'py> {
    frame: Bound<'py, PyAny>,
    predictions: Given<'py>,
    db: PathBuf,
    metrics: Option<Vec<String>>,
    columns: Vec<(String, String)>,
    answers_to: Option<PathBuf>,
    tables: Option<PathBuf>,
    questions: Option<PathBuf>,
    out: PathBuf,
    restart: bool,
    shard: Option<String>,
    extract: bool,
    subset: SubsetArguments,
    skip_missing_db: bool,
    limits: Limited,
    jobs: usize,
    verify: VerifyArguments,
}

impl Job<'_> {
    fn read(&self) -> PyResult<ScoreJob> {
        let metrics = self.metrics.as_deref().map_or_else(|| Ok(Vec::new()), metrics)?;
        let verify = verification(&metrics, &self.verify)?;
        let frame = Frame::read(&self.frame, &self.columns, &[&self.predictions])?;
        let systems = frame.systems(&self.predictions)?;
        not_ddl(&self.db)?;
        Ok(ScoreJob {
            questions: self.questions.clone().map(Source::File),
            columns: frame.columns,
            answers_to: self.answers_to.clone().map(Source::File),
            tables: self.tables.clone().map(Source::File),
            extract: self.extract,
            verify,
            limits: self.limits.limits()?,
            now: self.limits.moment()?,
            subset: Subset { skip_missing_db: self.skip_missing_db, ..self.subset.subset()? },
            shard: self.shard.as_deref().map(shard).transpose()?,
            restart: self.restart,
            jobs: self.jobs,
            command: self.command(),
            ..ScoreJob::new(frame.source, self.db.clone(), systems, metrics, self.out.clone())
        })
    }

    /// The call, for the record of the run. Which part it was is said elsewhere: all parts have the same call.
    fn command(&self) -> Vec<String> {
        let metrics = self.metrics.as_ref().map(|metrics| format!("metrics={}", metrics.join(",")));
        ["sqlgauge.score_many".to_owned(), format!("db={}", self.db.display())]
            .into_iter()
            .chain(metrics)
            .chain([format!("out={}", self.out.display())])
            .collect()
    }
}

/// Scores into a run directory; returns what reading noticed. `progress` is called with the items done and all items. The
/// mapping is empty once it has been read, so that rows that were made for this call do not stay until it ends.
#[pyfunction]
pub(crate) fn score_run(
    py: Python<'_>,
    job: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<String>> {
    let work = job.extract::<Job<'_>>()?.read()?;
    job.clear();
    let ((), notes) = watched(py, progress.as_ref(), move |context| {
        let run = work.open(context)?;
        // The rows have been read, and are not held while they are scored.
        drop(work);
        run.score(context)?;
        run.finish()?;
        Ok(())
    })?;
    Ok(notes)
}

/// Scores lists of answers into a run directory; returns what reading noticed.
#[pyfunction]
pub(crate) fn score_lists(
    py: Python<'_>,
    job: Job<'_>,
    ks: Vec<usize>,
    unanswerable: Option<PathBuf>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<String>> {
    let work = SamplesJob { rules: sample_rules(ks, unanswerable)?, job: job.read()? };
    let ((), notes) = watched(py, progress.as_ref(), move |context| {
        work.run(context)?;
        Ok(())
    })?;
    Ok(notes)
}

fn sample_rules(ks: Vec<usize>, unanswerable: Option<PathBuf>) -> Result<SampleRules, Failure> {
    if ks.contains(&0) {
        return Err(Failure::input("k is a number of answers from 1 on"));
    }
    let new = SampleRules::default();
    let ks = if ks.is_empty() { new.ks } else { ks };
    Ok(SampleRules { ks, unanswerable: unanswerable.map(Source::File), ..new })
}

/// Scores under several versions of the golds, each a file or rows, into a folder of its name; `lists` has k and the unanswerable
/// questions where predictions are lists. Returns what reading noticed.
#[pyfunction]
pub(crate) fn score_versions<'py>(
    py: Python<'py>,
    job: Job<'py>,
    versions: Vec<(String, Bound<'py, PyAny>)>,
    lists: Option<(Vec<usize>, Option<PathBuf>)>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Vec<String>> {
    let read = |(name, golds): (String, Bound<'py, PyAny>)| {
        Ok((name, Frame::read(&golds, &job.columns, &[])?.source))
    };
    let versions = versions.into_iter().map(read).collect::<PyResult<Vec<_>>>()?;
    let lists = lists.map(|(ks, unanswerable)| sample_rules(ks, unanswerable)).transpose()?;
    let work = VersionsJob { versions, job: job.read()?, lists };
    let ((), notes) = watched(py, progress.as_ref(), move |context| {
        work.run(context)?;
        Ok(())
    })?;
    Ok(notes)
}

/// A vote as `sqlgauge.vote` hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Election {
    questions: PathBuf,
    has_golds: bool,
    db: PathBuf,
    name: String,
    answers: PathBuf,
    columns: Vec<(String, String)>,
    extract: bool,
    by: String,
    metrics: Vec<String>,
    out: PathBuf,
    restart: bool,
    limits: Limited,
    verify: VerifyArguments,
}

/// When two answers mean the same.
pub(crate) fn vote_by(name: &str) -> Result<VoteBy, Failure> {
    VoteBy::ALL.into_iter().find(|by| by.name() == name).ok_or_else(|| {
        let names = VoteBy::ALL.map(VoteBy::name).join(", ");
        Failure::input(&format!("by is {name:?}; give one of {names}"))
    })
}

/// Chooses one of several answers to each question; returns what reading noticed.
#[pyfunction]
pub(crate) fn vote(
    py: Python<'_>,
    election: Election,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<String>> {
    let (by, columns) = (vote_by(&election.by)?, columns(&election.columns)?);
    not_ddl(&election.db)?;
    let system =
        System { columns: columns.clone(), ..System::new(election.name, Source::File(election.answers)) };
    let job = ScoreJob {
        columns,
        extract: election.extract,
        verify: election.verify.settings()?,
        limits: election.limits.limits()?,
        now: election.limits.moment()?,
        restart: election.restart,
        command: vec!["sqlgauge.vote".to_owned(), format!("by={}", election.by)],
        ..ScoreJob::new(
            Source::File(election.questions),
            election.db,
            Vec::new(),
            metrics(&election.metrics)?,
            election.out,
        )
    };
    let work = VoteJob { by, has_golds: election.has_golds, ..VoteJob::new(job, system) };
    let ((), notes) = watched(py, progress.as_ref(), move |context| {
        work.run(context)?;
        Ok(())
    })?;
    Ok(notes)
}
