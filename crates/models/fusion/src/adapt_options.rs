//! How an evaluator is adapted.

/// How an evaluator is adapted to a system: a few steps of Adam without first moment (`beta1` 0), as in the
/// publication of Reptile, fresh for each system. A step takes 64 sample sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaptOptions {
    /// Inner steps.
    pub steps: usize,
    /// Inner step size, alpha.
    pub alpha: f64,
    /// Seed of the batches.
    pub seed: u64,
}

impl Default for AdaptOptions {
    /// 10 steps of 1e-3.
    fn default() -> Self {
        Self { steps: 10, alpha: 1e-3, seed: 0 }
    }
}
