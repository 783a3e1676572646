//! Locks every connection, to a file or in memory: the second, third and fourth lock, and the caps on what a query
//! returns.

use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::hooks::AuthContext;
use rusqlite::limits::Limit;
use rusqlite::{Connection, Statement};

use crate::enough::Watch;
use crate::limits::Limits;
use crate::outcome::{Failure, FailureKind};
use crate::statement::Split;
use crate::value::{ResultSet, Value};
use sqlgauge_base::counted;

use super::authorizer::authorize;
use super::diagnosis::MULTIPLE_STATEMENTS;
use super::guard::Guard;

/// Most instructions of one compiled statement; a query of a benchmark has hundreds, a list as long as a text may be a million and
/// a half. Generated columns that name each other twice are compiled to a power of their number, before a step is taken.
const MAX_PROGRAM_INSTRUCTIONS: i32 = 2_000_000;

/// Longest LIKE or GLOB pattern; matching costs pattern times text, inside one instruction.
const MAX_PATTERN_BYTES: i32 = 4096;

/// Virtual-machine instructions between two looks at the clock: a few microseconds of ordinary work.
pub(super) const PROGRESS_INSTRUCTIONS: i32 = 100;

/// Puts the connection under the locks. The guard that comes back must begin a phase before a statement is compiled.
pub(super) fn lock(connection: &mut Connection, limits: &Limits) -> rusqlite::Result<Arc<Guard>> {
    set_limits(connection, limits)?;
    harden(connection, limits)?;
    let guard = Arc::new(Guard::default());
    let for_progress = Arc::clone(&guard);
    connection.progress_handler(PROGRESS_INSTRUCTIONS, Some(move || for_progress.is_over()))?;
    let for_authorizer = Arc::clone(&guard);
    connection
        .authorizer(Some(move |context: AuthContext<'_>| authorize(&for_authorizer, &context.action)))?;
    Ok(guard)
}

/// Why a statement that compiled is not run all the same.
pub(super) fn refuse_statement(statement: &Statement<'_>, split: &Split<'_>) -> Option<Failure> {
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

pub(super) fn not_a_query(split: &Split<'_>) -> Failure {
    let word = split.first_word.to_ascii_uppercase();
    Failure::new(FailureKind::Denied, format!("only queries are run, and {word} does not begin one"))
}

/// Why no more rows are taken.
pub(super) enum Stop {
    Error(rusqlite::Error),
    Limit(Failure),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Error(error)
    }
}

/// All rows, or enough of them, within the limits on rows and bytes.
pub(super) fn collect(
    statement: &mut Statement<'_>,
    limits: &Limits,
    mut watch: Option<Watch<'_>>,
) -> Result<ResultSet, Stop> {
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
        format!("the result has more than {}", counted(limits.max_rows, "row"))
    } else {
        format!("the result takes more than {}", counted(limits.max_bytes, "byte"))
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
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, true),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, true),
    ] {
        connection.set_db_config(setting, on)?;
    }
    connection.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA hard_heap_limit = {};",
        limits.max_heap_bytes
    ))
}
