//! Names from a language model.

use anyhow::{Context, Result};
use sqlgauge_dataset::Benchmark;
use sqlgauge_names::Suggestions;
use sqlgauge_prompt::names::{Asked, ask};
use sqlgauge_sql::schema::Schema;

use super::Evolve;
use crate::interrupt::Gently;
use crate::llm_options::client;
use crate::output::{note, say};
use crate::scoring::asks;
use crate::service::progress;
use crate::workload::SchemaSource;

/// Tables that are named, of those without names.
const SHOWN: usize = 10;

impl Evolve {
    /// Asks the model about every table of the benchmark's databases; what it said before is kept.
    pub(super) fn ask(&self, benchmark: &Benchmark) -> Result<Suggestions> {
        let settings = self.llm.settings("--names llm", &self.out)?;
        let schemas =
            SchemaSource::Databases(self.db.clone()).read(benchmark).with_context(|| asks(&self.gold))?;
        let mut databases: Vec<(&str, &Schema)> =
            schemas.iter().map(|(db_id, schema)| (db_id.as_str(), schema.as_ref())).collect();
        databases.sort_unstable_by_key(|(db_id, _)| *db_id);
        let cache = self.llm.limits.cache(&self.out);
        let client = client(&settings)?;
        let gently = Gently::new();
        client.stop_on(gently.asked_to_stop());
        let show = progress();
        let mut told = |state: &sqlgauge_llm::Progress| show(state);
        let model = settings.model_settings(0.0);
        let show = (!self.quiet).then_some(&mut told);
        let asked = match ask(&client, &databases, &model, self.naturalness, show.map(|show| show as _)) {
            Err(error) if error.is_cancelled() => {
                let text =
                    format!("the answers so far are kept in {}; the same command goes on", cache.display());
                return Err(gently.stopped(text).into());
            }
            other => other.with_context(|| {
                format!(
                    "--names llm; the answers so far are kept in {}, and the same command goes on",
                    cache.display()
                )
            })?,
        };
        drop(gently);
        if !self.quiet {
            tell(&asked, &settings.model);
        }
        Ok(asked.suggestions)
    }
}

fn tell(asked: &Asked, model: &str) {
    let usage = &asked.usage;
    say(&format!(
        "names of {} of {} tables and columns from {model}, with {} requests and {} answers that were kept",
        asked.named, asked.elements, usage.requests, usage.cached
    ));
    if !asked.without_names.is_empty() {
        note(format!(
            "{} of {} answers have no names, and their tables keep what they have: {}",
            asked.without_names.len(),
            asked.tables,
            asked.without_names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ")
        ));
    }
}
