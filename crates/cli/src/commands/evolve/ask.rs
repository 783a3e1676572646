//! Names from a language model.

use anyhow::{Context, Result};
use sqlgauge_dataset::Benchmark;
use sqlgauge_names::Suggestions;
use sqlgauge_prompt::names::{Asked, NameSettings, ask};
use sqlgauge_sql::schema::Schema;

use super::Evolve;
use crate::interrupt::Gently;
use crate::output::{note, say};
use crate::scoring::asks;
use crate::service::progress;
use crate::workload::SchemaSource;

/// Tables that are named, of those without names.
const SHOWN: usize = 10;

impl Evolve {
    /// Asks the model about every table of the benchmark's databases; what it said before is kept.
    pub(super) fn ask(&self, benchmark: &Benchmark) -> Result<Suggestions> {
        let server = self.llm_url.as_ref().zip(self.llm_model.as_ref());
        let (url, model) = server.context("--names llm asks a model; give --llm-url and --llm-model")?;
        let schemas =
            SchemaSource::Databases(self.db.clone()).read(benchmark).with_context(|| asks(&self.gold))?;
        let mut databases: Vec<(&str, &Schema)> =
            schemas.iter().map(|(db_id, schema)| (db_id.as_str(), schema.as_ref())).collect();
        databases.sort_unstable_by_key(|(db_id, _)| *db_id);
        let (token_limit, temperature) = self.llm.style(0.0);
        let settings = NameSettings {
            model: model.clone(),
            naturalness: self.naturalness,
            temperature,
            max_tokens: self.llm.llm_answer_tokens,
            token_limit,
        };
        let cache = self.llm.cache(&self.out);
        let client = self.llm.client(url, &cache)?;
        let gently = Gently::new();
        client.stop_on(gently.asked_to_stop());
        let show = progress();
        let mut told = |state: &sqlgauge_llm::Progress| show(state);
        let asked = match ask(&client, &databases, &settings, (!self.quiet).then_some(&mut told)) {
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
            tell(&asked, model);
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
