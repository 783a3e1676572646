//! Which texts return the same again on the same data.
//!
//! A server does not report whether a query used the time, random numbers or the session, so the names of such functions in the
//! text decide. A name that only looks like one costs nothing but a cached result.

use sqlgauge_sql::lex::{TokenKind, words};

/// Words that are a moment, a number or a session by themselves.
const WORDS: [&str; 17] = [
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "tablesample",
    "sample",
    "current_user",
    "session_user",
    "current_catalog",
    "current_schema",
    "current_role",
    "sysdate",
    "user",
];
/// Functions of that kind.
const CALLS: [&str; 24] = [
    "now",
    "clock_timestamp",
    "statement_timestamp",
    "transaction_timestamp",
    "timeofday",
    "today",
    "curdate",
    "curtime",
    "unix_timestamp",
    "get_current_time",
    "get_current_timestamp",
    "age",
    "random",
    "rand",
    "uuid",
    "uuid_short",
    "gen_random_uuid",
    "setseed",
    "connection_id",
    "version",
    "database",
    "found_rows",
    "last_insert_id",
    "row_count",
];
/// Texts that PostgreSQL reads as moments.
const MOMENTS: [&str; 4] = ["'now'", "'today'", "'yesterday'", "'tomorrow'"];

pub(crate) fn is_repeatable(sql: &str) -> bool {
    let mut last = String::new();
    !words(sql).any(|token| {
        let before = std::mem::take(&mut last);
        if token.text == "(" {
            return CALLS.contains(&before.as_str()) || before.starts_with("random_");
        }
        if token.is_name() || token.kind == TokenKind::Parameter {
            last = token.unquoted().to_ascii_lowercase();
        }
        let is_session = last.starts_with("pg_") || last.starts_with("txid_") || last.starts_with('@');
        is_session
            || WORDS.contains(&last.as_str())
            || MOMENTS.iter().any(|moment| token.text.eq_ignore_ascii_case(moment))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_know_the_time_or_draw_numbers_are_told() {
        for sql in [
            "SELECT NOW() - INTERVAL '1 day'",
            "SELECT * FROM t WHERE d >= CURRENT_DATE - 30",
            "SELECT date 'Today'",
            "SELECT name FROM t ORDER BY rand() LIMIT 1",
            "SELECT age(born) FROM t",
            "SELECT @a",
        ] {
            assert!(!is_repeatable(sql), "{sql}");
        }
        for sql in ["SELECT 'current_date' FROM t", "SELECT nowhere, age, date '2020-01-01' FROM t -- now()"]
        {
            assert!(is_repeatable(sql), "{sql}");
        }
    }
}
