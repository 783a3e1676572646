//! The judge that the options describe.

use anyhow::Result;
use sqlgauge_core::{JudgeSettings, LlmSettings};

use super::JudgeOptions;
use crate::llm_options::service::key;
use crate::options::seconds;

impl JudgeOptions {
    /// The judge, if a server is named.
    ///
    /// # Errors
    /// When the timeout is not a positive number.
    pub(crate) fn settings(&self, seed: u64) -> Result<Option<JudgeSettings>> {
        let (Some(url), Some(model)) = (&self.judge_url, &self.judge_model) else { return Ok(None) };
        let llm = LlmSettings {
            key: key(&self.judge_key_env),
            cache: self.judge_cache.clone().map(Into::into),
            concurrency: self.judge_concurrency,
            timeout: seconds("--judge-timeout", self.judge_timeout)?,
            attempts: self.judge_attempts,
            requests_per_minute: self.judge_requests_per_minute,
            tokens_per_minute: self.judge_tokens_per_minute,
            max_requests: self.judge_max_requests,
            max_tokens: self.judge_max_tokens,
            max_cost: self.judge_max_cost,
            prices: self.judge_prices,
            answer_tokens: self.judge_answer_tokens,
            reasons: self.judge_reasons,
            seed,
            ..LlmSettings::new(&**url, model)
        };
        Ok(Some(JudgeSettings {
            prompt: self.judge_prompt.clone(),
            questions: self.judge_questions,
            opponents: self.judge_opponents,
            ..JudgeSettings::new(llm)
        }))
    }
}
