//! The canonical form of a request.

use serde_json::{Map, Value};

/// The same value with the keys of every object in byte order, so that equal requests have equal text.
pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            Value::Object(
                entries
                    .into_iter()
                    .map(|(key, value)| (key.clone(), canonical(value)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(values) => Value::Array(values.iter().map(canonical).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_does_not_count_and_that_of_elements_does() {
        let left: Value = serde_json::from_str(r#"{"b": [{"y": 1, "x": 2}], "a": null}"#).unwrap();
        let right: Value = serde_json::from_str(r#"{"a": null, "b": [{"x": 2, "y": 1}]}"#).unwrap();
        assert_eq!(canonical(&left).to_string(), canonical(&right).to_string());
        let other: Value = serde_json::from_str("[2, 1]").unwrap();
        assert_eq!(canonical(&other).to_string(), "[2,1]");
    }
}
