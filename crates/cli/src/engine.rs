//! The engine of the commands that run untrusted SQL: this program is its own worker.

use std::ffi::OsStr;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use sqlgauge::{Context, WORKER_ARGUMENT, worker_of};
use sqlgauge_engine::{Engine, Limits, Moment, SqliteEngine, WorkerCommand};

/// Whether this process was started as a worker.
pub fn is_worker() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().as_deref() == Some(OsStr::new(WORKER_ARGUMENT)) && arguments.next().is_none()
}

fn worker() -> Result<WorkerCommand> {
    let program = std::env::current_exe().context("the system does not tell where this program is")?;
    Ok(worker_of(&program))
}

/// The surroundings of a job: its slow queries run in processes of this program.
pub fn context<'a>() -> Result<Context<'a>> {
    Ok(Context::default().with_worker(worker()?))
}

/// An engine with those limits, whose queries take the time at which it was made for now.
pub fn engine(limits: Limits) -> Result<SqliteEngine> {
    Ok(SqliteEngine::with_workers(limits, worker()?)?)
}

/// What makes the engine of a run.
pub fn engine_maker() -> Result<impl Fn(Limits, Moment) -> Result<Arc<dyn Engine>, sqlgauge::Error> + Sync> {
    let worker = worker()?;
    Ok(move |limits, now| -> Result<Arc<dyn Engine>, sqlgauge::Error> {
        Ok(Arc::new(SqliteEngine::with_workers(limits, worker.clone())?.at(now)))
    })
}
