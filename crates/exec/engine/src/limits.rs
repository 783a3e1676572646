//! The limits of one query.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Caps on one execution of untrusted SQL.
///
/// The defaults leave every ordinary query alone: they are far above what benchmark queries need and far
/// below what hurts a machine. A query that reaches one gets [`Timeout`](crate::FailureKind::Timeout) or
/// [`TooLarge`](crate::FailureKind::TooLarge), never a partial result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor time of one query, preparation included, so that a busy machine takes nothing from it. A query that waits
    /// for something else ends after ten times as long by the clock; on systems that are not Unix the clock alone counts.
    pub timeout: Duration,
    /// Rows of one result.
    pub max_rows: usize,
    /// Bytes of one result in memory: [`Value`](crate::Value) cells and the text and blobs that they own.
    pub max_bytes: usize,
    /// Bytes of one text or blob value, intermediate values included. Where values of more than 64 KiB occur,
    /// functions that cost the product of two lengths (`instr`, `replace`, `trim`, `json_patch`, LIKE and GLOB
    /// with a pattern of more than 256 bytes) are refused as too large when that product is beyond a second's
    /// work.
    pub max_value_bytes: usize,
    /// Bytes that SQLite may hold for one query: sorters, temporary tables, page caches, the compiled statement. In an
    /// engine without workers, for all threads of the process together; a query that fails for memory is then run again
    /// with nothing beside it before that counts.
    ///
    /// SQLite keeps this limit per process and lets it only sink: of several engines in one process, the
    /// lowest limit rules.
    pub max_heap_bytes: u64,
    /// Bytes of the SQL text.
    pub max_sql_bytes: usize,
    /// Virtual-machine steps of one query, to the hundred: a bound on time that is the same on every machine.
    pub max_vm_steps: u64,
}

const MIB: usize = 1 << 20;

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            max_rows: 5_000_000,
            max_bytes: 256 * MIB,
            max_value_bytes: 16 * MIB,
            max_heap_bytes: 512 * MIB as u64,
            max_sql_bytes: MIB,
            max_vm_steps: u64::MAX,
        }
    }
}
