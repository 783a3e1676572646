//! One connection: opened under all locks, runs one query at a time.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Statement, StatementStatus};

use crate::enough::{Enough, Watch};
use crate::limits::Limits;
use crate::outcome::{Execution, Failure, FailureKind, Outcome};
use crate::statement::Split;
use crate::value::{ResultSet, Value};

use super::authorizer::authorize;
use super::diagnosis::{Diagnosis, MULTIPLE_STATEMENTS, diagnose};
use super::guard::{Guard, Phase};
use super::large_values::bound_products;

/// Virtual-machine instructions between two looks at the clock: a few microseconds of ordinary work.
const PROGRESS_INSTRUCTIONS: i32 = 100;

/// Longest LIKE or GLOB pattern; matching costs pattern times text, inside one instruction.
const MAX_PATTERN_BYTES: i32 = 4096;

/// Most instructions of one compiled statement; a query of a benchmark has hundreds.
const MAX_PROGRAM_INSTRUCTIONS: i32 = 5_000_000;

/// Largest value at first; no function call takes long on values of this size.
const ORDINARY_VALUE_BYTES: i32 = 64 << 10;

/// How large a value may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// As large as ordinary queries need.
    Ordinary,
    /// As large as the limits allow; calls that would take long on such values fail.
    Large,
}

/// How one run of a query ended.
#[derive(Debug)]
pub(super) enum Attempt {
    /// With its outcome.
    Finished(Execution),
    /// At the deadline.
    Expired { vm_steps: u64 },
    /// Before its first step: it wants a thread of its own.
    Unbounded,
    /// A value became larger than the connection's [`Scale`] allows.
    LargeValue(Failure),
    /// Without memory; the connection is not to be used again.
    OutOfMemory,
}

/// A connection with its callbacks' state.
#[derive(Debug)]
pub(super) struct GuardedConnection {
    connection: Connection,
    guard: Arc<Guard>,
    scale: Scale,
    max_value_bytes: i32,
}

impl GuardedConnection {
    /// Opens the file under all locks, ready to read the catalog.
    pub(super) fn open(path: &Path, limits: &Limits, scale: Scale) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE;
        let mut connection = Connection::open_with_flags(immutable_uri(path), flags)?;
        set_limits(&connection, limits)?;
        harden(&connection, limits)?;
        let max_value_bytes = i32::try_from(limits.max_value_bytes).unwrap_or(i32::MAX);
        if scale == Scale::Large {
            bound_products(&connection, max_value_bytes)?;
        }
        let guard = Arc::new(Guard::default());
        guard.begin(Phase::Catalog, Instant::now() + limits.timeout);
        let for_progress = Arc::clone(&guard);
        connection.progress_handler(PROGRESS_INSTRUCTIONS, Some(move || for_progress.is_over()))?;
        let for_authorizer = Arc::clone(&guard);
        connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| {
            authorize(&for_authorizer, &context.action)
        }))?;
        connect_virtual_tables(&connection, &guard)?;
        Ok(Self { connection, guard, scale, max_value_bytes })
    }

    /// The connection, for our own reading of the catalog.
    pub(super) fn for_catalog(&self, deadline: Instant) -> &Connection {
        self.guard.begin(Phase::Catalog, deadline);
        &self.connection
    }

    /// Runs one statement until `deadline`. With `bounded_only`, a statement that could spend long inside one
    /// instruction is not started.
    pub(super) fn attempt(
        &self,
        split: &Split<'_>,
        limits: &Limits,
        deadline: Instant,
        bounded_only: bool,
        enough: Option<&Enough>,
    ) -> Attempt {
        let started = Instant::now();
        self.guard.begin(Phase::Prepare, deadline);
        let prepared = self.limit_values().and_then(|()| self.connection.prepare(split.statement));
        let mut statement = match prepared {
            Ok(statement) => statement,
            Err(error) => return self.refuse(&error, split, started),
        };
        if let Some(failure) = refuse_statement(&statement, split) {
            let elapsed = started.elapsed();
            return Attempt::Finished(Execution { outcome: Outcome::Failed(failure), vm_steps: 0, elapsed });
        }
        if bounded_only && self.guard.is_unbounded() {
            return Attempt::Unbounded;
        }
        self.guard.enter(Phase::Step);
        let collected = collect(&mut statement, limits, enough);
        // The counter is an unsigned 32-bit number that the binding shows as signed.
        let vm_steps = u64::from(statement.get_status(StatementStatus::VmStep).cast_unsigned());
        let outcome = match collected {
            Ok(rows) => Outcome::Rows(Arc::new(rows)),
            Err(Stop::Limit(failure)) => Outcome::Failed(failure),
            Err(Stop::Error(error)) => match diagnose(&error, Phase::Step, &self.guard) {
                Diagnosis::Failed(failure) => Outcome::Failed(failure),
                Diagnosis::LargeValue(failure) => return Attempt::LargeValue(failure),
                Diagnosis::Interrupted => return Attempt::Expired { vm_steps },
                Diagnosis::OutOfMemory => return Attempt::OutOfMemory,
            },
        };
        Attempt::Finished(Execution { outcome, vm_steps, elapsed: started.elapsed() })
    }

    /// The outcome of a statement that did not compile.
    fn refuse(&self, error: &rusqlite::Error, split: &Split<'_>, started: Instant) -> Attempt {
        match diagnose(error, Phase::Prepare, &self.guard) {
            Diagnosis::Failed(mut failure) => {
                if split.is_command() && failure.kind != FailureKind::SyntaxError {
                    failure = not_a_query(split);
                }
                let outcome = Outcome::Failed(failure);
                Attempt::Finished(Execution { outcome, vm_steps: 0, elapsed: started.elapsed() })
            }
            Diagnosis::LargeValue(failure) => Attempt::LargeValue(failure),
            Diagnosis::Interrupted => Attempt::Expired { vm_steps: 0 },
            Diagnosis::OutOfMemory => Attempt::OutOfMemory,
        }
    }

    fn limit_values(&self) -> rusqlite::Result<()> {
        let bytes = match self.scale {
            Scale::Ordinary => ORDINARY_VALUE_BYTES.min(self.max_value_bytes),
            Scale::Large => self.max_value_bytes,
        };
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bytes).map(drop)
    }
}

/// Lets the modules of all virtual tables connect to them, see [`super::authorizer`]. A table that its module cannot
/// connect to says so to the query that names it.
fn connect_virtual_tables(connection: &Connection, guard: &Guard) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage = 0")?;
    let names: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for name in names {
        guard.connect(&name);
        // Compiled, never run.
        let _ = connection.prepare(&format!("SELECT 1 FROM main.\"{}\"", name.replace('"', "\"\"")));
    }
    guard.enter(Phase::Catalog);
    Ok(())
}

/// Why a statement that compiled is not run all the same.
fn refuse_statement(statement: &Statement<'_>, split: &Split<'_>) -> Option<Failure> {
    if !split.rest_is_empty() {
        return Some(Failure::new(FailureKind::MultipleStatements, MULTIPLE_STATEMENTS));
    }
    if statement.is_explain() != 0 || statement.column_count() == 0 || !statement.readonly() {
        return Some(not_a_query(split));
    }
    let parameters = statement.parameter_count();
    (parameters > 0).then(|| {
        Failure::new(
            FailureKind::Parameters,
            format!("the query has {parameters} parameters (such as `?`), for which there is no value"),
        )
    })
}

fn not_a_query(split: &Split<'_>) -> Failure {
    let word = split.first_word.to_ascii_uppercase();
    Failure::new(FailureKind::Denied, format!("only queries are run, and {word} does not begin one"))
}

/// Why no more rows are taken.
enum Stop {
    Error(rusqlite::Error),
    Limit(Failure),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Error(error)
    }
}

/// All rows, or enough of them, within the limits on rows and bytes.
fn collect(
    statement: &mut Statement<'_>,
    limits: &Limits,
    enough: Option<&Enough>,
) -> Result<ResultSet, Stop> {
    let mut watch = enough.map(Watch::new);
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let width = columns.len();
    let (mut values, mut rows, mut bytes) = (Vec::new(), 0_usize, 0_usize);
    let mut cursor = statement.raw_query();
    while let Some(row) = cursor.next()? {
        rows += 1;
        bytes = bytes.saturating_add(width.saturating_mul(size_of::<Value>()));
        for column in 0..width {
            let value = row.get_ref(column)?;
            bytes = bytes.saturating_add(value.as_bytes().map_or(0, <[u8]>::len));
            // Checked before the value is copied, so that one row of huge values cannot pass the limit either.
            if rows > limits.max_rows || bytes > limits.max_bytes {
                return Err(Stop::Limit(too_large(limits, rows)));
            }
            values.push(Value::from(value));
        }
        if watch.as_mut().is_some_and(|watch| watch.is_over(&values, width, rows)) {
            return Ok(ResultSet::new(columns, values).beginning());
        }
    }
    Ok(ResultSet::new(columns, values))
}

fn too_large(limits: &Limits, rows: usize) -> Failure {
    let message = if rows > limits.max_rows {
        format!("the result has more than {} rows", limits.max_rows)
    } else {
        format!("the result takes more than {} bytes", limits.max_bytes)
    };
    Failure::new(FailureKind::TooLarge, message)
}

/// The third lock. What is not named here keeps SQLite's own limit.
fn set_limits(connection: &Connection, limits: &Limits) -> rusqlite::Result<()> {
    let value_bytes = i32::try_from(limits.max_value_bytes).unwrap_or(i32::MAX);
    let sql_bytes = i32::try_from(limits.max_sql_bytes).unwrap_or(i32::MAX);
    for (limit, value) in [
        (Limit::SQLITE_LIMIT_LENGTH, value_bytes),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, sql_bytes),
        (Limit::SQLITE_LIMIT_VDBE_OP, MAX_PROGRAM_INSTRUCTIONS),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN_BYTES),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, value)?;
    }
    Ok(())
}

/// Settings against a hostile file, and memory instead of files for everything temporary.
///
/// Memory-mapped reading stays off: a file that is cut short by another program would end the process.
fn harden(connection: &Connection, limits: &Limits) -> rusqlite::Result<()> {
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, true),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, true),
    ] {
        connection.set_db_config(setting, on)?;
    }
    connection.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON; PRAGMA query_only = ON; \
         PRAGMA mmap_size = 0; PRAGMA hard_heap_limit = {};",
        limits.max_heap_bytes
    ))
}

/// The URI that opens `path` as a file that nobody writes; SQLite then needs no lock, log or journal.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/.-_~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str("?immutable=1");
    uri
}
