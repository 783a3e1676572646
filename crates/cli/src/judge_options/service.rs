//! The judge that the options describe.

use anyhow::Result;
use sqlgauge::JudgeSettings;

use super::JudgeOptions;
use crate::options::seconds;
use crate::service::ServiceLimits;

impl JudgeOptions {
    /// The judge, if a server is named.
    ///
    /// # Errors
    /// When the timeout is not a positive number.
    pub fn settings(&self, seed: u64) -> Result<Option<JudgeSettings>> {
        let (Some(url), Some(model)) = (&self.judge_url, &self.judge_model) else { return Ok(None) };
        let mut client = self.service_limits().client_options(url, seed);
        let timeout = seconds("--judge-timeout", self.judge_timeout)?;
        client.timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        client.retry.attempts = self.judge_attempts;
        Ok(Some(JudgeSettings {
            prompt: self.judge_prompt.clone(),
            answer_tokens: self.judge_answer_tokens,
            reasons: self.judge_reasons,
            questions: self.judge_questions,
            opponents: self.judge_opponents,
            ..JudgeSettings::new(client, model)
        }))
    }

    fn service_limits(&self) -> ServiceLimits<'_> {
        ServiceLimits {
            key_env: &self.judge_key_env,
            concurrency: self.judge_concurrency,
            requests_per_minute: self.judge_requests_per_minute,
            tokens_per_minute: self.judge_tokens_per_minute,
            max_requests: self.judge_max_requests,
            max_tokens: self.judge_max_tokens,
            max_cost: self.judge_max_cost,
            prices: self.judge_prices,
            cache: self.judge_cache.as_deref(),
        }
    }
}
