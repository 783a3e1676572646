//! `sqlgauge adapt`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use sqlgauge_fusion::AdaptOptions;

use crate::Verdict;

/// Adapt an evaluator to another system in a few steps, from a labelled corpus of it
#[derive(Debug, Args)]
pub struct Adapt {
    /// Folder of the evaluator
    #[arg(long, value_name = "DIR")]
    evaluator: PathBuf,
    /// Embeddings with labels of the new system
    #[arg(long, value_name = "FILE")]
    corpus: PathBuf,
    /// Sample sets to draw from it
    #[arg(long, value_name = "N", default_value_t = 1000)]
    sets: usize,
    /// Steps of adaptation; best as many as the evaluator was fitted for
    #[arg(long, value_name = "N", default_value_t = AdaptOptions::default().steps)]
    steps: usize,
    /// Size of a step
    #[arg(long, value_name = "X", default_value_t = AdaptOptions::default().alpha)]
    alpha: f64,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder to write the adapted evaluator into
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print the card as JSON
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

impl Adapt {
    #[cfg(feature = "evaluator")]
    pub fn run(self) -> Result<Verdict> {
        use sqlgauge_encode::EmbeddingFile;
        use sqlgauge_fusion::{Evaluator, FOLDER_FILES, adapt_to_file};

        use super::fit::{Told, finish};
        use sqlgauge::keep_inputs;

        for name in FOLDER_FILES {
            let taken = self.evaluator.join(name);
            let inputs = [("--corpus", self.corpus.as_path()), ("--evaluator", taken.as_path())];
            keep_inputs("--out", &self.out.join(name), inputs)?;
        }
        let evaluator = Evaluator::load(&self.evaluator)?;
        let corpus = EmbeddingFile::open(&self.corpus)?;
        let options =
            AdaptOptions { steps: self.steps, alpha: self.alpha, seed: self.seed, ..AdaptOptions::default() };
        let told = Told::new(self.quiet);
        let adapted = adapt_to_file(&evaluator, &corpus, self.sets, &options, &|stage| told.tell(stage))?;
        finish(&adapted, &self.out, self.json)
    }

    #[cfg(not(feature = "evaluator"))]
    #[expect(clippy::unused_self, reason = "called as where the feature is built in")]
    pub fn run(self) -> Result<Verdict> {
        Err(sqlgauge_base::NotBuiltIn { what: "sqlgauge adapt", feature: "evaluator" }.into())
    }
}
