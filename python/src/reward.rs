//! `Reward`: a batch of answers in, one result for each out; the work is that of crate `sqlgauge-reward`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use sqlgauge_base::server::is_address;
use sqlgauge_core::Context;
use sqlgauge_engine::Moment;
use sqlgauge_reward::{Request, Reward as Scorer, RewardError, RewardOptions};
use sqlgauge_verify::ColumnValues;

use crate::call::call;
use crate::database::not_ddl;
use crate::error::{Class, Failure};
use crate::process::PerProcess;
use crate::program;

impl From<RewardError> for Failure {
    fn from(error: RewardError) -> Self {
        let class = match &error {
            RewardError::Option(_) | RewardError::NoGold(_) | RewardError::Databases(_) => Class::Input,
            RewardError::Engine(_) | RewardError::Database { .. } => Class::Database,
            RewardError::Witnesses { .. } | RewardError::Search(_) | RewardError::Thread(_) => Class::Run,
            RewardError::Defect { .. } => Class::Internal,
        };
        Self::of(class, &error)
    }
}

/// What an answer is worth.
///
/// Attributes:
///     value: In [0, 1]; None where nobody knows, because the gold does not run.
///     code: ``right``, ``wrong``, ``wrong_on_witness``, ``does_not_run``, ``timeout``, ``too_large``, ``no_sql``, ``denied``,
///         ``reads_no_table`` or ``gold_failed``.
///     reason: The same in words.
///     witness: For ``wrong_on_witness`` the database that tells the answer from the gold, as an SQL script.
#[pyclass(frozen, eq, get_all, module = "sqlgauge")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RewardResult {
    value: Option<f64>,
    code: String,
    reason: String,
    witness: Option<String>,
}

impl From<sqlgauge_reward::RewardResult> for RewardResult {
    fn from(result: sqlgauge_reward::RewardResult) -> Self {
        let sqlgauge_reward::RewardResult { value, code, reason, witness } = result;
        Self { value, code: code.as_str().to_owned(), reason, witness }
    }
}

#[pymethods]
impl RewardResult {
    #[new]
    #[pyo3(signature = (value, code, reason, witness=None))]
    fn new(value: Option<f64>, code: String, reason: String, witness: Option<String>) -> Self {
        Self { value, code, reason, witness }
    }

    fn __getnewargs__(&self) -> (Option<f64>, String, String, Option<String>) {
        (self.value, self.code.clone(), self.reason.clone(), self.witness.clone())
    }

    fn __repr__(&self) -> String {
        let value = self.value.map_or_else(|| "None".to_owned(), |value| format!("{value:?}"));
        format!("RewardResult(value={value}, code={:?}, reason={:?})", self.code, self.reason)
    }
}

/// A reward for training: a batch of answers in, one result for each out.
///
/// Args:
///     db: Folder of the databases (``<db_id>/<db_id>.sqlite``), or one database for all questions, or the address of a server
///         (``postgresql://USER@HOST:PORT/{db_id}``), whose password is in ``SQLGAUGE_DB_PASSWORD``.
///     kind: ``exact`` (1 or 0 by the rows, as ``ex@1`` compares), ``dense`` (partial credit) or ``structure`` (1 or 0 by ``etm@1``; runs nothing).
///     witnesses: Whether a right answer must also agree with its gold on counterexample databases of the question.
///     time_limit: Seconds of processor time that one query may take, and ten times as many by the clock.
///     columns: ``any``: an answer may return the gold's columns in another order. ``ordered``: it may not, as in ``ex@1``.
///     likeness: What of the benchmark's rows witnesses keep to: ``schema`` (nothing), ``nulls`` (a column without NULL there
///         has none), ``repeats`` (also a column whose values never repeat there does not repeat any).
///     values: Which values witnesses hold: ``declared`` (what their columns declare), ``any`` (whatever SQLite stores there) or ``rows`` (what
///         columns declare, but for columns of which the benchmark's rows hold something else). Only with ``any`` does a witness with a value off its
///         type, or NULL in a primary key, count against an answer.
///     witness_folder: Where witnesses are kept; processes may share it. In memory without it.
///     extract: Whether predictions are completions out of which the SQL is taken, or SQL.
///     refuse_no_table: Whether an answer that reads no table is refused where the gold reads one.
///     threads: Threads that score at once; one per core for 0.
///     slow_queries: Queries that run at once in processes of their own, one per core for 0; on a server connections to each
///         database, 8 for 0.
///     growth: Wrong answers of one batch out of which witnesses are made, at most.
///     seed: Where the random numbers of the search for witnesses begin.
///
/// Raises:
///     InputError: An option that cannot be, or no databases at ``db``.
///     DatabaseError: No process for queries can be started.
///
/// ``reward(predictions, golds, db_ids=None)`` gives a :class:`RewardResult` for each answer, in order:
///
/// - ``predictions``: Completions, or SQL; None is no answer.
/// - ``golds``: One gold or several for each; an answer counts by the best of them.
/// - ``db_ids``: The database of each; not needed with one database.
///
/// It raises InputError for lists of different lengths, what is no text, or an unknown database; DatabaseError for a database
/// that cannot be read, or changed; RunError for witnesses that cannot be read or written.
///
/// Pickling sends the options; a child process makes its own.
#[pyclass(frozen, module = "sqlgauge")]
pub(crate) struct Reward {
    options: RewardOptions,
    scorer: PerProcess<Arc<Scorer>>,
}

impl Reward {
    fn scorer(&self, py: Python<'_>) -> PyResult<Arc<Scorer>> {
        self.scorer.get_or_make(py, || {
            let (options, worker) = (self.options.clone(), program::worker(py)?);
            call(py, move |_| {
                let is_served = is_address(&options.databases);
                Ok(Arc::new(if is_served { on_server(options)? } else { Scorer::new(options, worker)? }))
            })
        })
    }
}

/// A reward whose queries a server runs.
fn on_server(options: RewardOptions) -> Result<Scorer, Failure> {
    let context = Context::default();
    let (connections, limits) = (options.slow_queries, options.limits());
    let engine = context.engine_for(Some(&options.databases), connections, limits, Moment::now())?;
    Ok(Scorer::on_server(options, engine)?)
}

#[pymethods]
impl Reward {
    #[new]
    #[pyo3(signature = (db, kind="exact", witnesses=false, time_limit=2.0, *, columns="any", likeness="repeats", values="rows", witness_folder=None, extract=true,
        refuse_no_table=true, threads=0, slow_queries=0, growth=8, seed=0))]
    #[expect(clippy::too_many_arguments, reason = "named arguments of Python")]
    fn new(
        py: Python<'_>,
        db: PathBuf,
        kind: &str,
        witnesses: bool,
        time_limit: f64,
        columns: &str,
        likeness: &str,
        values: &str,
        witness_folder: Option<PathBuf>,
        extract: bool,
        refuse_no_table: bool,
        threads: usize,
        slow_queries: usize,
        growth: usize,
        seed: u64,
    ) -> PyResult<Self> {
        let time_limit = Duration::try_from_secs_f64(time_limit)
            .map_err(|_| Failure::input(&format!("time_limit {time_limit} is not a number of seconds")))?;
        let options = RewardOptions {
            kind: kind.parse().map_err(Failure::from)?,
            columns: columns.parse().map_err(Failure::from)?,
            witnesses,
            likeness: likeness.parse().map_err(Failure::from)?,
            values: values.parse::<ColumnValues>().map_err(|error| Failure::of(Class::Input, &error))?,
            witness_folder,
            time_limit,
            extract,
            refuse_no_table,
            threads,
            slow_queries,
            growth,
            seed,
            ..RewardOptions::new(db)
        };
        let reward = Self { options, scorer: PerProcess::empty() };
        not_ddl(&reward.options.databases)?;
        // What cannot be is told here, and not by the first batch.
        reward.scorer(py)?;
        Ok(reward)
    }

    #[pyo3(signature = (predictions, golds, db_ids=None))]
    fn __call__(
        &self,
        py: Python<'_>,
        predictions: &Bound<'_, PyAny>,
        golds: &Bound<'_, PyAny>,
        db_ids: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<RewardResult>> {
        let answers = each("predictions", predictions, |_, one| Ok(Answer::of(one)))?;
        let (texts, refusals): (Vec<String>, Vec<Option<String>>) =
            answers.into_iter().map(|Answer { text, refusal }| (text, refusal)).unzip();
        let requests = requests(texts, golds, db_ids)?;
        let reward = self.scorer(py)?;
        let results = call(py, move |stop| Ok(reward.score_until(&requests, stop)?))?;
        let mut results: Vec<RewardResult> = results.into_iter().map(RewardResult::from).collect();
        for (result, refusal) in results.iter_mut().zip(refusals) {
            if let Some(refusal) = refusal.filter(|_| result.value.is_some()) {
                result.reason = refusal;
            }
        }
        Ok(results)
    }

    /// Makes the first witnesses of questions ahead of time.
    ///
    /// Returns:
    ///     The number of ``questions`` and of ``witnesses``, the golds that ``failed``, and those that can have ``none``, with
    ///     the reason.
    #[pyo3(signature = (golds, db_ids=None))]
    fn prepare<'py>(
        &self,
        py: Python<'py>,
        golds: &Bound<'py, PyAny>,
        db_ids: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let golds = lists("golds", golds)?;
        let db_ids = names(db_ids, golds.len())?;
        let questions: Vec<(String, String)> = golds
            .into_iter()
            .zip(db_ids)
            .flat_map(|(golds, db_id)| golds.into_iter().map(move |gold| (gold, db_id.clone())))
            .collect();
        let reward = self.scorer(py)?;
        let growth = call(py, move |_| Ok(reward.prepare(&questions)?))?;
        let dict = PyDict::new(py);
        dict.set_item("questions", growth.questions)?;
        dict.set_item("witnesses", growth.witnesses)?;
        dict.set_item("failed", growth.failed)?;
        dict.set_item("none", growth.none)?;
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let RewardOptions { databases, kind, witnesses, .. } = &self.options;
        let witnesses = if *witnesses { "True" } else { "False" };
        format!(
            "sqlgauge.Reward({:?}, kind={:?}, witnesses={witnesses})",
            databases.display().to_string(),
            kind.as_str()
        )
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((PathBuf,), Bound<'py, PyDict>)> {
        let options = &self.options;
        let dict = PyDict::new(py);
        dict.set_item("kind", options.kind.as_str())?;
        dict.set_item("witnesses", options.witnesses)?;
        dict.set_item("columns", options.columns.as_str())?;
        dict.set_item("likeness", options.likeness.as_str())?;
        dict.set_item("values", options.values.name())?;
        dict.set_item("time_limit", options.time_limit.as_secs_f64())?;
        dict.set_item("witness_folder", options.witness_folder.as_ref())?;
        dict.set_item("extract", options.extract)?;
        dict.set_item("refuse_no_table", options.refuse_no_table)?;
        dict.set_item("threads", options.threads)?;
        dict.set_item("slow_queries", options.slow_queries)?;
        dict.set_item("growth", options.growth)?;
        dict.set_item("seed", options.seed)?;
        Ok(((options.databases.clone(),), dict))
    }
}

/// What a model answered, whatever it is: no answer stops a batch.
struct Answer {
    /// The text; what is no text has no SQL.
    text: String,
    /// Why what was given has no SQL, where it is no text.
    refusal: Option<String>,
}

impl Answer {
    /// A lone surrogate, which no SQL can have, becomes U+FFFD.
    fn of(answer: &Bound<'_, PyAny>) -> Self {
        if let Ok(text) = answer.cast::<PyString>() {
            return Self { text: text.to_string_lossy().into_owned(), refusal: None };
        }
        let kind =
            || answer.get_type().name().map_or_else(|_| "another type".to_owned(), |name| name.to_string());
        let refusal =
            (!answer.is_none()).then(|| format!("the answer is of type {}, and a text is needed", kind()));
        Self { text: String::new(), refusal }
    }
}

/// The answers of a batch, each with its golds and its database.
fn requests(
    predictions: Vec<String>,
    golds: &Bound<'_, PyAny>,
    db_ids: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Request>> {
    let golds = lists("golds", golds)?;
    if golds.len() != predictions.len() {
        let (predictions, golds) = (predictions.len(), golds.len());
        let sentence = format!(
            "there are {predictions} predictions and {golds} golds: give one gold, or one list of golds, for each"
        );
        return Err(Failure::input(&sentence).into());
    }
    let db_ids = names(db_ids, predictions.len())?;
    let all = predictions.into_iter().zip(golds).zip(db_ids);
    Ok(all.map(|((prediction, golds), db_id)| Request { prediction, golds, db_id }).collect())
}

/// One name for each; without names all are of one database, whose name does not count.
fn names(db_ids: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Vec<String>> {
    let Some(db_ids) = db_ids else { return Ok(vec![String::new(); count]) };
    let names = each("db_ids", db_ids, |place, one| text("db_ids", place, one))?;
    if names.len() == count {
        return Ok(names);
    }
    let sentence = format!("there are {} db_ids for {count} questions: give one for each", names.len());
    Err(Failure::input(&sentence).into())
}

/// A text, or several, for each.
fn lists(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<String>>> {
    each(name, value, |place, one| {
        if one.is_instance_of::<PyString>() || one.try_iter().is_err() {
            return Ok(vec![text(name, place, one)?]);
        }
        each(&format!("{name}[{place}]"), one, |at, gold| text(&format!("{name}[{place}]"), at, gold))
    })
}

fn each<T>(
    name: &str,
    value: &Bound<'_, PyAny>,
    mut read: impl FnMut(usize, &Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let refused = || Failure::input(&format!("{name} is no list: give a list of texts"));
    if value.is_instance_of::<PyString>() {
        return Err(refused().into());
    }
    let items = value.try_iter().map_err(|_| refused())?;
    items.enumerate().map(|(place, one)| read(place, &one?)).collect()
}

fn text(name: &str, place: usize, one: &Bound<'_, PyAny>) -> PyResult<String> {
    one.extract().map_err(|_| {
        let kind = one.get_type().name().map_or_else(|_| "no text".to_owned(), |name| name.to_string());
        Failure::input(&format!("{name}[{place}] is of type {kind}, and a text is needed")).into()
    })
}
