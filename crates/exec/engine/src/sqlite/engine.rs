//! The engine: decides where a query runs and what its attempts mean.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rusqlite::ErrorCode;
use sqlgauge_base::regular;

use crate::cutoff::Cutoff;
use crate::database::{Database, Source};
use crate::engine::{Engine, EngineError};
use crate::enough::{Enough, Watch};
use crate::faults::{FaultCount, Faults};
use crate::limits::Limits;
use crate::machine::{is_out_of_memory, machine_error};
use crate::moment::Moment;
use crate::outcome::{Execution, Failure, FailureKind};
use crate::statement::{Split, split};
use crate::worker::{Request, Task, WorkerCommand, Workers, timeout_message};

use super::connection::{Attempt, GuardedConnection, Scale};
use super::growth::compiles_quickly;
use super::guard::TimeLimit;
use super::pool::Pool;
use super::schema_reader::{Apart, COLUMNS, read_schema};

/// Idle connections of one engine; each holds a file descriptor and at most 2 MB of page cache.
const IDLE_CONNECTIONS: usize = 64;

/// How long a query runs in this process before it is moved to a worker, unless somebody says otherwise.
const FIRST_SLICE: Duration = Duration::from_millis(100);

/// Runs SQL on SQLite files.
///
/// [`SqliteEngine::with_workers`] is the engine for texts that are not to be trusted. What is known to compile quickly and
/// calls no function of which a single call can take long first runs on the calling thread. If it is not done within a
/// tenth of a second, makes a value of more than 64 KiB or finds no memory, it runs again in a worker process, with all its
/// time and a heap of its own, and what it came to here counts for nothing. All else runs in a worker from the start. So no
/// outcome depends on what runs beside the query, and none computes much longer than its time limit.
///
/// [`SqliteEngine::new`] has this process alone: a query that is inside one instruction, or compiles, can pass its time
/// limit. A query for which SQLite found no memory runs again while no other does, so that its outcome does not depend on
/// its neighbours either.
#[derive(Debug)]
pub struct SqliteEngine {
    limits: Limits,
    now: Moment,
    pool: Pool,
    workers: Option<Workers>,
    first_slice: Duration,
    /// The databases and the words of the queries that the machine failed.
    faults: Faults<(PathBuf, String)>,
}

/// Without workers: held by every query; held alone by one that runs out of memory. The heap limit is one of the process.
static HEAP: RwLock<()> = RwLock::new(());

/// One query on this thread.
struct Query<'a> {
    source: &'a Source,
    limits: &'a Limits,
    now: Moment,
    split: Split<'a>,
    watch: Option<Watch<'a>>,
    /// Where idle connections are kept, and under which number.
    pool: Option<(&'a Pool, u64)>,
}

impl SqliteEngine {
    /// An engine with those limits that runs everything in this process.
    pub fn new(limits: Limits) -> Self {
        let pool = Pool::new(IDLE_CONNECTIONS);
        Self {
            limits,
            now: Moment::now(),
            pool,
            workers: None,
            first_slice: FIRST_SLICE,
            faults: Faults::default(),
        }
    }

    /// With that moment as the time that all queries take for now; without, it is when the engine was made.
    #[must_use]
    pub fn at(self, now: Moment) -> Self {
        Self { now, ..self }
    }

    /// An engine with those limits that runs in processes of that program what may take long or much memory.
    ///
    /// # Errors
    /// [`EngineError::NoWorker`] when the first of them cannot be started.
    pub fn with_workers(limits: Limits, command: WorkerCommand) -> Result<Self, EngineError> {
        let workers = Workers::start(command, &limits)?;
        Ok(Self { workers: Some(workers), ..Self::new(limits) })
    }

    /// With that time for a query in this process before it is moved to a worker, where it then has all its time.
    #[must_use]
    pub fn with_first_slice(self, first_slice: Duration) -> Self {
        Self { first_slice, ..self }
    }

    /// The first half of [`Engine::run_until`], for a caller that has something to do before the second: runs the text in
    /// this process. `None` if it has to run in a worker ([`SqliteEngine::run_in_worker_until`]), which an engine without workers
    /// never says.
    pub(super) fn run_quickly(
        &self,
        database: &Database,
        sql: &str,
        enough: Option<&Enough>,
    ) -> Option<Execution> {
        let task = match self.checked(database, sql, enough) {
            Ok(task) => task,
            Err(failure) => return Some(Execution::failed(failure)),
        };
        let execution = match self.workers_for(&task) {
            Some(_) => self.quickly_here((database, sql), &task),
            None => Some(self.run_here(&task)),
        };
        execution.map(|execution| self.watched(&task, execution))
    }

    /// The second half: runs the text in a worker, with all its time, or until the cutoff. An engine without workers runs it
    /// here.
    pub(super) fn run_in_worker_until(
        &self,
        database: &Database,
        sql: &str,
        enough: Option<&Enough>,
        cutoff: Cutoff<'_>,
    ) -> Execution {
        let task = match self.checked(database, sql, enough) {
            Ok(task) => task,
            Err(failure) => return Execution::failed(failure),
        };
        let execution = match self.workers_for(&task) {
            Some(workers) => self.apart(workers, sql, &task, (enough, cutoff)),
            None => self.run_here(&task),
        };
        self.watched(&task, execution)
    }

    /// Keeps what the machine failed at, for [`Engine::check`].
    fn watched(&self, task: &Query<'_>, execution: Execution) -> Execution {
        if let Some(failure) =
            execution.outcome.failure().filter(|failure| failure.kind == FailureKind::Machine)
        {
            self.faults.add((task.source.path.clone(), failure.message.clone()));
        }
        execution
    }

    fn task<'a>(&'a self, database: &'a Database, split: Split<'a>, enough: Option<&'a Enough>) -> Query<'a> {
        Query {
            source: database.source(),
            limits: &self.limits,
            now: self.now,
            split,
            watch: enough.map(Watch::new),
            pool: Some((&self.pool, database.id())),
        }
    }

    /// Beside other queries first; alone if memory ran out.
    fn run_here(&self, task: &Query<'_>) -> Execution {
        {
            let _shared = HEAP.read().unwrap_or_else(PoisonError::into_inner);
            let started = Instant::now();
            match task.attempts() {
                Ok(Attempt::OutOfMemory) => {}
                last => return conclude(last, &self.limits, started),
            }
        }
        let _alone = HEAP.write().unwrap_or_else(PoisonError::into_inner);
        self.pool.clear();
        let started = Instant::now();
        conclude(task.attempts(), &self.limits, started)
    }

    /// Here if that is quick; `None` if it is not.
    fn quickly_here(&self, (database, sql): (&Database, &str), task: &Query<'_>) -> Option<Execution> {
        if !compiles_quickly(database, sql) {
            return None;
        }
        let slice = TimeLimit::waiting(self.first_slice.min(self.limits.timeout / 2));
        match task.attempt(Scale::Ordinary, slice, true) {
            Ok(Attempt::Finished(execution)) => Some(execution),
            Err(failure) => Some(Execution::failed(failure)),
            Ok(_) => None,
        }
    }

    fn apart(
        &self,
        workers: &Workers,
        sql: &str,
        task: &Query<'_>,
        (enough, cutoff): (Option<&Enough>, Cutoff<'_>),
    ) -> Execution {
        if let Err(error) = task.source.check_unchanged() {
            return Execution::failed(unusable(&error));
        }
        let request = Request {
            database: task.source.path.clone().into(),
            task: Task::Query(sql.to_owned()),
            limits: self.limits,
            now: self.now,
            until: enough.map(Enough::until),
        };
        workers.run(&request, cutoff)
    }
}

/// Runs a task on this thread, to its end; what a worker does.
pub(crate) fn run_alone(request: &Request) -> Execution {
    let Request { database, task, limits, now, until } = request;
    let source = match Source::of(database.as_ref()) {
        Ok(source) => source,
        Err(error) => return Execution::failed(unusable(&error)),
    };
    let sql = match task {
        Task::Query(sql) => sql,
        Task::Columns(name) => return describe(&source, name, limits, *now),
    };
    match split(sql) {
        Ok(split) => {
            let started = Instant::now();
            let watch = until.as_ref().map(Watch::of);
            let task = Query { source: &source, limits, now: *now, split, watch, pool: None };
            conclude(task.attempts(), limits, started)
        }
        Err(failure) => Execution::failed(failure),
    }
}

/// What SQLite says of the columns of a table or view.
fn describe(source: &Source, name: &str, limits: &Limits, now: Moment) -> Execution {
    let started = Instant::now();
    let last = match connect(source, limits, now, Scale::Ordinary) {
        Ok(connection) => {
            Ok(connection.describe(COLUMNS, name, limits, TimeLimit::computing(limits.timeout)))
        }
        Err(Unconnected::OutOfMemory) => Ok(Attempt::OutOfMemory),
        Err(Unconnected::Failed(error)) => Err(unusable(&error)),
    };
    conclude(last, limits, started)
}

/// The execution that the last attempt amounts to.
fn conclude(last: Result<Attempt, Failure>, limits: &Limits, started: Instant) -> Execution {
    let (failure, vm_steps) = match last {
        Ok(Attempt::Finished(execution)) => return execution,
        Err(failure) | Ok(Attempt::LargeValue(failure)) => (failure, 0),
        Ok(Attempt::Expired { vm_steps }) => {
            (Failure::new(FailureKind::Timeout, timeout_message(limits)), vm_steps)
        }
        Ok(Attempt::OutOfMemory | Attempt::Unbounded) => {
            let message = format!("needs more than {} bytes of working memory", limits.max_heap_bytes);
            (Failure::new(FailureKind::TooLarge, message), 0)
        }
    };
    Execution { vm_steps, elapsed: started.elapsed(), ..Execution::failed(failure) }
}

impl Query<'_> {
    /// With ordinary values; if it makes a larger one, again with large values.
    fn attempts(&self) -> Result<Attempt, Failure> {
        let deadline = TimeLimit::computing(self.limits.timeout);
        match self.attempt(Scale::Ordinary, deadline, false)? {
            Attempt::LargeValue(_) => self.attempt(Scale::Large, deadline, false),
            last => Ok(last),
        }
    }

    /// With a connection from the pool, which goes back unless memory ran out in it. With `bounded_only`, a query is not
    /// started if one instruction of it could take long.
    fn attempt(&self, scale: Scale, deadline: TimeLimit, bounded_only: bool) -> Result<Attempt, Failure> {
        let pool = self.pool.filter(|_| scale == Scale::Ordinary);
        let connection = match pool.and_then(|(pool, id)| pool.take(id)) {
            Some(connection) => connection,
            None => match connect(self.source, self.limits, self.now, scale) {
                Ok(connection) => connection,
                Err(Unconnected::OutOfMemory) => return Ok(Attempt::OutOfMemory),
                Err(Unconnected::Failed(error)) => return Err(unusable(&error)),
            },
        };
        // The binding asserts that SQLite hands out names and texts; it does not when memory has run out.
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            connection.attempt(&self.split, self.limits, deadline, bounded_only, self.watch.clone())
        }))
        .unwrap_or(Attempt::OutOfMemory);
        if let Some((pool, id)) = pool.filter(|_| !matches!(attempt, Attempt::OutOfMemory)) {
            pool.put(id, connection);
        }
        Ok(attempt)
    }
}

/// Why there is no connection.
enum Unconnected {
    OutOfMemory,
    Failed(EngineError),
}

fn connect(
    source: &Source,
    limits: &Limits,
    now: Moment,
    scale: Scale,
) -> Result<GuardedConnection, Unconnected> {
    source.check_unchanged().map_err(Unconnected::Failed)?;
    GuardedConnection::open(source, limits, now, scale).map_err(|error| {
        if is_out_of_memory(&error) {
            Unconnected::OutOfMemory
        } else {
            Unconnected::Failed(open_error(&source.path, &error))
        }
    })
}

impl Engine for SqliteEngine {
    fn name_and_version(&self) -> String {
        format!("SQLite {}", rusqlite::version())
    }

    fn timeout(&self) -> Duration {
        self.limits.timeout
    }

    fn open(&self, path: &Path) -> Result<Arc<Database>, EngineError> {
        let source = Source::of(path)?;
        check_at_rest(path)?;
        let connection = GuardedConnection::open(&source, &self.limits, self.now, Scale::Ordinary)
            .map_err(|error| open_error(path, &error))?;
        let ask = |workers: &Workers, name: &str, timeout: Duration| {
            let limits = Limits { timeout, ..self.limits };
            let task = Task::Columns(name.to_owned());
            let database = path.to_owned();
            workers.run(
                &Request { database: database.into(), task, limits, now: self.now, until: None },
                Cutoff::default(),
            )
        };
        let apart =
            self.workers.as_ref().map(|workers| move |name: &str, timeout| ask(workers, name, timeout));
        let apart = apart.as_ref().map(|apart| apart as &Apart<'_>);
        let schema = read_schema(&connection, apart).map_err(|error| open_error(path, &error))?;
        let database = Arc::new(Database::new(source, schema));
        self.pool.put(database.id(), connection);
        Ok(database)
    }

    fn check(&self) -> Result<(), EngineError> {
        self.check_since(FaultCount::default())
    }

    fn faults(&self) -> FaultCount {
        let workers = self.workers.as_ref().map_or(0, Workers::faults);
        FaultCount { queries: self.faults.count(), workers }
    }

    fn check_since(&self, began: FaultCount) -> Result<(), EngineError> {
        self.workers.as_ref().map_or(Ok(()), |workers| workers.check_since(began.workers))?;
        let fault = self.faults.since(began.queries);
        fault.map_or(Ok(()), |(path, message)| Err(EngineError::Machine { path, message }))
    }

    fn run(&self, database: &Database, sql: &str) -> Execution {
        self.run_text(database, sql, None)
    }

    fn run_until(&self, database: &Database, sql: &str, enough: &Enough) -> Execution {
        self.run_text(database, sql, Some(enough))
    }
}

impl SqliteEngine {
    fn run_text(&self, database: &Database, sql: &str, enough: Option<&Enough>) -> Execution {
        let task = match self.checked(database, sql, enough) {
            Ok(task) => task,
            Err(failure) => return Execution::failed(failure),
        };
        let execution = match self.workers_for(&task) {
            Some(workers) => self
                .quickly_here((database, sql), &task)
                .unwrap_or_else(|| self.apart(workers, sql, &task, (enough, Cutoff::default()))),
            None => self.run_here(&task),
        };
        self.watched(&task, execution)
    }

    /// The query of a text that is worth running.
    fn checked<'a>(
        &'a self,
        database: &'a Database,
        sql: &'a str,
        enough: Option<&'a Enough>,
    ) -> Result<Query<'a>, Failure> {
        if sql.len() > self.limits.max_sql_bytes {
            let message = format!(
                "the SQL text has {} bytes, and at most {} are read",
                sql.len(),
                self.limits.max_sql_bytes
            );
            return Err(Failure::new(FailureKind::TooLarge, message));
        }
        Ok(self.task(database, split(sql)?, enough))
    }

    /// A worker opens the file alone. What has a prelude has run without it before, within the same limits.
    fn workers_for(&self, task: &Query<'_>) -> Option<&Workers> {
        self.workers.as_ref().filter(|_| task.source.prelude.is_none())
    }
}

/// A file opened as immutable is read without its write-ahead log or rollback journal. What a log or hot
/// journal holds would be missing or half-done, so such a file is refused rather than misread. Of a link, SQLite
/// writes them beside the file that it leads to.
fn check_at_rest(path: &Path) -> Result<(), EngineError> {
    const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let target = std::fs::canonicalize(path)
        .map_err(|source| EngineError::Unreadable { path: path.to_owned(), source })?;
    for file in [path, &target] {
        let sibling = |suffix: &str| {
            let mut name = file.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let (log, journal) = (sibling("-wal"), sibling("-journal"));
        if std::fs::metadata(&log).is_ok_and(|metadata| metadata.len() > 0) {
            return Err(EngineError::NotAtRest { path: path.to_owned(), changes: log });
        }
        if first_bytes(&journal).is_ok_and(|bytes| bytes == JOURNAL_MAGIC) {
            return Err(EngineError::NotAtRest { path: path.to_owned(), changes: journal });
        }
    }
    Ok(())
}

fn first_bytes(path: &Path) -> std::io::Result<[u8; 8]> {
    use std::io::Read;
    let mut bytes = [0; 8];
    regular::open(path)?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// What a query comes to whose database cannot be opened.
fn unusable(error: &EngineError) -> Failure {
    match error {
        EngineError::Unreadable { source, .. } => Failure::new(FailureKind::Machine, source.to_string()),
        other => Failure::new(FailureKind::DatabaseError, other.to_string()),
    }
}

fn open_error(path: &Path, error: &rusqlite::Error) -> EngineError {
    let path = path.to_owned();
    if is_out_of_memory(error) {
        return EngineError::OutOfMemory { path };
    }
    if let Some(source) = machine_error(error) {
        return EngineError::Unreadable { path, source };
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {
            EngineError::Oversized { path, message: "they take too long to read".to_owned() }
        }
        // Where a definition is too long, SQLite calls the whole catalog malformed.
        _ if error.to_string().ends_with("string or blob too big") => {
            EngineError::Oversized { path, message: "one of them is too long".to_owned() }
        }
        Some(ErrorCode::NotADatabase) => EngineError::NotADatabase { path },
        _ => EngineError::Damaged { path, message: error.to_string() },
    }
}
