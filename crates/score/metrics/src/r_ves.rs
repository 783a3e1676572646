//! `r-ves@1`: BIRD's Reward-based Valid Efficiency Score.
//!
//! # Contract
//! 0 if `ex-bird@1` is 0, else the square root of a reward for the mean ratio of gold time to prediction time over repeated
//! runs (100, as in the official Mini-Dev `evaluation_ves.py`), without outliers:
//!
//! | ratio | ≥ 2 | ≥ 1 | ≥ 0.5 | ≥ 0.25 | less |
//! |---|---|---|---|---|---|
//! | reward | 1.25 | 1 | 0.75 | 0.5 | 0.25 |
//!
//! The official figure is the mean times 100. Time is limited and measured as in `ves@1`.
//!
//! Source: BIRD Mini-Dev, "Reward-based Valid Efficiency Score".

use crate::metric::{Metric, MetricInfo, MetricKind, Reads, Score};
use crate::pair::Pair;
use crate::timing::mean_time_ratio;

/// Reward-based Valid Efficiency Score.
pub struct RVes {
    /// How often both queries are timed.
    pub repetitions: u32,
}

impl RVes {
    pub(crate) const OFFICIAL: Self = Self { repetitions: 100 };
}

impl Metric for RVes {
    fn info(&self) -> MetricInfo {
        MetricInfo::new(
            "r-ves@1",
            "BIRD R-VES: square root of a stepwise reward for gold time over prediction time where the result is right.",
            MetricKind::Unbounded,
            Reads::Set,
        )
        .needs("the database: runs both queries, several times")
    }

    fn score(&self, pair: &Pair<'_>) -> Score {
        match mean_time_ratio(pair, self.repetitions) {
            Ok(ratio) => {
                let reward = reward(ratio);
                Score::new(reward.sqrt()).with("time_ratio", ratio).with("reward", reward)
            }
            Err(score) => score,
        }
    }
}

fn reward(ratio: f64) -> f64 {
    match ratio {
        r if r >= 2.0 => 1.25,
        r if r >= 1.0 => 1.0,
        r if r >= 0.5 => 0.75,
        r if r >= 0.25 => 0.5,
        _ => 0.25,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_are_steps() {
        let steps = [(2.0, 1.25), (1.99, 1.0), (1.0, 1.0), (0.99, 0.75), (0.49, 0.5), (0.1, 0.25)];
        assert!(steps.iter().all(|&(ratio, expected)| reward(ratio).to_bits() == f64::to_bits(expected)));
    }
}
