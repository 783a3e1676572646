//! One query, from its settings to its last row.

use std::sync::Arc;
use std::time::Instant;

use sqlgauge_engine::{Enough, Failure, FailureKind, Limits, Outcome};

use super::connection::{Connection, EXECUTE, PREPARE, Piece, QUERY, out_of_turn};
use super::{MySql, errors, text, values};
use crate::locks::NO_ROWS;
use crate::rows::Rows;
use crate::server::{Broken, End, GRACE, refusal};

/// Runs a query, whose connection may still be cleaned from the one before.
pub(super) fn attempt(
    connection: &mut Connection,
    server: &MySql,
    sql: &str,
    limits: &Limits,
    enough: Option<&Enough>,
) -> Result<End, Broken> {
    connection.finish_cleaning()?;
    let began = Instant::now();
    let deadline = began + limits.timeout + GRACE;
    // After a refusal the server is ready for the next command.
    let ended = |broken| match broken {
        Broken::Refused { code, message } => {
            let failure = refusal::<MySql>(&code, &message, began, limits)?;
            Ok(End::Ready(Outcome::Failed(failure)))
        }
        other => Err(other),
    };
    connection.command(QUERY, server.settings(limits).as_bytes());
    connection.command(QUERY, b"START TRANSACTION READ ONLY");
    connection.command(PREPARE, text::statement(sql, server.lexing).as_bytes());
    connection.send()?;
    for _ in 0..2 {
        connection.done(deadline).map_err(Broken::lost)?;
    }
    let (id, columns, parameters) = match connection.prepared(deadline) {
        Ok(prepared) => prepared,
        Err(refused) => return ended(refused),
    };
    if parameters > 0 {
        let message = "the text has parameters, for which a benchmark has no values";
        return Ok(End::failed(FailureKind::Parameters, message));
    }
    if columns == 0 {
        return Ok(End::failed(FailureKind::Denied, NO_ROWS));
    }
    let mut body = id.to_le_bytes()[..4].to_vec();
    body.extend([0, 1, 0, 0, 0]);
    connection.command(EXECUTE, &body);
    connection.send()?;
    connection.expect_result();
    fetch(connection, (limits, enough), deadline).or_else(ended)
}

fn fetch(
    connection: &mut Connection,
    (limits, enough): (&Limits, Option<&Enough>),
    deadline: Instant,
) -> Result<End, Broken> {
    let mut columns = Vec::new();
    let mut rows: Option<Rows<'_>> = None;
    let begin = |columns: &[values::Column]| {
        Rows::new(columns.iter().map(|column| column.name.clone()).collect(), limits, enough)
    };
    loop {
        match connection.piece(deadline, limits.max_value_bytes)? {
            Piece::Column(packet) => columns.push(connection.column(&packet)?),
            Piece::Row(packet) => {
                let row = values::row(&packet, &columns).ok_or_else(out_of_turn)?;
                let rows = rows.get_or_insert_with(|| begin(&columns));
                if let Err(stop) = rows.push(row, packet.len()) {
                    return Ok(stop.into());
                }
                if Instant::now() > deadline {
                    return Err(Broken::Late);
                }
            }
            Piece::End { has_rows: false, .. } => return Ok(End::failed(FailureKind::Denied, NO_ROWS)),
            Piece::End { warnings, .. } => {
                if let Some(failure) = cut(connection, warnings)? {
                    return Ok(End::Ready(Outcome::Failed(failure)));
                }
                let rows = rows.unwrap_or_else(|| begin(&columns)).finish();
                return Ok(End::Ready(Outcome::Rows(Arc::new(rows))));
            }
        }
    }
}

/// The server cuts values that are too long, and only warns of it.
fn cut(connection: &mut Connection, warnings: u64) -> Result<Option<Failure>, Broken> {
    if warnings == 0 {
        return Ok(None);
    }
    let rows = connection.ask("SHOW WARNINGS")?;
    let failure = rows.iter().find_map(|row| match row.as_slice() {
        [_, Some(code), Some(message)] if errors::is_cut(code) => {
            Some(Failure::new(FailureKind::TooLarge, message.clone()))
        }
        _ => None,
    });
    Ok(failure)
}
