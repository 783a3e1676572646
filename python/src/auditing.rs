//! `audit`: what is wrong with the golds of a benchmark.

use std::path::PathBuf;

use pyo3::prelude::*;
use serde_json::json;
use sqlgauge_audit::{AuditedItem, RuleSelection};
use sqlgauge_core::{AuditJob, Source};

use crate::database::{Limited, not_ddl};
use crate::error::{Class, Failure};
use crate::inputs::{Frame, Given, SubsetArguments};
use crate::json::to_python;
use crate::watching::watched;

/// A job as `sqlgauge.audit` hands it over.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Audit<'py> {
    frame: Bound<'py, PyAny>,
    predictions: Given<'py>,
    db: PathBuf,
    columns: Vec<(String, String)>,
    questions: Option<PathBuf>,
    rules: Vec<String>,
    allow: Option<PathBuf>,
    verify: bool,
    subset: SubsetArguments,
    limits: Limited,
    jobs: usize,
}

impl Audit<'_> {
    fn read(&self) -> PyResult<AuditJob> {
        let frame = Frame::read(&self.frame, &self.columns, &[&self.predictions])?;
        let systems = frame.systems(&self.predictions)?;
        not_ddl(&self.db)?;
        let rules = RuleSelection::of(self.rules.iter().map(String::as_str));
        let new = AuditJob::new(frame.source, self.db.clone());
        Ok(AuditJob {
            questions: self.questions.clone().map(Source::File),
            columns: frame.columns,
            systems,
            rules: rules.map_err(|error| Failure::of(Class::Input, &error))?,
            allow: self.allow.clone().map(Source::File),
            verify: new.verify.clone().filter(|_| self.verify),
            limits: self.limits.limits()?,
            now: self.limits.moment()?,
            subset: self.subset.subset()?,
            jobs: self.jobs,
            ..new
        })
    }
}

/// Looks at the golds; returns the items as `sqlgauge audit --output-format jsonl` writes them, the counts, and what reading noticed.
#[pyfunction]
pub(crate) fn audit_golds<'py>(
    py: Python<'py>,
    job: Audit<'py>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let work = job.read()?;
    let (mut json, notes) = watched(py, progress.as_ref(), move |context| {
        let audit = work.run(context)?;
        let ranked: Vec<_> = audit.ranked().into_iter().map(|item| (item.index, item.gold)).collect();
        let items: Vec<_> = audit.items.iter().map(AuditedItem::to_json).collect();
        Ok(json!({"items": items, "counts": audit.counts(), "ranked": ranked}))
    })?;
    json["notes"] = notes.into();
    to_python(py, &json)
}
