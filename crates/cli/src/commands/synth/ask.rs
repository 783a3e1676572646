//! Questions in a language model's words.

use std::sync::Arc;

use anyhow::Result;
use sqlgauge_prompt::reword::ModelWriter;
use sqlgauge_synth::polish::Polish;

use super::{Polishing, Synth};
use crate::interrupt::Gently;
use crate::llm_options::client;

impl Synth {
    /// The model that rewords questions, if it is asked.
    pub(super) fn polishing(&self) -> Result<Option<Polishing>> {
        let Some(share) = self.polish else { return Ok(None) };
        let settings = self.llm.settings("--polish", &self.out)?;
        let kept = self.llm.limits.cache(&self.out);
        let client = client(&settings)?;
        let gently = Gently::new();
        client.stop_on(gently.asked_to_stop());
        let polish =
            Polish { share, writer: Arc::new(ModelWriter::new(client, settings.model_settings(0.0))?) };
        Ok(Some(Polishing { polish, gently, kept }))
    }
}
