//! Requests to and answers of `/chat/completions`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::ledger::Tokens;

/// Path below the base URL.
pub(crate) const CHAT: &str = "chat/completions";

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// Instructions.
    System,
    /// The question.
    User,
    /// An earlier answer.
    Assistant,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Speaker,
    /// What is said.
    pub content: String,
}

impl Message {
    /// Instructions.
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: Speaker::System, content: content.into() }
    }

    /// The question.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Speaker::User, content: content.into() }
    }

    /// An earlier answer.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: Speaker::Assistant, content: content.into() }
    }
}

/// What servers call the most tokens of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenLimit {
    /// `max_tokens`, which most servers understand.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which reasoning models of `OpenAI` want; it counts their hidden reasoning too.
    MaxCompletionTokens,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    pub model: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Sampling temperature; `None` leaves it to the server (some models take no other).
    pub temperature: Option<f64>,
    /// Most tokens of the answer.
    pub max_tokens: Option<u32>,
    pub token_limit: TokenLimit,
    /// Further parameters (`seed`, `response_format`, `reasoning_effort`, …), sent as they are.
    pub extra: Map<String, Value>,
}

impl ChatRequest {
    /// A request with temperature 0 and no other parameter.
    pub fn new(model: impl Into<String>, messages: Vec<Message>) -> Self {
        Self {
            model: model.into(),
            messages,
            temperature: Some(0.0),
            max_tokens: None,
            token_limit: TokenLimit::MaxTokens,
            extra: Map::new(),
        }
    }

    /// The JSON body, whose keys are in byte order: equal requests have equal text.
    pub(crate) fn body(&self) -> Value {
        let mut body = self.extra.clone();
        body.insert("model".to_owned(), json!(self.model));
        body.insert("messages".to_owned(), json!(self.messages));
        if let Some(temperature) = self.temperature {
            body.insert("temperature".to_owned(), json!(temperature));
        }
        if let Some(limit) = self.max_tokens {
            let name = match self.token_limit {
                TokenLimit::MaxTokens => "max_tokens",
                TokenLimit::MaxCompletionTokens => "max_completion_tokens",
            };
            body.insert(name.to_owned(), json!(limit));
        }
        let mut body = Value::Object(body);
        body.sort_all_objects();
        body
    }
}

/// Tokens as a server counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens of the request.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
}

impl TokenUsage {
    /// The `usage` of an answer, where it has one.
    pub(crate) fn of(answer: &Value) -> Option<Self> {
        let usage = &answer["usage"];
        Some(Self {
            prompt_tokens: usage["prompt_tokens"].as_u64()?,
            completion_tokens: usage["completion_tokens"].as_u64().unwrap_or(0),
        })
    }

    pub(crate) fn tokens(self) -> Tokens {
        Tokens { prompt: self.prompt_tokens, completion: self.completion_tokens }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerToken {
    pub token: String,
    /// The natural logarithm of its probability after what stands before it.
    pub logprob: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ChatAnswer {
    /// What it says; empty when it refuses, or has nothing to say.
    pub text: String,
    /// Why it stopped (`stop`, `length`, `content_filter`, …).
    pub finish_reason: Option<String>,
    /// Its words of refusal.
    pub refusal: Option<String>,
    /// The model that answered, as the server names it.
    pub model: Option<String>,
    /// The tokens of the text, where they were asked for (`logprobs`) and the server gives them; else none.
    pub tokens: Vec<AnswerToken>,
    /// Tokens that the request took when it was sent; `None` when the server does not say.
    pub usage: Option<TokenUsage>,
    /// Whether the answer was in the cache, or another request of the batch was the same.
    pub cached: bool,
}

impl ChatAnswer {
    /// The first choice of an answer.
    pub(crate) fn parse(answer: &Value, cached: bool) -> Result<Self, String> {
        let choice = answer["choices"].as_array().and_then(|choices| choices.first());
        let Some(choice) = choice else {
            let message = answer["error"]["message"].as_str().or(answer["error"].as_str());
            return Err(message.map_or_else(
                || "it has no choices".to_owned(),
                |message| format!("it is an error: {message}"),
            ));
        };
        let message = choice["message"].as_object().ok_or("its first choice has no message")?;
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            text: content(message.get("content")).ok_or("the content of its message is not text")?,
            finish_reason: text(choice.get("finish_reason")),
            refusal: text(message.get("refusal")),
            model: text(answer.get("model")),
            tokens: tokens(choice),
            usage: TokenUsage::of(answer),
            cached,
        })
    }
}

/// The tokens of a choice; none if one of them is not as the protocol says, since a sum over the others means nothing.
fn tokens(choice: &Value) -> Vec<AnswerToken> {
    let listed = choice["logprobs"]["content"].as_array();
    let token = |value: &Value| AnswerToken::deserialize(value).ok().filter(|token| token.logprob <= 0.0);
    listed.and_then(|listed| listed.iter().map(token).collect()).unwrap_or_default()
}

/// The text of a message: a string, or a list of parts with a text each; null is no text.
fn content(value: Option<&Value>) -> Option<String> {
    match value {
        None | Some(Value::Null) => Some(String::new()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(parts)) => parts.iter().map(|part| part["text"].as_str()).collect(),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_in_the_shapes_that_servers_use() {
        let full = json!({"model": "m-1", "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
            "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}, {"message": {"content": "no"}}]});
        let answer = ChatAnswer::parse(&full, false).unwrap();
        assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), ("yes", Some("stop")));
        assert_eq!(answer.usage, Some(TokenUsage { prompt_tokens: 7, completion_tokens: 2 }));
        for (message, text) in [
            (json!({"content": null, "refusal": "I will not"}), ""),
            (json!({"role": "assistant"}), ""),
            (json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}), "ab"),
        ] {
            let answer = ChatAnswer::parse(&json!({"choices": [{"message": message}]}), false).unwrap();
            assert_eq!((answer.text.as_str(), answer.usage), (text, None));
        }
    }

    #[test]
    fn tokens_are_read_whole_or_not_at_all() {
        let tokens = |content: Value| {
            let choice = json!({"message": {"content": "a b"}, "logprobs": {"content": content}});
            let answer = ChatAnswer::parse(&json!({"choices": [choice]}), false).unwrap();
            answer.tokens.iter().map(|token| (token.token.clone(), token.logprob)).collect::<Vec<_>>()
        };
        let (a, b) =
            (json!({"token": "a", "logprob": -0.5, "bytes": [97]}), json!({"token": " b", "logprob": 0}));
        assert_eq!(tokens(json!([a, b])), [("a".to_owned(), -0.5), (" b".to_owned(), 0.0)]);
        for odd in
            [json!(null), json!("a"), json!([a, {"token": "b"}]), json!([a, {"token": "b", "logprob": 0.5}])]
        {
            assert_eq!(tokens(odd), []);
        }
    }

    #[test]
    fn what_is_no_answer_says_why() {
        for (answer, reason) in [
            (json!({}), "no choices"),
            (json!({"choices": []}), "no choices"),
            (json!([]), "no choices"),
            (json!({"error": {"message": "overloaded"}}), "overloaded"),
            (json!({"choices": [{"text": "old style"}]}), "no message"),
            (json!({"choices": [{"message": {"content": 7}}]}), "not text"),
        ] {
            let error = ChatAnswer::parse(&answer, false).unwrap_err();
            assert!(error.contains(reason), "{answer}: {error}");
        }
    }

    #[test]
    fn the_body_holds_what_was_set_and_nothing_else() {
        let mut request = ChatRequest::new("m", vec![Message::system("s"), Message::user("u")]);
        request.extra.insert("seed".to_owned(), json!(3));
        request.max_tokens = Some(5);
        request.token_limit = TokenLimit::MaxCompletionTokens;
        let messages = json!([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]);
        let expected = json!({"model": "m", "messages": messages, "temperature": 0.0, "max_completion_tokens": 5, "seed": 3});
        assert_eq!(request.body(), expected);
        request.temperature = None;
        request.max_tokens = None;
        assert_eq!(request.body(), json!({"model": "m", "messages": messages, "seed": 3}));
    }
}
