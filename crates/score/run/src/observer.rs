//! Reports the progress of a run to its watcher.

use std::fmt;

/// A repair that resuming made to `items.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// The last line had no end: the process was killed while it wrote. It was cut off; its item is done again.
    TornLine {
        /// Line number from 1.
        line: usize,
        /// Bytes that were cut off.
        bytes: u64,
    },
    /// The item was there before; the first is kept.
    Duplicate {
        /// Line number from 1.
        line: usize,
        system: String,
        /// Its example.
        id: String,
    },
    /// The item stands before its place, with items missing between; it was removed and is done again.
    OutOfOrder {
        /// Line number from 1.
        line: usize,
        system: String,
        /// Its example.
        id: String,
    },
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TornLine { line, bytes } => {
                write!(f, "items.jsonl line {line} was torn: {bytes} bytes cut off, the item is scored again")
            }
            Self::Duplicate { line, system, id } => {
                write!(f, "items.jsonl line {line} repeats system {system}, id {id}: the first is kept")
            }
            Self::OutOfOrder { line, system, id } => {
                write!(
                    f,
                    "items.jsonl line {line} (system {system}, id {id}) is out of order: it is scored again"
                )
            }
        }
    }
}

/// Receives the events of a run, always from the thread that called [`crate::execute`].
pub trait Observer {
    /// The log was repaired before work began.
    fn repaired(&self, repair: &Repair) {
        let _ = repair;
    }

    /// Work begins: `total` items; an earlier process finished `resumed` of them.
    fn started(&self, total: usize, resumed: usize) {
        let _ = (total, resumed);
    }

    /// `done` of all items are in the log, resumed ones included.
    fn advanced(&self, done: usize) {
        let _ = done;
    }

    /// For some seconds nothing was finished: `done` items are in the log, and the next one, of that system and id, takes long.
    fn waits_for(&self, done: usize, system: &str, id: &str) {
        let _ = (done, system, id);
    }
}

/// An observer that looks away.
impl Observer for () {}
