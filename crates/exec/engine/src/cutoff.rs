//! Decides when a query in a worker is ended from outside.

use std::sync::atomic::{AtomicBool, Ordering};

/// What ends a query in a worker, besides its own time limit: once `stop` is set its process is killed, and it has no
/// outcome.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cutoff<'a> {
    pub stop: Option<&'a AtomicBool>,
}

impl Cutoff<'_> {
    pub(crate) fn is_stopped(self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}
