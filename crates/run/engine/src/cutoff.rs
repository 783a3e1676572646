//! When a query that runs in a worker is ended from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What ends a query in a worker, besides its own time limit, which counts from when its process begins with it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cutoff<'a> {
    /// Once this is set its process is killed, and it has no outcome.
    pub stop: Option<&'a AtomicBool>,
    /// Then it has timed out, whether its process has come to it or not. So the caller waits no longer than that, however
    /// long processes take to start beside others.
    pub deadline: Option<Instant>,
}

impl Cutoff<'_> {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Of that time, what is left before the deadline.
    pub(crate) fn within(&self, time: Duration) -> Duration {
        self.deadline.map_or(time, |deadline| time.min(deadline.saturating_duration_since(Instant::now())))
    }
}
