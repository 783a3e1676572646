//! Idle connections, kept for the next query on the same database.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::connection::GuardedConnection;

/// Idle connections of all databases, the longest unused in front.
#[derive(Debug)]
pub(super) struct Pool {
    capacity: usize,
    idle: Mutex<VecDeque<(u64, GuardedConnection)>>,
}

impl Pool {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, idle: Mutex::default() }
    }

    /// The most recently used idle connection of that database.
    pub(super) fn take(&self, database: u64) -> Option<GuardedConnection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let position = idle.iter().rposition(|&(of, _)| of == database)?;
        idle.remove(position).map(|(_, connection)| connection)
    }

    /// Gives a connection back; closes the longest unused one if there are too many.
    pub(super) fn put(&self, database: u64, connection: GuardedConnection) {
        let closed = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push_back((database, connection));
            if idle.len() > self.capacity { idle.pop_front() } else { None }
        };
        drop(closed);
    }

    /// Closes all idle connections, so that their caches hold no memory.
    pub(super) fn clear(&self) {
        let closed = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        drop(closed);
    }
}
