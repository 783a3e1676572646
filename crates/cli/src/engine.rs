//! The engine of the commands that run untrusted SQL: this program is its own worker.

use std::ffi::OsStr;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use sqlgauge::{Context, WORKER_ARGUMENT, worker_of};
use sqlgauge_engine::{Limits, SqliteEngine, WorkerCommand};

use crate::interrupt::asked_to_stop;
use crate::output::note;
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
    let context = Context::default().with_worker(worker()?).watched_by(progress);
    Ok(context.stopped_by(Arc::clone(asked_to_stop())).warned_by(|sentence| note(sentence)))
}

/// Runs a job, and shows how far it is unless `is_quiet`. A job that a signal stopped ends with how to go on.
pub fn run<T>(is_quiet: bool, job: impl FnOnce(&Context<'_>) -> Result<T, sqlgauge::Error>) -> Result<T> {
    let progress = Progress::new(is_quiet);
    let result = job(&context(&progress)?);
    progress.finish();
    result.map_err(|error| match error {
        sqlgauge::Error::StoppedAsking(kept) => {
            progress.stopped(format!("{kept}; the same command goes on")).into()
        }
        sqlgauge::Error::Stopped { done, total, out } => {
            let out = out.display();
            let text = format!("{done} of {total} items are in {out}; the same command scores the others");
            progress.stopped(text).into()
        }
        error => error.into(),
    })
}
