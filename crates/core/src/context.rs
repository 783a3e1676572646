//! What a job needs of whoever runs it: where slow queries run, who watches, and a wish to stop.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sqlgauge_base::server;
use sqlgauge_engine::{Engine, Limits, Moment, SqliteEngine, Stoppable, WorkerCommand};
use sqlgauge_run::{Observer, Repair};

use crate::error::Error;

/// Watches a job. Each method does nothing unless it is written.
pub trait Watcher: Sync {
    /// Reading repaired or noticed something; one sentence.
    fn note(&self, text: &str) {
        let _ = text;
    }

    /// Work begins on `total` of what `noun` names ("items", "databases"); `resumed` of them were done before.
    fn started(&self, noun: &'static str, total: usize, resumed: usize) {
        let _ = (noun, total, resumed);
    }

    /// `done` are done, those done before included.
    fn advanced(&self, done: usize) {
        let _ = done;
    }

    /// What else is true of the work at this moment, in a few words.
    fn detail(&self, text: &str) {
        let _ = text;
    }

    /// From now on the job looks at the wish to stop ([`Context::stopped_by`]), or does so no longer. A job that ends
    /// because of the wish leaves it at that.
    fn heeds_stop(&self, heeds: bool) {
        let _ = heeds;
    }
}

/// A watcher that looks away.
impl Watcher for () {}

/// The surroundings of a job. [`Context::default`] runs every query in this process, shows nothing, and never stops.
///
/// A query that takes long in this process can be stopped only between two steps of SQLite's machine. Give a program for
/// the queries ([`Context::with_worker`]) before you run queries that somebody else wrote.
#[derive(Clone)]
pub struct Context<'a> {
    worker: Option<WorkerCommand>,
    stop: Arc<AtomicBool>,
    kills_queries: bool,
    watcher: &'a dyn Watcher,
    warn: fn(&str),
}

impl Default for Context<'_> {
    fn default() -> Self {
        Self { worker: None, stop: Arc::default(), kills_queries: false, watcher: &(), warn: |_| () }
    }
}

impl<'a> Context<'a> {
    /// Runs queries that take long in processes of that program ([`worker_of`](crate::worker_of)).
    #[must_use]
    pub fn with_worker(mut self, worker: WorkerCommand) -> Self {
        self.worker = Some(worker);
        self
    }

    /// Ends the job soon after `stop` is set: with [`Error::Stopped`] where it can go on later.
    #[must_use]
    pub fn stopped_by(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    /// Kills the queries that run when the job is to end. Without it they are waited for, and their items are kept.
    #[must_use]
    pub fn killing_queries(mut self) -> Self {
        self.kills_queries = true;
        self
    }

    /// Tells `watcher` how far the job has got.
    #[must_use]
    pub fn watched_by(mut self, watcher: &'a dyn Watcher) -> Self {
        self.watcher = watcher;
        self
    }

    /// Calls `warn` with a sentence that must not wait for the next step of the job: a server cannot be reached.
    #[must_use]
    pub fn warned_by(mut self, warn: fn(&str)) -> Self {
        self.warn = warn;
        self
    }

    /// What says at once what must not wait.
    #[cfg(feature = "services")]
    pub(crate) fn warn(&self) -> fn(&str) {
        self.warn
    }

    /// Who watches.
    pub fn watcher(&self) -> &'a dyn Watcher {
        self.watcher
    }

    /// Set when the job is to end.
    pub fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    /// Whether the job is to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// An engine with those limits whose queries take `now` for the time.
    ///
    /// # Errors
    /// When the workers cannot be started.
    pub fn sqlite(&self, limits: Limits, now: Moment) -> Result<SqliteEngine, Error> {
        let engine = match &self.worker {
            Some(worker) => SqliteEngine::with_workers(limits, worker.clone())?,
            None => SqliteEngine::new(limits),
        };
        Ok(engine.at(now))
    }

    /// The engine of the databases at `db`: SQLite's, or that of a server.
    ///
    /// # Errors
    /// When the workers cannot be started, or this build has no engine for that server.
    pub fn engine_for(
        &self,
        db: Option<&Path>,
        connections: usize,
        limits: Limits,
        now: Moment,
    ) -> Result<Arc<dyn Engine>, Error> {
        match db.filter(|db| server::is_address(db)) {
            Some(address) => crate::engines::open(address, limits, connections, self),
            None => self.engine(limits, now),
        }
    }

    /// The same as whatever engine the job asks for.
    ///
    /// # Errors
    /// When the workers cannot be started.
    pub(crate) fn engine(&self, limits: Limits, now: Moment) -> Result<Arc<dyn Engine>, Error> {
        let engine = Arc::new(self.sqlite(limits, now)?);
        if self.kills_queries {
            return Ok(Arc::new(Stoppable::new(engine, Arc::clone(&self.stop))));
        }
        Ok(engine)
    }
}

/// A watcher as the observer of a run on an engine.
pub(crate) struct Observed<'a> {
    watcher: &'a dyn Watcher,
    engine: &'a dyn Engine,
    /// When it began, and how many queries the engine had run.
    since: (Instant, u64),
}

impl<'a> Observed<'a> {
    pub(crate) fn new(watcher: &'a dyn Watcher, engine: &'a dyn Engine) -> Self {
        Self { watcher, engine, since: (Instant::now(), engine.queries().unwrap_or_default()) }
    }

    /// How fast a server answers.
    fn pace(&self) -> String {
        let (began, before) = self.since;
        let seconds = began.elapsed().as_secs_f64();
        let of =
            |count: u64| format!("{:.0} queries a second", count.saturating_sub(before) as f64 / seconds);
        self.engine.queries().filter(|_| seconds >= 1.0).map_or_else(String::new, of)
    }
}

impl Observer for Observed<'_> {
    fn repaired(&self, repair: &Repair) {
        self.watcher.note(&repair.to_string());
    }

    fn started(&self, total: usize, resumed: usize) {
        self.watcher.started("items", total, resumed);
    }

    fn advanced(&self, done: usize) {
        self.watcher.detail(&self.pace());
        self.watcher.advanced(done);
    }

    fn waits_for(&self, done: usize, system: &str, id: &str) {
        self.watcher.detail(&format!("item {id} of {system} takes long"));
        self.watcher.advanced(done);
    }
}
