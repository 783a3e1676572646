//! Runs untrusted queries on a database in memory, under the same locks as on files.
//!
//! The limits are drawn tighter because the databases here are tiny: values are held to 16 KiB, so that no single
//! instruction takes long, and a query has a budget of virtual-machine steps, which, unlike a clock, is the same on every
//! machine, with a limit of processor time behind it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::{Connection, Statement};

use crate::limits::Limits;
use crate::outcome::{Failure, FailureKind};
use crate::statement::split;
use crate::value::ResultSet;

use super::diagnosis::{Diagnosis, diagnose};
use super::guard::{Guard, Phase, TimeLimit};
use super::locks::{PROGRESS_INSTRUCTIONS, Stop, collect, lock, refuse_statement};
use super::random::{Stream, seed_random};

/// Longest value while a query runs, and while tables are created (their text is a value too).
const QUERY_VALUE_BYTES: usize = 16 << 10;
const SCHEMA_VALUE_BYTES: usize = 1 << 20;

/// What one query may use.
#[derive(Debug, Clone, Copy)]
pub struct QueryBudget {
    /// Virtual-machine steps.
    pub vm_steps: u64,
    /// Processor time, in case a step takes long.
    pub time: Duration,
    /// Rows of the result.
    pub max_rows: usize,
}

/// A database in memory.
#[derive(Debug)]
pub struct Sandbox {
    connection: Connection,
    guard: Arc<Guard>,
    random: Stream,
    limits: Limits,
    calls: u64,
    /// Calls of the progress handler that all untrusted queries together may take from here on.
    calls_in_total: Cell<u64>,
    /// Calls of it that all statements of ours together may take.
    own_calls_in_total: Cell<u64>,
}

impl Sandbox {
    /// An empty database. Foreign keys are not enforced: SQLite checks them where it is asked to
    /// (`PRAGMA foreign_key_check`).
    ///
    /// # Errors
    /// When SQLite finds no memory for it.
    pub fn new(budget: QueryBudget) -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        let limits = Limits {
            timeout: budget.time,
            max_rows: budget.max_rows,
            max_value_bytes: QUERY_VALUE_BYTES,
            ..Limits::default()
        };
        connection.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")?;
        let guard = lock(&mut connection, &limits)?;
        let random = seed_random(&connection, i32::try_from(QUERY_VALUE_BYTES).unwrap_or(i32::MAX))?;
        let calls = calls(budget.vm_steps);
        Ok(Self {
            connection,
            guard,
            random,
            limits,
            calls,
            calls_in_total: Cell::new(u64::MAX),
            own_calls_in_total: Cell::new(u64::MAX),
        })
    }

    /// Lets untrusted queries take that many virtual-machine steps together from here on; one that finds none left fails like
    /// one that has taken all of its own. A run counts for a hundred steps at least, and compiling a text for as many as it has
    /// bytes, and a 256th of their square: some of the planner's work grows with that.
    pub fn allow_in_total(&self, vm_steps: u64) {
        self.calls_in_total.set(calls(vm_steps));
    }

    /// How many of them are left, in hundreds.
    pub fn left_in_total(&self) -> u64 {
        self.calls_in_total.get().saturating_mul(u64::from(PROGRESS_INSTRUCTIONS.unsigned_abs()))
    }

    /// Lets the statements of ours that fill tables take that many virtual-machine steps together from here on: a CHECK of the
    /// schema may take long on every row. One that finds none left fails.
    pub fn allow_own_in_total(&self, vm_steps: u64) {
        self.own_calls_in_total.set(calls(vm_steps));
    }

    /// How many of them are left, in hundreds.
    pub fn own_left_in_total(&self) -> u64 {
        self.own_calls_in_total.get().saturating_mul(u64::from(PROGRESS_INSTRUCTIONS.unsigned_abs()))
    }

    /// Runs a statement of ours that creates a table. Its CHECKs and types come from the schema, which is not to
    /// be trusted either, so it is one statement and functions with effects stay refused.
    ///
    /// # Errors
    /// Whatever SQLite says of it.
    pub fn create(&self, sql: &str) -> rusqlite::Result<()> {
        self.limit_values(SCHEMA_VALUE_BYTES)?;
        self.begin(Phase::Own);
        let created = self.connection.prepare(sql).and_then(|mut statement| statement.raw_execute());
        self.limit_values(QUERY_VALUE_BYTES)?;
        created.map(drop)
    }

    /// Begins the transaction that the connection lives in, so that no statement begins one.
    ///
    /// # Errors
    /// When there is one already.
    pub fn begin_transaction(&self) -> rusqlite::Result<()> {
        self.begin(Phase::Own);
        self.connection.execute_batch("BEGIN")
    }

    /// Compiles a statement of ours.
    ///
    /// # Errors
    /// Whatever SQLite says of it.
    pub fn prepare_own(&self, sql: &str) -> rusqlite::Result<Statement<'_>> {
        self.begin(Phase::Own);
        self.connection.prepare(sql)
    }

    /// Runs a statement of ours that returns no rows.
    ///
    /// # Errors
    /// Whatever SQLite says of it.
    pub fn execute_own(&self, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
        let left = self.own_calls_in_total.get();
        if left == 0 {
            // SQLite asks whether to go on at jumps alone, and a list of values has none: it would be built to its end first.
            return Err(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT),
                None,
            ));
        }
        let allowed = self.calls.min(left);
        self.guard.begin_within(Phase::Own, TimeLimit::computing(self.limits.timeout), allowed);
        let done = statement.raw_execute().map(drop);
        self.own_calls_in_total.set(left.saturating_sub(allowed.saturating_sub(self.guard.calls_left())));
        done
    }

    /// Runs a statement of ours that computes nothing of the schema, as one that empties a table: it needs none of these steps.
    ///
    /// # Errors
    /// Whatever SQLite says of it.
    pub fn execute_plain(&self, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
        self.begin(Phase::Own);
        statement.raw_execute().map(drop)
    }

    /// All rows of a statement of ours.
    ///
    /// # Errors
    /// What the failure of a query is.
    pub fn rows_own(&self, sql: &str) -> Result<ResultSet, Failure> {
        let mut statement = self.prepare_own(sql).map_err(|error| self.failure(&error, Phase::Own))?;
        let limits = Limits { max_rows: usize::MAX, ..self.limits };
        collect(&mut statement, &limits, None).map_err(|stop| self.stopped(stop, Phase::Own))
    }

    /// Makes every SELECT without ORDER BY return its rows the other way round, as far as SQLite can.
    ///
    /// # Errors
    /// When SQLite refuses.
    pub fn reverse_unordered(&self, reverse: bool) -> rusqlite::Result<()> {
        self.begin(Phase::Own);
        self.connection.pragma_update(None, "reverse_unordered_selects", reverse)
    }

    /// Compiles an untrusted query.
    ///
    /// # Errors
    /// What an engine would say of it, see [`FailureKind`].
    pub fn prepare(&self, sql: &str) -> Result<Statement<'_>, Failure> {
        let split = split(sql)?;
        // The binding asserts that SQLite finds memory for names and texts.
        let compile = || catch_unwind(AssertUnwindSafe(|| self.connection.prepare(split.statement)));
        let bytes = split.statement.len() as u64;
        let prepared = self.counted(Phase::Prepare, calls(bytes + bytes * bytes / 256), compile)?;
        let statement = match prepared {
            Ok(prepared) => prepared.map_err(|error| self.failure(&error, Phase::Prepare))?,
            Err(_) => return Err(out_of_memory()),
        };
        match refuse_statement(&statement, &split) {
            Some(failure) => Err(failure),
            None => Ok(statement),
        }
    }

    /// Runs a query that [`Sandbox::prepare`] compiled, within the budget. As on a file, `random()` draws the same numbers each
    /// time, so the rows follow from the text and the database.
    ///
    /// # Errors
    /// What an engine would say of it, see [`FailureKind`].
    pub fn run(&self, statement: &mut Statement<'_>) -> Result<ResultSet, Failure> {
        self.random.begin();
        let run = || catch_unwind(AssertUnwindSafe(|| collect(statement, &self.limits, None)));
        match self.counted(Phase::Step, 1, run)? {
            Ok(collected) => collected.map_err(|stop| self.stopped(stop, Phase::Step)),
            Err(_) => Err(out_of_memory()),
        }
    }

    /// Does something with an untrusted query that takes of the steps that there are in total, for so many calls at least.
    fn counted<T>(&self, phase: Phase, least: u64, act: impl FnOnce() -> T) -> Result<T, Failure> {
        let left = self.calls_in_total.get();
        if left == 0 {
            return Err(out_of_steps());
        }
        let allowed = self.calls.min(left);
        self.guard.begin_within(phase, TimeLimit::computing(self.limits.timeout), allowed);
        let done = act();
        let steps = allowed.saturating_sub(self.guard.calls_left()).max(least);
        self.calls_in_total.set(left.saturating_sub(steps));
        Ok(done)
    }

    fn begin(&self, phase: Phase) {
        self.guard.begin_within(phase, TimeLimit::computing(self.limits.timeout), self.calls);
    }

    fn limit_values(&self, bytes: usize) -> rusqlite::Result<()> {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bytes).map(drop)
    }

    fn stopped(&self, stop: Stop, phase: Phase) -> Failure {
        match stop {
            Stop::Limit(failure) => failure,
            Stop::Error(error) => self.failure(&error, phase),
        }
    }

    fn failure(&self, error: &rusqlite::Error, phase: Phase) -> Failure {
        match diagnose(error, phase, &self.guard) {
            Diagnosis::Failed(failure) | Diagnosis::LargeValue(failure) => failure,
            Diagnosis::Interrupted => out_of_steps(),
            Diagnosis::OutOfMemory => out_of_memory(),
        }
    }
}

/// How often the progress handler is called in so many steps.
fn calls(vm_steps: u64) -> u64 {
    vm_steps / u64::from(PROGRESS_INSTRUCTIONS.unsigned_abs())
}

fn out_of_steps() -> Failure {
    Failure::new(FailureKind::Timeout, "not done within its virtual-machine steps or time")
}

fn out_of_memory() -> Failure {
    Failure::new(FailureKind::TooLarge, "needs more working memory than a query may have")
}
