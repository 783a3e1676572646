//! `sqlgauge fit`.

#[cfg(feature = "evaluator")]
mod learn;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_fusion::AdaptOptions;
use sqlgauge_shift::Slices;

use crate::Verdict;

#[cfg(feature = "evaluator")]
pub use learn::{Told, finish};

/// Learn how accuracy falls with shift: an evaluator from a source and labelled corpora
#[derive(Debug, Args)]
pub struct Fit {
    /// Embeddings that shift is measured from (the workload that the system was built for)
    #[arg(long, value_name = "FILE")]
    source: PathBuf,
    /// Embeddings with labels that sample sets are drawn from; several, one per system, give an initialisation that
    /// adapts to further systems (fusion-ml)
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
    /// Regressor: mlp, knn, svr, tree, forest or boosting
    #[arg(long, value_name = "ID", default_value = "mlp")]
    regressor: String,
    /// Steps of adaptation to a system that the initialisation is learnt for (several corpora)
    #[arg(long, value_name = "N", default_value_t = AdaptOptions::default().steps)]
    steps: usize,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder to write the evaluator into
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print the card as JSON
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

impl Fit {
    #[cfg(feature = "evaluator")]
    pub fn run(self) -> Result<Verdict> {
        self.learn()
    }

    #[cfg(not(feature = "evaluator"))]
    #[expect(clippy::unused_self, reason = "called as where the feature is built in")]
    pub fn run(self) -> Result<Verdict> {
        Err(sqlgauge_base::NotBuiltIn { what: "sqlgauge fit", feature: "evaluator" }.into())
    }
}
