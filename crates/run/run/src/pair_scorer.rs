//! Scores pairs of queries with `verify@1` over schemas or databases.
//!
//! # Rules
//! - The left query is the gold, the right one the prediction; no result of theirs is kept but what the verdict has.
//! - A left query that SQLite refuses makes the score null (status `gold_failed`), a right one makes it 0 (status `refused`).
//! - What a pair is over: a schema, or a database whose rows are looked at too. Foreign keys that the rows break are not
//!   relied on.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use sqlgauge_engine::{Database, Engine};
use sqlgauge_metrics::{Verification, score_of_verdict};
use sqlgauge_search::Side;
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::{Refused, Report};

use crate::error::RunError;
use crate::plan::Task;
use crate::schedule::{Judgement, Scorer};
use crate::scorer::{GOLD_FAILED, VERDICT, describe};

/// Status of a pair whose right query SQLite refuses.
pub const REFUSED: &str = "refused";

/// What pairs are over.
#[derive(Debug, Clone)]
pub enum Ground {
    /// A schema.
    Schema(Arc<Schema>),
    /// A database.
    Database(Arc<Database>),
}

/// The scorer of pairs.
pub struct PairScorer {
    engine: Arc<dyn Engine>,
    verification: Verification,
    /// By `db_id`.
    grounds: HashMap<String, Ground>,
}

impl PairScorer {
    /// The metric that it scores with.
    pub const METRIC: &'static str = "verify@1";

    /// A scorer of pairs over those schemas and databases, by `db_id`.
    pub fn new(
        engine: Arc<dyn Engine>,
        verification: Verification,
        grounds: HashMap<String, Ground>,
    ) -> Self {
        Self { engine, verification, grounds }
    }

    fn judge(&self, task: &Task<'_>, ground: &Ground) -> Judgement {
        let engine = self.engine.as_ref();
        let left = task.example.golds.first().map_or("", String::as_str);
        let right = task.prediction.unwrap_or_default();
        let verdict = match ground {
            Ground::Schema(schema) => self.verification.verdict(schema, None, left, right),
            Ground::Database(database) => {
                let schema = &database.kept_schema(engine).schema;
                self.verification.verdict(schema, Some((engine, database)), left, right)
            }
        };
        match verdict {
            Ok(Ok(report)) => judged(task, &report),
            Ok(Err(refused)) => of_refused(task, refused),
            // Not the pair's fault: null with the reason.
            Err(error) => judgement(task, GOLD_FAILED, None, [("gold_error", error.to_string().into())]),
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
            Ground::Schema(_) => Ok(()),
            Ground::Database(database) => database.check_unchanged(),
        };
        unchanged.and_then(|()| self.engine.check()).map_err(|source| RunError::NotScored {
            id: task.example.id.clone(),
            db_id: db_id.clone(),
            source,
        })?;
        Ok(judgement)
    }
}

fn judged(task: &Task<'_>, report: &Report) -> Judgement {
    let mut score = score_of_verdict(report);
    let verdict = score.detail.shift_remove(VERDICT).unwrap_or_default();
    let reasons = serde_json::Map::from_iter([(PairScorer::METRIC.to_owned(), score.detail.into())]);
    judgement(task, "ok", score.value, [("metrics", reasons.into()), (VERDICT, verdict)])
}

fn of_refused(task: &Task<'_>, refused: Refused) -> Judgement {
    match refused.side {
        Side::Left => judgement(task, GOLD_FAILED, None, [("gold_error", refused.message.into())]),
        Side::Right => judgement(task, REFUSED, Some(0.0), [("error", refused.message.into())]),
    }
}

fn judgement<const N: usize>(
    task: &Task<'_>,
    status: &str,
    value: Option<f64>,
    details: [(&str, Value); N],
) -> Judgement {
    let mut judgement = Judgement { status: status.to_owned(), ..Judgement::default() };
    judgement.metrics.insert(PairScorer::METRIC.to_owned(), value);
    judgement.details = describe(task, None);
    judgement.details.extend(details.map(|(name, value)| (name.to_owned(), value)));
    judgement
}
