//! An in-memory SQLite that runs untrusted queries under locks.
//!
//! The locks are those of crate `engine`, drawn tighter because the databases here are tiny: an authorizer that
//! allows a query to select, read and call functions without effects, and nothing else; `sqlite3_limit`; a
//! budget of virtual-machine steps (which, unlike a clock, is the same on every machine) with a wall-clock limit
//! behind it; caps on rows and bytes. Values are held to 16 KiB, so that no single instruction takes long.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, Statement, ToSql};
use sqlgauge_engine::{Failure, FailureKind, ResultSet, Value};

/// Functions with an effect outside the query.
const REFUSED_FUNCTIONS: [&str; 6] =
    ["load_extension", "fts3_tokenizer", "writefile", "readfile", "edit", "sqlite_log"];

/// Instructions between two calls of the progress handler.
const TICK: u64 = 100;

/// Longest value while a query runs, and while tables are created (their text is a value too).
const QUERY_VALUE_BYTES: i32 = 16 << 10;
const SCHEMA_VALUE_BYTES: i32 = 1 << 20;

/// What one query may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// Virtual-machine steps.
    pub(super) vm_steps: u64,
    /// Wall-clock time, in case a step takes long.
    pub(super) time: Duration,
    /// Rows of the result.
    pub(super) max_rows: usize,
}

/// What the callbacks share with the code that runs the connection.
#[derive(Debug)]
struct Guard {
    /// An untrusted query is being compiled or run.
    is_untrusted: AtomicBool,
    ticks_left: AtomicU64,
    deadline_ns: AtomicU64,
    origin: Instant,
}

impl Guard {
    fn begin(&self, budget: Budget) {
        let deadline = self.origin.elapsed().saturating_add(budget.time).as_nanos();
        self.deadline_ns.store(u64::try_from(deadline).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.ticks_left.store(budget.vm_steps / TICK, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        let left = self.ticks_left.load(Ordering::Relaxed);
        self.ticks_left.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0 || self.origin.elapsed().as_nanos() >= u128::from(self.deadline_ns.load(Ordering::Relaxed))
    }
}

/// The connection with its callbacks' state.
#[derive(Debug)]
pub(super) struct Sandbox {
    connection: Connection,
    guard: Arc<Guard>,
    budget: Budget,
}

impl Sandbox {
    /// An empty database.
    pub(super) fn new(budget: Budget) -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        set_limits(&connection)?;
        harden(&connection)?;
        let guard = Arc::new(Guard {
            is_untrusted: AtomicBool::new(false),
            ticks_left: AtomicU64::new(0),
            deadline_ns: AtomicU64::new(0),
            origin: Instant::now(),
        });
        let for_progress = Arc::clone(&guard);
        let tick = i32::try_from(TICK).unwrap_or(i32::MAX);
        connection.progress_handler(tick, Some(move || for_progress.is_over()))?;
        let for_authorizer = Arc::clone(&guard);
        connection.authorizer(Some(move |context: AuthContext<'_>| {
            authorize(for_authorizer.is_untrusted.load(Ordering::Relaxed), &context.action)
        }))?;
        Ok(Self { connection, guard, budget })
    }

    /// Runs a statement of ours that creates a table. Its CHECKs and types come from the schema, which is not to
    /// be trusted either, so it is one statement and the authorizer still refuses effects.
    pub(super) fn create(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, SCHEMA_VALUE_BYTES)?;
        self.begin(false);
        let created = self.connection.prepare(sql).and_then(|mut statement| statement.raw_execute());
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, QUERY_VALUE_BYTES)?;
        created.map(drop)
    }

    /// Begins the transaction that the connection lives in, so that no statement begins one.
    pub(super) fn begin_transaction(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch("BEGIN")
    }

    /// Compiles a statement of ours.
    pub(super) fn prepare_own(&self, sql: &str) -> rusqlite::Result<Statement<'_>> {
        self.begin(false);
        self.connection.prepare(sql)
    }

    /// Runs a statement of ours that returns no rows.
    pub(super) fn execute_own(&self, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
        self.begin(false);
        statement.raw_execute().map(drop)
    }

    /// All rows of a statement of ours.
    pub(super) fn rows_own(&self, sql: &str) -> rusqlite::Result<ResultSet> {
        let mut statement = self.prepare_own(sql)?;
        collect(&mut statement, usize::MAX).map_err(|stop| match stop {
            Stop::Error(error) => error,
            Stop::TooLarge => Error::QueryReturnedNoRows,
        })
    }

    /// Makes every SELECT without ORDER BY return its rows the other way round, as far as SQLite can.
    pub(super) fn reverse_unordered(&self, reverse: bool) -> rusqlite::Result<()> {
        self.begin(false);
        self.connection.pragma_update(None, "reverse_unordered_selects", reverse)
    }

    /// Compiles an untrusted query.
    ///
    /// # Errors
    /// Whatever SQLite says of it; [`FailureKind::Denied`] for what is no query.
    pub(super) fn prepare(&self, sql: &str) -> Result<Statement<'_>, Failure> {
        self.begin(true);
        // The binding asserts that SQLite finds memory for names and texts.
        let prepared = catch_unwind(AssertUnwindSafe(|| self.connection.prepare(sql)));
        let statement = match prepared {
            Ok(prepared) => prepared.map_err(|error| failure(&error, true))?,
            Err(_) => return Err(out_of_memory()),
        };
        if statement.is_explain() != 0 || statement.column_count() == 0 || !statement.readonly() {
            return Err(Failure::new(FailureKind::Denied, "the text is no query"));
        }
        if statement.parameter_count() > 0 {
            return Err(Failure::new(
                FailureKind::Parameters,
                "the query has parameters, for which there is no value",
            ));
        }
        Ok(statement)
    }

    /// Runs a query that [`Sandbox::prepare`] compiled, within the budget.
    pub(super) fn run(&self, statement: &mut Statement<'_>) -> Result<ResultSet, Failure> {
        self.begin(true);
        match catch_unwind(AssertUnwindSafe(|| collect(statement, self.budget.max_rows))) {
            Ok(Ok(rows)) => Ok(rows),
            Ok(Err(Stop::TooLarge)) => {
                let message = format!("the result has more than {} rows", self.budget.max_rows);
                Err(Failure::new(FailureKind::TooLarge, message))
            }
            Ok(Err(Stop::Error(error))) => Err(failure(&error, false)),
            Err(_) => Err(out_of_memory()),
        }
    }

    fn begin(&self, is_untrusted: bool) {
        self.guard.is_untrusted.store(is_untrusted, Ordering::Relaxed);
        self.guard.begin(self.budget);
    }
}

/// A value as a parameter of one of our own statements.
pub(super) struct Bound<'a>(pub(super) &'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Integer(integer) => ValueRef::Integer(*integer),
            Value::Real(real) => ValueRef::Real(*real),
            Value::Text(bytes) => ValueRef::Text(bytes),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Why no more rows are taken.
enum Stop {
    Error(Error),
    TooLarge,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

fn collect(statement: &mut Statement<'_>, max_rows: usize) -> Result<ResultSet, Stop> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let (width, mut values, mut rows) = (columns.len(), Vec::new(), 0_usize);
    let mut cursor = statement.raw_query();
    while let Some(row) = cursor.next()? {
        rows += 1;
        if rows > max_rows {
            return Err(Stop::TooLarge);
        }
        for column in 0..width {
            values.push(Value::from(row.get_ref(column)?));
        }
    }
    Ok(ResultSet::new(columns, values))
}

fn authorize(is_untrusted: bool, action: &AuthAction<'_>) -> Authorization {
    let is_harmless = match *action {
        AuthAction::Select | AuthAction::Recursive | AuthAction::Read { .. } => true,
        AuthAction::Function { function_name } => {
            !REFUSED_FUNCTIONS.iter().any(|refused| refused.eq_ignore_ascii_case(function_name))
        }
        _ => false,
    };
    let is_ours = !is_untrusted
        && matches!(
            action,
            AuthAction::CreateTable { .. }
                | AuthAction::CreateIndex { .. }
                | AuthAction::Insert { .. }
                | AuthAction::Update { .. }
                | AuthAction::Delete { .. }
                | AuthAction::Reindex { .. }
                | AuthAction::Transaction { .. }
                | AuthAction::Pragma { .. }
        );
    if is_harmless || is_ours { Authorization::Allow } else { Authorization::Deny }
}

fn set_limits(connection: &Connection) -> rusqlite::Result<()> {
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, QUERY_VALUE_BYTES),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
        (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1 << 10),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, value)?;
    }
    Ok(())
}

/// Settings against hostile text. Foreign keys are kept by construction and checked afterwards, so SQLite need not
/// enforce them. The heap limit is one of the process and equals that of crate `engine`.
fn harden(connection: &Connection) -> rusqlite::Result<()> {
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, true),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, true),
    ] {
        connection.set_db_config(setting, on)?;
    }
    let max_heap_bytes = sqlgauge_engine::Limits::default().max_heap_bytes;
    connection.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; \
         PRAGMA hard_heap_limit = {max_heap_bytes};"
    ))
}

fn out_of_memory() -> Failure {
    Failure::new(FailureKind::TooLarge, "needs more working memory than a query may have")
}

/// SQLite's error as the class of failure that crate `engine` gives it.
fn failure(error: &Error, while_preparing: bool) -> Failure {
    let (code, message) = match error {
        Error::SqliteFailure(error, message) => {
            (error.code, message.clone().unwrap_or_else(|| error.to_string()))
        }
        Error::SqlInputError { error, msg, .. } => (error.code, msg.clone()),
        Error::MultipleStatement => {
            return Failure::new(FailureKind::MultipleStatements, "the text holds more than one statement");
        }
        other => return Failure::new(FailureKind::RuntimeError, other.to_string()),
    };
    let kind = match code {
        ErrorCode::OutOfMemory => return out_of_memory(),
        ErrorCode::OperationInterrupted => FailureKind::Timeout,
        ErrorCode::TooBig => FailureKind::TooLarge,
        ErrorCode::AuthorizationForStatementDenied => FailureKind::Denied,
        _ if message.starts_with("no such function") => FailureKind::NoSuchFunction,
        _ if message.starts_with("no such table") => FailureKind::NoSuchTable,
        _ if message.starts_with("no such column") => FailureKind::NoSuchColumn,
        _ if while_preparing => FailureKind::InvalidQuery,
        _ => FailureKind::RuntimeError,
    };
    Failure::new(kind, message)
}
