//! The processor time of this thread and of this process, on systems that count it.

use std::time::Duration;

/// How many times its limit a query may wait for a processor, a disk or memory.
const WALL_FACTOR: u32 = 10;

/// The time by the clock on the wall behind a limit on processor time.
pub(crate) fn wall_limit(time: Duration) -> Duration {
    time.saturating_mul(WALL_FACTOR)
}

/// What this thread has computed; `None` where the system does not say.
#[cfg(unix)]
pub(crate) fn of_thread() -> Option<Duration> {
    read(rustix::time::ClockId::ThreadCPUTime)
}

/// What this process has computed; `None` where the system does not say.
#[cfg(unix)]
pub(crate) fn of_process() -> Option<Duration> {
    read(rustix::time::ClockId::ProcessCPUTime)
}

#[cfg(unix)]
fn read(clock: rustix::time::ClockId) -> Option<Duration> {
    Duration::try_from(rustix::time::clock_gettime(clock)).ok()
}

#[cfg(not(unix))]
pub(crate) fn of_thread() -> Option<Duration> {
    None
}

#[cfg(not(unix))]
pub(crate) fn of_process() -> Option<Duration> {
    None
}
