//! What all engines of servers share: lending connections, a second attempt, and whether the query or the server failed.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use sqlgauge_engine::{
    Database, Dependence, Engine, EngineError, Enough, Execution, Failure, FailureKind, FaultCount, Faults,
    Limits, Outcome,
};

use crate::catalog::Catalog;
use crate::kind::Access;
use crate::locks::LockResult;
use crate::pool::Pool;
use crate::rows::Stop;
use crate::volatile;

/// What to do about an answer without end.
const TOO_LONG: &str =
    "check that --db names the server that you mean, and let the role read fewer tables and schemas";
/// Characters of what a server says that are kept; the records of a run hold them.
const LONGEST_MESSAGE: usize = 4096;
/// How long after its own limit the server is asked to end a query.
pub(crate) const GRACE: Duration = Duration::from_millis(500);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("{message} ({code})")]
    Refused {
        code: String,
        /// In words.
        message: String,
    },
    /// The deadline has passed; the connection may still be of use, see [`Server::cancel`].
    #[error("no answer in time")]
    Late,
    /// A frame is longer than it may be; the connection is of no use.
    #[error("a frame of {0} bytes")]
    TooLarge(usize),
    /// The answer to a question of ours is longer than any catalog.
    #[error("the server sends more than a catalog holds")]
    Endless,
    /// Somebody else may be to blame. It counts if it comes again with no other query beside it.
    #[error("{0}")]
    Contested(Failure),
    /// The connection is gone.
    #[error("{0}")]
    Lost(#[from] io::Error),
}

impl Broken {
    pub(crate) fn refused(code: &str, message: &str) -> Self {
        let message = message.chars().take(LONGEST_MESSAGE).collect();
        Self::Refused { code: code.to_owned(), message }
    }

    /// What a read that failed is.
    pub(crate) fn of_read(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Late,
            _ => Self::Lost(error),
        }
    }

    /// The same for a connection on which no query may begin any more.
    pub(crate) fn lost(self) -> Self {
        match self {
            Self::Lost(_) | Self::Endless => self,
            other => Self::Lost(io::Error::other(other.to_string())),
        }
    }
}

/// Whom a refusal of the server blames, by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blame {
    Query,
    /// The query if its time is over; before that somebody else ended it or held a lock that it waits for.
    Clock,
    /// The query if it comes again without others, which share the memory of the server.
    Crowd,
}

/// What is left of a query that was asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// Nothing: the connection is as it was.
    Ready,
    /// The query is over, and the connection is of no use any more.
    Over,
    /// The server did not do it in time. The connection is of no use any more.
    Unanswered,
}

/// How a query ended.
pub(crate) enum End {
    /// The server is ready for the next.
    Ready(Outcome),
    /// The server is still at it.
    Running(Outcome),
}

impl End {
    /// A query that is over and has failed.
    pub(crate) fn failed(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::Ready(Outcome::Failed(Failure::new(kind, message)))
    }
}

impl From<Stop> for End {
    fn from(stop: Stop) -> Self {
        Self::Running(match stop {
            Stop::Enough(rows) => Outcome::Rows(Arc::new(rows)),
            Stop::TooLarge(failure) => Outcome::Failed(failure),
        })
    }
}

/// One database on a kind of server, as all connections to it share it.
pub(crate) trait Server: fmt::Debug + Send + Sync + Sized + 'static {
    /// The name that people know.
    const NAME: &'static str;
    /// The dialect of its queries.
    const DIALECT: &'static str;
    /// Whether the data of an open database can change while queries run.
    const CAN_CHANGE: bool = false;
    /// How an address is written.
    const FORM: &'static str;
    /// What to do when the server fails in the middle of a run.
    const AGAIN: &'static str = "see that the server runs and answers and that no session holds locks on its tables, then run the same \
        command again: it goes on where it stopped";
    /// The class of a server's refusal of a query, by its code and message. [`FailureKind::Machine`] says nothing of the query.
    const FAILURE: fn(&str, &str) -> Failure;
    /// Whom that refusal blames, by its code.
    const BLAME: fn(&str) -> Blame;
    /// Whether [`Server::content`] tells one state of the rows from another, so that a result may stand for them later.
    const SEES_ROWS: bool = true;

    /// Where it is.
    type Address: fmt::Debug + Send + Sync;
    /// A connection that has logged in.
    type Connection: fmt::Debug + Send;

    /// The dialect of the queries at an address.
    fn dialect(address: &Self::Address) -> &'static str {
        let _ = address;
        Self::DIALECT
    }

    /// How the connection is protected, and what no lock bounds and the owner of the server can do instead.
    fn untried(&self) -> Vec<LockResult>;

    /// Takes an address apart, or says what is wrong with it.
    fn address(path: &Path, access: &Access) -> Result<Self::Address, String>;

    /// Connects and logs in.
    fn connect(address: &Self::Address, access: &Access) -> Result<Self::Connection, Broken>;

    fn version(connection: &Self::Connection) -> String;

    /// Reads the catalog by the first connection.
    fn open(address: &Self::Address, connection: Self::Connection) -> Result<(Self, Catalog), Broken>;

    /// Queries that return another row when a row of the table changes, the best first.
    fn content(table: &str) -> Vec<String>;

    /// Why a text is not sent to a server that would not refuse it.
    fn refuse(&self, sql: &str) -> Option<Failure> {
        let _ = sql;
        None
    }

    /// Runs one query. What an earlier one has set is gone.
    fn attempt(
        &self,
        connection: &mut Self::Connection,
        sql: &str,
        limits: &Limits,
        enough: Option<&Enough>,
    ) -> Result<End, Broken>;

    /// Has the server end what the connection runs, and waits until it has: a request that is still on its way would end the next
    /// query of the connection. A process is ended when it is dropped.
    fn cancel(connection: &mut Self::Connection) -> Cancelled {
        let _ = connection;
        Cancelled::Over
    }

    /// Begins to forget what the query has set; the server does it while the rows are compared. `false` if the connection is of
    /// no use any more. A process has forgotten it already.
    fn begin_cleaning(connection: &mut Self::Connection) -> bool {
        let _ = connection;
        true
    }

    /// What to do when a database cannot be opened; the code is empty where the server did not answer.
    fn remedy(code: &str) -> &'static str;
}

/// Runs SQL on the databases of a server.
#[derive(Debug)]
pub(crate) struct ServerEngine<S: Server> {
    limits: Limits,
    access: Access,
    served: Mutex<HashMap<PathBuf, Arc<Served<S>>>>,
    version: OnceLock<String>,
    dialect: OnceLock<&'static str>,
    /// Things for which no query is to blame.
    faults: Faults<(PathBuf, String)>,
    queries: AtomicU64,
}

/// A database that is open.
#[derive(Debug)]
pub(crate) struct Served<S: Server> {
    address: S::Address,
    database: Arc<Database>,
    pool: Pool<S::Connection>,
    pub(crate) server: S,
    catalog: Catalog,
}

impl<S: Server> ServerEngine<S> {
    /// An engine with those limits. Nothing is connected yet.
    pub(crate) fn new(limits: Limits, access: Access) -> Self {
        Self {
            limits,
            access,
            served: Mutex::default(),
            version: OnceLock::new(),
            dialect: OnceLock::new(),
            faults: Faults::default(),
            queries: AtomicU64::new(0),
        }
    }

    pub(crate) fn served(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Served<S>>>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self, path: &Path) -> Result<Served<S>, EngineError> {
        // An address may hold a password where none is read.
        let public_address =
            || PathBuf::from(sqlgauge_base::without_secrets(&path.display().to_string()).into_owned());
        let address = S::address(path, &self.access).map_err(|message| EngineError::Server {
            address: public_address(),
            message,
            remedy: S::FORM,
        })?;
        let unusable = |broken: Broken| {
            let remedy = match &broken {
                Broken::Refused { code, .. } => S::remedy(code),
                Broken::Endless | Broken::TooLarge(_) => TOO_LONG,
                _ => S::remedy(""),
            };
            EngineError::Server { address: public_address(), message: broken.to_string(), remedy }
        };
        let first = S::connect(&address, &self.access).map_err(unusable)?;
        let _known = self.version.set(S::version(&first));
        let _known = self.dialect.set(S::dialect(&address));
        let (server, catalog) = S::open(&address, first).map_err(unusable)?;
        let connections = match self.access.connections {
            0 => Access::CONNECTIONS,
            count => count,
        };
        let blank = Arc::new(Database::on_server(path.to_owned(), catalog.schema.clone(), ""));
        let mut opened = Served { address, database: blank, pool: Pool::new(connections), server, catalog };
        opened.database = self.with_version(&opened)?;
        Ok(opened)
    }

    /// The database under the version of its data as they are now.
    fn with_version(&self, served: &Served<S>) -> Result<Arc<Database>, EngineError> {
        let version = self.data_version(served)?;
        let (path, schema) = (served.database.path().to_owned(), served.catalog.schema.clone());
        Ok(Arc::new(Database::on_server(path, schema, &version)))
    }

    /// A text that changes with the rows: of each table a hash of them all, or their number where that takes too long.
    fn data_version(&self, served: &Served<S>) -> Result<String, EngineError> {
        let mut version = served.catalog.digest.clone();
        for table in &served.catalog.tables {
            let queries = S::content(table);
            let rows = queries.iter().find_map(|sql| self.run_sent(served, sql, None).rows().cloned());
            self.check()?;
            let rows = rows.map(|rows| format!("{:?}", rows.values())).unwrap_or_default();
            version.extend(["\n", table.as_str(), " ", rows.as_str()]);
        }
        Ok(version)
    }

    fn run_text(&self, database: &Database, sql: &str, enough: Option<&Enough>) -> Execution {
        let served = self.served().get(database.path()).cloned();
        let Some(served) = served else {
            return Execution::failed(Failure::new(FailureKind::DatabaseError, "the database is not open"));
        };
        match refuse(sql, &self.limits).or_else(|| served.server.refuse(sql)) {
            Some(failure) => Execution::failed(failure),
            None => self.run_sent(&served, sql, enough),
        }
    }

    /// Once more, on a fresh connection and with no other query beside it, where the first attempt says nothing of the query: its
    /// connection was lost, the server ended it before its time, or did not answer at all.
    pub(crate) fn run_sent(&self, served: &Served<S>, sql: &str, enough: Option<&Enough>) -> Execution {
        let open = || S::connect(&served.address, &self.access);
        let attempt = |idle: Option<S::Connection>| match idle.map_or_else(open, Ok) {
            Ok(connection) => run(&served.server, connection, sql, &self.limits, enough),
            Err(broken) => (Err(Broken::Contested(unreachable(&broken))), None),
        };
        self.queries.fetch_add(1, Ordering::Relaxed);
        let began = self.faults.count();
        if let Ok(execution) = served.pool.with(attempt) {
            return self.watched(served, execution);
        }
        let again = served.pool.alone(|_| match self.faults.since(began) {
            // The server failed while this query waited: it would only wait as long once more.
            Some((_, message)) => (Err(Broken::Contested(Failure::new(FailureKind::Machine, message))), None),
            None => attempt(None),
        });
        let failure = match again {
            Ok(execution) => return self.watched(served, execution),
            Err(Broken::Contested(failure)) if failure.kind != FailureKind::Timeout => failure,
            // Neither the end of the query nor its request to end came: a server that takes new connections has only a slow query.
            Err(Broken::Contested(failure)) => open().map_or_else(|broken| unreachable(&broken), |_| failure),
            // It ends the connection of the same query twice, and takes new ones.
            Err(lost) => {
                let message = format!("the server ended the connection ({lost})");
                let kind = if open().is_ok() { FailureKind::RuntimeError } else { FailureKind::Machine };
                Failure::new(kind, message)
            }
        };
        self.watched(served, Execution::failed(failure))
    }

    /// Keeps that the server failed, for [`Engine::check`].
    fn watched(&self, served: &Served<S>, execution: Execution) -> Execution {
        if let Some(failure) =
            execution.outcome.failure().filter(|failure| failure.kind == FailureKind::Machine)
        {
            self.faults.add((served.database.path().to_owned(), failure.message.clone()));
        }
        execution
    }
}

/// Runs a query on a connection, which comes back if it is of further use. `Err` if it was lost.
fn run<S: Server>(
    server: &S,
    mut connection: S::Connection,
    sql: &str,
    limits: &Limits,
    enough: Option<&Enough>,
) -> (Result<Execution, Broken>, Option<S::Connection>) {
    let started = Instant::now();
    let failed = |failure| End::Running(Outcome::Failed(failure));
    let end = match server.attempt(&mut connection, sql, limits, enough) {
        Ok(end) => end,
        Err(Broken::Refused { code, message }) => failed((S::FAILURE)(&code, &message)),
        Err(Broken::Late) => failed(late(limits)),
        Err(Broken::TooLarge(bytes)) => {
            let message = format!("a row of {bytes} bytes, and at most {} are read", limits.max_value_bytes);
            let failure = Failure::new(FailureKind::TooLarge, message);
            // The frame that follows is not read, so nothing else can be.
            return (Ok(finished(Outcome::Failed(failure), started.elapsed())), None);
        }
        Err(lost) => return (Err(lost), None),
    };
    let elapsed = started.elapsed();
    let (outcome, state) = match end {
        End::Ready(outcome) => (outcome, Cancelled::Ready),
        End::Running(outcome) => (outcome, S::cancel(&mut connection)),
    };
    if let (Cancelled::Unanswered, Some(late)) = (state, outcome.failure())
        && late.kind == FailureKind::Timeout
    {
        return (Err(Broken::Contested(late.clone())), None);
    }
    let is_clean = state == Cancelled::Ready && S::begin_cleaning(&mut connection);
    (Ok(finished(outcome, elapsed)), is_clean.then_some(connection))
}

/// What a refusal of the server is to the query that began then.
///
/// # Errors
/// [`Broken::Contested`] where somebody else may be to blame.
pub(crate) fn refusal<S: Server>(
    code: &str,
    message: &str,
    began: Instant,
    limits: &Limits,
) -> Result<Failure, Broken> {
    let failure = (S::FAILURE)(code, message);
    match (S::BLAME)(code) {
        Blame::Query => Ok(failure),
        Blame::Clock if began.elapsed() >= limits.timeout => Ok(failure),
        Blame::Clock => {
            let message = format!("a query was ended before its time limit: {message}");
            Err(Broken::Contested(Failure::new(FailureKind::Machine, message)))
        }
        Blame::Crowd => Err(Broken::Contested(failure)),
    }
}

fn unreachable(broken: &Broken) -> Failure {
    Failure::new(FailureKind::Machine, format!("the server takes no new connection ({broken})"))
}

fn late(limits: &Limits) -> Failure {
    Failure::new(FailureKind::Timeout, format!("ran longer than {} s", limits.timeout.as_secs_f64()))
}

fn finished(outcome: Outcome, elapsed: Duration) -> Execution {
    Execution { outcome, vm_steps: 0, elapsed, depends_on: Dependence::default() }
}

impl<S: Server> Engine for ServerEngine<S> {
    fn name_and_version(&self) -> String {
        let version = self.version.get().map_or("", String::as_str);
        format!("{} {version}", S::NAME).trim_end().to_owned()
    }

    fn dialect(&self) -> &'static str {
        self.dialect.get().copied().unwrap_or(S::DIALECT)
    }

    fn is_repeatable(&self, sql: &str, _: &Execution) -> bool {
        S::SEES_ROWS && volatile::is_repeatable(sql)
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
        let entry = all.entry(path.to_owned()).or_insert(served);
        Ok(Arc::clone(&entry.database))
    }

    fn run(&self, database: &Database, sql: &str) -> Execution {
        self.run_text(database, sql, None)
    }

    fn run_until(&self, database: &Database, sql: &str, enough: &Enough) -> Execution {
        self.run_text(database, sql, Some(enough))
    }

    fn check(&self) -> Result<(), EngineError> {
        self.check_since(FaultCount::default())
    }

    fn faults(&self) -> FaultCount {
        FaultCount::of_queries(self.faults.count())
    }

    fn check_since(&self, began: FaultCount) -> Result<(), EngineError> {
        let error = |(address, message)| EngineError::Server { address, message, remedy: S::AGAIN };
        self.faults.since(began.queries()).map_or(Ok(()), |fault| Err(error(fault)))
    }

    fn queries(&self) -> Option<u64> {
        Some(self.queries.load(Ordering::Relaxed))
    }

    fn check_data(&self) -> Result<(), EngineError> {
        let open: Vec<Arc<Served<S>>> = self.served().values().filter(|_| S::CAN_CHANGE).cloned().collect();
        for served in open {
            if self.with_version(&served)?.content_hash()? != served.database.content_hash()? {
                return Err(EngineError::Changed { path: served.database.path().to_owned() });
            }
        }
        Ok(())
    }
}

/// What no server has to read to be refused.
fn refuse(sql: &str, limits: &Limits) -> Option<Failure> {
    if sql.len() > limits.max_sql_bytes {
        let message =
            format!("the SQL text has {} bytes, and at most {} are read", sql.len(), limits.max_sql_bytes);
        return Some(Failure::new(FailureKind::TooLarge, message));
    }
    let nul = || Failure::new(FailureKind::NulByte, "the SQL text has a NUL, which SQL text may not contain");
    sql.contains('\0').then(nul)
}
