//! Attention within each text of a pack, in blocks of queries, so that the scores of a long text need not all be in
//! memory.

use std::ops::Range;

use candle_core::{DType, Device, Result, Tensor};

/// Queries whose scores are in memory at a time.
pub(crate) const QUERY_BLOCK: usize = 512;

/// Which tokens of its text a token looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    Whole,
    /// Itself and those before it; with a window of `w`, itself and the `w - 1` before it.
    Causal {
        /// Tokens in sight, the own one included.
        window: Option<usize>,
    },
}

impl Sight {
    /// The keys in sight of the query at this place of a text of that length.
    fn keys(self, query: usize, length: usize) -> Range<usize> {
        match self {
            Self::Whole => 0..length,
            Self::Causal { window } => (query + 1).saturating_sub(window.unwrap_or(usize::MAX))..query + 1,
        }
    }
}

/// Some queries of one text and the keys that at least one of them sees; places in the whole pack.
struct Block {
    queries: Range<usize>,
    keys: Range<usize>,
    /// Queries by keys: zero where seen, minus infinity where not. None when all see all.
    mask: Option<Tensor>,
}

/// The blocks of a pack: the same for all layers of one sight.
pub(crate) struct Plan(Vec<Block>);

impl Plan {
    /// Cuts texts of these lengths into blocks of at most `size` queries.
    pub(crate) fn new(lengths: &[usize], sight: Sight, size: usize, device: &Device) -> Result<Self> {
        let mut blocks = Vec::new();
        let mut start = 0;
        for &length in lengths {
            for first in (0..length).step_by(size) {
                let queries = first..(first + size).min(length);
                let keys = sight.keys(first, length).start..sight.keys(queries.end - 1, length).end;
                let mask = mask(sight, &queries, &keys, length, device)?;
                let shift = |range: &Range<usize>| range.start + start..range.end + start;
                blocks.push(Block { queries: shift(&queries), keys: shift(&keys), mask });
            }
            start += length;
        }
        Ok(Self(blocks))
    }

    /// Softmax of scaled products times values. Queries are heads × tokens × head size; keys and values may have fewer
    /// heads (each then serves as many consecutive query heads). Gives tokens × (heads · head size).
    pub(crate) fn attend(&self, queries: &Tensor, keys: &Tensor, values: &Tensor) -> Result<Tensor> {
        let outputs: Result<Vec<Tensor>> =
            self.0.iter().map(|block| block.attend(queries, keys, values)).collect();
        Tensor::cat(&outputs?, 0)
    }
}

impl Block {
    fn attend(&self, queries: &Tensor, keys: &Tensor, values: &Tensor) -> Result<Tensor> {
        let (heads, _, size) = queries.dims3()?;
        let groups = keys.dim(0)?;
        let (rows, columns) = (self.queries.len(), self.keys.len());
        let queries = queries.narrow(1, self.queries.start, rows)?.contiguous()?;
        let queries = queries.reshape((groups, heads / groups * rows, size))?;
        let keys = keys.narrow(1, self.keys.start, columns)?.contiguous()?;
        let values = values.narrow(1, self.keys.start, columns)?.contiguous()?;
        let scores = (queries.matmul(&keys.t()?)?.to_dtype(DType::F32)? * (1.0 / (size as f64).sqrt()))?;
        let scores = match &self.mask {
            None => scores,
            Some(mask) => {
                scores.reshape((heads, rows, columns))?.broadcast_add(mask)?.reshape(scores.shape())?
            }
        };
        let weights = candle_nn::ops::softmax_last_dim(&scores)?.to_dtype(values.dtype())?;
        let mixed = weights.matmul(&values)?.reshape((heads, rows, size))?;
        mixed.transpose(0, 1)?.contiguous()?.reshape((rows, heads * size))
    }
}

/// The mask of a block, where one is needed.
fn mask(
    sight: Sight,
    queries: &Range<usize>,
    keys: &Range<usize>,
    length: usize,
    device: &Device,
) -> Result<Option<Tensor>> {
    if queries.clone().all(|query| sight.keys(query, length) == *keys) {
        return Ok(None);
    }
    let row = |query| {
        let seen = sight.keys(query, length);
        keys.clone().map(move |key| if seen.contains(&key) { 0.0 } else { f32::NEG_INFINITY })
    };
    let values: Vec<f32> = queries.clone().flat_map(row).collect();
    Tensor::from_vec(values, (queries.len(), keys.len()), device).map(Some)
}

/// Tokens × (heads · head size) to heads × tokens × head size.
pub(crate) fn split_heads(states: &Tensor, heads: usize) -> Result<Tensor> {
    let (tokens, width) = states.dims2()?;
    states.reshape((tokens, heads, width / heads))?.transpose(0, 1)?.contiguous()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const HEADS: usize = 4;
    const GROUPS: usize = 2;
    const SIZE: usize = 3;

    /// Numbers without a pattern.
    fn states(heads: usize, tokens: usize, seed: f32) -> Tensor {
        let values: Vec<f32> =
            (0..heads * tokens * SIZE).map(|at| (at as f32 * 1.7 + seed).sin() * 2.0).collect();
        Tensor::from_vec(values, (heads, tokens, SIZE), &Device::Cpu).unwrap()
    }

    /// The definition, for one query of one head, in f64.
    fn attention(query: &[f32], keys: &[Vec<f32>], values: &[Vec<f32>]) -> Vec<f64> {
        let dot =
            |key: &Vec<f32>| query.iter().zip(key).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        let weights: Vec<f64> = keys.iter().map(|key| (dot(key) / (SIZE as f64).sqrt()).exp()).collect();
        let total: f64 = weights.iter().sum();
        let component = |at: usize| {
            let parts =
                weights.iter().zip(values).map(|(weight, value)| weight / total * f64::from(value[at]));
            parts.sum()
        };
        (0..SIZE).map(component).collect()
    }

    #[test]
    fn blocks_give_the_definition() {
        let lengths = [5, 1, 7];
        let tokens = lengths.iter().sum();
        let (queries, keys, values) =
            (states(HEADS, tokens, 0.3), states(GROUPS, tokens, 5.0), states(GROUPS, tokens, 9.0));
        let sights = [Sight::Whole, Sight::Causal { window: None }, Sight::Causal { window: Some(3) }];
        for (sight, block) in sights.into_iter().flat_map(|sight| [1, 2, 3, 100].map(|block| (sight, block)))
        {
            let plan = Plan::new(&lengths, sight, block, &Device::Cpu).unwrap();
            let outputs = plan.attend(&queries, &keys, &values).unwrap().to_vec2::<f32>().unwrap();
            let (queries, keys, values): (Vec<_>, Vec<_>, Vec<_>) = (
                queries.to_vec3::<f32>().unwrap(),
                keys.to_vec3::<f32>().unwrap(),
                values.to_vec3::<f32>().unwrap(),
            );
            let mut start = 0;
            for length in lengths {
                for (at, head) in (0..length).flat_map(|at| (0..HEADS).map(move |head| (at, head))) {
                    let seen = match sight {
                        Sight::Whole => start..start + length,
                        Sight::Causal { window: None } => start..start + at + 1,
                        Sight::Causal { window: Some(window) } => {
                            start + (at + 1).max(window) - window..start + at + 1
                        }
                    };
                    let group = head / (HEADS / GROUPS);
                    let (keys, values) = (&keys[group][seen.clone()], &values[group][seen]);
                    let expected = attention(&queries[head][start + at], keys, values);
                    let output = &outputs[start + at][head * SIZE..][..SIZE];
                    let close = output
                        .iter()
                        .zip(&expected)
                        .all(|(value, expected)| (f64::from(*value) - expected).abs() < 1e-5);
                    assert!(close, "{sight:?}, blocks of {block}, token {at} of {length}, head {head}");
                }
                start += length;
            }
        }
    }
}
