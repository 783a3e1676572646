//! Scores a task with the metrics of a run on its database.
//!
//! # Rules
//! - Several accepted golds: every metric takes its best value over them (cost metrics the least).
//! - A gold that does not run is the benchmark's failure: metrics that run it are null on it. A metric that follows
//!   an official script may run a gold that does not run as it is written (`! =`); then the status is the
//!   prediction's, and the other metrics say `gold_failed` for themselves. If no metric could run any gold of
//!   the example, the status is `gold_failed` and the prediction's own outcome is in
//!   `details.prediction_status`. The engine's message is in `details.gold_error`.
//! - No gold: the question has no answer, status `unanswerable`; 1 for an abstention ([`is_abstention`]), 0 for an answer and where
//!   none is given, null on costs.
//! - No prediction: status `missing`; 0 on every 0/1 and fraction metric that applies, null on costs.
//!
//! What is kept of an item stands in [`Details`]. A prediction runs no further than until every metric knows that it is wrong
//! ([`Pair::for_metrics`]); then `beginning` is true, and the rows are its first. Long texts and results are cut, so that a
//! line stays small whatever a system says.

use std::collections::HashMap;
use std::iter::once;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use sqlgauge_causes::Explainer;
use sqlgauge_dataset::{EarlierQueries, Example, is_abstention};
use sqlgauge_engine::compare::explain::shorten;
use sqlgauge_engine::{Dependence, Engine, Execution, GoldCache, Limits, ResultSet};
use sqlgauge_metrics::{
    GoldFacts, Metric, MetricKind, Pair, Reads, Score, Target, Verification, is_execution_accuracy,
    is_verify, score_best,
};
use sqlgauge_search::rows_tied_for_both;
use sqlgauge_sql::Features;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::spider::{self, Hardness};
use sqlgauge_verify::ResultTable;

use crate::details::{Details, EarlierQuery, EarlierRecord, ResultDigest, TurnRecord};
use crate::error::RunError;
use crate::plan::Task;
use crate::record::{GOLD_FAILED, MISSING, TIME, UNANSWERABLE};
use crate::schedule::{Judgement, Scorer};

/// Characters of a prediction that the log keeps; longer ones end in `…`, and [`Details::prediction_bytes`] has
/// the full length.
const MAX_TEXT: usize = 4000;
/// Characters of an engine's message that the log keeps.
const MAX_MESSAGE: usize = 500;
const PREVIEW_ROWS: usize = 10;
const PREVIEW_COLUMNS: usize = 12;
const PREVIEW_CELL: usize = 80;
const CACHE_BYTES: usize = 64 << 20;
/// Golds whose analysis is kept; of a larger benchmark it is made anew, so that memory does not grow with it.
const MAX_FACTS: usize = 10_000;

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

    /// Keeps the results of golds in a folder, for an engine with those limits; another run takes them from there.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn keeping_golds(mut self, folder: &Path, limits: &Limits) -> std::io::Result<Self> {
        self.executions = self.executions.kept_in(folder, limits)?;
        Ok(self)
    }

    /// Says how metrics that verify do it.
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
        let pair = |gold| {
            Pair::new(self.engine.as_ref(), target, gold, text, Some(&self.executions))
                .verifying(&self.verification)
        };
        let golds = task.example.golds.iter().zip(&facts);
        let pairs: Vec<Pair<'_>> =
            golds.map(|(gold, facts)| pair(gold).sharing(facts).for_metrics(&self.metrics)).collect();
        let mut details = describe(task, pairs.first());
        details.earlier_queries =
            task.earlier.map(|earlier| self.earlier_queries(earlier, &task.example.golds, target));
        let golds: Vec<Execution> = pairs.iter().map(|p| p.run_gold(&target.database, p.gold())).collect();
        let Some(first_gold) = golds.first() else {
            return without_answer(&self.metrics, details, task.prediction);
        };
        let prediction = task.prediction.map(|_| pairs[0].prediction_execution());
        let scores: Vec<Score> = self.metrics.iter().map(|metric| score_best(*metric, &pairs)).collect();
        let by_metric = || self.metrics.iter().zip(&scores);
        let runs = golds.iter().position(|gold| gold.rows().is_some());
        // The text of the gold does not run, and no metric that runs it could mend it.
        let no_gold_runs =
            runs.is_none() && !by_metric().any(|(m, s)| m.reads() != Reads::NoRows && s.value.is_some());
        let gold_at = shown_gold(by_metric(), &golds).or(runs).unwrap_or(0);
        let gold = &golds[gold_at];
        let status = note_outcomes(
            &mut details,
            runs.map_or(first_gold, |at| &golds[at]),
            prediction.as_ref(),
            no_gold_runs,
        );
        details.gold_empty = all_return_nothing(&golds);
        details.database_empty = self.is_empty(target);
        let mut judgement = Judgement { status: status.to_owned(), ..Judgement::default() };
        let first_verdict = self.metrics.iter().map(|metric| metric.id()).find(|id| is_verify(id));
        let mut is_wrong = false;
        let mut wrong_by: Option<(&'static dyn Metric, usize)> = None;
        for (metric, mut score) in self.metrics.iter().zip(scores) {
            if let Some(verdict) = score.verdict.take().filter(|_| prediction.is_some()) {
                if first_verdict == Some(metric.id()) {
                    details.verdict = Some(*verdict);
                } else {
                    details.verdicts.insert(metric.id().to_owned(), *verdict);
                }
            }
            let is_cost = metric.kind() == MetricKind::Unbounded;
            let value = match &prediction {
                Some(_) => score.value,
                // The empty text stands in for the answer: it says whether the metric applies, not its worth.
                None => score.value.filter(|_| !is_cost).map(|_| 0.0),
            };
            judgement.metrics.insert(metric.id().to_owned(), value);
            let fails = metric.kind() == MetricKind::Binary && value.is_some_and(|value| value < 1.0);
            is_wrong |= fails;
            let detail = score.detail;
            if fails && metric.reads() != Reads::NoRows {
                wrong_by = wrong_by.or_else(|| Some((*metric, detail.gold().unwrap_or(0))));
            }
            let news = match &prediction {
                Some(prediction) => detail.without_news_of_item(no_gold_runs, prediction.outcome.status()),
                None => detail.of_missing_answer(no_gold_runs),
            };
            if !news.is_empty() {
                details.metrics.insert(metric.id().to_owned(), news);
            }
        }
        details.depends_on = dependence(&pairs);
        let has_rows = prediction.as_ref().is_some_and(|prediction| prediction.rows().is_some());
        let compares_rows =
            |(metric, _): &(&dyn Metric, usize)| matches!(metric.reads(), Reads::Bag | Reads::Set);
        if let Some((metric, gold)) =
            wrong_by.filter(compares_rows).filter(|_| has_rows && self.engine.is_sqlite())
        {
            let count = |execution: Option<&Execution>| execution?.rows().map(|rows| rows.len());
            let as_many_rows = count(golds.get(gold)) == count(prediction.as_ref());
            let gold = &task.example.golds[gold];
            details.letter_case = self.is_right_in_letter_case(metric, target, gold, text);
            details.tied = as_many_rows
                .then(|| rows_tied_for_both(self.engine.as_ref(), &target.database, [gold, text]))
                .flatten();
        }
        if is_wrong {
            details.gold_result = gold.rows().map(|rows| preview(rows));
            details.prediction_result =
                prediction.as_ref().and_then(Execution::rows).map(|rows| preview(rows));
        }
        judgement.details = details;
        judgement
    }

    /// Whether the answer is right by a metric that only compares rows, once its texts are in the gold's letter case.
    fn is_right_in_letter_case(
        &self,
        metric: &dyn Metric,
        target: &Target,
        gold: &str,
        answer: &str,
    ) -> bool {
        let explainer = Explainer::of(Arc::clone(target.database.schema()));
        let Some(answer) = explainer.in_letter_case_of(gold, answer) else { return false };
        let pair = Pair::new(self.engine.as_ref(), target, gold, &answer, Some(&self.executions));
        metric.score(&pair).value.is_some_and(|score| score >= 1.0)
    }

    /// Runs the earlier queries of a transcript, each as far as the answer.
    fn earlier_queries(&self, earlier: &EarlierQueries, golds: &[String], target: &Target) -> EarlierRecord {
        let metric = self.metrics.iter().copied().find(|metric| is_execution_accuracy(metric.id()));
        let record = |sql: &String| {
            let pair = |gold| Pair::new(self.engine.as_ref(), target, gold, sql, Some(&self.executions));
            let pairs: Vec<Pair<'_>> =
                golds.iter().map(|gold| pair(gold).for_metrics(&self.metrics)).collect();
            let execution = match pairs.first() {
                Some(pair) => pair.prediction_execution(),
                None => self.engine.run(&target.database, sql),
            };
            let score = metric.and_then(|metric| score_best(metric, &pairs).value);
            EarlierQuery {
                sql: shorten(sql, MAX_TEXT),
                status: execution.outcome.status().to_owned(),
                right: score.map(|score| score >= 1.0),
            }
        };
        EarlierRecord { last: earlier.last.iter().map(record).collect(), omitted: earlier.omitted }
    }

    /// Whether no table of the database has a row; looked up once.
    fn is_empty(&self, target: &Target) -> bool {
        let mut empty = self.empty.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(is_empty) = empty.get(&target.db_id) {
            return *is_empty;
        }
        let is_empty = !target.database.has_rows(self.engine.as_ref());
        empty.insert(target.db_id.clone(), is_empty);
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
    let place = wrong.find_map(|(_, score)| score.detail.gold());
    place.filter(|at| golds.get(*at).is_some_and(|gold| gold.rows().is_some()))
}

impl Scorer for BenchmarkScorer {
    fn score(&self, task: &Task<'_>) -> Result<Judgement, RunError> {
        let Some(target) = self.targets.get(&task.example.db_id) else {
            return Ok(unscorable(&self.metrics));
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

    fn schemas(&self) -> HashMap<String, Arc<Schema>> {
        let schema =
            |(db_id, target): (&String, &Arc<Target>)| (db_id.clone(), Arc::clone(target.database.schema()));
        self.targets.iter().map(schema).collect()
    }
}

/// What the item says of itself, whatever its scores.
pub(crate) fn describe(task: &Task<'_>, pair: Option<&Pair<'_>>) -> Details {
    let Example { question, evidence, golds, difficulty, turn, .. } = task.example;
    let (gold, golds) = match golds.as_slice() {
        [] => (None, None),
        [only] => (Some(only.clone()), None),
        several => (None, Some(several.to_vec())),
    };
    let whole = task.prediction.filter(|text| text.chars().nth(MAX_TEXT).is_some());
    // None where the official parser cannot read the gold.
    let hardness = |pair: &Pair<'_>| spider::hardness(pair.gold_legacy().ok()?).ok();
    let features = |pair: &Pair<'_>| pair.gold_features().map(Features::labels);
    Details {
        question: question.clone(),
        evidence: evidence.clone().filter(|text| !text.is_empty()),
        gold,
        golds,
        prediction: task.prediction.map(|text| shorten(text, MAX_TEXT)),
        prediction_bytes: whole.map(str::len),
        confidence: task.confidence,
        hardness: pair.and_then(hardness).map(Hardness::as_str).map(str::to_owned),
        features: pair.and_then(features).unwrap_or_default().into_iter().map(str::to_owned).collect(),
        difficulty: difficulty.clone(),
        turn: turn.map(|place| TurnRecord { interaction: place.interaction as u64, turn: place.turn as u64 }),
        ..Details::default()
    }
}

/// The judgement on an answer to a question that has none.
fn without_answer(metrics: &[&'static dyn Metric], details: Details, answer: Option<&str>) -> Judgement {
    let is_right = answer.is_some_and(is_abstention);
    let value = |metric: &&'static dyn Metric| {
        (metric.kind() != MetricKind::Unbounded).then_some(f64::from(u8::from(is_right)))
    };
    let metrics = metrics.iter().map(|metric| (metric.id().to_owned(), value(metric))).collect();
    Judgement { status: UNANSWERABLE.to_owned(), metrics, details }
}

/// The judgement on an item whose database was not opened.
fn unscorable(metrics: &[&'static dyn Metric]) -> Judgement {
    let metrics = metrics.iter().map(|m| (m.id().to_owned(), None)).collect();
    let details =
        Details { gold_error: Some("the database was not opened".to_owned()), ..Details::default() };
    Judgement { status: GOLD_FAILED.to_owned(), metrics, details }
}

/// Notes how gold and prediction went; returns the status of the item.
fn note_outcomes(
    details: &mut Details,
    gold: &Execution,
    prediction: Option<&Execution>,
    is_lost: bool,
) -> &'static str {
    let failure = prediction.and_then(|prediction| prediction.outcome.failure());
    details.error = failure.map(|failure| shorten(&failure.message, MAX_MESSAGE));
    details.result = prediction.and_then(Execution::rows).map(|rows| ResultDigest::of(rows));
    if let Some(failure) = gold.outcome.failure() {
        details.gold_error = Some(shorten(&failure.to_string(), MAX_MESSAGE));
        if let Some(prediction) = prediction.filter(|_| is_lost) {
            details.prediction_status = Some(prediction.outcome.status().to_owned());
            return GOLD_FAILED;
        }
    }
    prediction.map_or(MISSING, |p| p.outcome.status())
}

/// What besides texts and database the results depend on.
fn dependence(pairs: &[Pair<'_>]) -> Vec<String> {
    let on = pairs.iter().map(Pair::depends_on).fold(Dependence::default(), Dependence::and);
    let named = [(on.time, TIME), (on.chance, "chance")];
    named.into_iter().filter(|(is, _)| *is).map(|(_, name)| name.to_owned()).collect()
}

/// Whether there are golds that run, and all of them return nothing.
fn all_return_nothing(golds: &[Execution]) -> bool {
    let mut results = golds.iter().filter_map(Execution::rows).peekable();
    results.peek().is_some() && results.all(|rows| rows.is_empty())
}

/// The first rows of a result.
pub(crate) fn preview(result: &ResultSet) -> ResultTable {
    let columns = result.columns.iter().take(PREVIEW_COLUMNS).map(|c| shorten(c, PREVIEW_CELL)).collect();
    let rows = result.rows().take(PREVIEW_ROWS);
    ResultTable {
        columns,
        rows: rows.map(|row| row.iter().take(PREVIEW_COLUMNS).map(cell).collect()).collect(),
        total_rows: Some(result.len()),
        beginning: result.is_beginning(),
    }
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
            shorten(&String::from_utf8_lossy(&bytes[..bytes.len().min(PREVIEW_CELL * 4)]), PREVIEW_CELL)
                .into()
        }
        Sql::Decimal(decimal) => decimal.as_str().into(),
        Sql::Blob(bytes) => format!("blob of {} bytes", bytes.len()).into(),
    }
}
