//! One query, from its transaction to its last row.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{DataRowBody, Message, RowDescriptionBody};
use postgres_protocol::message::frontend;
use sqlgauge_engine::{Enough, Failure, FailureKind, Limits, Outcome, Value};

use super::connection::{Connection, refused};
use super::{Postgres, errors, values};
use crate::locks::NO_ROWS;
use crate::rows::Rows;
use crate::server::{Broken, End, GRACE};

/// Runs a query, whose connection may still be cleaned from the one before.
pub(super) fn attempt(
    connection: &mut Connection,
    served: &Postgres,
    sql: &str,
    limits: &Limits,
    enough: Option<&Enough>,
) -> Result<End, Broken> {
    connection.finish_cleaning()?;
    let deadline = Instant::now() + limits.timeout + GRACE;
    let is_begun = connection.has_savepoint;
    if !is_begun {
        frontend::query(&begin(served, limits), connection.output())?;
    }
    frontend::parse("", sql, [], connection.output())?;
    frontend::describe(b'S', "", connection.output())?;
    frontend::sync(connection.output());
    connection.send()?;
    if !is_begun {
        connection.answer()?;
        connection.has_savepoint = served.leaves_nothing;
    }
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

/// What stands before each query, or before the first where a savepoint follows it: what an earlier one has set is gone, and what
/// this one sets counts for the next no more.
fn begin(served: &Postgres, limits: &Limits) -> String {
    let timeout = limits.timeout.as_millis().max(1);
    let savepoint = if served.leaves_nothing { "; SAVEPOINT before_query" } else { "" };
    let watch = if served.major >= 14 { "SET LOCAL client_connection_check_interval = '1s'; " } else { "" };
    format!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '{}'; \
         SET LOCAL statement_timeout = {timeout}; SET LOCAL lock_timeout = {timeout}; {watch}\
         SET LOCAL work_mem = '64MB'; SET LOCAL max_parallel_workers_per_gather = 0{savepoint}",
        served.snapshot
    )
}

/// Name and type of each column, or why the text is no query.
type Columns = Vec<(String, u32)>;

fn described(connection: &mut Connection, deadline: Instant) -> Result<Result<Columns, Failure>, Broken> {
    let mut answer = Err(Failure::new(FailureKind::Denied, NO_ROWS));
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
    let mut rows = Rows::new(columns.iter().map(|(name, _)| name.clone()).collect(), limits, enough);
    let mut failure = None;
    loop {
        match connection.read(deadline, limits.max_value_bytes)? {
            Message::DataRow(row) => {
                if let Err(stop) = rows.push(cells(&row, columns)?, row.buffer().len()) {
                    return Ok(stop.into());
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
                let rows = || Outcome::Rows(Arc::new(rows.finish()));
                return Ok(End::Ready(failure.map_or_else(rows, Outcome::Failed)));
            }
            _ => {}
        }
    }
}

fn cells(row: &DataRowBody, columns: &Columns) -> io::Result<Vec<Value>> {
    let mut ranges = row.ranges();
    let cell = |&(_, oid): &(String, u32)| {
        let range = ranges.next()?.flatten();
        let value = range.and_then(|range| row.buffer().get(range)).map(|text| values::value(oid, text));
        Ok(value.unwrap_or(Value::Null))
    };
    columns.iter().map(cell).collect()
}
