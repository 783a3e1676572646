//! Recognises errors of SQLite that come from the machine, not from the query or the data.

use std::io::{Error, ErrorKind};

use rusqlite::{ErrorCode, ffi};

/// The machine's error behind one of SQLite's, if it is one: a full disk, a file that cannot be opened, read or written.
/// What is wrong then says nothing of a query or of a database, so it is never the outcome of an item.
///
/// Too little memory is not among them: SQLite's heap has a limit of ours, which a query can reach. Nor is a file that is
/// shorter than its header says: it is damaged.
pub fn machine_error(error: &rusqlite::Error) -> Option<Error> {
    let sqlite = error.sqlite_error()?;
    if matches!(sqlite.extended_code, ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_NOMEM) {
        return None;
    }
    let kind = match sqlite.code {
        ErrorCode::DiskFull => ErrorKind::StorageFull,
        ErrorCode::PermissionDenied | ErrorCode::ReadOnly => ErrorKind::PermissionDenied,
        ErrorCode::CannotOpen | ErrorCode::SystemIoFailure => ErrorKind::Other,
        _ => return None,
    };
    Some(Error::new(kind, error.to_string()))
}

/// Whether SQLite found no memory. Its pager and its sorter call that an error of input and output.
pub(crate) fn is_out_of_memory(error: &rusqlite::Error) -> bool {
    let is = |sqlite: &ffi::Error| {
        sqlite.code == ErrorCode::OutOfMemory || sqlite.extended_code == ffi::SQLITE_IOERR_NOMEM
    };
    error.sqlite_error().is_some_and(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_decides_and_not_the_text() {
        for (code, is_of_the_machine, is_of_memory) in [
            (ffi::SQLITE_FULL, true, false),
            (ffi::SQLITE_CANTOPEN, true, false),
            (ffi::SQLITE_PERM, true, false),
            (ffi::SQLITE_IOERR_WRITE, true, false),
            (ffi::SQLITE_IOERR_SHORT_READ, false, false),
            (ffi::SQLITE_IOERR_NOMEM, false, true),
            (ffi::SQLITE_NOMEM, false, true),
            (ffi::SQLITE_CORRUPT, false, false),
            (ffi::SQLITE_CONSTRAINT_CHECK, false, false),
        ] {
            let text = Some("database or disk is full".to_owned());
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), text);
            assert_eq!(machine_error(&error).is_some(), is_of_the_machine, "{code}");
            assert_eq!(is_out_of_memory(&error), is_of_memory, "{code}");
        }
    }
}
