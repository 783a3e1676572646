//! The model that the options describe.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use sqlgauge_core::{JudgeSettings, LlmSettings};

use super::{JudgeOptions, LlmOptions};

impl LlmOptions {
    /// The model, if one is named.
    pub(crate) fn named(&self) -> Option<LlmSettings> {
        let key = std::env::var(&self.llm_key_env).ok().filter(|key| !key.trim().is_empty());
        let llm = LlmSettings::new(self.llm_url.as_deref()?, self.llm_model.as_deref()?);
        Some(LlmSettings { key, limits: self.limits.clone(), ..llm })
    }

    /// The model for what is written to `out`, beside which the answers are kept; `option` is the one that needs it.
    ///
    /// # Errors
    /// When the server or the model is missing.
    pub(crate) fn settings(&self, option: &str, out: &Path) -> Result<LlmSettings> {
        let Some(mut llm) = self.named() else {
            bail!("{option} asks a model; give --llm-url and --llm-model");
        };
        let mut cache = out.as_os_str().to_owned();
        cache.push(".answers");
        llm.limits.cache.get_or_insert(PathBuf::from(cache).into());
        Ok(llm)
    }
}

impl JudgeOptions {
    /// The judge, if a server is named.
    pub(crate) fn settings(&self, seed: u64) -> Option<JudgeSettings> {
        Some(JudgeSettings {
            llm: LlmSettings { seed, ..self.llm.named()? },
            prompt: self.judge_prompt.clone(),
            questions: self.judge_questions,
            opponents: self.judge_opponents,
        })
    }
}
