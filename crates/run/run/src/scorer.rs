//! Scores a task with the metrics of a run on its database.
//!
//! # Rules
//! - Several accepted golds: every metric takes its best value over them (cost metrics the least).
//! - A gold that does not run is the benchmark's failure: metrics that run it are null on it. A metric that follows
//!   an official script may run a gold that does not run as it is written (`! =`); then the status is the
//!   prediction's, and the other metrics say `gold_failed` for themselves. If no metric could run any gold of
//!   the example, the status is `gold_failed` and the prediction's own outcome is in
//!   `details.prediction_status`. The engine's message is in `details.gold_error`.
//! - No prediction: status `missing`; 0 on every 0/1 and fraction metric that applies, null on costs.
//!
//! # Details
//! `question`, `evidence`, `gold` (or `golds`), `prediction`, `confidence` (the system's own, where it gave one), `hardness` (Spider's, of the first gold),
//! `difficulty`, `turn`, `features`, `error` (of the prediction), `gold_error`, `metrics` (per metric what it
//! says about its score), and, where a 0/1 metric is not 1, the first rows of both results. `gold_empty` is true
//! where every gold that runs returns no row, `database_empty` where the database has none: agreement says
//! little there. `depends_on` names what a result depends on besides texts and database ([`DEPENDS_ON`]). Of several golds, `metrics.ID.gold` is the position (from 0) of the one that gave the score.
//! A prediction runs no further than until every metric knows that it is wrong ([`Pair::for_metrics`]); then
//! `result.beginning` and `prediction_result.beginning` are true, and the rows are its first.
//! `verdict` is what `verify@1` found: `verdict`, `stage`, and as they apply `reason`, `bound`, `rules`, `assumes`,
//! `spelled`, `places`, `unexercised`, `difference`, `witness` (an SQL script), `left_result`, `right_result`, `needs`,
//! `realistic`, `not_kept`, `defect`. How long it took is not there:
//! the log is the same whenever it is written.
//! Long texts and results are cut, so that a line stays small whatever a system says.

use std::collections::HashMap;
use std::iter::once;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use sqlgauge_dataset::Example;
use sqlgauge_engine::{Dependence, Engine, Execution, GoldCache, ResultSet};
use sqlgauge_metrics::{GoldFacts, Metric, MetricKind, Pair, Reads, Score, Target, Verification, score_best};
use sqlgauge_sql::Features;
use sqlgauge_sql::schema::TableKind;
use sqlgauge_sql::spider::{self, Hardness};

use crate::error::RunError;
use crate::plan::Task;
use crate::schedule::{Judgement, Scorer};

/// Status of an item without a prediction.
pub const MISSING: &str = "missing";
/// Status of an item whose gold does not run.
pub const GOLD_FAILED: &str = "gold_failed";
/// Detail of an item whose golds return no row.
pub const GOLD_EMPTY: &str = "gold_empty";
/// Detail of an item whose gold or prediction depends on more than texts and database: a list of `time` (what the run
/// takes for now, and the time zone) and `chance` (random numbers).
pub const DEPENDS_ON: &str = "depends_on";
/// Detail of an item whose database has no row.
pub const DATABASE_EMPTY: &str = "database_empty";

/// Detail of an item whose pair was verified: the verdict with all that belongs to it.
pub const VERDICT: &str = "verdict";

/// Characters of a prediction that the log keeps; longer ones end in `…` and `details.prediction_bytes` has
/// the full length.
const MAX_TEXT: usize = 4000;
/// Characters of an engine's message that the log keeps.
const MAX_MESSAGE: usize = 500;
const PREVIEW_ROWS: usize = 10;
const PREVIEW_COLUMNS: usize = 12;
const PREVIEW_CELL: usize = 80;
const CACHE_BYTES: usize = 64 << 20;
/// Golds whose analysis is kept; of a larger benchmark it is made anew, so that memory does not grow with it.
const MAX_FACTS: usize = 20_000;

/// The scorer of a benchmark: metrics, databases, and what is shared by all systems.
pub struct BenchmarkScorer {
    engine: Arc<dyn Engine>,
    metrics: Vec<&'static dyn Metric>,
    targets: HashMap<String, Arc<Target>>,
    executions: GoldCache,
    verification: Verification,
    facts: Mutex<HashMap<(String, String), Arc<GoldFacts>>>,
    /// By `db_id`, whether the database has no row.
    empty: Mutex<HashMap<String, bool>>,
}

impl BenchmarkScorer {
    /// A scorer with those metrics on those databases, by `db_id`.
    pub fn new(
        engine: Arc<dyn Engine>,
        metrics: Vec<&'static dyn Metric>,
        targets: HashMap<String, Arc<Target>>,
    ) -> Self {
        Self {
            engine,
            metrics,
            targets,
            executions: GoldCache::new(CACHE_BYTES),
            verification: Verification::default(),
            facts: Mutex::default(),
            empty: Mutex::default(),
        }
    }

    /// Says how `verify@1` verifies.
    #[must_use]
    pub fn with_verification(mut self, verification: Verification) -> Self {
        self.verification = verification;
        self
    }

    /// What follows from a gold alone; one memo serves all systems.
    fn facts(&self, target: &Target, gold: &str) -> Arc<GoldFacts> {
        let key = (target.db_id.clone(), gold.to_owned());
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        if facts.len() < MAX_FACTS {
            return Arc::clone(facts.entry(key).or_default());
        }
        // Each system goes through all golds: to forget one for another would leave nothing to be found again.
        facts.get(&key).map_or_else(Arc::default, Arc::clone)
    }

    fn judge(&self, task: &Task<'_>, target: &Target) -> Judgement {
        let text = task.prediction.unwrap_or_default();
        let facts: Vec<Arc<GoldFacts>> =
            task.example.golds.iter().map(|gold| self.facts(target, gold)).collect();
        let peers = task.peers.texts();
        let pair = |gold| {
            Pair::new(self.engine.as_ref(), target, gold, text, Some(&self.executions))
                .verifying(&self.verification, &peers)
        };
        let golds = task.example.golds.iter().zip(&facts);
        let pairs: Vec<Pair<'_>> =
            golds.map(|(gold, facts)| pair(gold).sharing(facts).for_metrics(&self.metrics)).collect();
        let mut details = describe(task, pairs.first());
        let golds: Vec<Execution> = pairs.iter().map(|p| p.run_gold(&target.database, p.gold())).collect();
        let Some(first_gold) = golds.first() else {
            return unscorable(&self.metrics, details, "the example has no gold");
        };
        let prediction = task.prediction.map(|_| pairs[0].prediction_execution());
        let scores: Vec<Score> = self.metrics.iter().map(|metric| score_best(*metric, &pairs)).collect();
        let by_metric = || self.metrics.iter().zip(&scores);
        let runs = golds.iter().position(|gold| gold.rows().is_some());
        // The text of the gold does not run, and no metric that runs it could mend it.
        let no_gold_runs =
            runs.is_none() && !by_metric().any(|(m, s)| m.reads() != Reads::Nothing && s.value.is_some());
        let gold = &golds[shown_gold(by_metric(), &golds).or(runs).unwrap_or(0)];
        let status = insert_outcomes(
            &mut details,
            runs.map_or(first_gold, |at| &golds[at]),
            prediction.as_ref(),
            no_gold_runs,
        );
        insert_emptiness(&mut details, &golds, self.is_empty(target));
        let mut judgement = Judgement { status: status.to_owned(), ..Judgement::default() };
        let (mut reasons, mut is_wrong) = (Map::new(), false);
        for (metric, mut score) in self.metrics.iter().zip(scores) {
            if let Some(verdict) = score.detail.shift_remove(VERDICT).filter(|_| prediction.is_some()) {
                details.insert(VERDICT.to_owned(), verdict);
            }
            let is_cost = metric.kind() == MetricKind::Cost;
            let value = match &prediction {
                Some(_) => score.value,
                // The empty text stands in for the answer: it says whether the metric applies, not its worth.
                None => score.value.filter(|_| !is_cost).map(|_| 0.0),
            };
            judgement.metrics.insert(metric.id().to_owned(), value);
            is_wrong |= metric.kind() == MetricKind::Binary && value.is_some_and(|value| value < 1.0);
            let reason = match &prediction {
                Some(prediction) => news(score.detail, no_gold_runs, prediction),
                None => news_without_answer(score.detail, no_gold_runs),
            };
            if !reason.is_empty() {
                reasons.insert(metric.id().to_owned(), reason.into());
            }
        }
        if !reasons.is_empty() {
            details.insert("metrics".to_owned(), reasons.into());
        }
        insert_dependence(&mut details, &pairs);
        if is_wrong {
            insert_preview(&mut details, "gold_result", Some(gold));
            insert_preview(&mut details, "prediction_result", prediction.as_ref());
        }
        judgement.details = details;
        judgement
    }

    /// Whether no table of the database has a row; looked up once.
    fn is_empty(&self, target: &Target) -> bool {
        let mut known = self.empty.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(is_empty) = known.get(&target.db_id) {
            return *is_empty;
        }
        let has_rows = |name: &str| {
            let sql = format!("SELECT 1 FROM {} LIMIT 1", sqlgauge_sql::quote::name(name));
            // A table that cannot be read is no reason to call the database empty.
            self.engine.run(&target.database, &sql).rows().is_none_or(|rows| !rows.is_empty())
        };
        let tables = target.database.schema().tables();
        let is_empty =
            !tables.iter().filter(|t| t.kind == TableKind::Table).any(|table| has_rows(&table.name));
        known.insert(target.db_id.clone(), is_empty);
        is_empty
    }
}

/// The gold whose result explains a wrong answer: the one that the first wrong 0/1 metric compared with.
fn shown_gold<'a>(
    scored: impl Iterator<Item = (&'a &'static dyn Metric, &'a Score)>,
    golds: &[Execution],
) -> Option<usize> {
    let mut wrong = scored.filter(|(metric, score)| {
        metric.kind() == MetricKind::Binary && score.value.is_some_and(|value| value < 1.0)
    });
    let taken = wrong.find_map(|(_, score)| score.detail.get("gold")?.as_u64())?;
    usize::try_from(taken).ok().filter(|at| golds.get(*at).is_some_and(|gold| gold.rows().is_some()))
}

impl Scorer for BenchmarkScorer {
    fn score(&self, task: &Task<'_>) -> Result<Judgement, RunError> {
        let Some(target) = self.targets.get(&task.example.db_id) else {
            return Ok(unscorable(&self.metrics, Map::new(), "the database was not opened"));
        };
        let judgement = self.judge(task, target);
        // Looked at afterwards: what was read from another file than the run is of is not its result.
        let unchanged =
            once(&target.database).chain(&target.suite).try_for_each(|file| file.check_unchanged());
        unchanged.and_then(|()| self.engine.check()).map_err(|source| RunError::NotScored {
            id: task.example.id.clone(),
            db_id: task.example.db_id.clone(),
            source,
        })?;
        Ok(judgement)
    }
}

/// What the item says of itself, whatever its scores.
pub(crate) fn describe(task: &Task<'_>, pair: Option<&Pair<'_>>) -> Map<String, Value> {
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
    put("confidence", task.confidence.into());
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
    is_lost: bool,
) -> &'static str {
    if let Some(failure) = prediction.and_then(|p| p.outcome.failure()) {
        details.insert("error".to_owned(), cut(&failure.message, MAX_MESSAGE).into());
    }
    if let Some(rows) = prediction.and_then(Execution::rows) {
        let fingerprint = rows.fingerprint();
        let mut result = json!({"rows": fingerprint.rows, "set": format!("{:016x}", fingerprint.set)});
        if rows.is_beginning() {
            result["beginning"] = true.into();
        }
        details.insert("result".to_owned(), result);
    }
    if let Some(failure) = gold.outcome.failure() {
        details.insert("gold_error".to_owned(), cut(&failure.to_string(), MAX_MESSAGE).into());
        if let Some(prediction) = prediction.filter(|_| is_lost) {
            details.insert("prediction_status".to_owned(), prediction.outcome.status().into());
            return GOLD_FAILED;
        }
    }
    prediction.map_or(MISSING, |p| p.outcome.status())
}

/// Notes on what besides texts and database the results depend.
fn insert_dependence(details: &mut Map<String, Value>, pairs: &[Pair<'_>]) {
    let on = pairs.iter().map(Pair::depends_on).fold(Dependence::default(), Dependence::and);
    let named: Vec<&str> = [(on.time, "time"), (on.chance, "chance")]
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, name)| *name)
        .collect();
    if !named.is_empty() {
        details.insert(DEPENDS_ON.to_owned(), named.into());
    }
}

/// Notes what makes agreement say little: golds that all return nothing, a database without a row.
fn insert_emptiness(details: &mut Map<String, Value>, golds: &[Execution], database_is_empty: bool) {
    let mut results = golds.iter().filter_map(Execution::rows).peekable();
    if results.peek().is_some() && results.all(|rows| rows.is_empty()) {
        details.insert(GOLD_EMPTY.to_owned(), true.into());
    }
    if database_is_empty {
        details.insert(DATABASE_EMPTY.to_owned(), true.into());
    }
}

/// What a metric says beyond what the item says already: that no gold runs, or that the prediction does not.
fn news(mut detail: Map<String, Value>, is_lost: bool, prediction: &Execution) -> Map<String, Value> {
    let is_known_failure = detail.get("status").is_some_and(|status| *status == prediction.outcome.status());
    if is_known_failure || (is_lost && detail.contains_key("gold_failed")) {
        for key in ["reason", "status", "gold_failed", "gold"] {
            detail.shift_remove(key);
        }
    }
    detail
}

/// Without an answer a metric can say only that its gold does not run.
fn news_without_answer(mut detail: Map<String, Value>, is_lost: bool) -> Map<String, Value> {
    detail.retain(|key, _| !is_lost && key == "gold_failed");
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
    let mut preview = json!({"columns": columns, "rows": rows, "total_rows": result.len()});
    if result.is_beginning() {
        preview["beginning"] = true.into();
    }
    preview
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
