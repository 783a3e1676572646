//! From a question to what is sent.

use serde_json::{Map, Value};
use sqlgauge_llm::{ChatRequest, Message, Prompt};

use super::asking::PromptQuestion;
use crate::ModelSettings;
use crate::prompts::SQLITE;

/// Which model is asked for SQL, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictSettings {
    pub model: ModelSettings,
    pub prompt: Prompt,
    /// What the model is to write, as people call it: `PostgreSQL`.
    pub dialect: &'static str,
    /// The prompt that asks first which tables and columns are needed; `None` shows the whole schema.
    pub prune: Option<Prompt>,
    /// Texts at which the server ends an answer.
    pub stop: Vec<String>,
    /// Seed of sampling, sent where it is given or where there are several samples: sample `i` has seed + `i`.
    pub seed: Option<u64>,
    /// Answers to each question, at least 1.
    pub samples: u32,
    /// Whether the probabilities of tokens are asked for.
    pub logprobs: bool,
}

impl PredictSettings {
    /// One sample with its log-probabilities.
    pub fn new(model: ModelSettings, prompt: Prompt) -> Self {
        Self {
            model,
            prompt,
            dialect: SQLITE,
            prune: None,
            stop: Vec::new(),
            seed: None,
            samples: 1,
            logprobs: true,
        }
    }

    pub(crate) fn request(&self, question: &PromptQuestion<'_>, sample: u32) -> ChatRequest {
        let item = Filled::of(question, self.dialect);
        let (system, user) = item.into_prompt(&self.prompt);
        let mut messages = vec![Message::system(system)];
        for demonstration in question.demonstrations.iter() {
            let evidence = demonstration.evidence.as_deref();
            let filled =
                Filled { schema: &demonstration.schema, question: &demonstration.question, evidence, ..item };
            messages.push(Message::user(filled.into_prompt(&self.prompt).1));
            messages.push(Message::assistant(demonstration.sql.trim()));
        }
        messages.push(Message::user(user));
        let mut extra = Map::new();
        if self.logprobs {
            extra.insert("logprobs".to_owned(), true.into());
        }
        if !self.stop.is_empty() {
            extra.insert("stop".to_owned(), self.stop.clone().into());
        }
        let several = (self.samples > 1).then_some(0);
        if let Some(seed) = self.seed.or(several) {
            extra.insert("seed".to_owned(), Value::from(seed.wrapping_add(u64::from(sample))));
        }
        ChatRequest { extra, ..self.model.conversation(messages) }
    }

    /// The request for the tables and columns that a question needs.
    pub(crate) fn prune_request(&self, prompt: &Prompt, question: &PromptQuestion<'_>) -> ChatRequest {
        let mut extra = Map::new();
        if let Some(seed) = self.seed {
            extra.insert("seed".to_owned(), seed.into());
        }
        ChatRequest { extra, ..self.model.request(Filled::of(question, self.dialect).into_prompt(prompt)) }
    }
}

/// What stands in the places of a prompt.
#[derive(Clone, Copy)]
struct Filled<'a> {
    schema: &'a str,
    question: &'a str,
    evidence: Option<&'a str>,
    dialect: &'a str,
}

impl<'a> Filled<'a> {
    fn of(question: &'a PromptQuestion<'_>, dialect: &'a str) -> Self {
        Self { schema: &question.schema, question: question.question, evidence: question.evidence, dialect }
    }

    /// Instructions and question.
    fn into_prompt(self, prompt: &Prompt) -> (String, String) {
        prompt.fill(|name| {
            let value = match name {
                "schema" => self.schema,
                "evidence" => self.evidence.unwrap_or_default(),
                "dialect" => self.dialect,
                _ => self.question,
            };
            value.trim().to_owned()
        })
    }
}
