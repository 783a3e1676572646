//! Scores pairs of queries over schemas or databases with the metric that verifies as they are to be compared (`verify@3`, …).
//!
//! # Rules
//! - The left query is the gold, the right one the prediction; no result of theirs is kept but what the verdict has.
//! - A left query that SQLite refuses makes the score null (status `gold_failed`), a right one makes it 0 (status `refused`).
//! - What a pair is over: a schema, or a database whose rows are looked at too. Foreign keys that the rows break are not
//!   relied on.

use std::collections::HashMap;
use std::sync::Arc;

use sqlgauge_engine::{Database, Engine};
use sqlgauge_metrics::{Verification, score_of_verdict, verify_id};
use sqlgauge_search::Side;
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::{RefusedText, VerifyReport};

use crate::error::RunError;
use crate::plan::Task;
use crate::record::GOLD_FAILED;
use crate::schedule::{Judgement, Scorer};
use crate::scorer::describe;

/// Status of a pair whose right query SQLite refuses.
pub(crate) const REFUSED: &str = "refused";

/// What pairs are over.
#[derive(Debug, Clone)]
pub enum PairGround {
    Schema(Arc<Schema>),
    Database(Arc<Database>),
}

/// The scorer of pairs.
pub struct PairScorer {
    engine: Arc<dyn Engine>,
    verification: Verification,
    /// By `db_id`.
    grounds: HashMap<String, PairGround>,
}

impl PairScorer {
    /// A scorer of pairs over those schemas and databases, by `db_id`.
    pub fn new(
        engine: Arc<dyn Engine>,
        verification: Verification,
        grounds: HashMap<String, PairGround>,
    ) -> Self {
        Self { engine, verification, grounds }
    }

    fn metric(&self) -> &'static str {
        verify_id(self.verification.options().semantics)
    }

    fn judge(&self, task: &Task<'_>, ground: &PairGround) -> Judgement {
        let engine = self.engine.as_ref();
        let left = task.example.golds.first().map_or("", String::as_str);
        let right = task.prediction.unwrap_or_default();
        let verdict = match ground {
            PairGround::Schema(schema) => self.verification.verdict(schema, None, left, right),
            PairGround::Database(database) => {
                let schema = &database.kept_schema(engine).schema;
                self.verification.verdict(schema, Some((engine, database)), left, right)
            }
        };
        match verdict {
            Ok(Ok(report)) => judged(task, self.metric(), &report),
            Ok(Err(refused)) => of_refused(task, self.metric(), refused),
            // Not the pair's fault: null with the reason.
            Err(error) => {
                let judgement = judgement(task, self.metric(), GOLD_FAILED, None);
                of_failure(judgement, Side::Left, error.to_string())
            }
        }
    }
}

impl Scorer for PairScorer {
    fn score(&self, task: &Task<'_>) -> Result<Judgement, RunError> {
        let db_id = &task.example.db_id;
        let Some(ground) = self.grounds.get(db_id) else {
            return Err(RunError::BadPlan(format!("nothing is known of {db_id:?}, which pairs are over")));
        };
        let judgement = self.judge(task, ground);
        let unchanged = match ground {
            PairGround::Schema(_) => Ok(()),
            PairGround::Database(database) => database.check_unchanged(),
        };
        unchanged.and_then(|()| self.engine.check()).map_err(|source| RunError::NotScored {
            id: task.example.id.clone(),
            db_id: db_id.clone(),
            source,
        })?;
        Ok(judgement)
    }

    fn schemas(&self) -> HashMap<String, Arc<Schema>> {
        let schema = |(db_id, ground): (&String, &PairGround)| {
            let schema = match ground {
                PairGround::Schema(schema) => schema,
                PairGround::Database(database) => database.schema(),
            };
            (db_id.clone(), Arc::clone(schema))
        };
        self.grounds.iter().map(schema).collect()
    }
}

fn judged(task: &Task<'_>, metric: &str, report: &VerifyReport) -> Judgement {
    let score = score_of_verdict(report);
    let mut judgement = judgement(task, metric, "ok", score.value);
    // The log of pairs has it behind `metrics`; read again, it is `Details::verdict`.
    let verdict = score.verdict.and_then(|verdict| serde_json::to_value(verdict).ok());
    judgement.details.other.extend(verdict.map(|verdict| ("verdict".to_owned(), verdict)));
    judgement.details.metrics.insert(metric.to_owned(), score.detail);
    judgement
}

fn of_refused(task: &Task<'_>, metric: &str, refused: RefusedText) -> Judgement {
    let (status, value) = match refused.side {
        Side::Left => (GOLD_FAILED, None),
        Side::Right => (REFUSED, Some(0.0)),
    };
    of_failure(judgement(task, metric, status, value), refused.side, refused.message)
}

fn of_failure(mut judgement: Judgement, side: Side, message: String) -> Judgement {
    match side {
        Side::Left => judgement.details.gold_error = Some(message),
        Side::Right => judgement.details.error = Some(message),
    }
    judgement
}

fn judgement(task: &Task<'_>, metric: &str, status: &str, value: Option<f64>) -> Judgement {
    let mut judgement =
        Judgement { status: status.to_owned(), details: describe(task, None), ..Judgement::default() };
    judgement.metrics.insert(metric.to_owned(), value);
    judgement
}
