//! The engine: decides where a query runs and what its attempts mean.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::ErrorCode;

use crate::database::{Database, Source};
use crate::engine::{Engine, EngineError};
use crate::enough::Enough;
use crate::limits::Limits;
use crate::outcome::{Execution, Failure, FailureKind, Outcome};
use crate::statement::{Split, split};

use super::connection::{Attempt, GuardedConnection, Scale};
use super::pool::Pool;
use super::schema_reader::read_schema;

/// Idle connections of one engine; each holds a file descriptor and at most 2 MB of page cache.
const IDLE_CONNECTIONS: usize = 64;

/// How long a query runs on the caller's thread before it is moved to one of its own.
const FIRST_SLICE: Duration = Duration::from_millis(100);

/// With a shorter limit than this, one long instruction in the first slice could pass the limit.
const SHORTEST_SLICED_TIMEOUT: Duration = Duration::from_secs(1);

/// How long after its deadline a query that runs on its own thread may still report.
const GRACE: Duration = Duration::from_millis(15);

/// How long a query that is to run alone waits for threads left behind to end.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Stack of a query's own thread; SQLite's compiler recurses with the nesting of the statement.
const STACK_BYTES: usize = 16 << 20;

/// Runs SQL on SQLite files.
///
/// A query first runs on the calling thread. If it is not done within a tenth of a second, or calls a function
/// of which a single call can take long, it runs (again) on a thread of its own, which is left behind if it does
/// not stop in time: SQLite can be interrupted only between instructions. A query that makes a value of more than
/// 64 KiB runs again with room for it. A query for which SQLite found no
/// memory runs again while no other does, so that its outcome does not depend on its neighbours.
#[derive(Debug)]
pub struct SqliteEngine {
    limits: Limits,
    pool: Arc<Pool>,
}

/// Held by every query; held alone by one that runs out of memory. The heap limit is one of the process.
static HEAP: RwLock<()> = RwLock::new(());

/// Threads left behind that have not ended yet.
static LEFT_BEHIND: AtomicUsize = AtomicUsize::new(0);

/// Who of caller and thread was first to go; keeps [`LEFT_BEHIND`] right whoever it was.
#[derive(Debug, Default)]
struct Parting {
    one_is_gone: AtomicBool,
}

impl Parting {
    fn caller_leaves(&self) {
        LEFT_BEHIND.fetch_add(1, Ordering::AcqRel);
        if self.one_is_gone.swap(true, Ordering::AcqRel) {
            LEFT_BEHIND.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn thread_ends(&self) {
        if self.one_is_gone.swap(true, Ordering::AcqRel) {
            LEFT_BEHIND.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// One way to run a query.
#[derive(Debug, Clone)]
struct Task {
    id: u64,
    source: Arc<Source>,
    pool: Arc<Pool>,
    limits: Limits,
    deadline: Instant,
    scale: Scale,
    /// Not to be started if one instruction of it could take long.
    bounded_only: bool,
    enough: Option<Enough>,
}

impl SqliteEngine {
    /// An engine with those limits.
    pub fn new(limits: Limits) -> Self {
        Self { limits, pool: Arc::new(Pool::new(IDLE_CONNECTIONS)) }
    }

    /// The limits of every query.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Beside other queries first; alone if memory ran out.
    fn run_split(&self, database: &Database, split: &Split<'_>, enough: Option<&Enough>) -> Execution {
        {
            let _shared = HEAP.read().unwrap_or_else(PoisonError::into_inner);
            let started = Instant::now();
            match self.attempts(database, split, started, enough) {
                Ok(Attempt::OutOfMemory) => {}
                last => return self.conclude(last, started),
            }
        }
        let _alone = HEAP.write().unwrap_or_else(PoisonError::into_inner);
        self.pool.clear();
        let patience = Instant::now() + LONGEST_WAIT;
        while LEFT_BEHIND.load(Ordering::Acquire) > 0 && Instant::now() < patience {
            thread::sleep(Duration::from_millis(5));
        }
        let started = Instant::now();
        let last = self.attempts(database, split, started, enough);
        self.conclude(last, started)
    }

    /// On the caller's thread, then on one of its own, then there with large values, until one attempt is
    /// the last.
    fn attempts(
        &self,
        database: &Database,
        split: &Split<'_>,
        started: Instant,
        enough: Option<&Enough>,
    ) -> Result<Attempt, Failure> {
        let mut task = Task {
            id: database.id(),
            source: Arc::clone(database.source()),
            pool: Arc::clone(&self.pool),
            limits: self.limits,
            deadline: started + FIRST_SLICE,
            scale: Scale::Ordinary,
            bounded_only: true,
            enough: enough.cloned(),
        };
        let mut last = if self.limits.timeout >= SHORTEST_SLICED_TIMEOUT {
            task.run(split)?
        } else {
            Attempt::Unbounded
        };
        task.deadline = started + self.limits.timeout;
        task.bounded_only = false;
        if matches!(last, Attempt::Expired { .. } | Attempt::Unbounded) {
            last = task.run_apart(split)?;
        }
        if matches!(last, Attempt::LargeValue(_)) {
            task.scale = Scale::Large;
            last = task.run_apart(split)?;
        }
        Ok(last)
    }

    /// The execution that the last attempt amounts to.
    fn conclude(&self, last: Result<Attempt, Failure>, started: Instant) -> Execution {
        let (failure, vm_steps) = match last {
            Ok(Attempt::Finished(execution)) => return execution,
            Err(failure) | Ok(Attempt::LargeValue(failure)) => (failure, 0),
            Ok(Attempt::Expired { vm_steps }) => {
                let seconds = self.limits.timeout.as_secs_f64();
                (Failure::new(FailureKind::Timeout, format!("not done after {seconds} s")), vm_steps)
            }
            Ok(Attempt::OutOfMemory | Attempt::Unbounded) => {
                let bytes = self.limits.max_heap_bytes;
                let message = format!("needs more than {bytes} bytes of working memory");
                (Failure::new(FailureKind::TooLarge, message), 0)
            }
        };
        Execution { outcome: Outcome::Failed(failure), vm_steps, elapsed: started.elapsed() }
    }
}

impl Task {
    /// On this thread, with a connection from the pool, which goes back unless memory ran out in it.
    fn run(&self, split: &Split<'_>) -> Result<Attempt, Failure> {
        let pooled = self.scale == Scale::Ordinary;
        let connection = match self.pool.take(self.id).filter(|_| pooled) {
            Some(connection) => connection,
            None => match connect(&self.source, &self.limits, self.scale) {
                Ok(connection) => connection,
                Err(Unconnected::OutOfMemory) => return Ok(Attempt::OutOfMemory),
                Err(Unconnected::Failed(error)) => {
                    return Err(Failure::new(FailureKind::DatabaseError, error.to_string()));
                }
            },
        };
        // The binding asserts that SQLite hands out names and texts; it does not when memory has run out.
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            connection.attempt(split, &self.limits, self.deadline, self.bounded_only, self.enough.as_ref())
        }))
        .unwrap_or(Attempt::OutOfMemory);
        if pooled && !matches!(attempt, Attempt::OutOfMemory) {
            self.pool.put(self.id, connection);
        }
        Ok(attempt)
    }

    /// On a thread of its own, until the deadline and not much longer.
    fn run_apart(&self, split: &Split<'_>) -> Result<Attempt, Failure> {
        let (task, split) = (self.clone(), split.into_owned());
        let (report, reported) = sync_channel(1);
        let parting = Arc::new(Parting::default());
        let of_thread = Arc::clone(&parting);
        let body = move || {
            // A caller that has left wants no result.
            let _ = report.send(task.run(&split.borrow()));
            of_thread.thread_ends();
        };
        thread::Builder::new()
            .name("sqlgauge-query".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(body)
            .map_err(|error| {
                let message = format!("no thread could be started for the query ({error})");
                Failure::new(FailureKind::RuntimeError, message)
            })?;
        match reported.recv_timeout((self.deadline + GRACE).saturating_duration_since(Instant::now())) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => {
                parting.caller_leaves();
                Ok(Attempt::Expired { vm_steps: 0 })
            }
            Err(RecvTimeoutError::Disconnected) => Ok(Attempt::OutOfMemory),
        }
    }
}

/// Why there is no connection.
enum Unconnected {
    OutOfMemory,
    Failed(EngineError),
}

fn connect(source: &Source, limits: &Limits, scale: Scale) -> Result<GuardedConnection, Unconnected> {
    source.check_unchanged().map_err(Unconnected::Failed)?;
    GuardedConnection::open(&source.path, limits, scale).map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::OutOfMemory) => Unconnected::OutOfMemory,
        _ => Unconnected::Failed(open_error(&source.path, &error)),
    })
}

impl Engine for SqliteEngine {
    fn name_and_version(&self) -> String {
        format!("SQLite {}", rusqlite::version())
    }

    fn open(&self, path: &Path) -> Result<Arc<Database>, EngineError> {
        let source = Source::of(path)?;
        check_at_rest(path)?;
        let connection = GuardedConnection::open(path, &self.limits, Scale::Ordinary)
            .map_err(|error| open_error(path, &error))?;
        let schema = read_schema(&connection).map_err(|error| open_error(path, &error))?;
        let database = Arc::new(Database::new(source, schema));
        self.pool.put(database.id(), connection);
        Ok(database)
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
        if sql.len() > self.limits.max_sql_bytes {
            let message = format!(
                "the SQL text has {} bytes, and at most {} are read",
                sql.len(),
                self.limits.max_sql_bytes
            );
            return Execution::failed(Failure::new(FailureKind::TooLarge, message));
        }
        match split(sql) {
            Ok(split) => self.run_split(database, &split, enough),
            Err(failure) => Execution::failed(failure),
        }
    }
}

/// A file opened as immutable is read without its write-ahead log or rollback journal. What a log or hot
/// journal holds would be missing or half-done, so such a file is refused rather than misread.
fn check_at_rest(path: &Path) -> Result<(), EngineError> {
    const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let log = beside("-wal");
    if std::fs::metadata(&log).is_ok_and(|metadata| metadata.len() > 0) {
        return Err(EngineError::NotAtRest { path: path.to_owned(), beside: log });
    }
    let journal = beside("-journal");
    if first_bytes(&journal).is_ok_and(|bytes| bytes == JOURNAL_MAGIC) {
        return Err(EngineError::NotAtRest { path: path.to_owned(), beside: journal });
    }
    Ok(())
}

fn first_bytes(path: &Path) -> std::io::Result<[u8; 8]> {
    use std::io::Read;
    let mut bytes = [0; 8];
    std::fs::File::open(path)?.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn open_error(path: &Path, error: &rusqlite::Error) -> EngineError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {
            EngineError::Damaged { path, message: "its catalog takes too long to read".to_owned() }
        }
        Some(ErrorCode::NotADatabase) => EngineError::NotADatabase { path },
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure) => {
            EngineError::Unreadable { path, source: std::io::Error::other(error.to_string()) }
        }
        _ => EngineError::Damaged { path, message: error.to_string() },
    }
}
