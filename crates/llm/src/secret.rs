//! A value that is never shown.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// What stands where a secret was.
const HIDDEN: &str = "[hidden]";
/// So many characters of a key in a row are hidden in an error message: servers quote parts of a wrong key.
const TELLING_RUN: usize = 8;
/// Shorter keys are placeholders of local servers ("EMPTY", "none") and may well be words of an answer.
const SHORTEST_KEY: usize = 12;

/// An API key. Debug, Display and Serialize give `[hidden]`; only this crate can read it, to send it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps the key; white space around it is dropped, as files and shells leave some.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The text without any run of characters that it shares with the key.
    pub(crate) fn hide_parts(&self, text: &str) -> String {
        let key: Vec<char> = self.0.chars().collect();
        let run = key.len().min(TELLING_RUN);
        let characters: Vec<char> = text.chars().collect();
        if run == 0 || characters.len() < run {
            return text.to_owned();
        }
        let mut hidden = vec![false; characters.len()];
        for (start, window) in characters.windows(run).enumerate() {
            if key.windows(run).any(|part| part == window) {
                hidden[start..start + run].fill(true);
            }
        }
        let mut shown = String::with_capacity(text.len());
        for (index, character) in characters.into_iter().enumerate() {
            if !hidden[index] {
                shown.push(character);
            } else if index == 0 || !hidden[index - 1] {
                shown.push_str(HIDDEN);
            }
        }
        shown
    }

    /// Hides the whole key wherever a text of the value holds it.
    pub(crate) fn hide_in(&self, value: &mut Value) {
        if self.0.len() < SHORTEST_KEY {
            return;
        }
        match value {
            Value::String(text) if text.contains(&self.0) => *text = text.replace(&self.0, HIDDEN),
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide_in(value)),
            Value::Object(map) => {
                if map.keys().any(|key| key.contains(&self.0)) {
                    let entries = std::mem::take(map).into_iter();
                    map.extend(entries.map(|(key, value)| (key.replace(&self.0, HIDDEN), value)));
                }
                map.iter_mut().for_each(|(_, value)| self.hide_in(value));
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_way_of_printing_shows_the_key() {
        let secret = Secret::new(" sk-0123456789abcdef\n");
        let shown =
            format!("{secret} {secret:?} {:#?} {}", Some(&secret), serde_json::to_string(&secret).unwrap());
        assert!(!shown.contains("0123"), "{shown}");
    }

    #[test]
    fn parts_of_the_key_are_hidden_in_a_message() {
        let secret = Secret::new("sk-0123456789abcdef");
        for (text, expected) in [
            ("wrong key sk-0123456789abcdef!", "wrong key [hidden]!"),
            ("wrong key sk-01234***9abcdef", "wrong key [hidden]***9abcdef"),
            ("sk-0123", "sk-0123"),
            ("nothing of it", "nothing of it"),
        ] {
            assert_eq!(secret.hide_parts(text), expected);
        }
        assert_eq!(Secret::new("").hide_parts("text"), "text");
    }

    #[test]
    fn the_key_is_hidden_in_names_and_texts_of_a_value_and_a_placeholder_is_left() {
        let mut value = serde_json::json!({"k sk-0123456789abcdef": ["a sk-0123456789abcdef"]});
        Secret::new("sk-0123456789abcdef").hide_in(&mut value);
        assert_eq!(value, serde_json::json!({"k [hidden]": ["a [hidden]"]}));
        let mut value = serde_json::json!("EMPTY");
        Secret::new("EMPTY").hide_in(&mut value);
        assert_eq!(value, "EMPTY");
    }
}
