//! Values near other values, and what SQLite's affinities make of them.

use std::borrow::Cow;

use sqlgauge_engine::Value;
use sqlgauge_sql::schema::{Affinity, Collation};

/// The number that a value is, or that its text looks like.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(*integer as f64),
        Value::Real(real) => Some(*real),
        Value::Decimal(decimal) => Some(decimal.to_float()),
        Value::Text(_) => match numeric_text(value.as_str()?)? {
            Value::Integer(integer) => Some(integer as f64),
            Value::Real(real) => Some(real),
            _ => None,
        },
        Value::Null | Value::Blob(_) => None,
    }
}

/// A number as an integer if it is whole.
pub(super) fn from_number(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "the bounds are checked")]
    if number.fract() == 0.0 && number.abs() < 9e15 {
        Value::Integer(number as i64)
    } else {
        Value::Real(number)
    }
}

pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Integer(integer) => Some(integer.to_string()),
        Value::Real(real) => Some(format!("{real:?}")),
        Value::Decimal(decimal) => Some(decimal.to_string()),
        Value::Text(_) => value.as_str().map(str::to_owned),
        Value::Null | Value::Blob(_) => None,
    }
}

/// The number that a text is by the rule of SQLite's affinities: a literal with space around it.
fn numeric_text(text: &str) -> Option<Value> {
    let trimmed = text.trim_matches(sqlgauge_sql::lex::is_space);
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !is_number {
        return None;
    }
    match trimmed.parse::<i64>() {
        Ok(integer) => Some(Value::Integer(integer)),
        Err(_) => trimmed.parse::<f64>().ok().filter(|real| real.is_finite()).map(Value::Real),
    }
}

/// What a column of that affinity stores for the value.
pub(super) fn stored(value: &Value, affinity: Affinity) -> Value {
    match (affinity, value) {
        (Affinity::Text, Value::Integer(_) | Value::Real(_)) => {
            Value::text(&text_of(value).unwrap_or_default())
        }
        (Affinity::Integer | Affinity::Numeric, Value::Real(real)) => from_number(*real),
        (Affinity::Integer | Affinity::Numeric, Value::Text(_)) => {
            match value.as_str().and_then(numeric_text) {
                Some(Value::Real(real)) => from_number(real),
                Some(integer) => integer,
                None => value.clone(),
            }
        }
        (Affinity::Real, Value::Integer(integer)) => Value::Real(*integer as f64),
        (Affinity::Real, Value::Text(_)) => {
            let number = value.as_str().and_then(numeric_text).as_ref().and_then(number);
            number.map_or_else(|| value.clone(), Value::Real)
        }
        _ => value.clone(),
    }
}

/// What a stored value is in a unique key of a collation: two that are equal there have the same.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Key<'v> {
    /// NULL.
    Null,
    /// The bits of a number as a real one, of which 0.0 is the only zero.
    Number(u64),
    /// A text, as far as the collation tells it from others.
    Text(Cow<'v, [u8]>),
    /// Bytes.
    Blob(&'v [u8]),
}

/// The [`Key`] of a value.
pub(super) fn key_of<'v>(value: &'v Value, collation: &Collation) -> Key<'v> {
    match value {
        Value::Null => Key::Null,
        Value::Integer(integer) => Key::Number((*integer as f64).to_bits()),
        // Minus zero and zero are equal.
        Value::Real(real) => Key::Number((real + 0.0).to_bits()),
        Value::Text(text) => Key::Text(match collation {
            Collation::NoCase => Cow::Owned(text.to_ascii_lowercase()),
            Collation::RTrim => Cow::Borrowed(trimmed(text)),
            Collation::Binary | Collation::Other(_) => Cow::Borrowed(text),
        }),
        Value::Decimal(decimal) => Key::Number(decimal.to_float().to_bits()),
        Value::Blob(bytes) => Key::Blob(bytes),
    }
}

/// Whether two stored values are equal in a unique key of that collation.
pub(super) fn same_key(left: &Value, right: &Value, collation: &Collation) -> bool {
    key_of(left, collation) == key_of(right, collation)
}

fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| byte != b' ').map_or(0, |at| at + 1);
    &text[..end]
}

pub(super) fn above(value: &Value) -> Value {
    step(value, 1)
}

pub(super) fn below(value: &Value) -> Value {
    step(value, -1)
}

fn step(value: &Value, by: i64) -> Value {
    match value {
        Value::Integer(integer) => Value::Integer(integer.saturating_add(by)),
        Value::Real(real) => Value::Real(real + 0.5 * by as f64),
        Value::Text(_) => {
            let text = value.as_str().unwrap_or_default();
            if let Some(date) = shifted_date(text, by) {
                return Value::text(&date);
            }
            if let Some(n) = numeric_text(text).as_ref().and_then(number) {
                return Value::text(&text_of(&from_number(n + by as f64)).unwrap_or_default());
            }
            if by > 0 {
                return Value::text(&format!("{text}a"));
            }
            let mut shorter = text.to_owned();
            shorter.pop();
            Value::text(&shorter)
        }
        Value::Null | Value::Decimal(_) | Value::Blob(_) => value.clone(),
    }
}

/// Values around one that a query names: those at which a comparison with it changes, and those that look like it.
pub(super) fn neighbours(value: &Value) -> Vec<Value> {
    let mut near = vec![above(value), below(value)];
    match value {
        Value::Integer(integer) => near.push(Value::Real(*integer as f64 + 0.5)),
        Value::Real(real) => near.extend([from_number(real.floor()), from_number(real.ceil())]),
        Value::Text(_) => {
            let text = value.as_str().unwrap_or_default();
            if let Some(date) = date_part(text) {
                let year: i64 = date[..4].parse().unwrap_or(2000);
                near.push(Value::text(&format!("{:04}{}", (year + 1).clamp(0, 9999), &date[4..])));
                near.push(Value::text(&format!("{:04}{}", (year - 1).clamp(0, 9999), &date[4..])));
                near.push(Value::text(&if text.len() > 10 {
                    date.to_owned()
                } else {
                    format!("{date} 10:00:00")
                }));
            } else if numeric_text(text).is_none() {
                near.push(Value::text(&text.to_ascii_lowercase()));
                near.push(Value::text(&text.to_ascii_uppercase()));
                near.push(Value::text(&format!("x{text}")));
                near.push(Value::text(&format!("{text} ")));
            } else {
                near.push(Value::text(&format!("0{text}")));
            }
        }
        Value::Null | Value::Decimal(_) | Value::Blob(_) => {}
    }
    near
}

/// Texts that hold `part` at that place (from 1; negative counts from the end).
pub(super) fn around_substring(part: &str, start: f64) -> Vec<String> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded to a small number")]
    let before = (start - 1.0).clamp(0.0, 32.0) as usize;
    if start < 0.0 {
        return vec![part.to_owned(), format!("b{part}")];
    }
    // Dates are what most substrings are taken of.
    let rest = match (before, part.len()) {
        (0, 4) => format!("{part}-06-15"),
        (0, 7) => format!("{part}-15"),
        (5, 2) => return vec![format!("2000-{part}-15"), format!("{}{part}", "a".repeat(before))],
        _ => format!("{}{part}b", "a".repeat(before)),
    };
    vec![format!("{}{part}", "a".repeat(before)), rest]
}

/// Dates that `strftime(format, date)` turns into `text`.
pub(super) fn dates_formatted_as(format: &str, text: &str) -> Vec<String> {
    let padded = format!("{text:0>2}");
    let dates = match format {
        "%Y" => [format!("{text:0>4}-06-15"), format!("{text:0>4}-12-31")],
        "%m" => [format!("2000-{padded}-15"), format!("2001-{padded}-01")],
        "%d" => [format!("2000-06-{padded}"), format!("2001-07-{padded}")],
        "%Y-%m" => [format!("{text}-15"), format!("{text}-02")],
        "%Y%m" if text.len() == 6 && text.is_ascii() => {
            ["15", "02"].map(|day| format!("{}-{}-{day}", &text[..4], &text[4..]))
        }
        "%m-%d" => [format!("2000-{text}"), format!("2001-{text}")],
        "%H" => [format!("2000-06-15 {padded}:30:00"), format!("2000-06-16 {padded}:00:00")],
        "%H:%M" => [format!("2000-06-15 {text}:00"), format!("2000-06-16 {text}:30")],
        "%H:%M:%S" => [format!("2000-06-15 {text}"), format!("2000-06-16 {text}")],
        _ => return vec![text.to_owned()],
    };
    dates.to_vec()
}

/// The `YYYY-MM-DD` at the start of a text.
pub(super) fn date_part(text: &str) -> Option<&str> {
    let date = text.get(..10)?;
    let fits = date
        .bytes()
        .enumerate()
        .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    fits.then_some(date)
}

/// Whether the text is a day of the calendar, a time of day to a thousandth of a second, or both: what SQLite reads as it
/// stands.
pub fn is_time_text(text: &str) -> bool {
    let Some(date) = date_part(text) else { return is_time_of_day(text) };
    let part = |range: std::ops::Range<usize>| date[range].parse::<i64>().unwrap_or_default();
    let day = (part(0..4), part(5..7), part(8..10));
    let is_day = (1..=12).contains(&day.1) && date_of(day_number(day.0, day.1, day.2)) == day;
    let time = text[10..].strip_prefix([' ', 'T']);
    is_day && (text.len() == 10 || time.is_some_and(is_time_of_day))
}

/// `HH:MM`, `HH:MM:SS` or that with a fraction.
fn is_time_of_day(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let below = |part: &str, end: u32| {
        part.len() == 2 && digits(part) && part.parse::<u32>().is_ok_and(|number| number < end)
    };
    let mut parts = text.splitn(3, ':');
    let (Some(hour), Some(minute)) = (parts.next(), parts.next()) else { return false };
    let is_second = |second: &str| {
        let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
        below(whole, 60) && (1..=3).contains(&fraction.len()) && digits(fraction)
    };
    below(hour, 24) && below(minute, 60) && parts.next().is_none_or(is_second)
}

/// A text that begins with a date, some days later.
fn shifted_date(text: &str, days: i64) -> Option<String> {
    let date = date_part(text)?;
    let part = |range: std::ops::Range<usize>| date.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month, day) = date_of(day_number(year, month, day) + days);
    (0..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}{}", &text[10..]))
}

/// Days since 1970-01-01 of a Gregorian date (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The year, month and day so many days after 1970-01-01 (Howard Hinnant).
pub fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SQLite itself says what a column stores.
    #[test]
    fn affinities_store_what_sqlite_stores() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t (a TEXT, b NUMERIC, c INTEGER, d REAL, e BLOB); INSERT INTO t DEFAULT VALUES",
            )
            .unwrap();
        let values = [
            "NULL", "3", "3.0", "2.5", "-1", "'3'", "' 3 '", "'03'", "'3.0'", "'2.5'", "'abc'", "''", "'3x'",
            "'1e2'", "'.5'", "'+4'", "'-'", "'e1'", "'1-2'", "x'33'", "'1.5e1'", "100000.5", "1e20",
        ];
        for literal in values {
            let original = connection
                .query_row(&format!("SELECT {literal}"), [], |row| Ok(Value::from(row.get_ref(0)?)))
                .unwrap();
            for (column, affinity) in [
                ("a", Affinity::Text),
                ("b", Affinity::Numeric),
                ("c", Affinity::Integer),
                ("d", Affinity::Real),
                ("e", Affinity::Blob),
            ] {
                connection.execute(&format!("UPDATE t SET {column} = {literal}"), []).unwrap();
                let read = connection
                    .query_row(&format!("SELECT {column} FROM t"), [], |row| Ok(Value::from(row.get_ref(0)?)))
                    .unwrap();
                if literal != "1e20" {
                    assert_eq!(stored(&original, affinity), read, "{literal} as {affinity:?}");
                }
            }
        }
    }

    #[test]
    fn steps_cross_the_value_in_its_own_order() {
        for (value, lower, higher) in [
            (Value::Integer(5), Value::Integer(4), Value::Integer(6)),
            (Value::Real(0.5), Value::Real(0.0), Value::Real(1.0)),
            (Value::text("1999-12-31"), Value::text("1999-12-30"), Value::text("2000-01-01")),
            (
                Value::text("2024-03-01 10:00"),
                Value::text("2024-02-29 10:00"),
                Value::text("2024-03-02 10:00"),
            ),
            (Value::text("10"), Value::text("9"), Value::text("11")),
            (Value::text("bob"), Value::text("bo"), Value::text("boba")),
        ] {
            assert_eq!((below(&value), above(&value)), (lower, higher), "{value:?}");
        }
    }

    #[test]
    fn days_are_counted_over_four_centuries() {
        for days in (-200_000..200_000).step_by(37) {
            let (year, month, day) = date_of(days);
            assert_eq!(day_number(year, month, day), days);
        }
        assert_eq!(day_number(2000, 3, 1), 11_017);
    }
}
