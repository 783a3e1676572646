//! The program `sqlgauge` of this installation, in whose processes queries run.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use sqlgauge_engine::WorkerCommand;

/// How it is started; `sqlgauge._program` knows where it lies.
pub(crate) fn worker(py: Python<'_>) -> PyResult<WorkerCommand> {
    static PROGRAM: PyOnceLock<PathBuf> = PyOnceLock::new();
    let find = || py.import("sqlgauge._program")?.getattr("program")?.call0()?.extract();
    Ok(sqlgauge::worker_of(PROGRAM.get_or_try_init(py, find)?))
}
