//! The engine of the commands that run untrusted SQL: this program is its own worker.

use std::ffi::OsStr;

use anyhow::{Context, Result};
use sqlgauge_engine::{Limits, SqliteEngine, WorkerCommand};

/// The only argument of a worker. No sub-command: nobody but this program starts one.
const WORKER: &str = "--run-queries";

/// Whether this process was started as a worker.
pub fn is_worker() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().as_deref() == Some(OsStr::new(WORKER)) && arguments.next().is_none()
}

/// An engine with those limits, whose queries take the time at which it was made for now.
pub fn engine(limits: Limits) -> Result<SqliteEngine> {
    let program = std::env::current_exe().context("the system does not tell where this program is")?;
    Ok(SqliteEngine::with_workers(limits, WorkerCommand::new(program).argument(WORKER))?)
}
