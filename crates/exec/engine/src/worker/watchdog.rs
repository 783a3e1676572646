//! Ends a worker whose query passes its time: SQLite looks at the limit between two instructions, and one can take long.

use std::io::{self, Write};
use std::process::exit;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cpu;

use super::wire::LATE;

/// How long after its time limit a query may still notice that by itself.
const GRACE: Duration = Duration::from_millis(100);

/// What one query may take of this process.
#[derive(Debug, Clone, Copy)]
struct Watched {
    end: Instant,
    /// Processor time of the process that has been used up then.
    computed: Option<Duration>,
}

impl Watched {
    /// A query that begins now.
    fn of(limit: Duration) -> Self {
        let most = limit.saturating_add(GRACE);
        let computed = cpu::of_process().map(|now| now.saturating_add(most));
        let wall = if computed.is_some() { cpu::wall_limit(most) } else { most };
        let now = Instant::now();
        Self {
            end: now.checked_add(wall).unwrap_or(now + cpu::wall_limit(Duration::from_hours(1000))),
            computed,
        }
    }

    /// How long it can go on at least; zero once it is late.
    fn left(&self) -> Duration {
        let wall = self.end.saturating_duration_since(Instant::now());
        let computed = self.computed.zip(cpu::of_process());
        computed.map_or(wall, |(limit, now)| limit.saturating_sub(now).min(wall))
    }
}

/// Watches the queries of a worker, one at a time, from a thread of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Watchdog(Arc<(Mutex<Option<Watched>>, Condvar)>);

impl Watchdog {
    /// One with its thread.
    pub(super) fn start() -> io::Result<Self> {
        let watchdog = Self::default();
        let handle = watchdog.clone();
        thread::Builder::new().name("sqlgauge-watchdog".to_owned()).spawn(move || handle.watch())?;
        Ok(watchdog)
    }

    /// Runs a query that may take that time. If it takes longer, this process says so and ends.
    pub(super) fn over<T>(&self, limit: Duration, run: impl FnOnce() -> T) -> T {
        *self.lock() = Some(Watched::of(limit));
        self.0.1.notify_one();
        let outcome = run();
        // From here on nothing ends the process: the lock is held while it ends.
        *self.lock() = None;
        outcome
    }

    fn lock(&self) -> MutexGuard<'_, Option<Watched>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self) {
        let mut watched = self.lock();
        loop {
            let changed = &self.0.1;
            watched = match *watched {
                None => changed.wait(watched).unwrap_or_else(PoisonError::into_inner),
                Some(query) => match query.left() {
                    Duration::ZERO => end(),
                    left => changed.wait_timeout(watched, left).unwrap_or_else(PoisonError::into_inner).0,
                },
            };
        }
    }
}

fn end() -> ! {
    let mut stdout = io::stdout().lock();
    // A failed write means that nobody listens.
    let _ = stdout.write_all(&[LATE]).and_then(|()| stdout.flush());
    exit(0)
}
