//! A call from Python into the libraries.
//!
//! # Contract
//! - The work runs on a thread of its own with a deep stack, and the interpreter is released meanwhile.
//! - The calling thread looks for signals every [`POLL`]. One whose handler raises (Ctrl-C: `KeyboardInterrupt`) sets the
//!   call's [`Stop`]; engines kill the query that runs and begin no other. The exception is raised as soon as the work has
//!   ended, and after [`LEAVE`] at the latest: what is then still at work is an analysis, which ends by its budget.
//! - A panic of the work is an `InternalError`.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use sqlgauge_base::deep_thread;

use crate::error::{Class, Failure};

/// How long a signal may go unnoticed.
const POLL: Duration = Duration::from_millis(20);
/// How long the work may take to end once it is asked to.
const LEAVE: Duration = Duration::from_millis(30);

/// Set when the call is to end.
pub(crate) type Stop = Arc<AtomicBool>;

/// Where the last panic was, and what it said.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Panics are told by the exception that they become, and not on standard error.
pub(crate) fn remember_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place =
            info.location().map(|place| format!("{}:{}", place.file(), place.line())).unwrap_or_default();
        let text = format!("{} ({place})", info.payload_as_str().unwrap_or("no message"));
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }));
}

fn defect(_: &(dyn Any + Send)) -> Failure {
    let text = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
    Failure::new(
        Class::Internal,
        &format!("sqlgauge met a defect of its own: {text}; please report it with what led to it"),
    )
}

/// Does the work; see the head of this file.
pub(crate) fn call<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    call_watched(py, work, |_| Ok(()))
}

/// [`call`] that also does something in Python every [`POLL`] and at the end: shows progress.
pub(crate) fn call_watched<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T, Failure> + Send + 'static,
    mut watch: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    let stop = Stop::default();
    let of_work = Arc::clone(&stop);
    let (sender, mut receiver) = sync_channel(1);
    let at_work = move || {
        let done = catch_unwind(AssertUnwindSafe(|| work(&of_work)));
        // Nobody waits for what was interrupted.
        let _ = sender.send(done.unwrap_or_else(|panic| Err(defect(panic.as_ref()))));
    };
    deep_thread()
        .name("sqlgauge".to_owned())
        .spawn(at_work)
        .map_err(|error| Failure::of(Class::Internal, &error))?;
    loop {
        let (ended, back) = wait(py, receiver, POLL);
        receiver = back;
        match ended {
            Ok(result) => {
                watch(py)?;
                return Ok(result?);
            }
            Err(RecvTimeoutError::Disconnected) => return Err(defect(&()).into()),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(raised) = py.check_signals().and_then(|()| watch(py)) {
                    stop.store(true, Ordering::SeqCst);
                    drop(wait(py, receiver, LEAVE));
                    return Err(raised);
                }
            }
        }
    }
}

type Waited<T> = (Result<T, RecvTimeoutError>, Receiver<T>);

fn wait<T: Send>(py: Python<'_>, receiver: Receiver<T>, time: Duration) -> Waited<T> {
    py.detach(move || (receiver.recv_timeout(time), receiver))
}
