//! The engine as one answer sees it: the gold has run, the answer runs once.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlgauge_engine::{
    Database, Engine, EngineError, Enough, Execution, Failure, FailureKind, SqliteEngine, Stoppable,
};

use crate::lanes::Lanes;

/// The wish of nobody to stop.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What runs the queries of a reward.
pub(crate) enum Runner {
    /// SQLite, in this process or another.
    Sqlite(Box<SqliteEngine>),
    Server(Arc<dyn Engine>),
}

impl Runner {
    pub(crate) fn engine(&self) -> &dyn Engine {
        match self {
            Self::Sqlite(engine) => engine.as_ref(),
            Self::Server(engine) => engine.as_ref(),
        }
    }

    /// Runs a text; what has to wait is handed to `outside`. Once `stop` is set no query begins, and none of SQLite's goes on; one of
    /// a server ends by its time limit.
    fn run_text(
        &self,
        (database, sql, enough): (&Database, &str, Option<&Enough>),
        stop: &AtomicBool,
        outside: impl FnOnce(&dyn Fn() -> Execution) -> Execution,
    ) -> Execution {
        match self {
            Self::Sqlite(engine) => {
                Stoppable::new(engine.as_ref(), stop).run_text(database, sql, enough, outside)
            }
            Self::Server(_) if stop.load(Ordering::Relaxed) => {
                Execution::failed(Failure::new(FailureKind::RuntimeError, EngineError::Stopped.to_string()))
            }
            Self::Server(engine) => outside(&|| match enough {
                Some(enough) => engine.run_until(database, sql, enough),
                None => engine.run(database, sql),
            }),
        }
    }
}

/// What runs the queries of one piece of a batch.
pub(crate) struct Answering<'a> {
    runner: &'a Runner,
    stop: &'a AtomicBool,
    lanes: &'a Lanes,
    /// Texts that have run, the answer's among them once it has.
    executions: Mutex<Vec<(String, Execution)>>,
}

impl<'a> Answering<'a> {
    pub(crate) fn new(runner: &'a Runner, lanes: &'a Lanes, stop: Option<&'a AtomicBool>) -> Self {
        Self { runner, stop: stop.unwrap_or(&NEVER), lanes, executions: Mutex::default() }
    }

    pub(crate) fn know(&self, sql: &str, execution: &Execution) {
        self.lock().push((sql.to_owned(), execution.clone()));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(String, Execution)>> {
        self.executions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_text(&self, database: &Database, sql: &str, enough: Option<&Enough>) -> Execution {
        let is_of_use = |execution: &Execution| {
            execution.rows().is_none_or(|rows| {
                !rows.is_beginning() || enough.is_some_and(|enough| enough.is_reached_by(rows))
            })
        };
        let entry = self.lock().iter().find(|(text, execution)| text == sql && is_of_use(execution)).cloned();
        if let Some((_, execution)) = entry {
            return execution;
        }
        let query = (database, sql, enough);
        let execution = self.runner.run_text(query, self.stop, |run| self.lanes.outside(run));
        self.know(sql, &execution);
        execution
    }
}

impl Engine for Answering<'_> {
    fn name_and_version(&self) -> String {
        self.runner.engine().name_and_version()
    }

    fn dialect(&self) -> &'static str {
        self.runner.engine().dialect()
    }

    fn timeout(&self) -> Duration {
        self.runner.engine().timeout()
    }

    fn open(&self, path: &Path) -> Result<Arc<Database>, EngineError> {
        self.runner.engine().open(path)
    }

    fn run(&self, database: &Database, sql: &str) -> Execution {
        self.run_text(database, sql, None)
    }

    fn run_until(&self, database: &Database, sql: &str, enough: &Enough) -> Execution {
        self.run_text(database, sql, Some(enough))
    }

    fn check(&self) -> Result<(), EngineError> {
        if self.stop.load(Ordering::Relaxed) {
            Err(EngineError::Stopped)
        } else {
            self.runner.engine().check()
        }
    }
}
