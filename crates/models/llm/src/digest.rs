//! Digests and the canonical form of a request.

use std::fmt::Write as _;

#[cfg(feature = "client")]
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The sha256 of the bytes, in lower-case hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The same value with the keys of every object in byte order, so that equal requests have equal text.
#[cfg(feature = "client")]
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
    fn the_digest_of_abc_is_that_of_the_standard() {
        // FIPS 180-4, example of SHA-256.
        assert_eq!(digest(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[cfg(feature = "client")]
    #[test]
    fn the_order_of_keys_does_not_count_and_that_of_elements_does() {
        let left: Value = serde_json::from_str(r#"{"b": [{"y": 1, "x": 2}], "a": null}"#).unwrap();
        let right: Value = serde_json::from_str(r#"{"a": null, "b": [{"x": 2, "y": 1}]}"#).unwrap();
        assert_eq!(canonical(&left).to_string(), canonical(&right).to_string());
        let other: Value = serde_json::from_str("[2, 1]").unwrap();
        assert_eq!(canonical(&other).to_string(), "[2,1]");
    }
}
