//! What belongs to one process and not to its children.
//!
//! # Contract
//! After `fork`, a child has the memory of its parent, but none of its threads; and the processes that run the parent's
//! queries, with which it shares the pipes, are not its own. So whatever stands for such things is held by a
//! [`PerProcess`], which knows the process that made it: in another one it is empty, and what it held is neither used nor
//! dropped there, since dropping it would end what is the parent's.
//!
//! Its lock is taken by threads that hold the interpreter and for no longer than a copy of a pointer; `fork` holds the
//! interpreter too, so no child is born with the lock taken. (A build of Python without that lock has no such promise; nor
//! does it advise to fork with threads about.)

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sqlgauge_base::DEEP_STACK_BYTES;

use crate::error::{Class, Failure};

/// A value of the process that made it.
#[derive(Debug)]
pub(crate) struct PerProcess<T> {
    slot: Mutex<Option<(u32, T)>>,
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T> PerProcess<T> {
    pub(crate) const fn empty() -> Self {
        Self { slot: Mutex::new(None) }
    }

    /// Forgets what another process made.
    fn disown(slot: &mut Option<(u32, T)>) {
        if slot.as_ref().is_some_and(|(process, _)| *process != std::process::id()) {
            std::mem::forget(slot.take());
        }
    }
}

impl<T: Clone> PerProcess<T> {
    /// The value of this process.
    pub(crate) fn get(&self, _attached: Python<'_>) -> Option<T> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        Self::disown(&mut slot);
        slot.as_ref().map(|(_, value)| value.clone())
    }

    /// Lets go of the value; who has a copy of it keeps it.
    pub(crate) fn clear(&self, _attached: Python<'_>) {
        let old = {
            let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
            Self::disown(&mut slot);
            slot.take()
        };
        drop(old);
    }

    /// The value of this process, made if there is none.
    pub(crate) fn get_or_make(&self, py: Python<'_>, make: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        if let Some(value) = self.get(py) {
            return Ok(value);
        }
        // Not under the lock: it takes time, and the interpreter is released. Of two that are made at once one stays.
        let fresh = make()?;
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(slot.get_or_insert_with(|| (std::process::id(), fresh)).1.clone())
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        Self::disown(&mut self.slot.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// The threads of this process for what the libraries do in parallel; their own would not be there after `fork`.
pub(crate) fn threads(py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    static THREADS: PerProcess<Arc<ThreadPool>> = PerProcess::empty();
    THREADS.get_or_make(py, || {
        let pool = ThreadPoolBuilder::new().stack_size(DEEP_STACK_BYTES).build();
        Ok(Arc::new(pool.map_err(|error| Failure::of(Class::Internal, &error))?))
    })
}
