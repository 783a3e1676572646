//! Errors of SQLite that the machine made, and not the query or the data.

use std::io::{Error, ErrorKind};

use rusqlite::ErrorCode;

/// The machine's error behind one of SQLite's, if it is one: a full disk, a file that cannot be opened, read or written.
/// What is wrong then says nothing of a query or of a database, so it is never the outcome of an item.
///
/// Too little memory is not among them: SQLite's heap has a limit of ours, which a query can reach.
pub fn machine_error(error: &rusqlite::Error) -> Option<Error> {
    let kind = match error.sqlite_error_code()? {
        ErrorCode::DiskFull => ErrorKind::StorageFull,
        ErrorCode::PermissionDenied | ErrorCode::ReadOnly => ErrorKind::PermissionDenied,
        ErrorCode::CannotOpen | ErrorCode::SystemIoFailure => ErrorKind::Other,
        _ => return None,
    };
    Some(Error::new(kind, error.to_string()))
}
