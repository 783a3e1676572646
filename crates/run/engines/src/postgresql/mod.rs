//! PostgreSQL.
//!
//! Each query runs alone: a READ ONLY transaction on the snapshot that all workers share, limits set anew inside it, one statement by
//! the extended protocol, then ROLLBACK and DISCARD ALL. The server ends a query at its time limit; half a second later the
//! client asks it to, over another connection; two seconds later the connection is closed, which the server notices within a second.

mod catalog;
mod connection;
mod errors;
mod query;
mod values;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use sqlgauge_engine::{
    Database, Engine, EngineError, Enough, Execution, Failure, FailureKind, Limits, Outcome,
};

use crate::address::Address;
use crate::kind::Access;
use crate::pool::Pool;

use connection::{Broken, Connection};

pub(crate) use catalog::{check, setup};

const DEFAULT_PORT: u16 = 5432;

/// Runs SQL on databases of a PostgreSQL server.
#[derive(Debug)]
pub struct PostgresEngine {
    limits: Limits,
    access: Access,
    served: Mutex<HashMap<PathBuf, Arc<Served>>>,
    version: OnceLock<String>,
    /// The first thing for which no query is to blame.
    fault: Mutex<Option<(PathBuf, String)>>,
}

/// A database that is open.
#[derive(Debug)]
struct Served {
    address: Address,
    database: Arc<Database>,
    pool: Pool<Connection>,
    snapshot: String,
    major: u32,
    /// Its transaction holds the snapshot.
    _keeper: Connection,
}

impl PostgresEngine {
    /// An engine with those limits. Nothing is connected yet.
    pub fn new(limits: Limits, access: Access) -> Self {
        Self { limits, access, served: Mutex::default(), version: OnceLock::new(), fault: Mutex::default() }
    }

    fn served(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Served>>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connections(&self) -> usize {
        match self.access.connections {
            0 => Access::CONNECTIONS,
            given => given,
        }
    }

    fn connect(&self, path: &Path) -> Result<Served, EngineError> {
        let address = parsed(path)?;
        let password = self.access.password.as_ref();
        let mut keeper = Connection::open(&address, password).map_err(|broken| unusable(path, &broken))?;
        let catalog = catalog::read(&mut keeper).map_err(|broken| unusable(path, &broken))?;
        let _known = self.version.set(keeper.version.clone());
        let mut served = Served {
            major: major(&keeper.version),
            address,
            database: Arc::new(Database::on_server(path.to_owned(), catalog.schema.clone(), "")),
            pool: Pool::new(self.connections()),
            snapshot: catalog.snapshot.clone(),
            _keeper: keeper,
        };
        let version = self.data_version(&served, &catalog)?;
        self.check()?;
        served.database = Arc::new(Database::on_server(path.to_owned(), catalog.schema, &version));
        Ok(served)
    }

    /// A text that changes with the rows: of each table a hash of them all, or their number where that takes too long.
    fn data_version(&self, served: &Served, catalog: &catalog::Catalog) -> Result<String, EngineError> {
        let mut version = catalog.digest.clone();
        for table in &catalog.tables {
            let exact = format!("SELECT count(*), sum(hashtextextended(t::text, 0)) FROM {table} t");
            let fast = format!("SELECT count(*) FROM {table}");
            let rows = [exact, fast].iter().find_map(|sql| self.run_on(served, sql, None).rows().cloned());
            self.check()?;
            let rows = rows.map(|rows| format!("{:?}", rows.values())).unwrap_or_default();
            version.extend(["\n", table.as_str(), " ", rows.as_str()]);
        }
        Ok(version)
    }

    /// Once more where the connection was lost: it may have been closed while it was idle. A server that ends the connection of
    /// the same query twice and takes new ones has answered it.
    fn run_on(&self, served: &Served, sql: &str, enough: Option<&Enough>) -> Execution {
        if let Some(failure) = refused_unread(sql, &self.limits) {
            return Execution::failed(failure);
        }
        let mut lost = String::new();
        for attempt in 0..2 {
            let answer = served.pool.with(|idle| {
                let idle = idle.filter(|_| attempt == 0);
                let open = || Connection::open(&served.address, self.access.password.as_ref());
                match idle.map_or_else(open, Ok) {
                    Ok(connection) => query::run(connection, served, sql, &self.limits, enough),
                    Err(broken) => (Err(broken), None),
                }
            });
            match answer {
                Ok(execution) => return self.watched(served, execution),
                Err(broken) => lost = broken.to_string(),
            }
        }
        let reopened = Connection::open(&served.address, self.access.password.as_ref());
        let kind = if reopened.is_ok() { FailureKind::RuntimeError } else { FailureKind::Machine };
        let failure = Failure::new(kind, format!("the server ended the connection ({lost})"));
        self.watched(served, Execution::failed(failure))
    }

    /// Keeps that the server failed, for [`Engine::check`].
    fn watched(&self, served: &Served, execution: Execution) -> Execution {
        if let Some(failure) = execution.outcome.failure().filter(|own| own.kind == FailureKind::Machine) {
            let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            fault.get_or_insert_with(|| (served.database.path().to_owned(), failure.message.clone()));
        }
        execution
    }

    fn run_text(&self, database: &Database, sql: &str, enough: Option<&Enough>) -> Execution {
        let served = self.served().get(database.path()).cloned();
        match served {
            Some(served) => self.run_on(&served, sql, enough),
            None => Execution::failed(Failure::new(FailureKind::DatabaseError, "the database is not open")),
        }
    }
}

impl Engine for PostgresEngine {
    fn name_and_version(&self) -> String {
        let version = self.version.get().map_or("", String::as_str);
        format!("PostgreSQL {version}").trim_end().to_owned()
    }

    fn is_sqlite(&self) -> bool {
        false
    }

    fn timeout(&self) -> Duration {
        self.limits.timeout
    }

    fn open(&self, path: &Path) -> Result<Arc<Database>, EngineError> {
        if let Some(served) = self.served().get(path) {
            return Ok(Arc::clone(&served.database));
        }
        let served = Arc::new(self.connect(path)?);
        let mut all = self.served();
        // Of two threads that opened it, the first has the database.
        let kept = all.entry(path.to_owned()).or_insert(served);
        Ok(Arc::clone(&kept.database))
    }

    fn run(&self, database: &Database, sql: &str) -> Execution {
        self.run_text(database, sql, None)
    }

    fn run_until(&self, database: &Database, sql: &str, enough: &Enough) -> Execution {
        self.run_text(database, sql, Some(enough))
    }

    fn check(&self) -> Result<(), EngineError> {
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        let error = |(address, message): &(PathBuf, String)| EngineError::Server {
            address: address.clone(),
            message: message.clone(),
            remedy: "start the server, then run the same command again: it goes on where it stopped",
        };
        fault.as_ref().map_or(Ok(()), |fault| Err(error(fault)))
    }
}

/// What needs no server to be refused. Only a query is prepared at all: what begins otherwise is no query.
fn refused_unread(sql: &str, limits: &Limits) -> Option<Failure> {
    const QUERIES: [&str; 4] = ["SELECT", "WITH", "VALUES", "TABLE"];
    if sql.len() > limits.max_sql_bytes {
        let message =
            format!("the SQL text has {} bytes, and at most {} are read", sql.len(), limits.max_sql_bytes);
        return Some(Failure::new(FailureKind::TooLarge, message));
    }
    if sql.contains('\0') {
        return Some(Failure::new(
            FailureKind::NulByte,
            "the SQL text has a NUL, which SQL text may not contain",
        ));
    }
    let mut words =
        sqlgauge_sql::lex::words(sql).map(|word| word.text).filter(|word| !matches!(*word, "(" | ";"));
    match words.next() {
        None => Some(Failure::new(FailureKind::Empty, "the text holds no SQL statement")),
        Some(first) if QUERIES.iter().any(|word| word.eq_ignore_ascii_case(first)) => None,
        Some(first) if first.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            let first: String = first.chars().take(40).collect();
            Some(Failure::new(
                FailureKind::Denied,
                format!("only queries are run, and this begins with {first}"),
            ))
        }
        Some(_) => Some(Failure::new(FailureKind::SyntaxError, "the text begins with no word of a query")),
    }
}

fn parsed(path: &Path) -> Result<Address, EngineError> {
    Address::parse(path, DEFAULT_PORT).map_err(|error| EngineError::Server {
        // An address that holds a password is not repeated.
        address: sqlgauge_base::without_secrets(&path.display().to_string()).into_owned().into(),
        message: error.to_string(),
        remedy: "write --db as postgresql://USER@HOST:PORT/{db_id}",
    })
}

fn major(version: &str) -> u32 {
    version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0)
}

/// Why a database cannot be opened.
fn unusable(path: &Path, broken: &Broken) -> EngineError {
    let code = if let Broken::Refused { code, .. } = broken { code.as_str() } else { "" };
    let remedy = match code {
        "28P01" | "28000" => "give the password of the role in PGPASSWORD or SQLGAUGE_DB_PASSWORD",
        "3D000" => "check the name of the database, and that {db_id} stands for it in --db",
        "53300" => "allow more connections on the server, or use fewer with --connections",
        "" => "check that the server runs and that --db names its host and port",
        _ => "see `sqlgauge engines setup postgresql --print` for the role that it needs",
    };
    EngineError::Server { address: path.to_owned(), message: broken.to_string(), remedy }
}

/// Rows, or the failure, of an outcome.
fn finished(outcome: Result<Outcome, Failure>, elapsed: Duration) -> Execution {
    let outcome = outcome.unwrap_or_else(Outcome::Failed);
    Execution { outcome, vm_steps: 0, elapsed, depends_on: sqlgauge_engine::Dependence::default() }
}
