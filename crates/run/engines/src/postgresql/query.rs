//! One query, from its transaction to its last row.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use fallible_iterator::FallibleIterator;
use postgres_protocol::IsNull;
use postgres_protocol::message::backend::{DataRowBody, Message};
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
    let no_values = std::iter::empty::<()>();
    let bound = frontend::bind("", "", [], no_values, |(), _| Ok(IsNull::Yes), [0], connection.output());
    bound.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    frontend::execute("", 0, connection.output())?;
    frontend::sync(connection.output());
    if served.leaves_nothing {
        connection.write_cleaning()?;
    }
    connection.send()?;
    if !is_begun {
        let begun = connection.answer();
        // As by a snapshot that was of the server before it was started anew: no query is to blame.
        if let Err(Broken::Refused { message, .. }) = &begun
            && connection.skip_to_end(deadline)
        {
            return Ok(End::failed(FailureKind::Machine, message.as_str()));
        }
        begun?;
        connection.has_savepoint = served.leaves_nothing;
    }
    answer(connection, (limits, enough), deadline)
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

/// Name and type of each column.
type Columns = Vec<(String, u32)>;

/// Bytes of a frame before the first row.
const LONGEST: usize = 16 << 20;

/// The rows of a query that has been sent whole: the server executes what it could parse, in a transaction that writes nothing.
fn answer(
    connection: &mut Connection,
    (limits, enough): (&Limits, Option<&Enough>),
    deadline: Instant,
) -> Result<End, Broken> {
    let (mut columns, mut rows) = (Columns::new(), None);
    let (mut failure, mut has_parameters) = (None, false);
    loop {
        let longest = if rows.is_some() { limits.max_value_bytes } else { LONGEST };
        match connection.read(deadline, longest)? {
            Message::ParameterDescription(body) => has_parameters = body.parameters().count()? > 0,
            Message::RowDescription(body) => {
                columns = body.fields().map(|own| Ok((own.name().to_owned(), own.type_oid()))).collect()?;
                rows =
                    Some(Rows::new(columns.iter().map(|(name, _)| name.clone()).collect(), limits, enough));
            }
            Message::DataRow(row) => {
                let Some(rows) = &mut rows else {
                    return Err(io::Error::from(io::ErrorKind::InvalidData).into());
                };
                if let Err(stop) = rows.push(cells(&row, &columns)?, row.buffer().len()) {
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
            Message::ReadyForQuery(_) if has_parameters => {
                let message = "the text has parameters, for which a benchmark has no values";
                return Ok(End::failed(FailureKind::Parameters, message));
            }
            Message::ReadyForQuery(_) => {
                let returned = rows.map(|rows| Outcome::Rows(Arc::new(rows.finish())));
                let denied = || Outcome::Failed(Failure::new(FailureKind::Denied, NO_ROWS));
                return Ok(End::Ready(failure.map(Outcome::Failed).or(returned).unwrap_or_else(denied)));
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
