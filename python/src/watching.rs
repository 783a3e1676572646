//! A job that says how far it has got, and what it noticed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use sqlgauge_core::{Context, Watcher};

use crate::call::call_watched;
use crate::error::Failure;
use crate::process::threads;
use crate::program;
use crate::words::in_python;

/// How far a job has got, for whoever shows it, and what it noticed.
#[derive(Default)]
struct Far {
    total: AtomicUsize,
    done: AtomicUsize,
    notes: Mutex<Vec<String>>,
}

impl Watcher for Far {
    fn note(&self, text: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(in_python(text));
    }

    fn started(&self, _: &'static str, total: usize, resumed: usize) {
        self.done.store(resumed, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn advanced(&self, done: usize) {
        self.done.store(done, Ordering::Relaxed);
    }
}

/// Does the job with the processes and threads of this one; returns its result and what it noticed. `progress` is called with
/// what is done and all.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&Context<'_>) -> Result<T, Failure> + Send + 'static,
) -> PyResult<(T, Vec<String>)> {
    let (worker, pool) = (program::worker(py)?, threads(py)?);
    let far = Arc::<Far>::default();
    let watcher = Arc::clone(&far);
    let mut last = 0;
    call_watched(
        py,
        move |stop| {
            let context = Context::default()
                .with_worker(worker)
                .stopped_by(Arc::clone(stop))
                .killing_queries()
                .watched_by(watcher.as_ref());
            let done = pool.install(|| job(&context))?;
            let notes = std::mem::take(&mut *watcher.notes.lock().unwrap_or_else(PoisonError::into_inner));
            Ok((done, notes))
        },
        |_| {
            let (done, total) = (far.done.load(Ordering::Relaxed), far.total.load(Ordering::Relaxed));
            if let Some(progress) = progress.filter(|_| total > 0 && done != last) {
                last = done;
                progress.call1((done, total))?;
            }
            Ok(())
        },
    )
}
