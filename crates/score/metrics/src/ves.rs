//! `ves@1`: BIRD's Valid Efficiency Score.
//!
//! # Contract
//! 0 if `ex-bird@1` is 0, else the square root of the mean ratio of gold time to prediction time over repeated runs (10, as
//! in the official `evaluation_ves.py`), without outliers. Above 1 is faster than the gold; the official figure is the mean
//! times 100. All repetitions of a text share the time limit of one query, so slow queries have fewer, but at least one.
//!
//! It measures wall-clock time: compare only on one idle machine, or take `vm-steps@1`. The official script times the first
//! row only, this all rows.
//!
//! Source: J. Li et al., "Can LLM Already Serve as a Database Interface?", 2023.

use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;
use crate::timing::mean_time_ratio;

/// Valid Efficiency Score.
pub struct Ves {
    /// How often both queries are timed.
    pub repetitions: u32,
}

impl Ves {
    pub(crate) const OFFICIAL: Self = Self { repetitions: 10 };
}

impl Metric for Ves {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "ves@1",
            "BIRD Valid Efficiency Score: square root of gold time over prediction time where the result is right.",
            MetricKind::Unbounded,
            Reads::Set,
        )
        .needs("the database: runs both queries, several times")
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        match mean_time_ratio(pair, self.repetitions) {
            Ok(ratio) => Score::new(ratio.sqrt()).with("time_ratio", ratio),
            Err(score) => score,
        }
    }
}
