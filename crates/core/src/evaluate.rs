//! The accuracy on a target by an evaluator: `sqlgauge estimate --evaluator`.

use std::path::PathBuf;

use sqlgauge_encode::EmbeddingFile;
use sqlgauge_estimate::{AccuracyInterval, Estimate};
use sqlgauge_fusion::{Evaluator, TargetEstimate, evaluate_target};
use sqlgauge_shift::Descriptors;

use crate::context::Context;
use crate::error::Error;

/// Estimates the accuracy on a target from its embeddings, by an evaluator that [`FitJob`](crate::FitJob) made.
///
/// ```no_run
/// # // Needs an evaluator.
/// use sqlgauge_core::{Context, EvaluateJob};
///
/// let estimate = EvaluateJob::new("evaluator", "target.parquet").run(&Context::default())?;
/// println!("{:.3} [{:.3}, {:.3}]", estimate.accuracy, estimate.interval.low, estimate.interval.high);
/// # Ok::<(), sqlgauge_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EvaluateJob {
    /// Folder of the evaluator.
    pub evaluator: PathBuf,
    /// Embeddings of the target.
    pub target: PathBuf,
    /// Level of the interval.
    pub level: f64,
}

impl EvaluateJob {
    /// The job with the level of the command line, 0.9.
    pub fn new(evaluator: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Self {
        Self { evaluator: evaluator.into(), target: target.into(), level: 0.9 }
    }

    /// Estimates.
    ///
    /// # Errors
    /// When the evaluator or the embeddings cannot be read, or are not of the same encoder.
    pub fn run(&self, _: &Context<'_>) -> Result<Estimate, Error> {
        let evaluator = Evaluator::load(&self.evaluator)?;
        let target = EmbeddingFile::open(&self.target)?;
        let TargetEstimate { estimate, descriptors } = evaluate_target(&evaluator, &target, self.level)?;
        let outside_because = if estimate.outside {
            vec![format!("beyond what was learned from in {}", estimate.outside_in.join(", "))]
        } else {
            Vec::new()
        };
        let names = Descriptors::names().iter().map(|name| (*name).to_owned());
        Ok(Estimate {
            system: self.target.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            accuracy: estimate.accuracy,
            interval: AccuracyInterval { level: estimate.level, low: estimate.low, high: estimate.high },
            outside: estimate.outside,
            outside_because,
            method: evaluator.card().method.clone(),
            descriptors: names.zip(descriptors.to_row()).collect(),
            notes: evaluator.card().notes.clone(),
            ..Estimate::default()
        })
    }
}
