//! Values of the server's text format, up to the server's own equality.

use sqlgauge_engine::Value;

use crate::json;
use crate::values::{bytes, seconds};

/// The value of a text of that type.
///
/// - `numeric` is exact; integers are integers; `real` and `double precision` are floats; `boolean` is 1 or 0.
/// - A date and a timestamp of its midnight are equal, as they are to the server in a session in UTC.
/// - An interval is its length in seconds, with days of 24 hours and months of 30 days, as the server compares it.
/// - JSON is compared by value: keys sorted, numbers as numbers. Arrays of numbers are compared number by number.
/// - All else is its text.
pub(super) fn value(oid: u32, text: &[u8]) -> Value {
    let raw = || Value::Text(text.into());
    let Ok(utf8) = std::str::from_utf8(text) else { return raw() };
    let value = match oid {
        16 => Some(Value::Integer(i64::from(utf8 == "t"))),
        20 | 21 | 23 | 26 | 1700 => Value::decimal(utf8),
        700 | 701 => float(utf8),
        17 => utf8.strip_prefix("\\x").and_then(bytes).map(Value::Blob),
        1082 | 1114 | 1184 => Some(Value::text(moment(utf8))),
        1186 => interval(utf8),
        114 | 3802 => json::canonical(utf8).map(|text| Value::text(&text)),
        1005 | 1007 | 1016 | 1021 | 1022 | 1231 => numbers(oid, utf8),
        _ => None,
    };
    value.unwrap_or_else(raw)
}

fn float(text: &str) -> Option<Value> {
    text.parse().ok().filter(|float: &f64| !float.is_nan()).map(Value::Real)
}

fn moment(text: &str) -> &str {
    let local = text.strip_suffix("+00").unwrap_or(text);
    local.strip_suffix(" 00:00:00").unwrap_or(local)
}

/// `1 year 2 mons 3 days -04:05:06.7`.
fn interval(text: &str) -> Option<Value> {
    const DAY: i128 = 86_400_000_000;
    let mut micros: i128 = 0;
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if word.contains(':') {
            micros += clock(word)?;
            continue;
        }
        let count: i128 = word.parse().ok()?;
        micros += count
            * match words.next()?.trim_end_matches('s') {
                "year" => 360 * DAY,
                "mon" => 30 * DAY,
                "day" => DAY,
                _ => return None,
            };
    }
    Some(seconds(micros))
}

fn clock(text: &str) -> Option<i128> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let mut parts = text.trim_start_matches('+').split(':');
    let (hours, minutes, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let (seconds, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let number = |part: &str| part.parse::<i128>().ok();
    let whole = number(hours)? * 3600 + number(minutes)? * 60 + number(seconds)?;
    Some(sign * (whole * 1_000_000 + number(&format!("{fraction:0<6}"))?))
}

/// An array of numbers, each written in one way.
fn numbers(oid: u32, text: &str) -> Option<Value> {
    let one = |word: &str| -> Option<String> {
        if word == "NULL" {
            return Some(word.to_owned());
        }
        Some(match if matches!(oid, 1021 | 1022) { float(word)? } else { Value::decimal(word)? } {
            Value::Integer(integer) => integer.to_string(),
            Value::Real(real) => real.to_string(),
            Value::Decimal(decimal) => decimal.to_string(),
            _ => return None,
        })
    };
    let (mut out, mut word) = (String::new(), String::new());
    for c in text.chars() {
        if matches!(c, '{' | '}' | ',') {
            if !word.is_empty() {
                out.push_str(&one(&word)?);
                word.clear();
            }
            out.push(c);
        } else {
            word.push(c);
        }
    }
    word.is_empty().then(|| Value::text(&out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_equal_as_the_server_has_them_equal() {
        for (oid, left, right, equal) in [
            (1700, "0.10", "0.1", true),
            (1700, "0.10000000000000001", "0.1", false),
            (1700, "2.00", "2", true),
            (1114, "2020-01-01 00:00:00", "2020-01-01", true),
            (1184, "2020-01-01 01:00:00+00", "2020-01-01 01:00:00", true),
            (1186, "1 mon", "30 days", true),
            (1186, "1 day", "24:00:00", true),
            (1186, "-00:00:01.5", "00:00:01.5", false),
            (114, r#"{"a": 1, "b": [1.0]}"#, r#"{"b":[1],"a":1.0}"#, true),
            (114, r#"{"a": 1}"#, r#"{"a": "1"}"#, false),
            (1231, "{1.0,NULL,{2.50}}", "{1,NULL,{2.5}}", true),
            (25, "a ", "a", false),
        ] {
            assert_eq!(value(oid, left.as_bytes()) == value(oid, right.as_bytes()), equal, "{left} {right}");
        }
        assert_eq!(value(16, b"t"), Value::Integer(1));
        assert_eq!(value(17, b"\\x00ff"), Value::Blob([0, 255].into()));
        assert_eq!(value(701, b"NaN"), Value::text("NaN"));
        assert_eq!(value(701, b"-Infinity"), Value::Real(f64::NEG_INFINITY));
    }
}
