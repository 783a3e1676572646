//! Work on several threads whose outcomes are taken in order.
//!
//! # Contract
//! - Pieces of work are begun in their order, and their outcomes are taken in that order, on the calling thread.
//! - A panic is the outcome of its piece ([`Panicked`]) and costs no other.
//! - At most `window` pieces are begun whose outcomes are not taken. That bounds the memory, and what a kill can lose.
//! - Once `stop` is set, no piece is begun; those in work end, and their outcomes are taken. Once an outcome is refused, none is.
//! - Threads have room for deep queries, and end with the call.

use std::collections::BTreeMap;
use std::io;
use std::iter::once;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::{deep_thread, panic_text};

/// How long a stop may go unnoticed by a thread that waits for its turn.
const POLL: Duration = Duration::from_millis(50);

/// After so long without an outcome, the piece that all wait for is named.
const WAIT: Duration = Duration::from_secs(5);

/// How long outcomes are gathered before they are taken: to be woken for each takes longer than many a piece.
const GATHER: Duration = Duration::from_micros(500);

/// What a piece of work panicked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a defect of sqlgauge ({0}); please report it with the command and its inputs")]
pub struct Panicked(pub String);

/// Not even one thread can be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot start a thread: {0}; use fewer with --jobs")]
pub struct NoThread(pub io::Error);

/// Takes the outcomes of a [`Pool`].
pub trait InOrder<T> {
    type Error: From<NoThread>;

    /// Takes the outcome of a piece, after those of all pieces before it.
    ///
    /// # Errors
    /// Whatever ends the work.
    fn take(&mut self, piece: usize, outcome: Result<T, Panicked>) -> Result<(), Self::Error>;

    /// Is called when all outcomes that came together are taken.
    ///
    /// # Errors
    /// Whatever ends the work.
    fn took(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Is called now and then while the outcome of a piece is waited for.
    fn waits(&mut self) {}
}

/// Threads for pieces of work.
#[derive(Debug, Clone, Copy)]
pub struct Pool<'a> {
    /// How many; 0 means one per core.
    pub jobs: usize,
    /// How many pieces may be begun whose outcomes are not taken; at least 1.
    pub window: usize,
    /// Set it from anywhere to stop after the pieces in work.
    pub stop: Option<&'a AtomicBool>,
}

impl Pool<'_> {
    /// Threads that begin pieces as soon as they can.
    pub fn of(jobs: usize) -> Self {
        Self { jobs, window: usize::MAX, stop: None }
    }

    /// Does so many pieces of work. Returns how many outcomes were taken: all, unless it was stopped.
    ///
    /// # Errors
    /// When no thread can be started, or an outcome is refused.
    pub fn run<T: Send, O: InOrder<T>>(
        &self,
        count: usize,
        work: impl Fn(usize) -> T + Sync,
        out: &mut O,
    ) -> Result<usize, O::Error> {
        let turns = Turns::new(count, self);
        let (turns, work) = (&turns, &work);
        thread::scope(|scope| {
            let _closed = Closing(turns);
            let (sender, outcomes) = channel();
            for number in 0..self.threads().min(count) {
                let sender = sender.clone();
                let each = move || {
                    while let Some(piece) = turns.next() {
                        // Whatever the work locks it must tolerate poisoned.
                        let outcome = catch_unwind(AssertUnwindSafe(|| work(piece)));
                        let outcome =
                            outcome.map_err(|panic| Panicked(panic_text(panic.as_ref()).to_owned()));
                        if sender.send((piece, outcome)).is_err() {
                            return;
                        }
                    }
                };
                match deep_thread().spawn_scoped(scope, each) {
                    Err(error) if number == 0 => return Err(NoThread(error).into()),
                    // Those that are there do the work.
                    Err(_) => break,
                    Ok(_) => {}
                }
            }
            drop(sender);
            take_all(turns, &outcomes, out)
        })
    }

    /// The outcomes of so many pieces of work; if it was stopped, those of the first.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn map<T: Send>(
        &self,
        count: usize,
        work: impl Fn(usize) -> T + Sync,
    ) -> Result<Vec<Result<T, Panicked>>, NoThread> {
        let mut all = All(Vec::with_capacity(count));
        self.run(count, work, &mut all)?;
        Ok(all.0)
    }

    /// What so many pieces of work return; if it was stopped, what the first return.
    ///
    /// # Errors
    /// The first error or panic, which ends the work, and when no thread can be started.
    pub fn try_map<T: Send, E: From<NoThread> + From<Panicked> + Send>(
        &self,
        count: usize,
        work: impl Fn(usize) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let mut right = Right(Vec::with_capacity(count), PhantomData);
        self.run(count, work, &mut right)?;
        Ok(right.0)
    }

    fn threads(&self) -> usize {
        if self.jobs == 0 { thread::available_parallelism().map_or(1, usize::from) } else { self.jobs }
    }
}

struct All<T>(Vec<Result<T, Panicked>>);

impl<T> InOrder<T> for All<T> {
    type Error = NoThread;

    fn take(&mut self, _piece: usize, outcome: Result<T, Panicked>) -> Result<(), NoThread> {
        self.0.push(outcome);
        Ok(())
    }
}

struct Right<T, E>(Vec<T>, PhantomData<E>);

impl<T, E: From<NoThread> + From<Panicked>> InOrder<Result<T, E>> for Right<T, E> {
    type Error = E;

    fn take(&mut self, _piece: usize, outcome: Result<Result<T, E>, Panicked>) -> Result<(), E> {
        self.0.push(outcome??);
        Ok(())
    }
}

fn take_all<T, O: InOrder<T>>(
    turns: &Turns<'_>,
    outcomes: &Receiver<(usize, Result<T, Panicked>)>,
    out: &mut O,
) -> Result<usize, O::Error> {
    let mut early = BTreeMap::new();
    let mut next = 0;
    while next < turns.count {
        let first = match outcomes.recv_timeout(WAIT) {
            Ok(first) => first,
            Err(RecvTimeoutError::Timeout) => {
                out.waits();
                continue;
            }
            // After a stop each thread ends its item and drops its sender.
            Err(RecvTimeoutError::Disconnected) => break,
        };
        thread::sleep(GATHER);
        early.extend(once(first).chain(outcomes.try_iter()));
        let before = next;
        while let Some(outcome) = early.remove(&next) {
            out.take(next, outcome)?;
            next += 1;
        }
        if next > before {
            out.took()?;
            turns.advance(next);
        }
    }
    Ok(next)
}

/// Hands out pieces in order, not further than the window beyond what is taken.
struct Turns<'a> {
    state: Mutex<State>,
    moved: Condvar,
    count: usize,
    window: usize,
    stop: Option<&'a AtomicBool>,
}

struct State {
    next: usize,
    taken_until: usize,
    closed: bool,
}

impl<'a> Turns<'a> {
    fn new(count: usize, pool: &Pool<'a>) -> Self {
        let state = Mutex::new(State { next: 0, taken_until: 0, closed: false });
        Self { state, moved: Condvar::new(), count, window: pool.window.max(1), stop: pool.stop }
    }

    /// The next piece; `None` at the end, or when the work stops.
    fn next(&self) -> Option<usize> {
        let mut state = self.lock();
        while state.next < self.count {
            if state.closed || self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return None;
            }
            if state.next - state.taken_until < self.window {
                state.next += 1;
                return Some(state.next - 1);
            }
            state = self.moved.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    fn advance(&self, taken_until: usize) {
        self.lock().taken_until = taken_until;
        self.moved.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the work with the call, be it by a panic of the one who takes.
struct Closing<'a>(&'a Turns<'a>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn outcomes_are_in_order_and_a_panic_is_one() {
        for (jobs, window) in [(0, 1), (1, 7), (2, 3), (8, usize::MAX)] {
            let work = |piece: usize| {
                assert_ne!(piece, 7, "planted");
                piece * 2
            };
            let outcomes = Pool { window, ..Pool::of(jobs) }.map(40, work).unwrap();
            for (piece, outcome) in outcomes.iter().enumerate() {
                match outcome {
                    Ok(value) => assert_eq!(*value, piece * 2),
                    Err(Panicked(text)) => assert!(piece == 7 && text.contains("planted"), "{text}"),
                }
            }
            assert_eq!(outcomes.len(), 40);
        }
        assert!(Pool::of(2).map(0, |_| ()).unwrap().is_empty());
    }

    #[derive(Debug, PartialEq)]
    enum Failure {
        Thread,
        Panic(String),
        Piece(usize),
    }

    impl From<NoThread> for Failure {
        fn from(_: NoThread) -> Self {
            Self::Thread
        }
    }

    impl From<Panicked> for Failure {
        fn from(Panicked(text): Panicked) -> Self {
            Self::Panic(text)
        }
    }

    #[test]
    fn the_first_error_in_order_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let work = |piece: usize| {
            begun.fetch_add(1, Ordering::SeqCst);
            if piece % 10 == 3 { Err(Failure::Piece(piece)) } else { Ok(piece) }
        };
        let pool = Pool { window: 5, ..Pool::of(4) };
        assert_eq!(pool.try_map(1000, work), Err(Failure::Piece(3)));
        assert!(begun.load(Ordering::SeqCst) < 20);
        let panics = |_: usize| -> Result<(), Failure> { panic!("planted") };
        assert_eq!(pool.try_map(3, panics), Err(Failure::Panic("planted".to_owned())));
    }

    #[test]
    fn a_stop_leaves_the_first_outcomes() {
        let stop = AtomicBool::new(false);
        let work = |piece: usize| {
            if piece == 20 {
                stop.store(true, Ordering::Relaxed);
            }
            piece
        };
        let pool = Pool { jobs: 3, window: 4, stop: Some(&stop) };
        let outcomes = pool.map(1000, work).unwrap();
        assert!((21..=24).contains(&outcomes.len()), "{}", outcomes.len());
        assert!(outcomes.into_iter().zip(0..).all(|(outcome, piece)| outcome == Ok(piece)));
    }

    #[test]
    fn no_more_than_the_window_is_begun_beyond_what_is_taken() {
        struct Slow<'a>(&'a AtomicUsize);
        impl InOrder<()> for Slow<'_> {
            type Error = NoThread;
            fn take(&mut self, piece: usize, _outcome: Result<(), Panicked>) -> Result<(), NoThread> {
                thread::sleep(Duration::from_millis(2));
                let ahead = self.0.load(Ordering::SeqCst) - piece;
                assert!(ahead <= 6, "{ahead}");
                Ok(())
            }
        }
        let begun = AtomicUsize::new(0);
        let work = |_| {
            begun.fetch_add(1, Ordering::SeqCst);
        };
        let done = Pool { window: 3, ..Pool::of(8) }.run(60, work, &mut Slow(&begun)).unwrap();
        assert_eq!(done, 60);
    }

    #[test]
    fn a_panic_of_the_one_who_takes_ends_the_threads() {
        struct Broken;
        impl InOrder<()> for Broken {
            type Error = NoThread;
            fn take(&mut self, _piece: usize, _outcome: Result<(), Panicked>) -> Result<(), NoThread> {
                panic!("planted")
            }
        }
        let run = || Pool { window: 2, ..Pool::of(2) }.run(100, |_| (), &mut Broken);
        assert!(catch_unwind(run).is_err());
    }
}
