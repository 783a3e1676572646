//! The command line, which is in this module, and the processes of it in which queries run.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use sqlgauge_core::worker_by;
use sqlgauge_engine::WorkerCommand;

/// How one is started; `sqlgauge._program` knows it.
pub(crate) fn worker(py: Python<'_>) -> PyResult<WorkerCommand> {
    static LAUNCHER: PyOnceLock<(PathBuf, Vec<OsString>)> = PyOnceLock::new();
    let find = || {
        let command: Vec<OsString> =
            py.import("sqlgauge._program")?.getattr("launcher")?.call0()?.extract()?;
        PyResult::Ok(parted(command))
    };
    let (program, arguments) = LAUNCHER.get_or_try_init(py, find)?;
    Ok(worker_by(program, arguments))
}

/// The program and what it is given.
fn parted(command: Vec<OsString>) -> (PathBuf, Vec<OsString>) {
    let mut words = command.into_iter();
    (words.next().unwrap_or_default().into(), words.collect())
}

/// main(arguments, launcher)
/// --
///
/// Runs the command line, whose arguments begin with the program's name, and returns the exit code of the process.
/// `launcher` is the command that starts it once more. To be called once in a process.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>, launcher: Vec<OsString>) -> u8 {
    let (program, before) = parted(launcher);
    py.detach(|| sqlgauge::main(arguments, worker_by(&program, &before)))
}
