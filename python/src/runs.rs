//! Run directories, for reading.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use serde_json::Value;
use sqlgauge_base::DEEP_STACK_BYTES;
use sqlgauge_core::{CompareJob, Context, ReportJob, StoredReport};
use sqlgauge_run::{Item, RunError, RunFiles};

use crate::call::call;
use crate::error::{Class, Failure};
use crate::json::to_python;
use crate::process::threads;

/// Items that are read ahead at once.
const BATCH: usize = 256;
/// How long a signal may go unnoticed.
const POLL: Duration = Duration::from_millis(50);

type Batch = Result<Vec<Value>, Failure>;

/// The items of a run one by one, in canonical order, read on a thread of its own no further than a few batches ahead.
#[pyclass(frozen, module = "sqlgauge._native")]
pub(crate) struct ItemReader {
    process: u32,
    state: Mutex<Reading>,
}

struct Reading {
    batches: Option<Receiver<Batch>>,
    ready: std::vec::IntoIter<Value>,
}

fn json_of(record: &impl serde::Serialize) -> Result<Value, Failure> {
    serde_json::to_value(record).map_err(|error| Failure::of(Class::Run, &error))
}

#[pymethods]
impl ItemReader {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let files = RunFiles::open(&path).map_err(Failure::from)?;
        let (sender, batches) = sync_channel::<Batch>(2);
        let read = move || {
            let mut batch = Vec::with_capacity(BATCH);
            let read = files.items.for_each(|item: &Item| {
                batch.push(json_of(item)?);
                if batch.len() < BATCH {
                    return Ok(());
                }
                // Nobody reads on: the error ends the walk.
                sender.send(Ok(std::mem::take(&mut batch))).map_err(|_| Failure::new(Class::Run, ""))
            });
            let _ = sender.send(read.map(|()| batch));
        };
        // A thread of its own, and with it a pool: it waits for whoever reads, and nothing else should wait for it.
        let pool = ThreadPoolBuilder::new().num_threads(1).stack_size(DEEP_STACK_BYTES).build();
        pool.map_err(|error| Failure::of(Class::Internal, &error))?.spawn(read);
        let state = Mutex::new(Reading { batches: Some(batches), ready: Vec::new().into_iter() });
        Ok(Self { process: std::process::id(), state })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.process != std::process::id() {
            let sentence = "items are read on in the process that began to; begin anew with items()";
            return Err(Failure::new(Class::Run, sentence).into());
        }
        loop {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(item) = state.ready.next() {
                drop(state);
                return to_python(py, &item).map(Some);
            }
            let Some(batches) = state.batches.take() else { return Ok(None) };
            drop(state);
            let (came, batches) = py.detach(move || (batches.recv_timeout(POLL), batches));
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            match came {
                Ok(Ok(batch)) => {
                    state.ready = batch.into_iter();
                    state.batches = Some(batches);
                }
                Ok(Err(failure)) => return Err(failure.into()),
                Err(RecvTimeoutError::Timeout) => {
                    state.batches = Some(batches);
                    drop(state);
                    py.check_signals()?;
                }
                Err(RecvTimeoutError::Disconnected) => {}
            }
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        sqlgauge_core::Error::from(error).into()
    }
}

/// Puts the parts of a run together.
#[pyfunction]
pub(crate) fn merge_parts(py: Python<'_>, parts: Vec<PathBuf>, out: PathBuf) -> PyResult<()> {
    let pool = threads(py)?;
    call(py, move |_| {
        let command = |of_part: &[String]| of_whole(of_part, &out);
        pool.install(|| sqlgauge_core::merge_runs(&parts, &out, &[], command, &()))?;
        Ok(())
    })
}

/// The call of a part as the one that would have made the whole run in that folder.
fn of_whole(call: &[String], out: &Path) -> Vec<String> {
    let rest = call.iter().filter(|word| !word.starts_with("out="));
    rest.cloned().chain([format!("out={}", out.display())]).collect()
}

/// `run.json`.
#[pyfunction]
pub(crate) fn run_manifest(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let record = call(py, move |_| json_of(&sqlgauge_run::read_manifest(&path)?))?;
    to_python(py, &record)
}

/// `summary.json`, made of the items where it is not there.
#[pyfunction]
pub(crate) fn run_summary(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyAny>> {
    let pool = threads(py)?;
    let record = call(py, move |_| {
        pool.install(|| {
            let stored = StoredReport::read(&path)?;
            json_of(&stored.report.summary)
        })
    })?;
    to_python(py, &record)
}

/// What `sqlgauge compare --json` says, and the regression beside it.
#[pyfunction]
pub(crate) fn compare_systems(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    systems: Vec<String>,
    metric: Option<String>,
) -> PyResult<Bound<'_, PyAny>> {
    let pool = threads(py)?;
    let json = call(py, move |_| {
        let mut folders = folders.into_iter();
        let folder = folders.next().ok_or_else(|| Failure::input("compare needs a run"))?;
        let job = CompareJob { other: folders.next(), systems, metric, ..CompareJob::new(folder) };
        let comparison = pool.install(|| job.run())?;
        let mut json = comparison.to_json();
        json["regression"] = comparison.regression().into();
        Ok(json)
    })?;
    to_python(py, &json)
}

/// Writes the report of a run in a format; returns the file.
#[pyfunction]
pub(crate) fn write_report(
    py: Python<'_>,
    folder: PathBuf,
    format: String,
    out: Option<PathBuf>,
) -> PyResult<PathBuf> {
    let pool = threads(py)?;
    call(py, move |_| {
        let job = ReportJob { out, ..ReportJob::new(folder, format) };
        Ok(pool.install(|| job.run(&Context::default()))?.1)
    })
}
