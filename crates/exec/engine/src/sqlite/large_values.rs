//! Functions that cost the product of their arguments' lengths, bounded.
//!
//! Among values of ordinary size a call of them takes milliseconds. Among values of megabytes it takes hours,
//! inside one instruction that nothing can interrupt. Where large values are allowed, these functions are
//! therefore replaced by ones that look at the lengths first and then ask SQLite's own function.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, Result, ffi};

use crate::value::Value;

/// The functions with their number of arguments; the first two arguments multiply.
const PRODUCT_FUNCTIONS: [(&str, usize); 7] = [
    ("instr", 2),
    ("replace", 3),
    ("trim", 2),
    ("ltrim", 2),
    ("rtrim", 2),
    ("json_patch", 2),
    ("jsonb_patch", 2),
];

/// Largest product of two lengths in bytes: about a second of comparing.
const MAX_PRODUCT: usize = 1 << 31;

/// Longest LIKE or GLOB pattern beside large values; these two stay SQLite's own, since the planner knows them.
const MAX_PATTERN_BYTES: i32 = 256;

/// Puts the bounded functions in the place of SQLite's on this connection.
pub(super) fn bound_products(connection: &Connection, max_value_bytes: i32) -> Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN_BYTES)?;
    let original = Connection::open_in_memory()?;
    original.set_limit(Limit::SQLITE_LIMIT_LENGTH, max_value_bytes)?;
    let original = Arc::new(Mutex::new(original));
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    for (name, arguments) in PRODUCT_FUNCTIONS {
        let original = Arc::clone(&original);
        let places: Vec<String> = (1..=arguments).map(|place| format!("?{place}")).collect();
        let sql = format!("SELECT {name}({})", places.join(", "));
        let arguments_count = i32::try_from(arguments).unwrap_or(i32::MAX);
        connection.create_scalar_function(name, arguments_count, flags, move |context| {
            if length(context.get_raw(0)).saturating_mul(length(context.get_raw(1))) > MAX_PRODUCT {
                return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None));
            }
            call(&original.lock().unwrap_or_else(PoisonError::into_inner), &sql, context)
        })?;
    }
    Ok(())
}

fn length(value: ValueRef<'_>) -> usize {
    value.as_bytes().map_or(0, <[u8]>::len)
}

/// What SQLite's own function makes of the arguments.
fn call(original: &Connection, sql: &str, context: &Context<'_>) -> Result<Value> {
    let mut statement = original.prepare_cached(sql)?;
    for place in 0..context.len() {
        statement.raw_bind_parameter(place + 1, ToSqlOutput::Borrowed(context.get_raw(place)))?;
    }
    let mut rows = statement.raw_query();
    Ok(rows.next()?.map(|row| row.get_ref(0)).transpose()?.map_or(Value::Null, Value::from))
}
