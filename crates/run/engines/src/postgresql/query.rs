//! One query, from BEGIN to DISCARD ALL.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{DataRowBody, Message, RowDescriptionBody};
use postgres_protocol::message::frontend;
use sqlgauge_engine::{Enough, Execution, Failure, FailureKind, Limits, Outcome, ResultSet, Value};

use super::connection::{Broken, Connection, refused};
use super::{Served, errors, finished, values};

/// How long after its own limit the server is asked to end a query.
const GRACE: Duration = Duration::from_millis(500);
/// Rows after which a result is looked at first for being enough; then after twice as many, so that looking costs no more than reading.
const FIRST_LOOK: usize = 64;

/// How a query ended.
enum End {
    /// The server is ready for the next.
    Ready(Outcome),
    /// The server is still at it.
    Running(Outcome),
}

/// Runs a query on a connection, which comes back if it is of further use. `Err` if it was lost.
pub(super) fn run(
    mut connection: Connection,
    served: &Served,
    sql: &str,
    limits: &Limits,
    enough: Option<&Enough>,
) -> (Result<Execution, Broken>, Option<Connection>) {
    let started = Instant::now();
    let end = match attempt(&mut connection, served, sql, limits, enough) {
        Ok(end) => end,
        Err(Broken::Refused { code, message }) => {
            End::Running(Outcome::Failed(errors::failure(&code, &message)))
        }
        Err(Broken::Late) => {
            let message = format!("ran longer than {} s", limits.timeout.as_secs_f64());
            End::Running(Outcome::Failed(Failure::new(FailureKind::Timeout, message)))
        }
        Err(Broken::TooLarge(bytes)) => {
            let message = format!("a row of {bytes} bytes, and at most {} are read", limits.max_value_bytes);
            let failure = Failure::new(FailureKind::TooLarge, message);
            // The frame that follows is not read, so nothing else can be.
            return (Ok(finished(Err(failure), started.elapsed())), None);
        }
        Err(lost @ Broken::Lost(_)) => return (Err(lost), None),
    };
    let elapsed = started.elapsed();
    let (outcome, is_ready) = match end {
        End::Ready(outcome) => (outcome, true),
        End::Running(outcome) => (outcome, connection.cancel(&served.address)),
    };
    let is_clean = is_ready && connection.begin_cleaning().is_ok();
    (Ok(finished(Ok(outcome), elapsed)), is_clean.then_some(connection))
}

fn attempt(
    connection: &mut Connection,
    served: &Served,
    sql: &str,
    limits: &Limits,
    enough: Option<&Enough>,
) -> Result<End, Broken> {
    connection.finish_cleaning()?;
    let deadline = Instant::now() + limits.timeout + GRACE;
    frontend::query(&begin(served, limits), connection.output())?;
    frontend::parse("", sql, [], connection.output())?;
    frontend::describe(b'S', "", connection.output())?;
    frontend::sync(connection.output());
    connection.send()?;
    connection.answer()?;
    let columns = match described(connection, deadline)? {
        Ok(columns) => columns,
        Err(failure) => return Ok(End::Ready(Outcome::Failed(failure))),
    };
    let no_values = std::iter::empty::<()>();
    let bound = frontend::bind("", "", [], no_values, |(), _| Ok(IsNull::Yes), [0], connection.output());
    bound.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    frontend::execute("", 0, connection.output())?;
    frontend::sync(connection.output());
    connection.send()?;
    fetch(connection, &columns, (limits, enough), deadline)
}

/// What stands before each query: what an earlier one has set is gone, and what this one sets counts for the next no more.
fn begin(served: &Served, limits: &Limits) -> String {
    let timeout = limits.timeout.as_millis().max(1);
    let watch = if served.major >= 14 { "SET LOCAL client_connection_check_interval = '1s'; " } else { "" };
    format!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '{}'; \
         SET LOCAL statement_timeout = {timeout}; SET LOCAL lock_timeout = {timeout}; {watch}\
         SET LOCAL work_mem = '64MB'; SET LOCAL max_parallel_workers_per_gather = 0",
        served.snapshot
    )
}

/// Name and type of each column, or why the text is no query.
type Columns = Vec<(String, u32)>;

fn described(connection: &mut Connection, deadline: Instant) -> Result<Result<Columns, Failure>, Broken> {
    let mut answer = Err(Failure::new(FailureKind::Denied, "only queries are run, and this returns no rows"));
    let mut has_parameters = false;
    loop {
        match connection.read(deadline, 16 << 20)? {
            Message::ParameterDescription(body) => has_parameters = body.parameters().count()? > 0,
            Message::RowDescription(body) => answer = Ok(columns(&body)?),
            Message::ErrorResponse(body) => match refused(&body) {
                Broken::Refused { code, message } => answer = Err(errors::failure(&code, &message)),
                other => return Err(other),
            },
            Message::ReadyForQuery(_) if has_parameters && answer.is_ok() => {
                let message = "the text has parameters, for which a benchmark has no values";
                return Ok(Err(Failure::new(FailureKind::Parameters, message)));
            }
            Message::ReadyForQuery(_) => return Ok(answer),
            _ => {}
        }
    }
}

fn columns(body: &RowDescriptionBody) -> io::Result<Columns> {
    body.fields().map(|field| Ok((field.name().to_owned(), field.type_oid()))).collect()
}

fn fetch(
    connection: &mut Connection,
    columns: &Columns,
    (limits, enough): (&Limits, Option<&Enough>),
    deadline: Instant,
) -> Result<End, Broken> {
    let (mut cells, mut rows, mut bytes) = (Vec::new(), 0_usize, 0_usize);
    let mut next_look = FIRST_LOOK;
    let too_large =
        |what: String| Ok(End::Running(Outcome::Failed(Failure::new(FailureKind::TooLarge, what))));
    let mut failure = None;
    let result = |cells| ResultSet::new(columns.iter().map(|(name, _)| name.clone()).collect(), cells);
    loop {
        match connection.read(deadline, limits.max_value_bytes)? {
            Message::DataRow(row) => {
                rows += 1;
                bytes += columns.len() * size_of::<Value>() + row.buffer().len();
                if rows > limits.max_rows {
                    return too_large(format!("returns more than {} rows", limits.max_rows));
                }
                if bytes > limits.max_bytes {
                    return too_large(format!("returns more than {} bytes", limits.max_bytes));
                }
                push(&mut cells, &row, columns)?;
                if rows >= next_look
                    && let Some(enough) =
                        enough.filter(|enough| enough.rows_over.is_none_or(|over| rows > over))
                {
                    next_look = rows * 2;
                    let so_far = result(std::mem::take(&mut cells));
                    if enough.is_reached_by(&so_far) {
                        return Ok(End::Running(Outcome::Rows(Arc::new(so_far.beginning()))));
                    }
                    cells = so_far.values().to_vec();
                }
                if Instant::now() > deadline {
                    return Err(Broken::Late);
                }
            }
            Message::ErrorResponse(body) => match refused(&body) {
                Broken::Refused { code, message } => failure = Some(errors::failure(&code, &message)),
                other => return Err(other),
            },
            Message::CopyOutResponse(_) | Message::CopyInResponse(_) => {
                failure = Some(Failure::new(FailureKind::Denied, "only queries are run"));
            }
            Message::ReadyForQuery(_) => {
                let rows = || Outcome::Rows(Arc::new(result(std::mem::take(&mut cells))));
                return Ok(End::Ready(failure.map_or_else(rows, Outcome::Failed)));
            }
            _ => {}
        }
    }
}

fn push(cells: &mut Vec<Value>, row: &DataRowBody, columns: &Columns) -> io::Result<()> {
    let mut ranges = row.ranges();
    for (_, oid) in columns {
        let range = ranges.next()?.flatten();
        let value = range.and_then(|range| row.buffer().get(range)).map(|text| values::value(*oid, text));
        cells.push(value.unwrap_or(Value::Null));
    }
    Ok(())
}
