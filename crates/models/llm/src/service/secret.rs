//! A value that is never shown.

use std::collections::HashSet;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::Value;

/// What stands where a secret was.
const HIDDEN: &str = "[hidden]";
/// So many characters of a key in a row are hidden in an error message: servers quote parts of a wrong key.
const TELLING_RUN: usize = 8;
/// Shorter keys are placeholders of local servers ("EMPTY", "none") and may well be words of an answer.
const SHORTEST_KEY: usize = 12;

/// An API key. Debug gives `[hidden]`, and it cannot be printed otherwise; only this crate can read it, to send it.
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

    /// The key as a server may write it: as it is, from its end, in base64 of both alphabets wherever in a longer text it
    /// begins, in hexadecimal, and with the escapes of a URL.
    fn forms(&self) -> Vec<String> {
        let reversed: String = self.0.chars().rev().collect();
        let mut forms = vec![self.0.clone(), reversed];
        for before in 0..3_usize {
            let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(self.0.bytes()).collect();
            let standard = STANDARD_NO_PAD.encode(&bytes);
            // The characters that depend on what stands before and behind the key in the same text.
            let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
            let inner = standard.get(first..last).unwrap_or_default();
            forms.extend([inner.to_owned(), inner.replace('+', "-").replace('/', "_")]);
        }
        let bytes = |form: fn(u8) -> String| self.0.bytes().map(form).collect::<String>();
        forms.extend([bytes(|byte| format!("{byte:02x}")), bytes(|byte| format!("{byte:02X}"))]);
        forms.push(bytes(|byte| {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        }));
        forms.push(bytes(|byte| format!("%{byte:02X}")));
        forms.retain(|form| !form.is_empty());
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        forms
    }

    /// The text without any run of characters that it shares with the key.
    pub(crate) fn hide_parts(&self, text: &str) -> String {
        let characters: Vec<char> = text.chars().collect();
        let mut hidden = vec![false; characters.len()];
        for form in self.forms() {
            let form: Vec<char> = form.chars().collect();
            let run = form.len().min(TELLING_RUN);
            let parts: HashSet<&[char]> = form.windows(run).collect();
            for (start, window) in characters.windows(run).enumerate() {
                if parts.contains(window) {
                    hidden[start..start + run].fill(true);
                }
            }
        }
        let mut visible = String::with_capacity(text.len());
        for (index, character) in characters.into_iter().enumerate() {
            if !hidden[index] {
                visible.push(character);
            } else if index == 0 || !hidden[index - 1] {
                visible.push_str(HIDDEN);
            }
        }
        visible
    }

    /// Hides the whole key wherever a text of the value holds it, in any of its forms.
    pub(crate) fn hide_in(&self, value: &mut Value) {
        if self.0.len() >= SHORTEST_KEY {
            hide_forms(&self.forms(), value);
        }
    }
}

fn hide_forms(forms: &[String], value: &mut Value) {
    let hide = |text: &str| forms.iter().fold(text.to_owned(), |text, form| text.replace(form, HIDDEN));
    let holds = |text: &str| forms.iter().any(|form| text.contains(form));
    match value {
        Value::String(text) if holds(text) => *text = hide(text),
        Value::Array(values) => values.iter_mut().for_each(|value| hide_forms(forms, value)),
        Value::Object(map) => {
            if map.keys().any(|key| holds(key)) {
                let entries = std::mem::take(map).into_iter();
                map.extend(entries.map(|(key, value)| (hide(&key), value)));
            }
            map.iter_mut().for_each(|(_, value)| hide_forms(forms, value));
        }
        _ => {}
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_way_of_printing_shows_the_key() {
        let secret = Secret::new(" sk-0123456789abcdef\n");
        let output = format!("{secret:?} {:#?}", Some(&secret));
        assert!(!output.contains("0123"), "{output}");
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
    fn an_echo_in_another_writing_is_hidden() {
        let key = "sk-01+23/45~67 89abcdef";
        let secret = Secret::new(key);
        let reversed: String = key.chars().rev().collect();
        let inside = |before: &str| STANDARD_NO_PAD.encode(format!("{before}{key} and more"));
        let escaped = "sk-01%2B23%2F45~67%2089abcdef".to_owned();
        let pairs: Vec<String> = key.bytes().map(|byte| format!("{byte:02x}")).collect();
        let hexadecimal = pairs.concat();
        for echo in [reversed, inside(""), inside("B"), inside("Be"), inside("Bea"), escaped, hexadecimal] {
            let output = secret.hide_parts(&format!("wrong key {echo}!"));
            let left = output.replace(HIDDEN, "").replace("wrong key ", "");
            assert!(output.contains(HIDDEN) && left.len() < 24, "{echo}: {output}");
            let mut value = Value::String(echo.clone());
            secret.hide_in(&mut value);
            assert!(value.as_str().unwrap().contains(HIDDEN), "{echo}: {value}");
        }
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
