//! The engine as one answer sees it: the gold has run, the answer runs once.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlgauge_engine::{Database, Engine, EngineError, Enough, Execution, SqliteEngine, Stoppable};

use crate::lanes::Lanes;

/// The wish of nobody to stop.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What runs the queries of one piece of a batch.
pub(crate) struct Answering<'a> {
    engine: Stoppable<&'a SqliteEngine, &'a AtomicBool>,
    lanes: &'a Lanes,
    /// Texts that have run, the answer's among them once it has.
    known: Mutex<Vec<(String, Execution)>>,
}

impl<'a> Answering<'a> {
    pub(crate) fn new(engine: &'a SqliteEngine, lanes: &'a Lanes, stop: Option<&'a AtomicBool>) -> Self {
        let engine = Stoppable::new(engine, stop.unwrap_or(&NEVER));
        Self { engine, lanes, known: Mutex::default() }
    }

    /// Takes that execution for the text.
    pub(crate) fn know(&self, sql: &str, execution: &Execution) {
        self.lock().push((sql.to_owned(), execution.clone()));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(String, Execution)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_text(&self, database: &Database, sql: &str, enough: Option<&Enough>) -> Execution {
        let is_of_use = |known: &Execution| {
            known.rows().is_none_or(|rows| {
                !rows.is_beginning() || enough.is_some_and(|enough| enough.is_reached_by(rows))
            })
        };
        let known = self.lock().iter().find(|(text, known)| text == sql && is_of_use(known)).cloned();
        if let Some((_, execution)) = known {
            return execution;
        }
        let execution = self.engine.run_text(database, sql, enough, |run| self.lanes.outside(run));
        self.know(sql, &execution);
        execution
    }
}

impl Engine for Answering<'_> {
    fn name_and_version(&self) -> String {
        self.engine.name_and_version()
    }

    fn timeout(&self) -> Duration {
        self.engine.timeout()
    }

    fn open(&self, path: &Path) -> Result<Arc<Database>, EngineError> {
        self.engine.open(path)
    }

    fn run(&self, database: &Database, sql: &str) -> Execution {
        self.run_text(database, sql, None)
    }

    fn run_until(&self, database: &Database, sql: &str, enough: &Enough) -> Execution {
        self.run_text(database, sql, Some(enough))
    }

    fn check(&self) -> Result<(), EngineError> {
        self.engine.check()
    }
}
