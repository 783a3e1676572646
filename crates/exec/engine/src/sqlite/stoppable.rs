//! An engine whose queries can be stopped.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::cutoff::Cutoff;
use crate::database::Database;
use crate::engine::{Engine, EngineError};
use crate::enough::Enough;
use crate::outcome::{Execution, Failure, FailureKind};

use super::engine::SqliteEngine;

/// The queries of one task on an engine that other tasks share, owned or lent. Once `stop` is set, the process of a query
/// that runs is killed and no other query begins; a query on the calling thread ends within its tenth of a second. None of
/// them has an outcome: [`Engine::check`] says [`EngineError::Stopped`] from then on.
#[derive(Debug, Clone)]
pub struct Stoppable<E = Arc<SqliteEngine>, S = Arc<AtomicBool>> {
    engine: E,
    stop: S,
}

impl<E: Deref<Target = SqliteEngine>, S: Deref<Target = AtomicBool>> Stoppable<E, S> {
    /// That engine, until `stop` is set.
    pub fn new(engine: E, stop: S) -> Self {
        Self { engine, stop }
    }

    /// Runs a text as [`Engine::run_until`] does, or as [`Engine::run`] does where nothing is `enough`. What has to wait for
    /// another process is handed to `outside`, which runs it: a caller that has something to do meanwhile does it there.
    pub fn run_text(
        &self,
        database: &Database,
        sql: &str,
        enough: Option<&Enough>,
        outside: impl FnOnce(&dyn Fn() -> Execution) -> Execution,
    ) -> Execution {
        if self.stop.load(Ordering::Relaxed) {
            let message = EngineError::Stopped.to_string();
            return Execution::failed(Failure::new(FailureKind::RuntimeError, message));
        }
        let quickly = self.engine.run_quickly(database, sql, enough);
        let cutoff = Cutoff { stop: Some(&self.stop) };
        quickly.unwrap_or_else(|| outside(&|| self.engine.run_in_worker_until(database, sql, enough, cutoff)))
    }
}

impl<E, S> Engine for Stoppable<E, S>
where
    E: Deref<Target = SqliteEngine> + Send + Sync,
    S: Deref<Target = AtomicBool> + Send + Sync,
{
    fn name_and_version(&self) -> String {
        self.engine.name_and_version()
    }

    fn dialect(&self) -> &'static str {
        self.engine.dialect()
    }

    fn timeout(&self) -> Duration {
        self.engine.timeout()
    }

    fn open(&self, path: &Path) -> Result<Arc<Database>, EngineError> {
        self.engine.open(path)
    }

    fn run(&self, database: &Database, sql: &str) -> Execution {
        self.run_text(database, sql, None, |run| run())
    }

    fn check(&self) -> Result<(), EngineError> {
        if self.stop.load(Ordering::Relaxed) { Err(EngineError::Stopped) } else { self.engine.check() }
    }

    fn run_until(&self, database: &Database, sql: &str, enough: &Enough) -> Execution {
        self.run_text(database, sql, Some(enough), |run| run())
    }
}
