//! Room on the stack for queries, which parsers, walks and SQLite's compiler follow as deep as they nest.

use std::thread;

/// Stack of a thread that works on queries. It is reserved, not used, until it is needed.
pub const DEEP_STACK_BYTES: usize = 64 << 20;

/// Stack for the work on one query.
const QUERY_STACK_BYTES: usize = 16 << 20;

/// A thread with a stack for queries, before it starts.
pub fn deep_thread() -> thread::Builder {
    thread::Builder::new().stack_size(DEEP_STACK_BYTES)
}

/// Works on a query, on a new stack where less than half of that room is left.
pub fn on_deep_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(QUERY_STACK_BYTES / 2, QUERY_STACK_BYTES, work)
}
