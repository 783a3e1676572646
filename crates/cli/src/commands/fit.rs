//! `sqlgauge fit`.

#[cfg(feature = "evaluator")]
pub(crate) mod run;

use std::path::PathBuf;

use clap::Args;
use sqlgauge_core::OutputPath;
use sqlgauge_shift::{DescriptorSet, Slices};

/// Train an evaluator: how accuracy falls with shift
#[derive(Debug, Args)]
pub(crate) struct Fit {
    /// Embeddings to measure shift from: the workload that the system was built for
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// Embeddings with labels, to draw sample sets from. Give one file per system to make an evaluator that
    /// `sqlgauge adapt` fits to further systems (fusion-ml)
    #[arg(long = "corpus", value_name = "FILE", required = true)]
    corpora: Vec<PathBuf>,
    /// Sample sets to draw, all systems together
    #[arg(long, value_name = "N", default_value_t = 30_000)]
    sets: usize,
    /// Items of the largest sample set
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    set_size: usize,
    /// Items of the smallest sample set
    #[arg(long, value_name = "N", default_value_t = 50)]
    smallest_set: usize,
    /// Directions of the sliced Wasserstein distance: L random ones, or k principal and R random ones
    #[arg(long, value_name = "L|k,R", default_value_t)]
    slices: Slices,
    /// Descriptors to learn from: all, published (the five of the authors' code), paper (those of the paper alone),
    /// paper+euclidean, frechet, mahalanobis, sliced, paper-frechet, paper-mahalanobis, paper-sliced or euclidean
    #[arg(long, value_name = "SET", default_value_t)]
    descriptors: DescriptorSet,
    /// Regressor: mlp, knn, svr, tree, forest or boosting
    #[arg(long, value_name = "ID", default_value = "mlp")]
    regressor: String,
    /// Steps of adaptation that the evaluator is prepared for (several corpora)
    #[arg(long, value_name = "N", default_value_t = 10)]
    steps: usize,
    /// Seed of the random draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Folder to write the evaluator into
    #[arg(long, value_name = "DIR")]
    out: OutputPath,
    /// Print the card of the evaluator (settings and errors) as JSON
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}
