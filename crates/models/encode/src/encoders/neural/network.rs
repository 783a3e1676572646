//! The trait of all models.

use candle_core::{Result, Tensor};

use super::tokens::Pack;

/// A model that turns tokens into hidden states.
pub(crate) trait Network: Send + Sync {
    /// The last hidden state of every token of the pack: tokens × width.
    fn hidden_states(&self, pack: &Pack) -> Result<Tensor>;

    /// Components of a hidden state.
    fn width(&self) -> usize;
}
