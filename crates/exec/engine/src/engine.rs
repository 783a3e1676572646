//! The trait through which all SQL runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlgauge_sql::quote;
use thiserror::Error;

use crate::database::Database;
use crate::enough::Enough;
use crate::faults::FaultCount;
use crate::outcome::{Dependence, Execution};

/// The dialect of SQLite.
const SQLITE: &str = "sqlite";

/// Runs untrusted SQL on databases.
///
/// An engine is shared by all threads; the outcome of a query does not depend on their number.
pub trait Engine: Send + Sync {
    /// Name and version of what runs the SQL, for a run's record: `SQLite 3.54.0`.
    fn name_and_version(&self) -> String;

    /// The dialect of the queries, by its name in crate `dialects`: `sqlite`, `postgres`, `mysql`; or any other name.
    fn dialect(&self) -> &'static str {
        SQLITE
    }

    /// Whether the queries are SQLite's: what reads texts by SQLite's rules has no meaning on another engine.
    fn is_sqlite(&self) -> bool {
        self.dialect() == SQLITE
    }

    /// A name in the quotes of the dialect.
    fn quoted(&self, name: &str) -> String {
        match self.dialect() {
            "mysql" | "bigquery" | "spark" => format!("`{}`", name.replace('`', "``")),
            _ => quote::name(name),
        }
    }

    /// Whether the text returns the same again on the same data, given how it ran.
    fn is_repeatable(&self, sql: &str, execution: &Execution) -> bool {
        let _ = sql;
        execution.depends_on == Dependence::default()
    }

    /// Processor time that one query may take, see [`Limits::timeout`](crate::Limits::timeout).
    fn timeout(&self) -> Duration;

    /// Opens a database for reading and reads its catalog.
    ///
    /// # Errors
    /// When the file is missing, unreadable, damaged, no database, or not at rest.
    fn open(&self, path: &Path) -> Result<Arc<Database>, EngineError>;

    /// Runs one SQL text. Whatever the text says, the database stays as it is and the call returns a typed
    /// outcome within the engine's limits.
    fn run(&self, database: &Database, sql: &str) -> Execution;

    /// Whether every query could be run. An engine that could not run one, for a reason that is not the query's, says so
    /// here; what it returned then is no outcome.
    ///
    /// # Errors
    /// [`EngineError::NoWorker`], [`EngineError::Stopped`], [`EngineError::Machine`].
    fn check(&self) -> Result<(), EngineError> {
        Ok(())
    }

    /// How much the machine has failed at so far, for [`Engine::check_since`].
    fn faults(&self) -> FaultCount {
        FaultCount::default()
    }

    /// As [`Engine::check`], of the time since `began` alone: whoever shares the engine asks about his own queries.
    ///
    /// # Errors
    /// Those of [`Engine::check`].
    fn check_since(&self, began: FaultCount) -> Result<(), EngineError> {
        let _ = began;
        self.check()
    }

    /// How many queries a server was asked; `None` where none is.
    fn queries(&self) -> Option<u64> {
        None
    }

    /// Whether the data of the databases that are open are what they were. Asked once, at the end of a job; what an engine holds
    /// as it is, or looks at all the time, it need not look at again.
    ///
    /// # Errors
    /// [`EngineError::Changed`].
    fn check_data(&self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Runs one SQL text as [`Engine::run`] does, but not further than until it has returned `enough`. An engine that
    /// cannot stop in between runs it to its end.
    fn run_until(&self, database: &Database, sql: &str, enough: &Enough) -> Execution {
        let _ = enough;
        self.run(database, sql)
    }
}

/// Why a database cannot be used.
#[derive(Debug, Error)]
pub enum EngineError {
    /// There is no such file.
    #[error("database `{}` does not exist: check the database folder and the db_id", path.display())]
    NotFound {
        /// The path as given.
        path: PathBuf,
    },
    /// The path is a folder.
    #[error("`{}` is a folder, not a database file: name the .sqlite file inside it", path.display())]
    IsDirectory {
        /// The path as given.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("database `{}` cannot be read ({source}): {}", path.display(), remedy(source))]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is something else.
    #[error("`{}` is not a SQLite database: check that the path names a database file", path.display())]
    NotADatabase {
        /// The path as given.
        path: PathBuf,
    },
    /// The file is a database with damage that keeps its catalog from being read.
    #[error("database `{}` is damaged ({message}): restore it from its source", path.display())]
    Damaged {
        /// The path as given.
        path: PathBuf,
        /// What SQLite said.
        message: String,
    },
    /// What the database declares is more than is read of it.
    #[error(
        "the definitions in database `{}` are over a limit ({message}): shorten the longest, such as a CHECK with a long \
         list, or leave it out",
        path.display()
    )]
    Oversized {
        /// The path as given.
        path: PathBuf,
        /// What is over it.
        message: String,
    },
    /// The memory that SQLite may use does not even hold the catalog.
    #[error(
        "database `{}` needs more memory to be opened than SQLite may use: allow more with --max-heap, or lift the \
         limit of the system (ulimit -v)",
        path.display()
    )]
    OutOfMemory {
        /// The path as given.
        path: PathBuf,
    },
    /// Another program has left work beside the file that is not in the file yet.
    #[error(
        "database `{}` has unfinished changes in `{}`: open it once with a writing program, such as the \
         sqlite3 shell with `PRAGMA wal_checkpoint(TRUNCATE)`, so that the file is complete",
        path.display(), changes.display()
    )]
    NotAtRest {
        /// The path as given.
        path: PathBuf,
        /// The log or journal beside it.
        changes: PathBuf,
    },
    /// There is no process to run queries in.
    #[error(
        "no process for queries could be started from `{}` ({reason}): check that the program is whole and that the \
         system has room for one more process, or use fewer --jobs",
        program.display()
    )]
    NoWorker {
        /// The program.
        program: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The machine failed while a query ran.
    #[error(
        "a query on database `{}` could not be run ({message}): allow more open files (ulimit -n) or use fewer --jobs, \
         and check the disk, then run the same command again",
        path.display()
    )]
    Machine {
        /// The database.
        path: PathBuf,
        /// What SQLite or the system said.
        message: String,
    },
    /// A server cannot be used.
    #[error("the server of `{}` cannot be used ({message}): {remedy}", address.display())]
    Server {
        /// The address as given; it holds no secret.
        address: PathBuf,
        /// What the server or the system said.
        message: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Whoever asked for the queries wants no more of them.
    #[error("the queries were stopped before they had ended")]
    Stopped,
    /// The file was replaced or written to while it was open.
    #[error("database `{}` was changed while it was in use: run again on data that stay as they are", path.display())]
    Changed {
        /// The path as given.
        path: PathBuf,
    },
}

/// What to do where a file cannot be read.
fn remedy(source: &io::Error) -> &'static str {
    // "Too many open files" and the same of the whole system have no kind of their own.
    match source.raw_os_error() {
        Some(23 | 24) if cfg!(unix) => "allow more open files (ulimit -n), or use fewer threads with --jobs",
        _ => "check its permissions",
    }
}
