//! The engine of the commands that run untrusted SQL: this program is its own worker.

use std::ffi::OsStr;

use anyhow::{Context as _, Result};
use sqlgauge::{Context, WORKER_ARGUMENT, worker_of};
use sqlgauge_engine::{Limits, SqliteEngine, WorkerCommand};

use crate::progress::Progress;

/// Whether this process was started as a worker.
pub fn is_worker() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().as_deref() == Some(OsStr::new(WORKER_ARGUMENT)) && arguments.next().is_none()
}

fn worker() -> Result<WorkerCommand> {
    let program = std::env::current_exe().context("the system does not tell where this program is")?;
    Ok(worker_of(&program))
}

/// An engine with those limits, whose queries take the time at which it was made for now.
pub fn engine(limits: Limits) -> Result<SqliteEngine> {
    Ok(SqliteEngine::with_workers(limits, worker()?)?)
}

/// The surroundings of a job: queries that take long run in processes of this program.
pub fn context(progress: &Progress) -> Result<Context<'_>> {
    Ok(Context::default().with_worker(worker()?).watched_by(progress))
}
