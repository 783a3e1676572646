//! The language model that judges predictions for the methods `judge-bug` and `judge-arena`.

use std::path::PathBuf;

use sqlgauge_estimate::judges::{JudgeService, JudgeTemplate, TemplateKind};

use crate::context::Context;
use crate::error::Error;
use crate::llm::{LlmSettings, show_progress};

/// The model that judges, and how it is asked.
#[derive(Clone)]
pub struct JudgeSettings {
    /// The server and the model.
    pub llm: LlmSettings,
    /// File with the prompt; the built-in prompt without it.
    pub prompt: Option<PathBuf>,
    /// Questions that `judge-arena` compares on; all without it.
    pub questions: Option<usize>,
    /// Most systems that `judge-arena` compares with.
    pub opponents: usize,
}

impl JudgeSettings {
    /// That model, with the built-in prompt, all questions and at most 4 opponents.
    pub fn new(llm: LlmSettings) -> Self {
        Self { llm, prompt: None, questions: None, opponents: 4 }
    }

    /// The service that `method` asks.
    pub(super) fn service<'a>(&self, method: &str, context: &Context<'a>) -> Result<JudgeService<'a>, Error> {
        let kind = kind_of(method).ok_or_else(|| Error::JudgeNotAsked(method.to_owned()))?;
        let template = self.prompt.as_deref().map(|path| JudgeTemplate::load(kind, path)).transpose()?;
        let model = self.llm.model_settings(0.0);
        Ok(JudgeService {
            temperature: model.temperature,
            max_tokens: model.max_tokens,
            token_limit: model.token_limit,
            template,
            questions: self.questions,
            opponents: self.opponents,
            progress: Box::new(show_progress(context.watcher())),
            ..JudgeService::new(self.llm.client("--judge-url", context)?, model.model)
        })
    }
}

fn kind_of(method: &str) -> Option<TemplateKind> {
    match method {
        "judge-bug" => Some(TemplateKind::Bug),
        "judge-arena" => Some(TemplateKind::Arena),
        _ => None,
    }
}
