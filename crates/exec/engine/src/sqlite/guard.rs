//! What the callbacks of one connection share with the code that runs it.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::cpu;

/// What the connection is doing; decides what the authorizer allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Our own reading of the catalog.
    Catalog,
    /// A statement of ours that makes, fills or describes the tables of a database in memory. Their definitions may
    /// come from a schema that is not to be trusted, so functions with effects stay refused.
    Own,
    /// Our own naming of one virtual table, so that its module connects to it.
    Connect,
    /// Compiling untrusted SQL.
    Prepare,
    /// Running it.
    Step,
}

/// Limits, phase and findings of the query that a connection is running.
#[derive(Debug, Default)]
pub(super) struct Guard {
    phase: AtomicU8,
    limit: Mutex<Option<TimeLimit>>,
    /// When the limit is to be looked at next: nothing reaches it before.
    look_ns: AtomicU64,
    /// Calls of the progress handler until the query has taken all its steps.
    calls_left: AtomicU64,
    expired: AtomicBool,
    unbounded: AtomicBool,
    refused: Mutex<Option<String>>,
    /// The virtual table that [`Phase::Connect`] is about.
    connecting: Mutex<String>,
}

/// Nanoseconds since the first call in this process, so that an instant fits an atomic.
fn nanoseconds(instant: Instant) -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let origin = *ORIGIN.get_or_init(Instant::now);
    u64::try_from(instant.saturating_duration_since(origin).as_nanos()).unwrap_or(u64::MAX)
}

/// When a query has run long enough. It counts what its thread computes, so that a busy machine takes nothing from it; by
/// the clock on the wall it ends where the system does not count that, and far behind it where it does.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeLimit {
    end: Instant,
    /// It is not reached before: a thread computes no faster than the clock goes.
    soonest: Instant,
    /// What the thread will have computed then.
    computed: Option<Duration>,
}

impl TimeLimit {
    /// After that much computing of this thread from now on.
    pub(super) fn computing(time: Duration) -> Self {
        match cpu::of_thread() {
            Some(computed) => {
                let now = Instant::now();
                let computed = Some(computed.saturating_add(time));
                Self { end: after(now, cpu::wall_limit(time)), soonest: after(now, time), computed }
            }
            None => Self::waiting(time),
        }
    }

    /// After that time, whatever the thread does.
    pub(super) fn waiting(time: Duration) -> Self {
        Self::at(after(Instant::now(), time))
    }

    /// At that instant.
    pub(super) fn at(end: Instant) -> Self {
        Self { end, soonest: end, computed: None }
    }

    /// When it can be reached at the soonest; `None` once it is.
    fn next_look(&self, now: Instant) -> Option<Instant> {
        if now >= self.end {
            return None;
        }
        let Some((limit, computed)) = self.computed.zip(cpu::of_thread()) else { return Some(self.end) };
        let left = limit.checked_sub(computed).filter(|left| !left.is_zero())?;
        Some(after(now, left).min(self.end))
    }
}

/// The instant after that time. Where the clock cannot count so far, an instant that no process lives to see.
fn after(now: Instant, time: Duration) -> Instant {
    const AGE: Duration = Duration::from_hours(100 * 365 * 24);
    now.checked_add(time).unwrap_or_else(|| now + AGE)
}

impl Guard {
    /// Forgets the last query and begins one on this thread that must end at the limit.
    pub(super) fn begin(&self, phase: Phase, limit: TimeLimit) {
        self.begin_within(phase, limit, u64::MAX);
    }

    /// Forgets the last query and begins one on this thread that must end at the limit, and before the progress handler has
    /// been called that often.
    pub(super) fn begin_within(&self, phase: Phase, limit: TimeLimit, calls: u64) {
        self.enter(phase);
        self.calls_left.store(calls, Ordering::Relaxed);
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = Some(limit);
        self.look_ns.store(nanoseconds(limit.soonest), Ordering::Relaxed);
        self.expired.store(false, Ordering::Relaxed);
        self.unbounded.store(false, Ordering::Relaxed);
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Lets the progress handler be called that often from here on.
    pub(super) fn allow(&self, calls: u64) {
        self.calls_left.store(calls, Ordering::Relaxed);
    }

    /// How often the progress handler may still be called.
    pub(super) fn calls_left(&self) -> u64 {
        self.calls_left.load(Ordering::Relaxed)
    }

    /// Whether the query has taken all its steps.
    pub(super) fn has_no_calls_left(&self) -> bool {
        self.calls_left() == 0
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// Begins the connection of one virtual table.
    pub(super) fn connect(&self, table: &str) {
        table.clone_into(&mut self.connecting.lock().unwrap_or_else(PoisonError::into_inner));
        self.enter(Phase::Connect);
    }

    /// Whether that table belongs to the virtual table that is being connected: modules keep their content in
    /// tables whose names begin with the virtual table's and an underscore.
    pub(super) fn is_connecting_shadow(&self, table: &str) -> bool {
        let connecting = self.connecting.lock().unwrap_or_else(PoisonError::into_inner);
        let head = table.get(..connecting.len());
        self.phase() == Phase::Connect
            && head.is_some_and(|head| head.eq_ignore_ascii_case(&connecting))
            && table[connecting.len()..].starts_with('_')
    }

    pub(super) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Catalog,
            1 => Phase::Own,
            2 => Phase::Connect,
            3 => Phase::Prepare,
            _ => Phase::Step,
        }
    }

    /// The progress handler: whether to stop.
    pub(super) fn is_over(&self) -> bool {
        let left = self.calls_left();
        self.calls_left.store(left.saturating_sub(1), Ordering::Relaxed);
        let over = left == 0 || self.is_late();
        if over {
            self.expired.store(true, Ordering::Relaxed);
        }
        over
    }

    /// Asks the system what the thread has computed only when that can have become too much.
    fn is_late(&self) -> bool {
        let now = Instant::now();
        if nanoseconds(now) < self.look_ns.load(Ordering::Relaxed) {
            return false;
        }
        let limit = *self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        let next = limit.and_then(|limit| limit.next_look(now));
        self.look_ns.store(next.map_or(0, nanoseconds), Ordering::Relaxed);
        next.is_none()
    }

    /// Whether the progress handler has stopped this query.
    pub(super) fn has_expired(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }

    /// Notes that the query can spend long inside one instruction.
    pub(super) fn note_unbounded(&self) {
        self.unbounded.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_unbounded(&self) -> bool {
        self.unbounded.load(Ordering::Relaxed)
    }

    /// Notes what the authorizer refused; the first refusal is the reason.
    pub(super) fn note_refused(&self, what: String) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
    }

    pub(super) fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
