//! The model that the options describe.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use sqlgauge_core::LlmSettings;

use super::{LlmLimits, LlmOptions, OptionalLlm};
use crate::options::seconds;

impl OptionalLlm {
    /// The settings for what is written to `out`; `option` is the one that needs the model.
    ///
    /// # Errors
    /// When the server or the model is missing, or the time limit is not a positive number.
    pub(crate) fn settings(&self, option: &str, out: &Path) -> Result<LlmSettings> {
        let (Some(url), Some(model)) = (&self.llm_url, &self.llm_model) else {
            bail!("{option} asks a model; give --llm-url and --llm-model");
        };
        self.limits.settings(url, model, out)
    }
}

impl LlmOptions {
    /// The settings for what is written to `out`.
    ///
    /// # Errors
    /// When the time limit is not a positive number.
    pub(crate) fn settings(&self, out: &Path) -> Result<LlmSettings> {
        self.limits.settings(&self.llm_url, &self.llm_model, out)
    }
}

impl LlmLimits {
    /// The folder that keeps the answers for what is written to `out`.
    fn cache(&self, out: &Path) -> PathBuf {
        let default = || {
            let mut name = out.as_os_str().to_owned();
            name.push(".answers");
            PathBuf::from(name)
        };
        self.llm_cache.clone().map_or_else(default, Into::into)
    }

    fn settings(&self, url: &str, model: &str, out: &Path) -> Result<LlmSettings> {
        Ok(LlmSettings {
            key: key(&self.llm_key_env),
            cache: Some(self.cache(out)),
            concurrency: self.llm_concurrency,
            timeout: seconds("--llm-timeout", self.llm_timeout)?,
            attempts: self.llm_attempts,
            requests_per_minute: self.llm_requests_per_minute,
            tokens_per_minute: self.llm_tokens_per_minute,
            max_requests: self.llm_max_requests,
            max_tokens: self.llm_max_tokens,
            max_cost: self.llm_max_cost,
            prices: self.llm_prices,
            answer_tokens: self.llm_answer_tokens,
            reasons: self.llm_reasons,
            ..LlmSettings::new(url, model)
        })
    }
}

/// The key in an environment variable, if it has one.
pub(crate) fn key(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|key| !key.trim().is_empty())
}
