//! Sorts SQLite's error codes and messages into typed outcomes.

use rusqlite::{Error, ErrorCode};

use crate::machine::{is_out_of_memory, machine_error};
use crate::outcome::{Failure, FailureKind};

use super::guard::{Guard, Phase};

/// What an error means for the query.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Diagnosis {
    /// The query's own outcome.
    Failed(Failure),
    /// The progress handler stopped it.
    Interrupted,
    /// A value passed the limit on one value.
    LargeValue(Failure),
    /// SQLite could not get memory, perhaps because of a neighbour.
    OutOfMemory,
}

/// Beginnings of messages of SQLite's compiler, and what they mean. The first match counts.
const MESSAGES: [(&str, FailureKind); 22] = [
    ("no such table", FailureKind::NoSuchTable),
    ("no such view", FailureKind::NoSuchTable),
    ("no such column", FailureKind::NoSuchColumn),
    ("ambiguous column name", FailureKind::AmbiguousColumn),
    ("no such function", FailureKind::NoSuchFunction),
    ("unknown function", FailureKind::NoSuchFunction),
    ("no such table-valued function", FailureKind::NoSuchFunction),
    ("incomplete input", FailureKind::SyntaxError),
    ("unrecognized token", FailureKind::SyntaxError),
    ("syntax error", FailureKind::SyntaxError),
    ("malformed database schema", FailureKind::DatabaseError),
    ("no such module", FailureKind::DatabaseError),
    ("parser stack overflow", FailureKind::TooLarge),
    ("Recursion limit", FailureKind::TooLarge),
    ("Expression tree is too large", FailureKind::TooLarge),
    ("too many arguments", FailureKind::InvalidQuery),
    ("too many", FailureKind::TooLarge),
    ("at most", FailureKind::TooLarge),
    ("LIKE or GLOB pattern too complex", FailureKind::TooLarge),
    ("VIEWs and/or subqueries nested too deep", FailureKind::TooLarge),
    ("not authorized", FailureKind::Denied),
    ("unsafe use of", FailureKind::Denied),
];

/// The meaning of an error that `phase` of a query ended with.
pub(super) fn diagnose(error: &Error, phase: Phase, guard: &Guard) -> Diagnosis {
    let (code, message) = match error {
        Error::SqliteFailure(error, message) => {
            (error.code, message.clone().unwrap_or_else(|| error.to_string()))
        }
        Error::SqlInputError { error, msg, .. } => (error.code, msg.clone()),
        Error::MultipleStatement => return failed(FailureKind::MultipleStatements, MULTIPLE_STATEMENTS),
        other => return failed(FailureKind::RuntimeError, &other.to_string()),
    };
    if let Some(refused) = guard.refused() {
        return failed(FailureKind::Denied, &format!("untrusted SQL may not {refused}"));
    }
    match code {
        // A bounded function passes on the message of the built-in one, without its code.
        _ if is_out_of_memory(error) || message == "out of memory" => Diagnosis::OutOfMemory,
        ErrorCode::OperationInterrupted if guard.has_expired() => Diagnosis::Interrupted,
        ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly => {
            failed(FailureKind::Denied, &message)
        }
        _ if code == ErrorCode::TooBig || message == "string or blob too big" => {
            Diagnosis::LargeValue(Failure::new(FailureKind::TooLarge, message))
        }
        _ if machine_error(error).is_some() => failed(FailureKind::Machine, &message),
        ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase
        | ErrorCode::SystemIoFailure
        | ErrorCode::CannotOpen => failed(FailureKind::DatabaseError, &message),
        _ => failed(kind_of_message(&message, phase), &message),
    }
}

/// The message of [`FailureKind::MultipleStatements`].
pub(super) const MULTIPLE_STATEMENTS: &str = "the text holds more than one statement";

fn failed(kind: FailureKind, message: &str) -> Diagnosis {
    Diagnosis::Failed(Failure::new(kind, message))
}

fn kind_of_message(message: &str, phase: Phase) -> FailureKind {
    let kind = MESSAGES.iter().find(|(start, _)| message.starts_with(start)).map(|&(_, kind)| kind);
    kind.unwrap_or_else(|| {
        if message.starts_with("near \"") && message.ends_with("syntax error") {
            FailureKind::SyntaxError
        } else if phase == Phase::Prepare {
            FailureKind::InvalidQuery
        } else {
            FailureKind::RuntimeError
        }
    })
}
