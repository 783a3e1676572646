//! The language model that judges predictions for the methods `judge-bug` and `judge-arena`.

use std::path::PathBuf;
use std::sync::Once;

use sqlgauge_estimate::judges::{Template, TemplateKind};
use sqlgauge_estimate::{JudgeService, Services};
use sqlgauge_llm::{Client, ClientOptions, TokenLimit};

use crate::context::Context;
use crate::error::Error;

/// The model that judges, and how it is asked.
#[derive(Debug, Clone)]
pub struct JudgeSettings {
    /// The server: its address, key, limits, and the folder that keeps its answers.
    pub client: ClientOptions,
    /// Name of the model.
    pub model: String,
    /// File with the prompt; the built-in prompt without it.
    pub prompt: Option<PathBuf>,
    /// Most tokens of an answer.
    pub answer_tokens: u32,
    /// Send the limit as `max_completion_tokens` and set no temperature, for models that reason.
    pub reasons: bool,
    /// Questions that `judge-arena` compares on; all without it.
    pub questions: Option<usize>,
    /// Most systems that `judge-arena` compares with.
    pub opponents: usize,
}

impl JudgeSettings {
    /// That model, with the built-in prompt, all questions and at most 4 opponents.
    pub fn new(client: ClientOptions, model: impl Into<String>) -> Self {
        Self {
            client,
            model: model.into(),
            prompt: None,
            answer_tokens: 1024,
            reasons: false,
            questions: None,
            opponents: 4,
        }
    }

    /// The service that `method` asks.
    pub(super) fn services<'a>(&self, method: &str, context: &Context<'a>) -> Result<Services<'a>, Error> {
        let kind = kind_of(method).ok_or_else(|| Error::JudgeNotAsked(method.to_owned()))?;
        let client = Client::new(&self.client).map_err(|error| Error::JudgeClient(Box::new(error)))?;
        let template = self.prompt.as_deref().map(|path| Template::load(kind, path)).transpose()?;
        let (token_limit, temperature) = if self.reasons {
            (TokenLimit::MaxCompletionTokens, None)
        } else {
            (TokenLimit::MaxTokens, Some(0.0))
        };
        let (watcher, started) = (context.watcher(), Once::new());
        let judge = JudgeService {
            temperature,
            max_tokens: self.answer_tokens,
            token_limit,
            template,
            questions: self.questions,
            opponents: self.opponents,
            progress: Some(Box::new(move |progress| {
                started.call_once(|| watcher.started("answers", progress.total, 0));
                watcher.advanced(progress.done);
            })),
            ..JudgeService::new(client, self.model.clone())
        };
        Ok(Services { judge: Some(judge) })
    }
}

fn kind_of(method: &str) -> Option<TemplateKind> {
    match method {
        "judge-bug" => Some(TemplateKind::Bug),
        "judge-arena" => Some(TemplateKind::Arena),
        _ => None,
    }
}
