//! `sqlgauge adapt`.

use std::path::PathBuf;

use clap::Args;
use sqlgauge_core::OutputPath;

/// Adapt an evaluator to another system
#[derive(Debug, Args)]
pub(crate) struct Adapt {
    /// Folder of the evaluator
    #[arg(long, value_name = "DIR")]
    evaluator: PathBuf,
    /// Embeddings with labels of the new system
    #[arg(long, value_name = "FILE")]
    corpus: PathBuf,
    /// Sample sets to draw from it
    #[arg(long, value_name = "N", default_value_t = 1000)]
    sets: usize,
    /// Steps of adaptation; use as many as `sqlgauge fit --steps`
    #[arg(long, value_name = "N", default_value_t = 10)]
    steps: usize,
    /// Size of a step
    #[arg(long, value_name = "X", default_value_t = 1e-3)]
    alpha: f64,
    /// Seed of the random draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Folder to write the adapted evaluator into
    #[arg(long, value_name = "DIR")]
    out: OutputPath,
    /// Print the card of the evaluator (settings and errors) as JSON
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

#[cfg(feature = "evaluator")]
impl Adapt {
    pub(crate) fn run(self) -> anyhow::Result<crate::Verdict> {
        let job = sqlgauge_core::AdaptJob {
            sets: self.sets,
            steps: self.steps,
            alpha: self.alpha,
            seed: self.seed,
            ..sqlgauge_core::AdaptJob::new(self.evaluator, self.corpus, self.out.clone())
        };
        let progress = crate::progress::Progress::new(self.quiet);
        let card = job.run(&sqlgauge_core::Context::default().watched_by(&progress));
        progress.finish();
        super::fit::run::show(&card?, &self.out, self.json)
    }
}
