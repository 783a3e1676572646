//! JSON whose objects have no key twice.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// What is wrong with a JSON text, and where.
#[derive(Debug)]
pub(crate) struct JsonProblem {
    /// From 1.
    pub(crate) line: usize,
    /// In bytes, from 1.
    pub(crate) column: usize,
    pub(crate) problem: String,
}

/// Parses one JSON value and nothing after it.
///
/// `serde_json::Value` keeps the last of two equal keys without a word, which would swap one prediction for
/// another: here it is an error.
pub(crate) fn parse(text: &str) -> Result<Value, JsonProblem> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    UniqueKeys
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| explain(&error))
}

fn explain(error: &serde_json::Error) -> JsonProblem {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let problem = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
    JsonProblem { line, column, problem: problem.to_owned() }
}

struct UniqueKeys;

impl<'de> DeserializeSeed<'de> for UniqueKeys {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(UniqueKeys)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} occurs twice in one object")));
            }
            let value = entries.next_value_seed(UniqueKeys)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_as_serde_json_reads_them() {
        let text = r#" {"a": [1, -2, 2.5, 18446744073709551615, 1e400000000], "b": {"c": null}, "d": [true, "x\u0041"]} "#;
        assert!(parse(text).is_err());
        let text = text.replace(", 1e400000000", "");
        assert_eq!(parse(&text).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
    }

    #[test]
    fn a_key_that_occurs_twice_is_named_with_its_line() {
        let problem = parse("{\"0\": \"a\",\n \"1\": \"b\",\n \"0\": \"c\"}").unwrap_err();
        assert_eq!((problem.line, problem.problem.as_str()), (3, "the key \"0\" occurs twice in one object"));
        assert!(parse(r#"{"a": {"x": 1}, "b": {"x": 1}}"#).is_ok());
    }

    #[test]
    fn what_is_malformed_has_a_line_and_a_column() {
        for (text, line) in
            [("", 1), ("[1,\n2", 2), ("{} x", 1), ("[NaN]", 1), ("[1,]", 1), (&"[".repeat(5000), 1)]
        {
            let problem = parse(text).unwrap_err();
            assert_eq!(problem.line, line, "{text:.20}: {problem:?}");
            assert!(!problem.problem.contains("at line"), "{problem:?}");
        }
    }
}
