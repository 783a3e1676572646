//! From the options to the prediction file.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail, ensure};
use sqlgauge_dataset::{Benchmark, Databases, Example, WorkloadSource, load_workload};
use sqlgauge_engine::{Database, Engine};
use sqlgauge_llm::{LlmError, Prompt};
use sqlgauge_prompt::predict::{
    ExampleRows, Line, PLACEHOLDERS, Prediction, Question, Settings, Status, built_in_prompt, predict,
    schema_with_rows,
};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::schema_text;

use super::{Predict, columns};
use crate::Verdict;
use crate::engine::engine;
use crate::interrupt::Gently;
use crate::llm_options::client;
use crate::output::{note, print, write_to};
use crate::scoring::asks;
use crate::service::progress;
use crate::workload::SchemaSource;
use sqlgauge::{LlmSettings, keep_database, keep_inputs};

impl Predict {
    pub fn run(self) -> Result<Verdict> {
        self.check()?;
        let columns = columns(&self.columns)?;
        let source = WorkloadSource { path: self.workload.clone(), format: self.format, columns };
        let mut workload = load_workload(&source)?;
        workload.examples.truncate(self.limit.unwrap_or(usize::MAX));
        ensure!(!workload.examples.is_empty(), "--limit 0 leaves no question; give at least 1");
        if !self.quiet {
            workload.notes.iter().for_each(note);
        }
        let llm = self.llm.settings(&self.out)?;
        let settings = self.settings(&llm)?;
        let schemas = self.schemas(&workload)?;
        let questions: Vec<Question<'_>> = workload
            .examples
            .iter()
            .zip(schemas)
            .map(|(example, schema)| question(example, schema))
            .collect();
        let cache = self.llm.limits.cache(&self.out);
        let client = client(&llm)?;
        let gently = Gently::new();
        client.stop_on(gently.asked_to_stop());
        let show = progress();
        let mut told = |state: &sqlgauge_llm::Progress| show(state);
        let prediction = predict(&client, &questions, &settings, (!self.quiet).then_some(&mut told));
        if prediction.stopped_by == Some(LlmError::Cancelled) {
            let left = failed(&prediction.lines).count();
            let text = format!(
                "the answers to {} of {} questions are kept in {}; the same command asks for the others",
                questions.len() - left,
                questions.len(),
                cache.display()
            );
            return Err(gently.stopped(text).into());
        }
        drop(gently);
        write_to(&self.out, &lines(&prediction.lines)?)?;
        self.say(&prediction)?;
        if prediction.lines.iter().all(|line| line.answer.status.is_failure()) {
            let first = prediction.lines.first().and_then(|line| line.answer.error.as_deref());
            bail!("no question was answered: {}", first.unwrap_or("there was none"));
        }
        Ok(if prediction.stopped_by.is_some() { Verdict::Unfinished } else { Verdict::Done })
    }

    fn check(&self) -> Result<()> {
        if !(0.0..=10.0).contains(&self.temperature) {
            bail!("--temperature {} is no temperature; give a number from 0", self.temperature);
        }
        if self.n > 1 && self.temperature == 0.0 && !self.llm.limits.llm_reasons {
            bail!(
                "--n {}: answers of temperature 0 are all the same; give --temperature too, as in 0.8",
                self.n
            );
        }
        let inputs = [
            ("workload", Some(&self.workload)),
            ("tables", self.tables.as_ref()),
            ("prompt", self.prompt.as_ref()),
        ];
        keep_inputs(
            "--out",
            &self.out,
            inputs.iter().filter_map(|(role, path)| Some((*role, path.as_ref()?.as_path()))),
        )?;
        Ok(keep_database("--out", &self.out)?)
    }

    fn settings(&self, llm: &LlmSettings) -> Result<Settings> {
        let prompt = match &self.prompt {
            Some(path) => Prompt::load(path, PLACEHOLDERS)?,
            None => built_in_prompt()?,
        };
        Ok(Settings {
            stop: self.stop.clone(),
            seed: self.seed,
            samples: self.n,
            logprobs: !self.no_logprobs,
            ..Settings::new(llm.model_settings(self.temperature), prompt)
        })
    }

    /// The schema of each question: the item's own, else that of its database.
    fn schemas(&self, workload: &Benchmark) -> Result<Vec<Arc<str>>> {
        let source = match (&self.db, &self.tables) {
            (Some(folder), _) => Some(SchemaSource::Databases(folder.clone())),
            (None, Some(file)) => Some(SchemaSource::Tables(file.clone())),
            (None, None) => None,
        };
        let mut others = workload.clone();
        others.examples.retain(|example| example.ddl.is_none());
        let known = match source {
            Some(source) => source.read(&others).with_context(|| asks(&self.workload))?,
            None => match others.examples.first() {
                None => HashMap::new(),
                Some(example) => bail!(
                    "{} has no schema for item {:?} (column `ddl`); give --db or --tables",
                    self.workload.display(),
                    example.id
                ),
            },
        };
        let rows = self.example_rows()?;
        let mut texts: HashMap<(&str, Option<&str>), Arc<str>> = HashMap::new();
        let mut schemas = Vec::with_capacity(workload.examples.len());
        for example in &workload.examples {
            let key = (example.db_id.as_str(), example.ddl.as_deref());
            let text = match texts.get(&key) {
                Some(text) => Arc::clone(text),
                None => self.schema(example, known.get(&example.db_id).map(Arc::as_ref), rows.as_ref())?,
            };
            texts.insert(key, Arc::clone(&text));
            schemas.push(text);
        }
        Ok(schemas)
    }

    fn schema(&self, example: &Example, known: Option<&Schema>, rows: Option<&Rows>) -> Result<Arc<str>> {
        let own = || {
            let ddl = example.ddl.as_deref().unwrap_or_default();
            Schema::from_ddl(ddl)
                .with_context(|| format!("the schema (column `ddl`) of item {:?}", example.id))
        };
        let ddl = example.ddl.clone().or_else(|| known.map(schema_text));
        let ddl = ddl.ok_or_else(|| anyhow!("there is no schema of {:?}", example.db_id))?;
        let Some(rows) = rows else { return Ok(Arc::from(ddl)) };
        let parsed = if example.ddl.is_some() { Some(own()?) } else { None };
        let schema = parsed.as_ref().or(known).context("a schema was read for every database")?;
        let database = rows.open(&example.db_id)?;
        let rows =
            ExampleRows { engine: rows.engine.as_ref(), database: &database, count: self.example_rows };
        Ok(Arc::from(schema_with_rows(&ddl, schema, rows)))
    }

    fn example_rows(&self) -> Result<Option<Rows>> {
        let Some(folder) = self.db.as_deref().filter(|_| self.example_rows > 0) else { return Ok(None) };
        Ok(Some(Rows {
            engine: Box::new(engine(self.limits.limits()?)?),
            databases: Databases::open(folder)?,
        }))
    }

    fn say(&self, prediction: &Prediction) -> Result<()> {
        let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
        prediction.lines.iter().for_each(|line| *counts.entry(line.answer.status).or_default() += 1);
        let counts: Vec<String> =
            counts.iter().map(|(status, count)| format!("{count} {}", status.name())).collect();
        if self.quiet {
            return Ok(());
        }
        let usage = &prediction.usage;
        print(&format!(
            "{} predictions ({}) with {} requests and {} answers that were kept, {} tokens: {}\n",
            prediction.lines.len(),
            counts.join(", "),
            usage.requests,
            usage.cached,
            usage.prompt_tokens + usage.completion_tokens,
            self.out.display()
        ))?;
        if usage.cache_write_failures > 0 {
            note(format!(
                "{} answers could not be kept, and are asked for again",
                usage.cache_write_failures
            ));
        }
        let left = failed(&prediction.lines).count();
        if left > 0 {
            let why = failed(&prediction.lines).find_map(|line| line.answer.error.as_deref());
            note(format!(
                "{left} of {} questions have no answer, and the same command asks for them again; the first says: {}",
                prediction.lines.len(),
                why.unwrap_or_default()
            ));
        }
        Ok(())
    }
}

/// Where example rows are read.
struct Rows {
    engine: Box<dyn Engine>,
    databases: Databases,
}

impl Rows {
    fn open(&self, db_id: &str) -> Result<Arc<Database>> {
        Ok(self.engine.open(&self.databases.locate(db_id)?.main)?)
    }
}

fn question(example: &Example, schema: Arc<str>) -> Question<'_> {
    Question {
        id: &example.id,
        db_id: &example.db_id,
        question: example.question.as_deref().unwrap_or_default(),
        evidence: example.evidence.as_deref(),
        schema,
    }
}

fn failed(lines: &[Line]) -> impl Iterator<Item = &Line> {
    lines.iter().filter(|line| line.answer.status.is_failure())
}

fn lines(lines: &[Line]) -> Result<String> {
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line)?);
        text.push('\n');
    }
    Ok(text)
}
