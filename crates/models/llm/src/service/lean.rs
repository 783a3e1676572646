//! Reads the JSON of an answer without what nobody uses, and no more of it than a budget.

use std::cell::Cell;

use serde::de::DeserializeSeed;
use serde_json::Value;
use sqlgauge_base::json::{JsonPlan, Planned};

/// Most tokens with probabilities of one answer; with more it counts as one without.
const MOST_TOKENS: usize = 1 << 16;

/// What of an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// That of a chat: the first choice, and of its tokens the text and the probability.
    Chat,
    /// That of embeddings: all of it.
    Embeddings,
}

impl Shape {
    fn most_values(self) -> usize {
        match self {
            Self::Chat => 500_000,
            Self::Embeddings => 8_000_000,
        }
    }
}

/// Reads the JSON of an answer.
///
/// # Errors
/// When it is not JSON, or has more values than are read; the latter are errors of data
/// ([`serde_json::Error::is_data`]).
pub(crate) fn read(bytes: &[u8], shape: Shape) -> serde_json::Result<Value> {
    let left = Cell::new(shape.most_values());
    let place = if shape == Shape::Chat { Place::Answer } else { Place::Other };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let plan = Lean { place, left: &left, most: shape.most_values() };
    let value = Planned(plan).deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// Where in an answer a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The answer to a chat.
    Answer,
    Choices,
    Choice,
    Logprobs,
    Tokens,
    Token,
    Other,
}

impl Place {
    /// Where the value under that key of an object stands; `None` where nobody uses it.
    fn under(self, key: &str) -> Option<Self> {
        match (self, key) {
            (Self::Answer, "choices") => Some(Self::Choices),
            (Self::Choice, "logprobs") => Some(Self::Logprobs),
            (Self::Logprobs, "content") => Some(Self::Tokens),
            (Self::Token, "token" | "logprob") | (Self::Answer | Self::Choice | Self::Other, _) => {
                Some(Self::Other)
            }
            _ => None,
        }
    }

    /// Where the elements of a list here stand, and how many of them are read.
    fn element(self) -> (Self, usize) {
        match self {
            Self::Choices => (Self::Choice, 1),
            Self::Tokens => (Self::Token, MOST_TOKENS),
            _ => (Self::Other, usize::MAX),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Lean<'a> {
    place: Place,
    /// Values that may still come.
    left: &'a Cell<usize>,
    most: usize,
}

impl JsonPlan for Lean<'_> {
    const HAS_KEYS_ONCE: bool = false;

    fn count(self) -> Result<(), String> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.ok_or_else(|| format!("it has more than {} values", self.most))?);
        Ok(())
    }

    fn under(self, key: &str) -> Option<Self> {
        Some(Self { place: self.place.under(key)?, ..self })
    }

    fn elements(self) -> (Self, usize) {
        let (place, most) = self.place.element();
        (Self { place, ..self }, most)
    }

    /// A sum over some of the tokens means nothing.
    fn beginning(self, elements: Vec<Value>) -> Value {
        if self.place == Place::Tokens { Value::Null } else { Value::Array(elements) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chat(value: &Value) -> Value {
        read(value.to_string().as_bytes(), Shape::Chat).unwrap()
    }

    #[test]
    fn what_is_used_stays_as_it_was() {
        let answer = json!({"model": "m", "usage": {"prompt_tokens": 7, "completion_tokens": -2.5e300},
            "choices": [{"message": {"content": [{"type": "text", "text": "ä\n"}], "refusal": null},
                "finish_reason": "stop", "logprobs": null}], "error": [true, 18_446_744_073_709_551_615_u64]});
        assert_eq!(chat(&answer), answer);
        assert_eq!(
            read(b"[0.1, -0.0, 1e400, []]", Shape::Embeddings).ok(),
            serde_json::from_slice(b"[0.1, -0.0, 1e400, []]").ok()
        );
        assert_eq!(read(b"[0.1, -0.0, {}]", Shape::Embeddings).unwrap(), json!([0.1, -0.0, {}]));
        for broken in ["", "{", "[1] 2", "{\"a\": }", "nul"] {
            let error = read(broken.as_bytes(), Shape::Chat).unwrap_err();
            assert!(!error.is_data(), "{broken}: {error}");
        }
    }

    #[test]
    fn of_tokens_only_text_and_probability_are_read_and_of_choices_the_first() {
        let token = json!({"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": [{"token": "b"}]});
        let choice = |tokens: Vec<Value>| json!({"message": {"content": "a"}, "logprobs": {"content": tokens, "refusal": []}});
        let read = chat(
            &json!({"choices": [choice(vec![token.clone(), json!("odd")]), choice(vec![token.clone(); 3])]}),
        );
        let slim = json!({"token": "a", "logprob": -0.5});
        assert_eq!(
            read,
            json!({"choices": [{"message": {"content": "a"}, "logprobs": {"content": [slim, "odd"]}}]})
        );
        let most = chat(&json!({"choices": [choice(vec![token.clone(); MOST_TOKENS])]}));
        assert_eq!(most["choices"][0]["logprobs"]["content"].as_array().map(Vec::len), Some(MOST_TOKENS));
        let over = chat(&json!({"choices": [choice(vec![token; MOST_TOKENS + 1])]}));
        assert_eq!(over["choices"][0]["logprobs"]["content"], Value::Null);
        assert_eq!(over["choices"][0]["message"]["content"], "a");
    }

    #[test]
    fn more_values_than_are_read_are_an_error_that_says_so() {
        for (many, place) in [("content", "message"), ("x", "usage")] {
            let list = vec![0; Shape::Chat.most_values()];
            let answer = json!({"choices": [{place: {many: list}}]});
            let error = read(answer.to_string().as_bytes(), Shape::Chat).unwrap_err();
            assert!(error.is_data() && error.to_string().contains("more than 500000 values"), "{error}");
        }
        let list = vec![0; Shape::Chat.most_values()];
        assert!(read(json!(list).to_string().as_bytes(), Shape::Embeddings).is_ok());
    }
}
