//! Learning, in builds with the evaluator.

use std::cell::Cell;

use sqlgauge_encode::EmbeddingFile;
use sqlgauge_fusion::{
    AdaptOptions, Card, CorpusOptions, CorpusStage, Evaluator, FOLDER_FILES, ReptileOptions, adapt_to_file,
    find, fit_files,
};

use super::{AdaptJob, FitJob};
use crate::context::{Context, Watcher};
use crate::error::Error;
use crate::guard::keep_inputs;

impl FitJob {
    /// Learns and writes the evaluator; returns its card.
    ///
    /// # Errors
    /// When a file cannot be read or written, the corpora lack labels, or an option is out of range.
    pub fn run(&self, context: &Context<'_>) -> Result<Card, Error> {
        let inner = AdaptOptions { steps: self.steps, seed: self.seed, ..AdaptOptions::default() };
        let descriptors: Vec<String> = self.descriptors.columns().into_iter().map(str::to_owned).collect();
        let options = CorpusOptions {
            descriptors: &descriptors,
            sets: self.sets,
            smallest: self.smallest_set,
            largest: self.largest_set,
            slices: self.slices,
            regressor: find(&self.regressor)?,
            reptile: ReptileOptions { inner, ..ReptileOptions::default() },
            seed: self.seed,
        };
        let inputs = || {
            let corpora = self.corpora.iter().map(|path| ("--corpus", path.as_path()));
            corpora.chain([("--source", self.source.as_path())])
        };
        FOLDER_FILES.iter().try_for_each(|name| keep_inputs("--out", &self.out.join(name), inputs()))?;
        let source = EmbeddingFile::open(&self.source)?;
        let corpora = self.corpora.iter().map(|path| EmbeddingFile::open(path));
        let corpora = corpora.collect::<Result<Vec<_>, _>>()?;
        let stages = Stages::of(context.watcher());
        let evaluator = fit_files(&source, &corpora, &options, &|stage| stages.show(stage))?;
        finish(&evaluator, &self.out)
    }
}

impl AdaptJob {
    /// Adapts and writes the evaluator; returns its card.
    ///
    /// # Errors
    /// When a file cannot be read or written, or the evaluator is of another encoder.
    pub fn run(&self, context: &Context<'_>) -> Result<Card, Error> {
        for name in FOLDER_FILES {
            let file = self.evaluator.join(name);
            let inputs = [("--corpus", self.corpus.as_path()), ("--evaluator", file.as_path())];
            keep_inputs("--out", &self.out.join(name), inputs)?;
        }
        let evaluator = Evaluator::load(&self.evaluator)?;
        let corpus = EmbeddingFile::open(&self.corpus)?;
        let options = AdaptOptions { steps: self.steps, alpha: self.alpha, seed: self.seed };
        let stages = Stages::of(context.watcher());
        let adapted = adapt_to_file(&evaluator, &corpus, self.sets, &options, &|stage| stages.show(stage))?;
        finish(&adapted, &self.out)
    }
}

fn finish(evaluator: &Evaluator, out: &std::path::Path) -> Result<Card, Error> {
    evaluator.save(out)?;
    Ok(evaluator.card().clone())
}

/// The stages of fitting as the progress of a job.
struct Stages<'a> {
    watcher: &'a dyn Watcher,
    total: Cell<usize>,
}

impl<'a> Stages<'a> {
    fn of(watcher: &'a dyn Watcher) -> Self {
        Self { watcher, total: Cell::new(0) }
    }

    fn show(&self, stage: CorpusStage) {
        // Fitting follows the sample sets and takes a time that nobody can tell before.
        let CorpusStage::Sets(done, total) = stage else { return };
        if self.total.replace(total) != total {
            self.watcher.started("sample sets", total, 0);
        }
        self.watcher.advanced(done);
    }
}
