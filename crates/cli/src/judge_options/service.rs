//! The judge that the options describe.

use anyhow::{Context, Result, bail};
use sqlgauge_estimate::judges::{Template, TemplateKind};
use sqlgauge_estimate::{JudgeService, Services};
use sqlgauge_llm::{Client, TokenLimit};

use super::JudgeOptions;
use crate::service::{ServiceLimits, progress};

impl JudgeOptions {
    /// The services of an estimate.
    ///
    /// # Errors
    /// As [`JudgeOptions::service`].
    pub fn services(&self, method: &str, seed: u64, quiet: bool) -> Result<Services> {
        Ok(Services { judge: self.service(method, seed, quiet)? })
    }

    /// The service, if a server is named. `method` says which prompt a file is for.
    ///
    /// # Errors
    /// When the address, the cache folder or the prompt cannot be used.
    fn service(&self, method: &str, seed: u64, quiet: bool) -> Result<Option<JudgeService>> {
        let (Some(url), Some(model)) = (&self.judge_url, &self.judge_model) else { return Ok(None) };
        let kind = match method {
            "judge-bug" => TemplateKind::Bug,
            "judge-arena" => TemplateKind::Arena,
            _ => bail!("--judge-url is for --method judge-bug or judge-arena, and {method} asks no judge"),
        };
        let client = Client::new(&self.service_limits().client_options(url, seed))
            .context("no client for --judge-url")?;
        let template = self.judge_prompt.as_deref().map(|path| Template::load(kind, path)).transpose()?;
        let (token_limit, temperature) = if self.judge_reasons {
            (TokenLimit::MaxCompletionTokens, None)
        } else {
            (TokenLimit::MaxTokens, Some(0.0))
        };
        Ok(Some(JudgeService {
            temperature,
            max_tokens: self.judge_answer_tokens,
            token_limit,
            template,
            questions: self.judge_questions,
            opponents: self.judge_opponents,
            progress: (!quiet).then(progress),
            ..JudgeService::new(client, model.clone())
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
