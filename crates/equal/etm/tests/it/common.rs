//! What SQLite itself returns.

use rusqlite::Connection;
use rusqlite::types::Value;

/// The rows of a query that SQLite accepts.
pub(crate) fn rows(connection: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
    let width = statement.column_count();
    let rows = statement.query_map([], |row| (0..width).map(|place| row.get(place)).collect()).unwrap();
    rows.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}: {sql}"))
}
