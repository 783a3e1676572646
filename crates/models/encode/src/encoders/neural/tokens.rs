//! Text to token ids, and texts laid one after the other.

use std::path::Path;

use tokenizers::{Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy};

use super::error::NeuralError;
use super::weights::{bad, missing};

pub(crate) const FILE: &str = "tokenizer.json";

/// A tokenizer that keeps a number of tokens of a text.
pub(crate) struct Tokens {
    tokenizer: Tokenizer,
    limit: usize,
}

impl Tokens {
    /// The tokenizer of a folder, cutting texts at `limit` tokens (special tokens included, the end of the text lost),
    /// whatever truncation and padding its file asks for.
    pub(crate) fn open(dir: &Path, vocabulary: usize, limit: usize) -> Result<Self, NeuralError> {
        let path = dir.join(FILE);
        if !path.is_file() {
            return Err(missing(dir, FILE));
        }
        let mut tokenizer = Tokenizer::from_file(&path).map_err(|error| bad(&path, &error.to_string()))?;
        let largest = tokenizer.get_vocab(true).into_values().max().unwrap_or(0);
        if largest as usize >= vocabulary {
            return Err(NeuralError::TokenizerMismatch { dir: dir.to_owned(), largest, vocabulary });
        }
        // The library stops early and does not always say that it cut, so it is asked for one token more.
        let truncation = TruncationParams {
            max_length: limit + 1,
            strategy: TruncationStrategy::LongestFirst,
            stride: 0,
            direction: TruncationDirection::Right,
        };
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(Some(truncation))
            .map_err(|error| NeuralError::Tokenizer(error.to_string()))?;
        Ok(Self { tokenizer, limit })
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Token ids of a text, and whether its end was cut off.
    pub(crate) fn of(&self, text: &str) -> Result<(Vec<u32>, bool), NeuralError> {
        let fail = |error: tokenizers::Error| NeuralError::Tokenizer(error.to_string());
        let encoding = self.tokenizer.encode_fast(text, true).map_err(fail)?;
        let mut ids = encoding.get_ids().to_vec();
        let is_cut = ids.len() > self.limit;
        if is_cut
            && let Some(last) = encoding.get_special_tokens_mask().iter().rposition(|special| *special == 0)
        {
            ids.remove(last);
        }
        Ok((ids, is_cut))
    }
}

/// Texts laid one after the other without padding: every layer but the attention sees one long list of tokens, and the
/// attention looks at one text at a time, so no text can see another and no mask can be wrong.
pub(crate) struct Pack {
    pub(crate) tokens: Vec<u32>,
    pub(crate) lengths: Vec<usize>,
}

impl Pack {
    /// The texts in this order.
    pub(crate) fn new(texts: &[&[u32]]) -> Self {
        Self { tokens: texts.concat(), lengths: texts.iter().map(|text| text.len()).collect() }
    }

    pub(crate) fn positions(&self) -> Vec<u32> {
        self.lengths
            .iter()
            .flat_map(|length| (0..*length).map(|at| u32::try_from(at).unwrap_or(u32::MAX)))
            .collect()
    }
}
