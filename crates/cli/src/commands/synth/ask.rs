//! Questions in a language model's words.

use std::sync::Arc;

use anyhow::{Context, Result};
use sqlgauge_prompt::reword::{ModelSettings, ModelWriter};
use sqlgauge_synth::polish::Polish;

use super::{Polishing, Synth};
use crate::interrupt::Gently;

impl Synth {
    /// The model that rewords questions, if it is asked.
    pub(super) fn polishing(&self) -> Result<Option<Polishing>> {
        let Some(share) = self.polish else { return Ok(None) };
        let server = self.llm_url.as_ref().zip(self.llm_model.as_ref());
        let (url, model) = server.context("--polish asks a model; give --llm-url and --llm-model")?;
        let (token_limit, temperature) = self.llm.style(0.0);
        let settings = ModelSettings {
            model: model.clone(),
            temperature,
            max_tokens: self.llm.llm_answer_tokens,
            token_limit,
        };
        let kept = self.llm.cache(&self.out);
        let client = self.llm.client(url, &kept)?;
        let gently = Gently::new();
        client.stop_on(gently.asked_to_stop());
        let polish = Polish { share, writer: Arc::new(ModelWriter::new(client, settings)?) };
        Ok(Some(Polishing { polish, gently, kept }))
    }
}
