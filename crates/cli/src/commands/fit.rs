//! `sqlgauge fit`.

#[cfg(feature = "evaluator")]
mod card;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_core::OutputPath;
use sqlgauge_fusion::AdaptOptions;
use sqlgauge_shift::{DescriptorSet, Slices};

use crate::Verdict;

#[cfg(feature = "evaluator")]
pub use card::show;

/// Learn how accuracy falls with shift, from labelled embeddings; `estimate --evaluator` uses the result
#[derive(Debug, Args)]
pub struct Fit {
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
    /// Descriptors to learn from: all, paper (those of the paper alone), paper+euclidean, frechet, mahalanobis, sliced,
    /// paper-frechet, paper-mahalanobis, paper-sliced or euclidean
    #[arg(long, value_name = "SET", default_value_t)]
    descriptors: DescriptorSet,
    /// Regressor: mlp, knn, svr, tree, forest or boosting
    #[arg(long, value_name = "ID", default_value = "mlp")]
    regressor: String,
    /// Steps of adaptation that the evaluator is prepared for (several corpora)
    #[arg(long, value_name = "N", default_value_t = AdaptOptions::default().steps)]
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

impl Fit {
    #[cfg(feature = "evaluator")]
    pub fn run(self) -> Result<Verdict> {
        let job = sqlgauge_core::FitJob {
            sets: self.sets,
            smallest_set: self.smallest_set,
            largest_set: self.set_size,
            slices: self.slices,
            descriptors: self.descriptors,
            regressor: self.regressor,
            steps: self.steps,
            seed: self.seed,
            ..sqlgauge_core::FitJob::new(self.source, self.corpora, self.out.clone())
        };
        let progress = crate::progress::Progress::new(self.quiet);
        let card = job.run(&sqlgauge_core::Context::default().watched_by(&progress));
        progress.finish();
        show(&card?, &self.out, self.json)
    }

    #[cfg(not(feature = "evaluator"))]
    #[expect(clippy::unused_self, reason = "called as where the feature is built in")]
    pub fn run(self) -> Result<Verdict> {
        Err(sqlgauge_base::NotBuiltIn { what: "sqlgauge fit", feature: "evaluator" }.into())
    }
}
