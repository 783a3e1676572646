//! Values as the process sends them.

use serde_json::Value as Json;
use sqlgauge_engine::Value;

use crate::json;
use crate::values::{bytes, seconds};

/// A number, a text or NULL is itself; all else is a pair of its kind and its text.
///
/// - `DECIMAL` and `HUGEINT` are exact; `REAL` and `DOUBLE` are floats; `BOOLEAN` is 1 or 0.
/// - A `DATE` equals the `TIMESTAMP` of its midnight; times with a zone are in UTC. An `INTERVAL` is its length, with months of 30 days.
/// - JSON, lists, structs and maps are compared by value. A `UUID` is its text.
pub(super) fn value(cell: Json) -> Value {
    match cell {
        Json::String(text) => Value::Text(text.into_bytes().into()),
        Json::Number(number) => number.as_i64().map_or(Value::Null, Value::Integer),
        Json::Array(pair) => match pair.as_slice() {
            [Json::String(kind), Json::String(text)] => of_kind(kind, text),
            _ => Value::Null,
        },
        Json::Null | Json::Bool(_) | Json::Object(_) => Value::Null,
    }
}

fn of_kind(kind: &str, text: &str) -> Value {
    let value = match kind {
        "decimal" => Value::decimal(text),
        "float" => text.parse().ok().filter(|float: &f64| !float.is_nan()).map(Value::Real),
        "bytes" => bytes(text).map(Value::Blob),
        // A text that is not UTF-8.
        "text" => bytes(text).map(Value::Text),
        "seconds" => text.parse().ok().map(seconds),
        "moment" => Some(Value::text(moment(text))),
        "json" | "nested" => json::canonical(text).map(|text| Value::text(&text)),
        _ => None,
    };
    value.unwrap_or_else(|| Value::text(text))
}

fn moment(text: &str) -> &str {
    let text = if text.contains('.') { text.trim_end_matches('0') } else { text };
    text.strip_suffix(" 00:00:00").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_their_kind() {
        for (cell, expected) in [
            ("null", Value::Null),
            ("-1", Value::Integer(-1)),
            (r#""é""#, Value::text("é")),
            (r#"["decimal", "1.10"]"#, Value::decimal("1.1").unwrap()),
            (r#"["decimal", "18446744073709551616"]"#, Value::decimal("18446744073709551616").unwrap()),
            (r#"["float", "0.1"]"#, Value::Real(0.1)),
            (r#"["float", "inf"]"#, Value::Real(f64::INFINITY)),
            (r#"["bytes", "00ff"]"#, Value::Blob([0, 255].into())),
            (r#"["moment", "2020-01-01 00:00:00"]"#, Value::text("2020-01-01")),
            (r#"["moment", "2020-01-01 10:00:00.500000"]"#, Value::text("2020-01-01 10:00:00.5")),
            (r#"["seconds", "-1500000"]"#, Value::text("-1.5 seconds")),
            (r#"["json", "{\"b\": 1.0, \"a\": 2}"]"#, Value::text(r#"{"a":2,"b":1}"#)),
        ] {
            assert_eq!(value(serde_json::from_str(cell).unwrap()), expected, "{cell}");
        }
    }
}
