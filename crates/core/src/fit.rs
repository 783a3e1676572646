//! An evaluator from labelled corpora: `sqlgauge fit` and `sqlgauge adapt`.

use std::path::PathBuf;

use sqlgauge_fusion::AdaptOptions;
use sqlgauge_shift::{DescriptorSet, Slices};

mod learn;

/// Learns how accuracy falls with shift, and writes the evaluator into a folder.
///
/// ```no_run
/// # // Needs embeddings of some hundred labelled answers.
/// use sqlgauge_core::{Context, FitJob};
///
/// let job = FitJob::new("train.parquet", vec!["labelled.parquet".into()], "evaluator");
/// job.run(&Context::default())?;
/// # Ok::<(), sqlgauge_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FitJob {
    /// Embeddings to measure shift from: the workload that the system was built for.
    pub source: PathBuf,
    /// Embeddings with labels, one file per system, to draw sample sets from.
    pub corpora: Vec<PathBuf>,
    /// Sample sets to draw, all systems together.
    pub sets: usize,
    /// Items of the smallest sample set.
    pub smallest_set: usize,
    /// Items of the largest sample set.
    pub largest_set: usize,
    /// Directions of the sliced Wasserstein distance.
    pub slices: Slices,
    /// The descriptors that it learns from.
    pub descriptors: DescriptorSet,
    /// Id of the regressor.
    pub regressor: String,
    /// Steps of adaptation to a system, where there are several corpora.
    pub steps: usize,
    /// Seed of the random draws.
    pub seed: u64,
    /// Folder to write the evaluator into.
    pub out: PathBuf,
}

impl FitJob {
    /// The job with the defaults of the command line.
    pub fn new(source: impl Into<PathBuf>, corpora: Vec<PathBuf>, out: impl Into<PathBuf>) -> Self {
        Self {
            source: source.into(),
            corpora,
            sets: 30_000,
            smallest_set: 50,
            largest_set: 10_000,
            slices: Slices::default(),
            descriptors: DescriptorSet::All,
            regressor: "mlp".to_owned(),
            steps: AdaptOptions::default().steps,
            seed: 0,
            out: out.into(),
        }
    }
}

/// Adapts an evaluator to another system in a few steps, from a labelled corpus of it.
///
/// ```no_run
/// # // Needs an evaluator.
/// use sqlgauge_core::{AdaptJob, Context};
///
/// AdaptJob::new("evaluator", "labelled.parquet", "adapted").run(&Context::default())?;
/// # Ok::<(), sqlgauge_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AdaptJob {
    /// Folder of the evaluator.
    pub evaluator: PathBuf,
    /// Embeddings with labels of the new system.
    pub corpus: PathBuf,
    /// Sample sets to draw from it.
    pub sets: usize,
    /// Steps of adaptation.
    pub steps: usize,
    /// Size of a step.
    pub alpha: f64,
    /// Seed of the random draws.
    pub seed: u64,
    /// Folder to write the adapted evaluator into.
    pub out: PathBuf,
}

impl AdaptJob {
    /// The job with the defaults of the command line.
    pub fn new(evaluator: impl Into<PathBuf>, corpus: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Self {
        let AdaptOptions { steps, alpha, seed, .. } = AdaptOptions::default();
        Self {
            evaluator: evaluator.into(),
            corpus: corpus.into(),
            sets: 1000,
            steps,
            alpha,
            seed,
            out: out.into(),
        }
    }
}
