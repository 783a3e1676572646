//! Scores results that somebody else computed against gold results: no query runs, no database is needed.
//!
//! A [`GoldFolder`] (or a [`Bundle`]) has the golds and how they are compared, a [`ResultFolder`] the results of a system, and
//! [`judge`] the verdicts of every metric in [`METRICS`] on one item. Whatever is wrong with a file is an outcome of its item.

mod bundle;
mod csv;
mod error;
mod frame;
mod golds;
mod json;
mod judge;
mod metrics;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
mod read;
mod table;

pub use bundle::{Bundle, BundleHead, BundleWriter, BundledResult};
pub use error::{ResultsError, Unreadable};
pub use golds::{Gold, GoldFolder, ItemConfig, ResultFolder, read_config};
pub use judge::{MISSING, ResultJudgement, judge, most_rows};
pub use metrics::{FairRules, METRICS, ResultComparison, ResultMetric, ResultVerdict};
pub use read::{endings, is_readable, read_table};
pub use table::{Cells, RaggedRow, ResultFile, TextColumn, Value};
