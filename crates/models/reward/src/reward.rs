//! A reward, made once and asked for batch after batch.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use sqlgauge_base::server::is_address;
use sqlgauge_dataset::Databases;
use sqlgauge_engine::{Engine, SqliteEngine, WorkerCommand};
use sqlgauge_metrics::lexical::key;

use crate::answering::Runner;
use crate::batch::{self, Remembered};
use crate::error::RewardError;
use crate::golds::Gold;
use crate::options::{RewardKind, RewardOptions};
use crate::recent::Recent;
use crate::request::{Request, RewardResult};
use crate::subject::Subject;
use crate::witnesses::Witnesses;

/// How long a query runs in this process before it gets one of its own. It is short, so that queries without end are all
/// found soon; what ends within it costs no process.
const FIRST_SLICE: Duration = Duration::from_millis(5);

/// Queries that a server runs at once, unless somebody says otherwise.
const CONNECTIONS: usize = 8;

/// Said where an address of a server comes without its engine.
const NO_ENGINE: &str = "the address of a server needs its engine: build with --features engines";

/// Scores answers in batches. It is shared by threads; a process that forks makes its own. A batch that the machine fails, as
/// by too many open files, is an error; the next one is scored as if that had not been.
pub struct Reward {
    pub(crate) options: RewardOptions,
    pub(crate) runner: Runner,
    pub(crate) databases: Databases,
    pub(crate) subjects: Mutex<HashMap<String, Arc<Subject>>>,
    /// By `db_id` and text.
    pub(crate) golds: Recent<(String, String), Arc<Gold>>,
    /// By the digest of database, answer and golds.
    pub(crate) answers: Recent<[u8; 32], Arc<Remembered>>,
    pub(crate) witnesses: Option<Witnesses>,
}

/// What was made of questions by [`Reward::prepare`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Growth {
    pub questions: usize,
    pub witnesses: usize,
    /// Golds that do not run.
    pub failed: Vec<String>,
    /// Golds that can have no witnesses, with the reason as a code.
    pub none: Vec<(String, String)>,
}

impl Reward {
    /// A reward with those options, whose slow queries run in processes of that program.
    ///
    /// # Errors
    /// When an option cannot be, the databases are not there, no process can be started, or the folder of witnesses cannot be
    /// made.
    pub fn new(options: RewardOptions, worker: WorkerCommand) -> Result<Self, RewardError> {
        if is_address(&options.databases) {
            return Err(RewardError::Option(NO_ENGINE.to_owned()));
        }
        let engine = SqliteEngine::with_workers(options.limits(), worker.yielding())?;
        Self::with(options, Runner::Sqlite(Box::new(engine.with_first_slice(FIRST_SLICE))))
    }

    /// A reward whose queries a server runs; `engine` is that of the address in the options, with [`RewardOptions::limits`].
    ///
    /// # Errors
    /// When an option cannot be, on a server or at all.
    pub fn on_server(options: RewardOptions, engine: Arc<dyn Engine>) -> Result<Self, RewardError> {
        let refused = if options.witnesses {
            "witnesses are databases of SQLite, and the queries of a server do not run on them: leave the witnesses out"
        } else if options.kind == RewardKind::Structure {
            "the kind structure is etm@1, which reads SQLite's queries only: choose the kind exact or dense on a server"
        } else {
            let slow_queries = if options.slow_queries == 0 { CONNECTIONS } else { options.slow_queries };
            return Self::with(RewardOptions { slow_queries, ..options }, Runner::Server(engine));
        };
        Err(RewardError::Option(refused.to_owned()))
    }

    fn with(options: RewardOptions, runner: Runner) -> Result<Self, RewardError> {
        options.check()?;
        let databases = Databases::open(&options.databases)?;
        let bytes = options.cache_bytes;
        let witnesses = options
            .witnesses
            .then(|| Witnesses::new(options.witness_folder.clone(), options.seed, bytes))
            .transpose()?;
        Ok(Self {
            runner,
            databases,
            subjects: Mutex::default(),
            golds: Recent::new(bytes),
            answers: Recent::new(bytes),
            witnesses,
            options,
        })
    }

    /// What runs the queries.
    pub(crate) fn engine(&self) -> &dyn Engine {
        self.runner.engine()
    }

    /// What all texts share that the engine cannot tell from this one.
    pub(crate) fn key(&self, sql: &str) -> String {
        if self.engine().is_sqlite() { key(sql).into_owned() } else { sql.to_owned() }
    }

    /// A result for each request, in order.
    ///
    /// # Errors
    /// [`RewardError`], where the machinery fails; no answer can cause one but by a defect.
    pub fn score(&self, requests: &[Request]) -> Result<Vec<RewardResult>, RewardError> {
        batch::score(self, requests, None)
    }

    /// The same, ended when `stop` is set: queries that run then are killed with their processes.
    ///
    /// # Errors
    /// As [`Reward::score`]; [`EngineError::Stopped`](sqlgauge_engine::EngineError::Stopped) when it was ended.
    pub fn score_until(
        &self,
        requests: &[Request],
        stop: &AtomicBool,
    ) -> Result<Vec<RewardResult>, RewardError> {
        batch::score(self, requests, Some(stop))
    }

    /// Makes the first witnesses of questions ahead of time: golds with the `db_id` of their databases. Without witnesses it
    /// only runs the golds.
    ///
    /// # Errors
    /// As [`Reward::score`].
    pub fn prepare(&self, questions: &[(String, String)]) -> Result<Growth, RewardError> {
        batch::prepare(self, questions)
    }

    /// The database of that name, opened once.
    pub(crate) fn subject(&self, db_id: &str) -> Result<Arc<Subject>, RewardError> {
        let subject = self.subjects.lock().unwrap_or_else(PoisonError::into_inner).get(db_id).cloned();
        if let Some(subject) = subject {
            return Ok(subject);
        }
        let began = self.engine().faults();
        let opened = Arc::new(Subject::open(self.engine(), &self.databases, db_id, &self.options)?);
        // What its rows show was asked for by queries.
        self.engine().check_since(began)?;
        let mut subjects = self.subjects.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(subjects.entry(db_id.to_owned()).or_insert(opened)))
    }
}
