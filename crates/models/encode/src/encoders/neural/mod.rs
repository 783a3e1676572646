//! What the encoders with a language model share: the model folder, tokens, attention, pooling.
//!
//! Texts are laid out without padding (see `tokens::Pack`), so the vector of a text does not depend on what is encoded
//! beside it: on the processor not to the last bit, whatever the number of threads; on a GPU up to rounding.

pub(super) mod attention;
pub(super) mod decoder;
pub(super) mod error;
mod fingerprint;
pub(super) mod folder;
pub(super) mod network;
mod options;
pub(super) mod tokens;
pub(super) mod weights;

use std::sync::atomic::{AtomicU64, Ordering};

use candle_core::DType;
use rayon::prelude::*;

use crate::encoder::{EncodeError, Encoder};
use crate::input::EncoderInput;
use crate::render::render;
use crate::vectors::Matrix;

pub use error::NeuralError;
use network::Network;
pub use options::{NeuralDevice, NeuralOptions, Precision};
use tokens::{Pack, Tokens};

/// No two texts go through the processor together: the rounding of a matrix product depends on its size. Beside packs of
/// 256 tokens that costs a factor of about two for questions alone, and nothing for questions with their schema.
const CPU_PACK: usize = 0;
/// Tokens that go through a GPU at a time.
const GPU_PACK: usize = 16_384;
/// Texts whose hidden states have more numbers than this are encoded alone, to bound the memory.
const WIDE: usize = 1 << 20;

/// Texts to the mean of a language model's last hidden states.
pub struct NeuralEncoder {
    id: String,
    fingerprint: String,
    network: Box<dyn Network>,
    tokens: Tokens,
    options: NeuralOptions,
    on_gpu: bool,
    truncated: AtomicU64,
}

impl NeuralEncoder {
    /// One vector per text, in their order.
    ///
    /// # Errors
    /// When a text has no tokens, or a vector would not be finite.
    pub fn encode_texts(&self, texts: &[impl AsRef<str> + Sync]) -> Result<Matrix, NeuralError> {
        let tokenised: Result<Vec<_>, _> =
            texts.par_iter().map(|text| self.tokens.of(text.as_ref())).collect();
        let tokenised = tokenised?;
        let cut = tokenised.iter().filter(|(_, truncated)| *truncated).count();
        self.truncated.fetch_add(cut as u64, Ordering::Relaxed);
        if let Some(index) = tokenised.iter().position(|(tokens, _)| tokens.is_empty()) {
            return Err(NeuralError::NoTokens { index });
        }
        let tokenised: Vec<Vec<u32>> = tokenised.into_iter().map(|(tokens, _)| tokens).collect();
        let width = self.network.width();
        let longest = tokenised.iter().map(Vec::len).max().unwrap_or(0);
        let packs = packs(&tokenised, if self.on_gpu { GPU_PACK } else { CPU_PACK });
        let vectors = |pack: &Vec<usize>| self.pool(&tokenised, pack);
        let vectors: Result<Vec<_>, _> = if self.on_gpu || longest * width > WIDE {
            packs.iter().map(vectors).collect()
        } else {
            packs.par_iter().map(vectors).collect()
        };
        let mut values = vec![0.0; texts.len() * width];
        for (index, vector) in packs.into_iter().flatten().zip(vectors?.into_iter().flatten()) {
            values[index * width..][..width].copy_from_slice(&vector);
        }
        Matrix::new(width, values).map_err(|error| NeuralError::Tokenizer(error.to_string()))
    }

    /// Tokens kept of a text, special tokens included.
    pub fn max_tokens(&self) -> usize {
        self.tokens.limit()
    }

    /// How many texts have lost their end since the model was opened.
    pub fn truncated(&self) -> u64 {
        self.truncated.load(Ordering::Relaxed)
    }

    /// The vectors of the texts of a pack.
    fn pool(&self, texts: &[Vec<u32>], pack: &[usize]) -> Result<Vec<Vec<f32>>, NeuralError> {
        let tokens: Vec<&[u32]> = pack.iter().map(|index| texts[*index].as_slice()).collect();
        let states = self.network.hidden_states(&Pack::new(&tokens))?;
        let states = states.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?;
        let mut rows = states.chunks_exact(self.network.width());
        let mut vectors = Vec::with_capacity(pack.len());
        for (&index, tokens) in pack.iter().zip(&tokens) {
            let vector = mean(&mut rows, tokens.len(), self.network.width(), self.options.normalise);
            if !vector.iter().all(|value| value.is_finite()) {
                return Err(NeuralError::NotFinite { index });
            }
            vectors.push(vector);
        }
        Ok(vectors)
    }
}

/// The mean of the next `count` rows, scaled to length 1 where wanted.
fn mean<'a>(
    rows: &mut impl Iterator<Item = &'a [f32]>,
    count: usize,
    width: usize,
    normalise: bool,
) -> Vec<f32> {
    let mut sums = vec![0.0_f64; width];
    for row in rows.take(count) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let length = sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
    let divisor = if normalise { length } else { count as f64 };
    #[allow(clippy::cast_possible_truncation, reason = "vectors are f32")]
    sums.into_iter().map(|sum| (sum / divisor) as f32).collect()
}

/// Texts that go through the model together: of similar length, at most `budget` tokens or one text.
fn packs(texts: &[Vec<u32>], budget: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(texts[*index].len()));
    let mut packs: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for index in order {
        let tokens = texts[index].len();
        match packs.last_mut() {
            Some(pack) if tokens <= room => pack.push(index),
            _ => {
                packs.push(vec![index]);
                room = budget.max(tokens);
            }
        }
        room -= tokens;
    }
    packs
}

impl Encoder for NeuralEncoder {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn dimensions(&self) -> usize {
        self.network.width()
    }

    fn encode(&self, inputs: &[EncoderInput]) -> Result<Matrix, EncodeError> {
        let texts: Vec<String> = inputs.iter().map(|input| render(input, self.options.form)).collect();
        Ok(self.encode_texts(&texts)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_hold_every_text_once_and_keep_the_budget() {
        let lengths = [5, 900, 3, 40, 40, 7, 2000, 1];
        let texts: Vec<Vec<u32>> = lengths.iter().map(|length| vec![0; *length]).collect();
        for (budget, count) in [(0, 8), (100, 3), (5000, 1)] {
            let packs = packs(&texts, budget);
            assert_eq!(packs.len(), count, "{packs:?}");
            let size = |pack: &Vec<usize>| pack.iter().map(|index| lengths[*index]).sum::<usize>();
            assert!(packs.iter().all(|pack| pack.len() == 1 || size(pack) <= budget), "{packs:?}");
            let mut all = packs.concat();
            all.sort_unstable();
            assert_eq!(all, (0..lengths.len()).collect::<Vec<_>>());
        }
    }
}
