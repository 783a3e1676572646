//! The engine of the commands that run untrusted SQL: the program is its own worker.

use std::sync::Arc;

use anyhow::Result;
use sqlgauge_base::counted_of;
use sqlgauge_core::Context;
use sqlgauge_engine::{Limits, SqliteEngine};

use crate::interrupt::asked_to_stop;
use crate::invocation::worker;
use crate::output::note;
use crate::progress::Progress;

/// An engine with those limits, whose queries take the time at which it was made for now.
pub(crate) fn engine(limits: Limits) -> Result<SqliteEngine> {
    Ok(SqliteEngine::with_workers(limits, worker()?)?)
}

/// The surroundings of a job: queries that take long run in processes of this program.
pub(crate) fn context(progress: &Progress) -> Result<Context<'_>> {
    let context = Context::default().with_worker(worker()?).watched_by(progress);
    Ok(context.stopped_by(Arc::clone(asked_to_stop())).warned_by(|sentence| note(sentence)))
}

/// Runs a job, and shows how far it is unless `is_quiet`. A job that a signal stopped ends with how to go on.
pub(crate) fn run<T>(
    is_quiet: bool,
    job: impl FnOnce(&Context<'_>) -> Result<T, sqlgauge_core::Error>,
) -> Result<T> {
    let progress = Progress::new(is_quiet);
    let result = job(&context(&progress)?);
    progress.finish();
    result.map_err(|error| match error {
        sqlgauge_core::Error::StoppedAsking(message) => {
            progress.stopped(format!("{message}; the same command goes on")).into()
        }
        sqlgauge_core::Error::Stopped { done, total, out } => {
            let out = out.display();
            let done = counted_of(done, total, "item");
            let text = format!("{out} has {done}; the same command scores the others");
            progress.stopped(text).into()
        }
        error => error.into(),
    })
}
