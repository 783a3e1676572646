//! `label`: the fewest labels that make a number sure.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde_json::{Value, json};
use sqlgauge_core::{LabelAddJob, LabelNextJob, LabelPlanJob, label_sentence};
use sqlgauge_estimate::labelling::LabelFolder;

use crate::call::call;
use crate::database::{Limited, not_ddl};
use crate::inputs::{Frame, Given, SubsetArguments};
use crate::json::to_python;
use crate::scoring::{VerifyArguments, vote_by};
use crate::watching::watched;

/// A job as `sqlgauge.Labeler.plan` hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Plan<'py> {
    questions: Bound<'py, PyAny>,
    predictions: Given<'py>,
    against: Given<'py>,
    peers: Given<'py>,
    db: PathBuf,
    out: PathBuf,
    columns: Vec<(String, String)>,
    width: f64,
    level: f64,
    winner: bool,
    seed: u64,
    by: String,
    subset: SubsetArguments,
    limits: Limited,
    verify: VerifyArguments,
}

impl Plan<'_> {
    fn read(&self) -> PyResult<LabelPlanJob> {
        let frame =
            Frame::read(&self.questions, &self.columns, &[&self.predictions, &self.against, &self.peers])?;
        not_ddl(&self.db)?;
        let systems = frame.systems(&self.predictions)?;
        Ok(LabelPlanJob {
            columns: frame.columns.clone(),
            against: frame.systems(&self.against)?.into_iter().next(),
            peers: frame.systems(&self.peers)?,
            width: self.width,
            level: self.level,
            winner: self.winner,
            by: vote_by(&self.by)?,
            seed: self.seed,
            now: self.limits.moment()?,
            limits: self.limits.limits()?,
            subset: self.subset.subset()?,
            verify: self.verify.settings()?,
            ..LabelPlanJob::new(frame.source, systems, self.db.clone(), &self.out)
        })
    }
}

/// Writes a plan; returns what reading noticed.
#[pyfunction]
pub(crate) fn label_plan(
    py: Python<'_>,
    job: Plan<'_>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<String>> {
    let work = job.read()?;
    Ok(watched(py, progress.as_ref(), move |context| Ok(work.run(context).map(drop)?))?.1)
}

/// The next questions, as `label next --json` prints them, and what was noticed.
#[pyfunction]
pub(crate) fn label_next(
    py: Python<'_>,
    folder: PathBuf,
    count: usize,
) -> PyResult<(Bound<'_, PyAny>, Vec<String>)> {
    let job = LabelNextJob { count, ..LabelNextJob::new(folder) };
    let (questions, notes) = watched(py, None, move |context| Ok(json!(job.run(context)?)))?;
    Ok((to_python(py, &questions)?, notes))
}

/// A verdict, or a file of labels, as `label add` takes them; what became of it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct LabelArguments {
    folder: PathBuf,
    id: Option<String>,
    verdict: Vec<String>,
    labels: Option<PathBuf>,
    system: Option<String>,
    by: String,
    replace: bool,
}

#[pyfunction]
pub(crate) fn label_add(py: Python<'_>, label: LabelArguments) -> PyResult<Bound<'_, PyAny>> {
    let LabelArguments { folder, id, verdict, labels, system, by, replace } = label;
    let job = LabelAddJob { id, verdict, from: labels, system, replace, by, ..LabelAddJob::new(folder) };
    to_python(py, &call(py, move |_| Ok(json!(job.run()?)))?)
}

/// What the labels say, as `label status --json` prints it, with its sentence.
#[pyfunction]
pub(crate) fn label_status(py: Python<'_>, folder: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let status = call(py, move |_| {
        let folder = LabelFolder::open(&folder).map_err(sqlgauge_core::Error::from)?;
        let standings = folder.standings();
        let mut status = json!(standings);
        status["sentence"] = Value::from(label_sentence(&folder, &standings));
        Ok(status)
    })?;
    to_python(py, &status)
}
