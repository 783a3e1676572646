//! Judges that ask a language model whether a prediction is right.
//!
//! - [`judge_bug`] asks for each prediction whether it answers its question (semantic error detection, `BugJudge` in
//!   section V-C of the `FusionSQL` paper).
//! - [`judge_arena`] lets the model compare the target's predictions with those of systems whose accuracy is known, and
//!   turns the share of wins into an accuracy (pairwise comparison, `ArenaCmp` there).
//!
//! Both need the predictions, the questions and the schemas, no execution and no label of the target; the arena needs
//! the accuracy of at least two other systems on the same questions. Questions, schemas and predictions are sent to
//! the server that the caller's [`Client`](sqlgauge_llm::Client) asks. An answer that cannot be understood leaves its
//! item undecided; it is never counted as right or wrong.

mod answer;
mod arena;
mod bug;
mod service;
mod strength;
mod template;

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};
use sqlgauge_llm::{ChatRequest, LlmError, Message, TokenLimit};

pub use answer::Undecided;
pub use arena::{
    ArenaEstimate, ArenaOptions, ArenaReport, CalibrationError, Opponent, OpponentReport, judge_arena,
};
pub use bug::{BugEstimate, BugOutcome, BugReport, judge_bug};
pub use service::{JudgeService, OnProgress, describe};
pub use template::{JudgeTemplate, TemplateKind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeItem {
    pub id: String,
    pub db_id: String,
    pub question: String,
    /// External knowledge that comes with the question.
    pub evidence: Option<String>,
    /// The schema as DDL, such as [`schema_text`](sqlgauge_sql::schema_text) gives.
    pub schema_ddl: Arc<str>,
    /// The predicted SQL; white space only means that there is none.
    pub sql: String,
}

/// Which model judges, and how it is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeOptions {
    pub model: String,
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Most tokens of an answer; a longer one is undecided.
    pub max_tokens: u32,
    pub token_limit: TokenLimit,
    /// Further parameters of the request, sent as they are.
    pub extra: Map<String, Value>,
    pub template: JudgeTemplate,
}

impl JudgeOptions {
    /// Temperature 0 and 1,024 tokens.
    pub fn new(model: impl Into<String>, template: JudgeTemplate) -> Self {
        Self {
            model: model.into(),
            temperature: Some(0.0),
            max_tokens: 1024,
            token_limit: TokenLimit::MaxTokens,
            extra: Map::new(),
            template,
        }
    }

    fn request(&self, item: &JudgeItem, queries: &[(&str, &str)]) -> ChatRequest {
        let evidence = item.evidence.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or("(none)");
        let mut values =
            vec![("question", item.question.as_str()), ("evidence", evidence), ("schema", &item.schema_ddl)];
        values.extend_from_slice(queries);
        let (system, user) = self.template.fill(&values);
        let messages = vec![Message::system(system), Message::user(user)];
        ChatRequest {
            temperature: self.temperature,
            max_tokens: Some(self.max_tokens),
            token_limit: self.token_limit,
            extra: self.extra.clone(),
            ..ChatRequest::new(self.model.clone(), messages)
        }
    }
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    #[error("the prompt template is for {judge}, and {wanted} was asked for")]
    WrongTemplate { judge: &'static str, wanted: &'static str },
    /// Two items have one id, so that answers could not be told apart.
    #[error("the id {0} occurs twice; every item needs an id of its own")]
    RepeatedId(String),
    /// An accuracy is no number from 0 to 1.
    #[error("the accuracy of {name} is {accuracy}, not a number from 0 to 1")]
    Accuracy { name: String, accuracy: f64 },
    #[error("a pairwise judge needs predictions of at least one other system on the same questions")]
    NoOpponent,
}

/// The items have ids of their own, and the template is for that judge.
fn check(options: &JudgeOptions, kind: TemplateKind, items: &[JudgeItem]) -> Result<(), JudgeError> {
    let template_kind = options.template.kind();
    if template_kind != kind {
        return Err(JudgeError::WrongTemplate { judge: template_kind.name(), wanted: kind.name() });
    }
    let mut ids = HashSet::new();
    match items.iter().find(|item| !ids.insert(item.id.as_str())) {
        Some(item) => Err(JudgeError::RepeatedId(item.id.clone())),
        None => Ok(()),
    }
}

/// What the first request that was sent and failed met: status, connection or body, in the words of its error.
fn failed_by<T>(results: &[Result<T, LlmError>]) -> Option<String> {
    let failure = |result: &Result<T, LlmError>| {
        result.as_ref().err().filter(|error| !error.is_unasked()).map(ToString::to_string)
    };
    results.iter().find_map(failure)
}

/// The first reason among the results why requests were not sent.
fn stopped_by<T>(results: &[Result<T, LlmError>]) -> Option<String> {
    results.iter().find_map(|result| match result {
        Err(LlmError::Stopped { because }) => Some(because.to_string()),
        Err(error @ LlmError::Budget { .. }) => Some(error.to_string()),
        _ => None,
    })
}
