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
use super::{Postgres, values};
use crate::locks::NO_ROWS;
use crate::rows::Rows;
use crate::server::{Broken, End, GRACE, refusal};

/// Runs a query, whose connection may still be cleaned from the one before.
pub(super) fn attempt(
    connection: &mut Connection,
    served: &Postgres,
    sql: &str,
    limits: &Limits,
    enough: Option<&Enough>,
) -> Result<End, Broken> {
    connection.finish_cleaning()?;
    let began = Instant::now();
    let deadline = began + limits.timeout + GRACE;
    let is_begun = connection.has_savepoint;
    if !is_begun {
        frontend::query(&begin(served, limits), connection.output())?;
    }
    frontend::parse("", sql, [], connection.output())?;
    frontend::describe(b'S', "", connection.output())?;
    let gates = write_gate(sql, connection)?;
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
        let opening = connection.answer();
        // As by a snapshot that was of the server before it was started anew: no query is to blame.
        if let Err(Broken::Refused { message, .. }) = &opening
            && connection.skip_to_end(deadline)
        {
            return Ok(End::failed(FailureKind::Machine, message.as_str()));
        }
        opening?;
        connection.has_savepoint = served.leaves_nothing;
    }
    let end = answer(connection, gates, (limits, enough), (began, deadline))?;
    if let End::Ready(Outcome::Failed(Failure { kind: FailureKind::Denied, message })) = &end
        && message == NO_ROWS
        && is_empty(connection, served, sql, deadline)?
    {
        return Ok(End::failed(FailureKind::Empty, "the text holds no SQL statement"));
    }
    Ok(end)
}

/// Has the server execute what follows only if the text is a query: it skips the rest of a batch after an error, and a cursor is declared
/// for nothing but a query without INTO. Of the text it is the whole rest, so that no other reading of it is possible. The cursor is not
/// opened. Returns how many answers of `CloseComplete` say that the gate is open.
fn write_gate(sql: &str, connection: &mut Connection) -> io::Result<usize> {
    const NAME: &str = "sqlgauge";
    let (empty, query) = sql.split_at(leading(sql));
    if !empty.is_empty() {
        frontend::parse(NAME, &format!("{EMPTY}{empty}"), [], connection.output())?;
        frontend::close(b'S', NAME, connection.output())?;
    }
    frontend::parse(NAME, &format!("DECLARE {NAME} CURSOR FOR {query}"), [], connection.output())?;
    frontend::close(b'S', NAME, connection.output())?;
    Ok(1 + usize::from(!empty.is_empty()))
}

/// What stands before a text of which the server is to say whether it is empty: with a statement behind it, these are two.
const EMPTY: &str = "SELECT 1;";

/// The bytes of empty statements before the first statement. The server confirms that they are.
fn leading(sql: &str) -> usize {
    let mut at = 0;
    let mut end = 0;
    while let Some(rest) = sql.get(at..) {
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']).len();
        at += match rest.as_bytes() {
            _ if blank > 0 => blank,
            [b';', ..] => {
                end = at + 1;
                1
            }
            [b'-', b'-', ..] => rest.find('\n').map_or(rest.len(), |end| end + 1),
            [b'/', b'*', ..] => comment(rest),
            _ => break,
        };
    }
    end
}

/// The length of a comment, which may hold others.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(pair) = text.as_bytes().get(at..at + 2) {
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Whether a text that returns no rows holds a statement at all, by the server's parser. Nothing is executed.
fn is_empty(
    connection: &mut Connection,
    served: &Postgres,
    sql: &str,
    deadline: Instant,
) -> Result<bool, Broken> {
    if served.leaves_nothing {
        connection.finish_cleaning()?;
    }
    frontend::parse("", &format!("{EMPTY}{sql}"), [], connection.output())?;
    frontend::sync(connection.output());
    if served.leaves_nothing {
        connection.write_cleaning()?;
    }
    connection.send()?;
    let mut is_empty = true;
    loop {
        match connection.read(deadline, LONGEST)? {
            Message::ErrorResponse(body) => {
                is_empty = !matches!(refused(&body), Broken::Refused { code, .. } if code == "42601");
            }
            Message::ReadyForQuery(_) => return Ok(is_empty),
            _ => {}
        }
    }
}

/// What stands before each query, or before the first where a savepoint follows it: what an earlier one has set is gone, and what
/// this one sets counts for the next no more.
fn begin(served: &Postgres, limits: &Limits) -> String {
    let timeout = limits.timeout.as_millis().max(1);
    let savepoint = if served.leaves_nothing { "; SAVEPOINT before_query" } else { "" };
    // A query that waits for the lock of somebody else is not slow.
    let patience = (timeout / 2).max(1);
    format!(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '{}'; \
         SET LOCAL statement_timeout = {timeout}; SET LOCAL lock_timeout = {patience}; \
         SET LOCAL work_mem = '64MB'; SET LOCAL max_parallel_workers_per_gather = 0{savepoint}",
        served.snapshot
    )
}

type Columns = Vec<(String, u32)>;

/// Bytes of a frame before the first row.
const LONGEST: usize = 16 << 20;

/// The rows of a query that has been sent whole: the server executes what passes the gate, in a transaction that writes nothing.
fn answer(
    connection: &mut Connection,
    mut gates: usize,
    (limits, enough): (&Limits, Option<&Enough>),
    (began, deadline): (Instant, Instant),
) -> Result<End, Broken> {
    let (mut columns, mut rows) = (Columns::new(), None);
    let (mut failure, mut has_parameters) = (None, false);
    let mut is_described = false;
    loop {
        let longest = if rows.is_some() { limits.max_value_bytes } else { LONGEST };
        match connection.read(deadline, longest)? {
            Message::ParameterDescription(body) => has_parameters = body.parameters().count()? > 0,
            Message::NoData => is_described = true,
            Message::CloseComplete => gates = gates.saturating_sub(1),
            Message::RowDescription(body) => {
                is_described = true;
                columns =
                    body.fields().map(|field| Ok((field.name().to_owned(), field.type_oid()))).collect()?;
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
                // The gate: the text is fine, and not a query.
                Broken::Refused { code, .. }
                    if is_described && gates > 0 && matches!(code.get(..2), Some("42" | "0A")) =>
                {
                    let message = if rows.is_some() { "only queries are run" } else { NO_ROWS };
                    failure = Some(Failure::new(FailureKind::Denied, message));
                }
                Broken::Refused { code, message } => {
                    failure = Some(refusal::<Postgres>(&code, &message, began, limits)?);
                }
                other => return Err(other),
            },
            Message::ReadyForQuery(_) if has_parameters && rows.is_some() => {
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

#[cfg(test)]
mod tests {
    use super::leading;

    #[test]
    fn empty_statements_before_the_first_are_measured() {
        for (sql, length) in [
            ("SELECT 1; x", 0),
            (" -- a\n/* /* ; */ ; */ SELECT 1", 0),
            (";; SELECT 1", 2),
            ("/* a */;--;\n ; SELECT ';'", 14),
            ("/* open ;", 0),
            ("-- open ;", 0),
            (" ; é;", 2),
            ("/", 0),
        ] {
            assert_eq!(leading(sql), length, "{sql}");
        }
    }
}
