//! Threads for the pieces of one batch.
//!
//! As many pieces as there are cores are worked on at once. A piece that waits for another process says so
//! ([`Lanes::outside`]), and another takes its place meanwhile; when it comes back it goes on at once. So slow queries run
//! beside each other, as many at once as there is room for, quick ones do not wait for them, and no piece that waits for the result of another can keep that from
//! coming. The threads end with the batch: a process that forks between batches loses none.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use sqlgauge_base::pool::{NoThread, Panicked, Pool};

/// Who works on a batch.
pub(crate) struct Lanes {
    cores: usize,
    waiting: usize,
    state: Mutex<State>,
    changed: Condvar,
    /// Somebody has come back from outside.
    back: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    outside: usize,
}

impl Lanes {
    /// Does `count` pieces of work on `cores` threads, with so many more for pieces that are outside; the results are in
    /// order.
    ///
    /// # Errors
    /// When not even one thread can be started.
    pub(crate) fn run<T: Send>(
        cores: usize,
        waiting: usize,
        count: usize,
        work: impl Fn(usize, &Self) -> T + Sync,
    ) -> Result<Vec<Result<T, Panicked>>, NoThread> {
        let cores = cores.max(1);
        let (changed, back) = (Condvar::new(), Condvar::new());
        let lanes = Self { cores, waiting: waiting.max(1), state: Mutex::default(), changed, back };
        Pool::of(cores + waiting).map(count, |piece| {
            let _core = lanes.enter();
            work(piece, &lanes)
        })
    }

    /// Does something outside of this process, when there is room outside.
    pub(crate) fn outside<T>(&self, wait: impl FnOnce() -> T) -> T {
        /// Comes back even from a panic, which is counted off like every other end.
        struct Outside<'a>(&'a Lanes);
        impl Drop for Outside<'_> {
            fn drop(&mut self) {
                let mut state = self.0.lock();
                state.running += 1;
                state.outside -= 1;
                self.0.back.notify_one();
            }
        }
        self.leave();
        let mut state = self.lock();
        while state.outside >= self.waiting {
            state = self.back.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.outside += 1;
        drop(state);
        let _back = Outside(self);
        wait()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a core.
    fn enter(&self) -> Core<'_> {
        let mut state = self.lock();
        while state.running >= self.cores {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.running += 1;
        Core(self)
    }

    fn leave(&self) {
        self.lock().running -= 1;
        self.changed.notify_one();
    }
}

/// A core that a piece works on, until it ends, be it by a panic.
struct Core<'a>(&'a Lanes);

impl Drop for Core<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn a_panic_leaves_its_core() {
        let results = Lanes::run(1, 1, 4, |piece, _| assert_ne!(piece, 1, "planted")).unwrap();
        let panicked: Vec<bool> = results.iter().map(Result::is_err).collect();
        assert_eq!(panicked, [false, true, false, false]);
    }

    #[test]
    fn no_more_than_the_cores_work_and_those_outside_wait_together() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let started = Instant::now();
        Lanes::run(2, 16, 16, |_, lanes| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            running.fetch_sub(1, Ordering::SeqCst);
            lanes.outside(|| thread::sleep(Duration::from_millis(500)));
        })
        .unwrap();
        assert!(most.into_inner() <= 2);
        // Two at a time they take 4 s; the room is for a machine that is busy.
        assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    }

    /// The first piece of work waits outside for what the others need.
    #[test]
    fn who_comes_back_does_not_wait_for_who_waits_for_him() {
        let shared = std::sync::OnceLock::new();
        let results = Lanes::run(2, 2, 8, |_, lanes| {
            *shared.get_or_init(|| {
                lanes.outside(|| {
                    thread::sleep(Duration::from_millis(50));
                    5
                })
            })
        });
        assert!(results.unwrap().into_iter().all(|result| result == Ok(5)));
    }
}
