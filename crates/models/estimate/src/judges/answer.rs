//! What a judge said, read strictly.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sqlgauge_llm::{ChatAnswer, LlmError};

/// Why an item has no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// The judge says that it cannot tell.
    Unsure,
    /// The answer is not what was asked for.
    Unparsable,
    /// The answer was cut at the limit of its tokens.
    Truncated,
    /// The judge or its server refused to answer.
    Refused,
    /// The request failed.
    Failed,
    /// The request was not sent: the budget was used up, or an earlier failure would have hit it too.
    Unasked,
}

impl Undecided {
    /// Name of the reason.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsure => "unsure",
            Self::Unparsable => "unparsable",
            Self::Truncated => "truncated",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unasked => "unasked",
        }
    }
}

/// The object that a prompt asks for. Keys that are not asked for are ignored; a repeated one is an error, as one
/// could not tell which to believe.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Answer<V> {
    pub verdict: V,
    /// How probable the judge finds its verdict, in [0, 1].
    pub confidence: f64,
    /// Kinds of mistake that it found. Nobody reads them or the reason, but another form of them is not an answer.
    #[serde(default)]
    pub errors: Vec<String>,
    #[serde(default)]
    pub reason: String,
}

/// The answer of one request: the whole text is one JSON object, perhaps in a code fence, perhaps after reasoning in
/// `<think>` tags.
pub(super) fn read<V: DeserializeOwned>(
    result: &Result<ChatAnswer, LlmError>,
) -> Result<Answer<V>, Undecided> {
    let answer = match result {
        Ok(answer) => answer,
        Err(error) if error.is_unasked() => return Err(Undecided::Unasked),
        Err(_) => return Err(Undecided::Failed),
    };
    match answer.finish_reason.as_deref() {
        Some("length") => return Err(Undecided::Truncated),
        Some("content_filter") => return Err(Undecided::Refused),
        _ if answer.refusal.is_some() => return Err(Undecided::Refused),
        _ => {}
    }
    let answer: Result<Answer<V>, _> = serde_json::from_str(unwrapped(&answer.text));
    let is_probability = |answer: &Answer<V>| (0.0..=1.0).contains(&answer.confidence);
    answer.ok().filter(is_probability).ok_or(Undecided::Unparsable)
}

/// The text without reasoning in front and a code fence around.
fn unwrapped(text: &str) -> &str {
    let mut text = text.trim();
    if text.starts_with("<think>")
        && let Some((_, rest)) = text.split_once("</think>")
    {
        text = rest.trim();
    }
    let fenced = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some(inside) = fenced else { return text };
    inside.strip_prefix("json").or(inside.strip_prefix("JSON")).unwrap_or(inside).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str) -> ChatAnswer {
        let (finish_reason, refusal, model, usage) = (Some("stop".to_owned()), None, None, None);
        let tokens = Vec::new();
        ChatAnswer { text: text.to_owned(), finish_reason, refusal, model, tokens, usage, cached: false }
    }

    #[test]
    fn one_object_is_read_with_or_without_a_fence() {
        for text in [
            r#"{"verdict": "yes", "confidence": 0.75}"#,
            "\n```json\n{\"verdict\": \"yes\", \"confidence\": 0.75, \"extra\": [1]}\n```\n",
            "```\n{\"confidence\": 0.75, \"verdict\": \"yes\", \"errors\": [], \"reason\": \"fits\"}```",
            "<think>{\"verdict\": \"no\"}\n``` hm</think>\n{\"verdict\": \"yes\", \"confidence\": 0.75}",
        ] {
            let answer = read::<String>(&Ok(reply(text))).unwrap();
            assert_eq!((answer.verdict.as_str(), answer.confidence), ("yes", 0.75), "{text}");
        }
    }

    #[test]
    fn anything_else_is_undecided() {
        for text in [
            "",
            "yes",
            "Sure! {\"verdict\": \"yes\", \"confidence\": 0.9}",
            "{\"verdict\": \"yes\", \"confidence\": 0.9} I hope this helps.",
            r#"{"verdict": "yes"}"#,
            r#"{"confidence": 0.9}"#,
            r#"{"verdict": "yes", "confidence": "high"}"#,
            r#"{"verdict": "yes", "confidence": 1.2}"#,
            r#"{"verdict": "yes", "confidence": -0.1}"#,
            r#"{"verdict": "yes", "verdict": "no", "confidence": 0.9}"#,
            r#"[{"verdict": "yes", "confidence": 0.9}]"#,
            r#"{"verdict": "yes", "confidence": 0.9"#,
            "<think>never ends {\"verdict\": \"yes\", \"confidence\": 0.9}",
        ] {
            let undecided = read::<String>(&Ok(reply(text))).unwrap_err();
            assert_eq!(undecided.name(), "unparsable", "{text}");
        }
    }

    #[test]
    fn an_answer_that_is_no_whole_answer_is_named_for_what_it_is() {
        let good = r#"{"verdict": "yes", "confidence": 0.75}"#;
        let ended = |reason: &str| Ok(ChatAnswer { finish_reason: Some(reason.to_owned()), ..reply(good) });
        let refused = Ok(ChatAnswer { refusal: Some("no".to_owned()), ..reply("") });
        let budget = LlmError::Budget { unit: "tokens", limit: 1.0, used: 1.0 };
        for (result, name) in [
            (ended("length"), "truncated"),
            (ended("content_filter"), "refused"),
            (refused, "refused"),
            (Err(budget.clone()), "unasked"),
            (Err(LlmError::Stopped { because: Box::new(budget) }), "unasked"),
            (Err(LlmError::Abandoned), "failed"),
        ] {
            let undecided = read::<String>(&result).unwrap_err();
            assert_eq!(undecided.name(), name);
        }
    }
}
