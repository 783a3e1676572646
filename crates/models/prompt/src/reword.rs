//! A language model behind a server as a [`Writer`]. Its client keeps the answers, so that nothing is asked twice.

use std::fmt;

use sqlgauge_llm::{ChatRequest, Client, LlmError, Placeholders, Prompt, PromptError};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::schema_text;

use sqlgauge_synth::polish::{PolishedText, Writer, WriterError};

use crate::ModelSettings;
use crate::prompts::SQLITE;

const BUILT_IN: &str = include_str!("../prompts/reword.md");
const PLACEHOLDERS: Placeholders =
    Placeholders { prompt: "synth --polish", required: &["schema", "question", "sql"], optional: &[] };

pub struct ModelWriter {
    client: Client,
    settings: ModelSettings,
    /// What asks for other words, and what asks for SQL: that of `predict`.
    prompts: [Prompt; 2],
}

impl ModelWriter {
    /// The model behind that client.
    ///
    /// # Errors
    /// None for the prompts that come with the crates, which tests read.
    pub fn new(client: Client, settings: ModelSettings) -> Result<Self, PromptError> {
        let prompts = [Prompt::parse(BUILT_IN, PLACEHOLDERS)?, crate::built_in_prompt()?];
        Ok(Self { client, settings, prompts })
    }

    fn request(&self, prompt: &Prompt, schema: &str, question: &str, sql: &str) -> ChatRequest {
        let filled = prompt.fill(|name| {
            let value = match name {
                "schema" => schema,
                "question" => question,
                "sql" => sql,
                "dialect" => SQLITE,
                _ => "",
            };
            value.to_owned()
        });
        self.settings.request(filled)
    }

    fn ask(&self, requests: &[ChatRequest]) -> Result<Vec<PolishedText>, WriterError> {
        let answers = self.client.chat_batch(requests, None).results.into_iter();
        let written = answers.map(|answer| {
            let answer = answer?;
            Ok(PolishedText {
                is_whole: answer.finish_reason.as_deref() != Some("length"),
                text: answer.text,
            })
        });
        written.collect::<Result<_, LlmError>>().map_err(|error| WriterError {
            is_cancelled: error == LlmError::Cancelled,
            message: error.to_string(),
        })
    }
}

impl fmt::Debug for ModelWriter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ModelWriter").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Writer for ModelWriter {
    fn name(&self) -> String {
        self.settings.model.clone()
    }

    fn reword(&self, schema: &Schema, questions: &[(&str, &str)]) -> Result<Vec<PolishedText>, WriterError> {
        let schema = schema_text(schema);
        let request = |(question, sql): &(&str, &str)| self.request(&self.prompts[0], &schema, question, sql);
        self.ask(&questions.iter().map(request).collect::<Vec<_>>())
    }

    fn answer(&self, schema: &Schema, questions: &[&str]) -> Result<Vec<PolishedText>, WriterError> {
        let schema = schema_text(schema);
        let request = |question: &&str| self.request(&self.prompts[1], &schema, question, "");
        self.ask(&questions.iter().map(request).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_has_the_schema_first_and_the_question_with_its_query() {
        let prompt = Prompt::parse(BUILT_IN, PLACEHOLDERS).unwrap();
        let user = prompt.fill(|name| format!("<{name}>")).1;
        assert!(user.starts_with("<schema>\n\nA program"), "{user}");
        assert!(user.contains("<question>\n<sql>\n"), "{user}");
    }
}
