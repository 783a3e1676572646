//! `random()` and `randomblob()` with a stream that every query begins anew.
//!
//! What a query returns then follows from its text and its database, and a run that is repeated or taken up again gives one
//! log. Gold and prediction draw the same numbers in the same order.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result, ffi};
use sqlgauge_base::Random;

/// Where every query begins.
const SEED: u64 = 0;

/// The stream of the query that a connection is running; nothing until it draws.
#[derive(Debug, Clone, Default)]
pub(super) struct Stream(Arc<Mutex<Option<Random>>>);

impl Stream {
    /// Begins anew.
    pub(super) fn begin(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether the query that runs, or ran last, has drawn from it.
    pub(super) fn was_drawn_from(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn next(&self) -> u64 {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stream.get_or_insert_with(|| Random::new([SEED])).next_u64()
    }
}

/// Puts the two functions in the place of SQLite's on this connection, on which no value is longer than that.
pub(super) fn seed_random(connection: &Connection, max_value_bytes: i32) -> Result<Stream> {
    // As SQLite's own: different on each call, and without effects, so that a view may use them.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    let stream = Stream::default();
    let of_numbers = stream.clone();
    connection.create_scalar_function("random", 0, flags, move |_| Ok(of_numbers.next().cast_signed()))?;
    let of_blobs = stream.clone();
    connection.create_scalar_function("randomblob", 1, flags, move |context| {
        let length = as_integer(context.get_raw(0)).max(1);
        if length > i64::from(max_value_bytes) {
            return Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_TOOBIG), None));
        }
        let length = usize::try_from(length).unwrap_or(1);
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            bytes.extend_from_slice(&of_blobs.next().to_le_bytes());
        }
        bytes.truncate(length);
        Ok(bytes)
    })?;
    Ok(stream)
}

/// The value as SQLite makes an integer of it.
#[expect(clippy::cast_possible_truncation, reason = "the cast stops at the ends, as SQLite does")]
fn as_integer(value: ValueRef<'_>) -> i64 {
    match value {
        ValueRef::Null => 0,
        ValueRef::Integer(integer) => integer,
        ValueRef::Real(real) => real as i64,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let text = text.trim_start();
            let digits = text.bytes().skip(1).take_while(u8::is_ascii_digit).count();
            text.get(..=digits).and_then(|number| number.parse().ok()).unwrap_or(0)
        }
    }
}
