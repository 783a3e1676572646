//! The names that a language model thinks of.

use sqlgauge_dataset::Benchmark;
use sqlgauge_names::Suggestions;

use super::EvolveJob;
use crate::context::{Context, Watcher};
use crate::error::{About, Error};
use crate::llm::LlmSettings;

impl EvolveJob {
    /// The names that a model thinks of, if one is to be asked.
    pub(super) fn names(
        &self,
        benchmark: &Benchmark,
        context: &Context<'_>,
    ) -> Result<Option<Suggestions>, Error> {
        self.namer.as_ref().map(|namer| self.ask(namer, benchmark, context)).transpose()
    }

    /// Asks the model about every table of the benchmark's databases; its answers are kept.
    fn ask(
        &self,
        namer: &LlmSettings,
        benchmark: &Benchmark,
        context: &Context<'_>,
    ) -> Result<Suggestions, Error> {
        let (schemas, _) = crate::schemas::SchemaSource::Databases(self.db.clone())
            .read(benchmark, context)
            .map_err(|error| Error::asked_in_part(&self.benchmark.gold, error))?;
        let mut databases: Vec<(&str, &sqlgauge_sql::schema::Schema)> =
            schemas.iter().map(|(db_id, schema)| (db_id.as_str(), schema.as_ref())).collect();
        databases.sort_unstable_by_key(|(db_id, _)| *db_id);
        let client = namer.client("--llm-url", context)?;
        context.watcher().heeds_stop(true);
        let show = crate::llm::show_progress(context.watcher());
        let mut show = |progress: &sqlgauge_llm::BatchProgress| show(progress);
        let model = namer.model_settings(0.0);
        let answers =
            sqlgauge_prompt::names::ask(&client, &databases, &model, self.naturalness, Some(&mut show));
        let answers = match answers {
            Err(error) if error.is_cancelled() => return Err(namer.stopped()),
            answers => {
                answers.about(|| format!("--names llm; {}; running it again goes on", namer.cache_note()))
            }
        };
        context.watcher().heeds_stop(false);
        let answers = answers?;
        tell(&answers, &namer.model, context.watcher());
        Ok(answers.suggestions)
    }
}

fn tell(answers: &sqlgauge_prompt::names::NameAnswers, model: &str, watcher: &dyn Watcher) {
    /// Tables that are listed.
    const SHOWN: usize = 10;
    let usage = &answers.usage;
    watcher.note(&format!(
        "names of {} of {} tables and columns from {model}, with {} requests and {} answers that were kept",
        answers.named, answers.elements, usage.requests, usage.cached
    ));
    if !answers.without_names.is_empty() {
        watcher.note(&format!(
            "{} of {} answers have no names; their tables keep the old ones: {}",
            answers.without_names.len(),
            answers.tables,
            answers.without_names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ")
        ));
    }
}
