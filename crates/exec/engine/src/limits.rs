//! The limits of one query.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Caps on one execution of untrusted SQL.
///
/// The defaults leave every ordinary query alone: they are far above what benchmark queries need and far
/// below what hurts a machine. A query that reaches one gets [`Timeout`](crate::FailureKind::Timeout) or
/// [`TooLarge`](crate::FailureKind::TooLarge), never a partial result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Limits {
    /// Seconds that one query may take
    // Of processor time, preparation included, so that a busy machine takes nothing from it. A query that waits for something
    // else ends after ten times as long by the clock; on systems that are not Unix the clock alone counts.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds,
        help_heading = "Limits"))]
    pub timeout: Duration,
    /// Rows that one result may have
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = Self::default().max_rows,
        help_heading = "Limits"))]
    pub max_rows: usize,
    /// Bytes that one result may have
    // In memory: cells and the text and blobs that they own.
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = Self::default().max_bytes,
        help_heading = "Limits"))]
    pub max_bytes: usize,
    /// Bytes of one text or blob value, intermediate values included. Where values of more than 64 KiB occur,
    /// functions that cost the product of two lengths (`instr`, `replace`, `trim`, `json_patch`, LIKE and GLOB
    /// with a pattern of more than 256 bytes) are refused as too large when that product is beyond a second's
    /// work.
    #[cfg_attr(feature = "cli", arg(skip = Self::default().max_value_bytes))]
    pub max_value_bytes: usize,
    /// Bytes of memory that SQLite may use for one query
    // Sorters, temporary tables, page caches, the compiled statement. In an engine without workers, for all threads of the
    // process together; a query that fails for memory is then run again with nothing beside it before that counts.
    // SQLite keeps this limit per process and lets it only sink: of several engines in one process, the lowest limit rules.
    #[cfg_attr(feature = "cli", arg(long = "max-heap", id = "max_heap", value_name = "N",
        default_value_t = Self::default().max_heap_bytes, help_heading = "Limits"))]
    pub max_heap_bytes: u64,
    /// Bytes of the SQL text.
    #[cfg_attr(feature = "cli", arg(skip = Self::default().max_sql_bytes))]
    pub max_sql_bytes: usize,
    /// Virtual-machine steps of one query, to the hundred: a bound on time that is the same on every machine.
    #[cfg_attr(feature = "cli", arg(skip = Self::default().max_vm_steps))]
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

/// Reads a time limit in seconds.
///
/// # Errors
/// When it is not a positive number.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| "not a positive number of seconds".to_owned())
}
