//! One connection: opened under all locks, runs one query at a time.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, StatementStatus};
use sqlgauge_sql::quote;

use crate::database::Source;
use crate::enough::Watch;
use crate::limits::Limits;
use crate::moment::Moment;
use crate::outcome::{Dependence, Execution, Failure, FailureKind, Outcome};
use crate::statement::Split;
use crate::value::ResultSet;

use super::clock::{Clock, stop_time};
use super::diagnosis::{Diagnosis, diagnose};
use super::guard::{Guard, Phase, TimeLimit};
use super::large_values::bound_products;
use super::locks::{PROGRESS_INSTRUCTIONS, Stop, collect, lock, not_a_query, refuse_statement};
use super::random::{Stream, seed_random};

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
    random: Stream,
    clock: Clock,
    scale: Scale,
    max_value_bytes: i32,
}

impl GuardedConnection {
    /// Opens the file under all locks, ready to read the catalog.
    pub(super) fn open(
        source: &Source,
        limits: &Limits,
        now: Moment,
        scale: Scale,
    ) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE;
        let mut connection = Connection::open_with_flags(immutable_uri(&source.path), flags)?;
        if let Some(prelude) = &source.prelude {
            connection.execute_batch("PRAGMA temp_store = MEMORY")?;
            connection.execute_batch(prelude)?;
        }
        connection.execute_batch("PRAGMA query_only = ON")?;
        let guard = lock(&mut connection, limits)?;
        let max_value_bytes = i32::try_from(limits.max_value_bytes).unwrap_or(i32::MAX);
        if scale == Scale::Large {
            bound_products(&connection, max_value_bytes)?;
        }
        let most_bytes = most_bytes(scale, max_value_bytes);
        let random = seed_random(&connection, most_bytes)?;
        let clock = stop_time(&connection, now, usize::try_from(most_bytes).unwrap_or(0))?;
        guard.begin(Phase::Catalog, TimeLimit::computing(limits.timeout));
        connect_virtual_tables(&connection, &guard)?;
        Ok(Self { connection, guard, random, clock, scale, max_value_bytes })
    }

    /// The connection, for our own reading of the catalog.
    pub(super) fn for_catalog(&self, deadline: TimeLimit) -> &Connection {
        self.guard.begin(Phase::Catalog, deadline);
        &self.connection
    }

    /// Runs a statement of ours about the catalog until `deadline`.
    pub(super) fn describe(&self, sql: &str, name: &str, limits: &Limits, deadline: TimeLimit) -> Attempt {
        let started = Instant::now();
        let connection = self.for_catalog(deadline);
        let rows = connection.prepare(sql).map_err(Stop::Error).and_then(|mut statement| {
            statement.raw_bind_parameter(1, name)?;
            collect(&mut statement, limits, None)
        });
        self.ended(rows, Phase::Catalog, 0, started)
    }

    /// Runs one statement until `deadline`. With `bounded_only`, a statement that could spend long inside one
    /// instruction is not started.
    pub(super) fn attempt(
        &self,
        split: &Split<'_>,
        limits: &Limits,
        deadline: TimeLimit,
        bounded_only: bool,
        watch: Option<Watch<'_>>,
    ) -> Attempt {
        let started = Instant::now();
        self.guard.begin(Phase::Prepare, deadline);
        self.random.begin();
        self.clock.begin();
        let prepared = self.limit_values().and_then(|()| self.connection.prepare(split.statement));
        let mut statement = match prepared {
            Ok(statement) => statement,
            Err(error) => return self.refuse(&error, split, started),
        };
        if let Some(failure) = refuse_statement(&statement, split) {
            return Attempt::Finished(Execution { elapsed: started.elapsed(), ..Execution::failed(failure) });
        }
        if bounded_only && self.guard.is_unbounded() {
            return Attempt::Unbounded;
        }
        self.guard.enter(Phase::Step);
        self.guard.allow(limits.max_vm_steps / u64::from(PROGRESS_INSTRUCTIONS.unsigned_abs()));
        let collected = collect(&mut statement, limits, watch);
        // The counter is an unsigned 32-bit number that the binding shows as signed.
        let vm_steps = u64::from(statement.get_status(StatementStatus::VmStep).cast_unsigned());
        if matches!(collected, Err(Stop::Error(_))) && self.guard.has_no_calls_left() {
            let message = format!("takes more than {} virtual-machine steps", limits.max_vm_steps);
            let failure = Failure::new(FailureKind::TooLarge, message);
            let execution = Execution { vm_steps, elapsed: started.elapsed(), ..Execution::failed(failure) };
            return Attempt::Finished(execution);
        }
        self.ended(collected, Phase::Step, vm_steps, started)
    }

    /// What the end of a statement that ran amounts to.
    fn ended(&self, rows: Result<ResultSet, Stop>, phase: Phase, vm_steps: u64, started: Instant) -> Attempt {
        let outcome = match rows {
            Ok(rows) => Outcome::Rows(Arc::new(rows)),
            Err(Stop::Limit(failure)) => Outcome::Failed(failure),
            Err(Stop::Error(error)) => match diagnose(&error, phase, &self.guard) {
                Diagnosis::Failed(failure) => Outcome::Failed(failure),
                Diagnosis::LargeValue(failure) => return Attempt::LargeValue(failure),
                Diagnosis::Interrupted => return Attempt::Expired { vm_steps },
                Diagnosis::OutOfMemory => return Attempt::OutOfMemory,
            },
        };
        let depends_on = Dependence { time: self.clock.was_read(), chance: self.random.was_drawn_from() };
        Attempt::Finished(Execution { outcome, vm_steps, elapsed: started.elapsed(), depends_on })
    }

    /// The outcome of a statement that did not compile.
    fn refuse(&self, error: &rusqlite::Error, split: &Split<'_>, started: Instant) -> Attempt {
        match diagnose(error, Phase::Prepare, &self.guard) {
            Diagnosis::Failed(mut failure) => {
                if split.is_command() && failure.kind != FailureKind::SyntaxError {
                    failure = not_a_query(split);
                }
                Attempt::Finished(Execution { elapsed: started.elapsed(), ..Execution::failed(failure) })
            }
            Diagnosis::LargeValue(failure) => Attempt::LargeValue(failure),
            Diagnosis::Interrupted => Attempt::Expired { vm_steps: 0 },
            Diagnosis::OutOfMemory => Attempt::OutOfMemory,
        }
    }

    fn limit_values(&self) -> rusqlite::Result<()> {
        let bytes = most_bytes(self.scale, self.max_value_bytes);
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bytes).map(drop)
    }
}

/// Longest value on a connection of that scale.
fn most_bytes(scale: Scale, max_value_bytes: i32) -> i32 {
    match scale {
        Scale::Ordinary => ORDINARY_VALUE_BYTES.min(max_value_bytes),
        Scale::Large => max_value_bytes,
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
        let _ = connection.prepare(&format!("SELECT 1 FROM main.{}", quote::name(&name)));
    }
    guard.enter(Phase::Catalog);
    Ok(())
}

/// The URI that opens `path` as a file that nobody writes; SQLite then needs no lock, log or journal.
pub fn immutable_uri(path: &Path) -> String {
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
