//! One answer beside its golds.

use std::collections::HashMap;
use std::sync::Arc;

use sqlgauge_dataset::Example;
use sqlgauge_engine::{Database, Engine};
use sqlgauge_metrics::{Metric, Target};
use sqlgauge_run::{BenchmarkScorer, Judgement, Scorer, Task};

use crate::error::Error;
use crate::settings::VerifySettings;

/// One answer, what it is compared with, and by which metrics.
pub struct ScorePairJob {
    /// The answer; `None` scores a missing one.
    pub prediction: Option<String>,
    /// The accepted gold queries; every metric takes its best value over them.
    pub golds: Vec<String>,
    /// What to score with.
    pub metrics: Vec<&'static dyn Metric>,
    /// How `verify` verifies, where it is among the metrics.
    pub verify: VerifySettings,
}

impl ScorePairJob {
    /// Scores an answer with a gold by those metrics.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use sqlgauge_core::{Context, ScorePairJob, metrics_of};
    /// use sqlgauge_engine::{Engine, Limits, Moment};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let sample = sqlgauge_core::Sample::unpack(folder.path())?;
    /// let engine = Arc::new(Context::default().sqlite(Limits::default(), Moment::now())?);
    /// let database = engine.open(&sample.database("bike_rental"))?;
    /// let (gold, prediction) = ("SELECT name FROM rider", "SELECT r.name FROM rider AS r");
    /// let job = ScorePairJob::new(gold, prediction, metrics_of(["ex", "esm"])?);
    /// let scored = job.run(engine, database)?;
    /// assert_eq!(scored.metrics["ex@1"], Some(1.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(
        gold: impl Into<String>,
        prediction: impl Into<String>,
        metrics: Vec<&'static dyn Metric>,
    ) -> Self {
        Self {
            prediction: Some(prediction.into()),
            golds: vec![gold.into()],
            metrics,
            verify: VerifySettings::default(),
        }
    }

    /// Scores on that database.
    ///
    /// # Errors
    /// When not every query could be run.
    pub fn run(self, engine: Arc<dyn Engine>, database: Arc<Database>) -> Result<Judgement, Error> {
        let db_id = database.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let target = Arc::new(Target::new(db_id.clone(), database));
        let metrics = self.verify.named(self.metrics)?;
        let scorer = BenchmarkScorer::new(engine, metrics, HashMap::from([(db_id.clone(), target)]))
            .with_verification(self.verify.verification());
        let example = Example { golds: self.golds, ..Example::bare("0".to_owned(), 0, db_id) };
        let prediction = self.prediction.as_deref();
        Ok(scorer.score(&Task { example: &example, prediction, confidence: None, earlier: None })?)
    }
}
