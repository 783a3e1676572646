//! Scores a task with the metrics of a run on its database.
//!
//! # Rules
//! - Several accepted golds: every metric takes its best value over them (cost metrics the least).
//! - A gold that does not run is the benchmark's failure: execution metrics are null on it. If no gold of the
//!   example runs, the status is `gold_failed`, the engine's message is in `details.gold_error`, and the
//!   prediction's own outcome in `details.prediction_status`.
//! - No prediction: status `missing`; 0 on every 0/1 and fraction metric that applies, null on costs.
//!
//! # Details
//! `question`, `evidence`, `gold` (or `golds`), `prediction`, `hardness` (Spider's, of the first gold),
//! `difficulty`, `turn`, `features`, `error` (of the prediction), `gold_error`, `metrics` (per metric what it
//! says about its score), and, where a 0/1 metric is not 1, the first rows of both results. Long texts and
//! results are cut, so that a line stays small whatever a system says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use sqlgauge_dataset::Example;
use sqlgauge_engine::{Engine, Execution, GoldCache, ResultSet};
use sqlgauge_metrics::{GoldFacts, Metric, MetricKind, Pair, Target, score_best};
use sqlgauge_sql::Features;
use sqlgauge_sql::spider::{self, Hardness};

use crate::plan::Task;
use crate::schedule::{Judgement, Scorer};

/// Status of an item without a prediction.
pub const MISSING: &str = "missing";
/// Status of an item whose gold does not run.
pub const GOLD_FAILED: &str = "gold_failed";

/// Characters of a prediction that the log keeps; longer ones end in `…` and `details.prediction_bytes` has
/// the full length.
const MAX_TEXT: usize = 4000;
/// Characters of an engine's message that the log keeps.
const MAX_MESSAGE: usize = 500;
const PREVIEW_ROWS: usize = 10;
const PREVIEW_COLUMNS: usize = 12;
const PREVIEW_CELL: usize = 80;
const CACHE_BYTES: usize = 64 << 20;

/// The scorer of a benchmark: metrics, databases, and what is shared by all systems.
pub struct BenchmarkScorer {
    engine: Arc<dyn Engine>,
    metrics: Vec<&'static dyn Metric>,
    targets: HashMap<String, Arc<Target>>,
    executions: GoldCache,
    facts: Mutex<HashMap<(String, String), Arc<GoldFacts>>>,
}

impl BenchmarkScorer {
    /// A scorer with those metrics on those databases, by `db_id`.
    pub fn new(
        engine: Arc<dyn Engine>,
        metrics: Vec<&'static dyn Metric>,
        targets: HashMap<String, Arc<Target>>,
    ) -> Self {
        Self { engine, metrics, targets, executions: GoldCache::new(CACHE_BYTES), facts: Mutex::default() }
    }

    /// What follows from a gold alone; one memo serves all systems.
    fn facts(&self, target: &Target, gold: &str) -> Arc<GoldFacts> {
        let key = (target.db_id.clone(), gold.to_owned());
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(facts.entry(key).or_default())
    }

    fn judge(&self, task: &Task<'_>, target: &Target) -> Judgement {
        let text = task.prediction.unwrap_or_default();
        let facts: Vec<Arc<GoldFacts>> =
            task.example.golds.iter().map(|gold| self.facts(target, gold)).collect();
        let pair = |gold| Pair::new(self.engine.as_ref(), target, gold, text, Some(&self.executions));
        let golds = task.example.golds.iter().zip(&facts);
        let pairs: Vec<Pair<'_>> = golds.map(|(gold, facts)| pair(gold).sharing(facts)).collect();
        let mut details = describe(task, pairs.first());
        let golds: Vec<Execution> = pairs.iter().map(|p| p.run_gold(&target.database, p.gold())).collect();
        let Some(first_gold) = golds.first() else {
            return unscorable(&self.metrics, details, "the example has no gold");
        };
        let gold = golds.iter().find(|gold| gold.rows().is_some()).unwrap_or(first_gold);
        let prediction = task.prediction.map(|_| pairs[0].prediction_execution());
        let status = insert_outcomes(&mut details, gold, prediction.as_ref());
        let mut judgement = Judgement { status: status.to_owned(), ..Judgement::default() };
        let (mut reasons, mut is_wrong) = (Map::new(), false);
        for metric in &self.metrics {
            let score = score_best(*metric, &pairs);
            let is_cost = metric.kind() == MetricKind::Cost;
            let value = match &prediction {
                Some(_) => score.value,
                // The empty text stands in for the answer: it says whether the metric applies, not its worth.
                None => score.value.filter(|_| !is_cost).map(|_| 0.0),
            };
            judgement.metrics.insert(metric.id().to_owned(), value);
            is_wrong |= metric.kind() == MetricKind::Binary && value.is_some_and(|value| value < 1.0);
            let reason = prediction.as_ref().map(|p| news(score.detail, &details, p)).unwrap_or_default();
            if !reason.is_empty() {
                reasons.insert(metric.id().to_owned(), reason.into());
            }
        }
        if !reasons.is_empty() {
            details.insert("metrics".to_owned(), reasons.into());
        }
        if is_wrong {
            insert_preview(&mut details, "gold_result", Some(gold));
            insert_preview(&mut details, "prediction_result", prediction.as_ref());
        }
        judgement.details = details;
        judgement
    }
}

impl Scorer for BenchmarkScorer {
    fn score(&self, task: &Task<'_>) -> Judgement {
        match self.targets.get(&task.example.db_id) {
            Some(target) => self.judge(task, target),
            None => unscorable(&self.metrics, Map::new(), "the database was not opened"),
        }
    }
}

/// What the item says of itself, whatever its scores.
fn describe(task: &Task<'_>, pair: Option<&Pair<'_>>) -> Map<String, Value> {
    let Example { question, evidence, golds, difficulty, turn, .. } = task.example;
    let mut details = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            details.insert(key.to_owned(), value);
        }
    };
    put("question", question.clone().into());
    put("evidence", evidence.clone().filter(|text| !text.is_empty()).into());
    match golds.as_slice() {
        [only] => put("gold", only.as_str().into()),
        several => put("golds", several.into()),
    }
    if let Some(text) = task.prediction {
        put("prediction", cut(text, MAX_TEXT).into());
        if text.chars().nth(MAX_TEXT).is_some() {
            put("prediction_bytes", text.len().into());
        }
    }
    if let Some(pair) = pair {
        // Null where the official parser cannot read the gold.
        let hardness = pair.gold_legacy().ok().and_then(|query| spider::hardness(query).ok());
        put("hardness", hardness.map(Hardness::as_str).into());
        let labels = pair.gold_features().map(Features::labels).unwrap_or_default();
        if !labels.is_empty() {
            put("features", labels.into());
        }
    }
    put("difficulty", difficulty.clone().into());
    put("turn", turn.map_or(Value::Null, |t| json!({"interaction": t.interaction, "turn": t.turn})));
    details
}

fn unscorable(metrics: &[&'static dyn Metric], mut details: Map<String, Value>, why: &str) -> Judgement {
    details.insert("gold_error".to_owned(), why.into());
    let metrics = metrics.iter().map(|m| (m.id().to_owned(), None)).collect();
    Judgement { status: GOLD_FAILED.to_owned(), metrics, details }
}

/// Notes how gold and prediction went; returns the status of the item.
fn insert_outcomes(
    details: &mut Map<String, Value>,
    gold: &Execution,
    prediction: Option<&Execution>,
) -> &'static str {
    if let Some(failure) = prediction.and_then(|p| p.outcome.failure()) {
        details.insert("error".to_owned(), cut(&failure.message, MAX_MESSAGE).into());
    }
    if let Some(rows) = prediction.and_then(Execution::rows) {
        let fingerprint = rows.fingerprint();
        details.insert(
            "result".to_owned(),
            json!({"rows": fingerprint.rows, "set": format!("{:016x}", fingerprint.set)}),
        );
    }
    if let Some(failure) = gold.outcome.failure() {
        details.insert("gold_error".to_owned(), cut(&failure.to_string(), MAX_MESSAGE).into());
        if let Some(prediction) = prediction {
            details.insert("prediction_status".to_owned(), prediction.outcome.status().into());
            return GOLD_FAILED;
        }
    }
    prediction.map_or(MISSING, |p| p.outcome.status())
}

/// What a metric says beyond what the item says already: that the gold or the prediction does not run.
fn news(
    mut detail: Map<String, Value>,
    item: &Map<String, Value>,
    prediction: &Execution,
) -> Map<String, Value> {
    let is_known_failure = detail.get("status").is_some_and(|status| *status == prediction.outcome.status());
    let is_known_gold_failure = detail.contains_key("gold_failed") && item.contains_key("gold_error");
    if is_known_failure || is_known_gold_failure {
        for key in ["reason", "status", "gold_failed"] {
            detail.shift_remove(key);
        }
    }
    detail
}

fn insert_preview(details: &mut Map<String, Value>, key: &str, execution: Option<&Execution>) {
    if let Some(rows) = execution.and_then(Execution::rows) {
        details.insert(key.to_owned(), preview(rows));
    }
}

/// The first rows of a result as JSON: `columns`, `rows`, `total_rows`.
pub fn preview(result: &ResultSet) -> Value {
    let columns: Vec<String> =
        result.columns.iter().take(PREVIEW_COLUMNS).map(|c| cut(c, PREVIEW_CELL)).collect();
    let rows: Vec<Value> = result
        .rows()
        .take(PREVIEW_ROWS)
        .map(|row| row.iter().take(PREVIEW_COLUMNS).map(cell).collect())
        .collect();
    json!({"columns": columns, "rows": rows, "total_rows": result.len()})
}

fn cell(value: &sqlgauge_engine::Value) -> Value {
    use sqlgauge_engine::Value as Sql;
    match value {
        Sql::Null => Value::Null,
        Sql::Integer(i) => (*i).into(),
        // Infinity is no JSON number.
        Sql::Real(r) if r.is_finite() => (*r).into(),
        Sql::Real(r) => r.to_string().into(),
        Sql::Text(bytes) => {
            cut(&String::from_utf8_lossy(&bytes[..bytes.len().min(PREVIEW_CELL * 4)]), PREVIEW_CELL).into()
        }
        Sql::Blob(bytes) => format!("blob of {} bytes", bytes.len()).into(),
    }
}

/// The text, or its first `max` characters and `…`.
fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
