//! Limits the columns, terms and operands of a query as SQLite does (`sqlite3_limit`, with the defaults of its
//! library).

use super::{ErrorKind, ResolveError};

/// Columns of a result, terms of ORDER BY and GROUP BY: `SQLITE_LIMIT_COLUMN`.
const COLUMNS: usize = 2_000;
/// Operands of a compound: `SQLITE_LIMIT_COMPOUND_SELECT`.
const OPERANDS: usize = 500;
/// Operands of AND or OR around one place. SQLite takes no more than a thousand; the rest is for other databases.
pub(super) const CHAINED: usize = 100_000;

/// Whether a result may have that many columns.
pub(super) fn columns(count: usize) -> Result<(), ResolveError> {
    at_most(COLUMNS, count, || "too many columns in result set".to_owned())
}

/// Whether a clause (ORDER BY or GROUP BY) may have that many terms.
pub(super) fn terms(clause: &str, count: usize) -> Result<(), ResolveError> {
    at_most(COLUMNS, count, || format!("too many terms in {clause} clause"))
}

/// Whether a compound may have that many operands.
pub(super) fn operands(count: usize) -> Result<(), ResolveError> {
    at_most(OPERANDS, count, || "too many terms in compound SELECT".to_owned())
}

fn at_most(limit: usize, count: usize, message: impl FnOnce() -> String) -> Result<(), ResolveError> {
    if count > limit { Err(ErrorKind::Invalid(message()).into()) } else { Ok(()) }
}
