//! Threads for the pieces of one batch.
//!
//! As many pieces as there are cores are worked on at once. A piece that waits for another process says so
//! ([`Lanes::outside`]), and another takes its place meanwhile; when it comes back it goes on at once. So slow queries run
//! beside each other, as many at once as there is room for, quick ones do not wait for them, and no piece that waits for the result of another can keep that from
//! coming. The threads end with the batch: a process that forks between batches loses none.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use sqlgauge_base::{deep_thread, panic_text};

/// Who works on a batch.
pub(crate) struct Lanes {
    cores: usize,
    waiting: usize,
    count: usize,
    state: Mutex<State>,
    changed: Condvar,
    /// Somebody has come back from outside.
    back: Condvar,
}

struct State {
    next: usize,
    running: usize,
    outside: usize,
}

impl Lanes {
    /// Does `count` pieces of work on `cores` threads, with so many more for pieces that are outside; the results are in
    /// order.
    /// What a piece panicked with is its result.
    ///
    /// # Errors
    /// When not even one thread can be started.
    pub(crate) fn run<T: Send>(
        cores: usize,
        waiting: usize,
        count: usize,
        work: impl Fn(usize, &Self) -> T + Sync,
    ) -> io::Result<Vec<Result<T, String>>> {
        let cores = cores.max(1);
        let state = Mutex::new(State { next: 0, running: 0, outside: 0 });
        let (changed, back) = (Condvar::new(), Condvar::new());
        let lanes = Self { cores, waiting: waiting.max(1), count, state, changed, back };
        let done: Mutex<Vec<Option<Result<T, String>>>> = Mutex::new((0..count).map(|_| None).collect());
        let each = || {
            while let Some(piece) = lanes.take() {
                let result = catch_unwind(AssertUnwindSafe(|| work(piece, &lanes)));
                lanes.leave();
                let result = result.map_err(|panic| panic_text(panic.as_ref()).to_owned());
                done.lock().unwrap_or_else(PoisonError::into_inner)[piece] = Some(result);
            }
        };
        thread::scope(|scope| {
            for number in 0..count.min(cores + waiting) {
                let spawned = deep_thread().spawn_scoped(scope, each);
                match spawned {
                    Err(error) if number == 0 => return Err(error),
                    // Those that are there do the work.
                    Err(_) => break,
                    Ok(_) => {}
                }
            }
            Ok(())
        })?;
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(done.into_iter().map(|one| one.unwrap_or_else(|| Err("its thread ended".to_owned()))).collect())
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

    fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        while state.next < self.count {
            if state.running < self.cores {
                state.running += 1;
                state.next += 1;
                if state.next == self.count {
                    self.changed.notify_all();
                }
                return Some(state.next - 1);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn leave(&self) {
        self.lock().running -= 1;
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    #[test]
    fn results_are_in_order_and_a_panic_is_one() {
        for (cores, waiting) in [(1, 0), (2, 3), (8, 0)] {
            let results = Lanes::run(cores, waiting, 40, |piece, _| {
                assert_ne!(piece, 7, "planted");
                piece * 2
            })
            .unwrap();
            for (piece, result) in results.iter().enumerate() {
                match result {
                    Ok(value) => assert_eq!(*value, piece * 2),
                    Err(message) => assert!(piece == 7 && message.contains("planted"), "{message}"),
                }
            }
        }
        assert!(Lanes::run(2, 2, 0, |_, _| ()).unwrap().is_empty());
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
