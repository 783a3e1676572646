//! How an evaluator is adapted.

/// How an evaluator is adapted to a system: a few steps of Adam without first moment (`beta1` 0), as in the
/// publication of Reptile, fresh for each system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaptOptions {
    /// Inner steps.
    pub steps: usize,
    /// Inner step size, alpha.
    pub alpha: f64,
    /// Sample sets per step.
    pub batch: usize,
    /// Seed of the batches.
    pub seed: u64,
}

impl Default for AdaptOptions {
    /// 10 steps of 1e-3 on 64 sample sets.
    fn default() -> Self {
        Self { steps: 10, alpha: 1e-3, batch: 64, seed: 0 }
    }
}
