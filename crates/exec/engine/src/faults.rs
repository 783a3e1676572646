//! What the machine failed at, so that whoever shares an engine can ask about the time of his own task.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much the machine had failed at when a task began; see [`Engine::check_since`](crate::Engine::check_since).
#[derive(Debug, Clone, Copy, Default)]
pub struct FaultCount {
    pub(crate) queries: u64,
    pub(crate) workers: u64,
}

impl FaultCount {
    /// So many queries that could not be run.
    pub fn of_queries(queries: u64) -> Self {
        Self { queries, workers: 0 }
    }

    /// Queries that could not be run.
    pub fn queries(self) -> u64 {
        self.queries
    }
}

/// The number of faults of one sort, and the last of them.
#[derive(Debug)]
pub struct Faults<T>(Mutex<(u64, Option<T>)>);

impl<T> Default for Faults<T> {
    fn default() -> Self {
        Self(Mutex::new((0, None)))
    }
}

impl<T: Clone> Faults<T> {
    fn lock(&self) -> MutexGuard<'_, (u64, Option<T>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one.
    pub fn add(&self, fault: T) {
        let mut state = self.lock();
        *state = (state.0 + 1, Some(fault));
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.lock().0
    }

    /// The last fault, if there was one after the first `count`.
    pub fn since(&self, count: u64) -> Option<T> {
        let state = self.lock();
        state.1.clone().filter(|_| state.0 > count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_sees_the_faults_since_it_began() {
        let faults = Faults::default();
        assert_eq!(faults.since(0), None);
        faults.add("first");
        let began = faults.count();
        assert_eq!((faults.since(0), faults.since(began)), (Some("first"), None));
        faults.add("second");
        assert_eq!((faults.since(0), faults.since(began)), (Some("second"), Some("second")));
    }
}
