//! What an evaluator says about itself: everything needed to judge it.

use serde::{Deserialize, Serialize};

/// Newest format of the folder that this version writes and reads.
pub const FORMAT: u32 = 1;

/// `card.json` of an evaluator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    pub format: u32,
    /// Version of sqlgauge that wrote it.
    pub sqlgauge: String,
    /// `fusion`, `fusion-tl` or `fusion-ml`.
    pub method: String,
    pub regressor: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Names of the descriptors, in the order of a row.
    pub descriptors: Vec<String>,
    /// Smallest and largest value seen of each descriptor.
    pub seen: Vec<[f64; 2]>,
    /// Sample sets it was fitted with, all parts together.
    pub sets: usize,
    /// Sample sets that it learnt from.
    pub trained_on: usize,
    /// Smallest, median and largest number of items of a set, where known.
    pub set_sizes: Option<[usize; 3]>,
    /// Smallest, mean and largest accuracy of a set.
    pub accuracy: [f64; 3],
    /// Mean absolute error on validation, as a share.
    pub validation_mae: f64,
    /// The same of an estimate that always says the mean of training.
    pub validation_mae_of_mean: f64,
    /// Training curve.
    pub curve: Vec<Epoch>,
    /// What the intervals stand on.
    pub calibration: Calibrated,
    /// Where it comes from, as far as its maker told.
    pub provenance: Provenance,
    /// What a reader must know besides.
    pub notes: Vec<String>,
    /// SHA-256 of `evaluator.safetensors`; empty before it is saved.
    #[serde(default)]
    pub sha256: String,
}

/// One pass over the training sets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Number, from 1.
    pub epoch: usize,
    /// Mean squared error over the pass, with dropout.
    pub train_mse: f64,
    /// Mean absolute error on validation after it.
    pub validation_mae: f64,
}

/// Held-out sets that the intervals stand on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// Held-out groups.
    pub groups: usize,
    /// Held-out sample sets.
    pub sets: usize,
    /// Mean absolute error on them.
    pub mae: f64,
    /// Share of them that lies outside of what was trained on.
    pub outside: f64,
}

/// Where an evaluator comes from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// Encoder of source, corpus and target.
    pub encoder: Option<EncoderCard>,
    /// Options of the descriptors (slices, seed, directions).
    pub descriptor_options: serde_json::Value,
    /// The source that shift is measured against.
    pub source: Option<SourceCard>,
    /// The labelled corpora that the sets were drawn from, one per system.
    pub corpora: Vec<CorpusCard>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EncoderCard {
    pub id: String,
    /// Changes whenever a vector changes.
    pub fingerprint: String,
    pub form: String,
    /// Components of a vector.
    pub dimensions: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceCard {
    pub name: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Number of vectors.
    pub items: usize,
}

/// A labelled corpus.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CorpusCard {
    pub name: String,
    /// SHA-256 of the file.
    pub sha256: String,
    pub items: usize,
    pub databases: usize,
    /// Share of items that the system got right.
    pub accuracy: f64,
}
