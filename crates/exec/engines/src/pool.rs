//! Connections that are lent one at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Idle connections, and how many there may be at once.
#[derive(Debug)]
pub(crate) struct Pool<C> {
    state: Mutex<State<C>>,
    returned: Condvar,
    most: usize,
}

#[derive(Debug)]
struct State<C> {
    idle: Vec<C>,
    lent: usize,
    /// How many run alone, or wait until they can.
    alone: usize,
}

impl<C> Pool<C> {
    /// A pool that lends at most so many at once.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            state: Mutex::new(State { idle: Vec::new(), lent: 0, alone: 0 }),
            returned: Condvar::new(),
            most,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` with a connection: an idle one, or `None` where it has to make one. What it hands back is kept. Waits while
    /// too many are lent.
    pub(crate) fn with<T>(&self, work: impl FnOnce(Option<C>) -> (T, Option<C>)) -> T {
        let mut state = self.lock();
        while state.lent >= self.most || state.alone > 0 {
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.lent += 1;
        let idle = state.idle.pop();
        drop(state);
        self.lend(idle, false, work)
    }

    /// The same while nothing else is lent, with a connection that `work` makes.
    pub(crate) fn alone<T>(&self, work: impl FnOnce(Option<C>) -> (T, Option<C>)) -> T {
        let mut state = self.lock();
        state.alone += 1;
        while state.lent > 0 {
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.lent += 1;
        drop(state);
        self.lend(None, true, work)
    }

    fn lend<T>(&self, idle: Option<C>, is_alone: bool, work: impl FnOnce(Option<C>) -> (T, Option<C>)) -> T {
        let place = Place { pool: self, is_alone };
        let (result, back) = work(idle);
        if let Some(connection) = back {
            self.lock().idle.push(connection);
        }
        drop(place);
        result
    }
}

/// Gives the place back, also when the work panics.
struct Place<'a, C> {
    pool: &'a Pool<C>,
    is_alone: bool,
}

impl<C> Drop for Place<'_, C> {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.lent -= 1;
        state.alone -= usize::from(self.is_alone);
        drop(state);
        self.pool.returned.notify_all();
    }
}
