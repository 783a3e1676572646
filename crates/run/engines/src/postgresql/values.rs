//! Values of the server's text format, up to the server's own equality.

use serde_json::Value as Json;
use sqlgauge_engine::Value;

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
    let known = match oid {
        16 => Some(Value::Integer(i64::from(utf8 == "t"))),
        20 | 21 | 23 | 26 | 1700 => Value::decimal(utf8),
        700 | 701 => float(utf8),
        17 => utf8.strip_prefix("\\x").and_then(bytes),
        1082 | 1114 | 1184 => Some(Value::text(moment(utf8))),
        1186 => interval(utf8),
        114 | 3802 => serde_json::from_str(utf8).ok().map(|json| Value::text(&sorted(json).to_string())),
        1005 | 1007 | 1016 | 1021 | 1022 | 1231 => numbers(oid, utf8),
        _ => None,
    };
    known.unwrap_or_else(raw)
}

fn float(text: &str) -> Option<Value> {
    text.parse().ok().filter(|float: &f64| !float.is_nan()).map(Value::Real)
}

fn bytes(hex: &str) -> Option<Value> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = hex.as_bytes().chunks(2).map(byte).collect();
    bytes.map(|bytes| Value::Blob(bytes.into()))
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
    let sign = if micros < 0 { "-" } else { "" };
    let micros = micros.unsigned_abs();
    let seconds = format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    let seconds = seconds.trim_end_matches('0').trim_end_matches('.');
    Some(Value::text(&format!("{seconds} seconds")))
}

fn clock(text: &str) -> Option<i128> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let mut parts = text.trim_start_matches('+').split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let number = |part: &str| part.parse::<i128>().ok();
    let whole = number(hours)? * 3600 + number(minutes)? * 60 + number(seconds)?;
    Some(sign * (whole * 1_000_000 + number(&format!("{fraction:0<6}"))?))
}

fn sorted(json: Json) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(sorted).collect(),
        Json::Object(object) => {
            let mut entries: Vec<_> = object.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(entries.into_iter().collect())
        }
        // 1.0 is 1.
        Json::Number(number) => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "the bounds are checked")]
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => {
                (float as i64).into()
            }
            _ => Json::Number(number),
        },
        other => other,
    }
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
