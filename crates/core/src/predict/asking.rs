//! Asking for the SQL, in builds with the client.

use std::collections::HashMap;
use std::sync::Arc;

use sqlgauge_dataset::{Benchmark, Databases, Example, load_benchmark, load_workload};
use sqlgauge_engine::{Engine, Moment};
use sqlgauge_llm::{LlmError, Prompt};
use sqlgauge_prompt::predict::{
    Demonstration, ExampleRows, PredictOutcome, PredictSettings, PromptQuestion, draw_demonstrations,
    predict, schema_with_rows,
};
use sqlgauge_prompt::{PLACEHOLDERS, built_in_prompt, built_in_prune_prompt};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::schema_text;

use super::{PredictJob, SchemaSource, Shots};
use crate::context::Context;
use crate::error::Error;
use crate::guard::{keep_database, keep_inputs};
use crate::lines::write_lines;
use crate::subset::{pick, select_without_golds};

impl PredictJob {
    /// Asks, and writes the predictions that are there. Questions without an answer stand among the lines.
    ///
    /// # Errors
    /// When an input cannot be read, an option makes no sense, the job is asked to stop, or the file cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<PredictOutcome, Error> {
        self.check()?;
        let mut workload = load_workload(&self.workload)?;
        let positions = select_without_golds(
            &self.subset,
            &workload.examples,
            self.schemas.as_ref().and_then(SchemaSource::folder),
            context.watcher(),
        )?;
        workload.examples = pick(workload.examples, positions.as_deref());
        workload.notes.iter().for_each(|text| context.watcher().note(text));
        let mut settings = self.settings()?;
        let folder = self.schemas.as_ref().and_then(SchemaSource::folder);
        let engine = context.engine_for(folder, 0, self.limits, Moment::now())?;
        let schemas = self.schema_texts(&workload, &engine)?;
        settings.dialect = name_of(engine.dialect());
        let demonstrations = self.demonstrations(&workload, engine.as_ref(), context)?;
        let questions: Vec<PromptQuestion<'_>> = workload
            .examples
            .iter()
            .zip(schemas)
            .map(|(example, schema)| question(example, schema, &demonstrations))
            .collect();
        let client = self.llm.client("--llm-url", context)?;
        context.watcher().heeds_stop(true);
        let show = crate::llm::show_progress(context.watcher());
        let mut show = |progress: &sqlgauge_llm::BatchProgress| show(progress);
        let prediction = predict(&client, &questions, &settings, Some(&mut show));
        if prediction.stopped_by == Some(LlmError::Cancelled) {
            return Err(self.stopped(&prediction));
        }
        context.watcher().heeds_stop(false);
        write_lines(&self.out, &prediction.lines)?;
        Ok(prediction)
    }

    fn stopped(&self, prediction: &PredictOutcome) -> Error {
        let Some(cache) = &self.llm.limits.cache else { return self.llm.stopped() };
        let total = prediction.lines.len();
        let answered = prediction.lines.iter().filter(|line| !line.answer.status.is_failure()).count();
        let cache = cache.display();
        Error::StoppedAsking(format!("the answers to {answered} of {total} questions are kept in {cache}"))
    }

    fn check(&self) -> Result<(), Error> {
        if !(0.0..=10.0).contains(&self.temperature) {
            let text =
                format!("--temperature {} is out of range; give a number from 0 to 10", self.temperature);
            return Err(Error::Invalid(text));
        }
        if self.samples > 1 && self.temperature == 0.0 && !self.llm.limits.reasons {
            return Err(Error::Invalid(format!(
                "--n {}: answers of temperature 0 are all the same; give --temperature too, as in 0.8",
                self.samples
            )));
        }
        if self.prune && self.example_rows > 0 {
            let text =
                "--prune shows a part of the schema, and --example-rows rows of all of it; give one of them";
            return Err(Error::Invalid(text.to_owned()));
        }
        let tables = |source: Option<&'_ SchemaSource>| match source {
            Some(SchemaSource::Tables(file)) => Some(file.clone()),
            _ => None,
        };
        let shots = self.shots.as_ref();
        let (tables_path, theirs) =
            (tables(self.schemas.as_ref()), tables(shots.and_then(|shots| shots.schemas.as_ref())));
        let inputs = [
            ("workload", Some(&self.workload.path)),
            ("shots", shots.map(|shots| &shots.benchmark.gold)),
            ("shots-tables", theirs.as_ref()),
            ("tables", tables_path.as_ref()),
            ("prompt", self.prompt.as_ref()),
        ];
        let inputs = inputs.iter().filter_map(|(role, path)| Some((*role, path.as_ref()?.as_path())));
        keep_inputs("--out", &self.out, inputs)?;
        keep_database("--out", &self.out)
    }

    fn settings(&self) -> Result<PredictSettings, Error> {
        let prompt = match &self.prompt {
            Some(path) => Prompt::load(path, PLACEHOLDERS)?,
            None => built_in_prompt()?,
        };
        Ok(PredictSettings {
            prune: if self.prune { Some(built_in_prune_prompt()?) } else { None },
            stop: self.stop.clone(),
            seed: self.seed,
            samples: self.samples,
            logprobs: !self.no_logprobs,
            ..PredictSettings::new(self.llm.model_settings(self.temperature), prompt)
        })
    }

    /// The schema of each question: the item's own, else that of its database.
    fn schema_texts(&self, workload: &Benchmark, engine: &Arc<dyn Engine>) -> Result<Vec<Arc<str>>, Error> {
        let mut others = workload.clone();
        others.examples.retain(|example| example.ddl.is_none());
        let schemas = match (&self.schemas, others.examples.first()) {
            (Some(source), _) => source
                .read_by(&others, engine.as_ref())
                .map_err(|error| Error::asked_in_part(&self.workload.path, error))?,
            (None, None) => HashMap::new(),
            (None, Some(example)) => {
                return Err(Error::Invalid(format!(
                    "{} has no schema for item {:?} (column `ddl`); give --db or --tables",
                    self.workload.path.display(),
                    example.id
                )));
            }
        };
        let rows = self.rows(engine)?;
        let mut texts: HashMap<(&str, Option<&str>), Arc<str>> = HashMap::new();
        let mut all = Vec::with_capacity(workload.examples.len());
        for example in &workload.examples {
            let key = (example.db_id.as_str(), example.ddl.as_deref());
            let text = match texts.get(&key) {
                Some(text) => Arc::clone(text),
                None => schema_of(example, schemas.get(&example.db_id).map(Arc::as_ref), rows.as_ref())?,
            };
            texts.insert(key, Arc::clone(&text));
            all.push(text);
        }
        Ok(all)
    }

    /// The demonstrations for each database of the workload, by its name.
    fn demonstrations(
        &self,
        workload: &Benchmark,
        engine: &dyn Engine,
        context: &Context<'_>,
    ) -> Result<HashMap<String, Arc<[Demonstration]>>, Error> {
        let Some(shots) = self.shots.as_ref().filter(|shots| shots.count > 0) else {
            return Ok(HashMap::new());
        };
        let mut pool = load_benchmark(&shots.benchmark)?;
        pool.notes.iter().for_each(|text| context.watcher().note(text));
        pool.examples
            .retain(|example| example.question.as_ref().is_some_and(|question| !question.trim().is_empty()));
        let databases: Vec<&str> = pool.examples.iter().map(Example::original_db_id).collect();
        let mut drawn: HashMap<String, Vec<usize>> = HashMap::new();
        for example in &workload.examples {
            let db_id = example.original_db_id();
            if drawn.contains_key(db_id) {
                continue;
            }
            let chosen =
                draw_demonstrations(&databases, db_id, shots.count as usize, self.seed.unwrap_or_default());
            if chosen.len() < shots.count as usize {
                return Err(too_few(shots, db_id, chosen.len()));
            }
            drawn.insert(db_id.to_owned(), chosen);
        }
        let schemas = self.schemas_of_shots(shots, &pool, drawn.values().flatten(), (engine, context))?;
        let mut all = HashMap::new();
        for (db_id, chosen) in drawn {
            let demonstrations = chosen.into_iter().map(|at| demonstration(&pool.examples[at], &schemas));
            all.insert(db_id, demonstrations.collect::<Result<Arc<[Demonstration]>, Error>>()?);
        }
        Ok(all)
    }

    /// The schemas of those demonstrations that bring none, by database.
    fn schemas_of_shots<'a>(
        &self,
        shots: &Shots,
        pool: &Benchmark,
        drawn: impl Iterator<Item = &'a usize>,
        (engine, context): (&dyn Engine, &Context<'_>),
    ) -> Result<HashMap<String, Arc<Schema>>, Error> {
        let bare = drawn.map(|&at| pool.examples[at].clone()).filter(|example| example.ddl.is_none());
        let bare = Benchmark { examples: bare.collect(), ..pool.clone() };
        match (&shots.schemas, &self.schemas, bare.examples.first()) {
            (_, _, None) => Ok(HashMap::new()),
            (Some(source), _, _) => Ok(source.read(&bare, context)?.0),
            (None, Some(source), _) => source.read_by(&bare, engine),
            (None, None, Some(example)) => Err(Error::Invalid(format!(
                "{} has no schema for item {:?} (column `ddl`); give --shots-db or --shots-tables",
                shots.benchmark.gold.display(),
                example.id
            ))),
        }
    }

    fn rows(&self, engine: &Arc<dyn Engine>) -> Result<Option<Rows>, Error> {
        let folder = match &self.schemas {
            Some(SchemaSource::Databases(folder)) if self.example_rows > 0 => folder,
            _ => return Ok(None),
        };
        Ok(Some(Rows {
            engine: Arc::clone(engine),
            databases: Databases::open(folder)?,
            count: self.example_rows,
        }))
    }
}

/// Where example rows are read.
struct Rows {
    engine: Arc<dyn Engine>,
    databases: Databases,
    /// Of each table.
    count: u32,
}

fn schema_of(example: &Example, schema: Option<&Schema>, rows: Option<&Rows>) -> Result<Arc<str>, Error> {
    let unread = || Error::Invalid(format!("the schema of {:?} is missing", example.db_id));
    let ddl = example.ddl.clone().or_else(|| schema.map(schema_text)).ok_or_else(unread)?;
    let Some(rows) = rows else { return Ok(Arc::from(ddl)) };
    let place = || format!("item {:?}", example.id);
    let parsed = example
        .ddl
        .as_ref()
        .map(|ddl| Schema::from_ddl(ddl).map_err(|source| Error::NoDdl { place: place(), source }));
    let parsed = parsed.transpose()?;
    let schema = parsed.as_ref().or(schema).ok_or_else(unread)?;
    let database = rows.engine.open(&rows.databases.locate(&example.db_id)?.main)?;
    let rows = ExampleRows { engine: rows.engine.as_ref(), database: &database, count: rows.count };
    Ok(Arc::from(schema_with_rows(&ddl, schema, rows)))
}

/// A dialect as people call it.
fn name_of(dialect: &'static str) -> &'static str {
    match dialect {
        "sqlite" | "sqlite3" => "SQLite",
        "postgres" => "PostgreSQL",
        "mysql" => "MySQL",
        "duckdb" => "DuckDB",
        "snowflake" => "Snowflake",
        "bigquery" => "BigQuery",
        "spark" => "Databricks",
        "redshift" => "Redshift",
        "mssql" => "SQL Server",
        "oracle" => "Oracle",
        "trino" => "Trino",
        "clickhouse" => "ClickHouse",
        _ => "SQL",
    }
}

fn too_few(shots: &Shots, db_id: &str, count: usize) -> Error {
    Error::Invalid(format!(
        "--shots {}: {} has {count} answered questions about other databases than {db_id:?}; give a smaller number or \
         another file",
        shots.count,
        shots.benchmark.gold.display()
    ))
}

fn demonstration(example: &Example, schemas: &HashMap<String, Arc<Schema>>) -> Result<Demonstration, Error> {
    let schema = schemas.get(&example.db_id).map(Arc::as_ref);
    Ok(Demonstration {
        question: example.question.clone().unwrap_or_default(),
        evidence: example.evidence.clone(),
        schema: schema_of(example, schema, None)?,
        sql: example.golds.first().cloned().unwrap_or_default(),
    })
}

fn question<'a>(
    example: &'a Example,
    schema: Arc<str>,
    demonstrations: &HashMap<String, Arc<[Demonstration]>>,
) -> PromptQuestion<'a> {
    PromptQuestion {
        id: &example.id,
        db_id: &example.db_id,
        question: example.question.as_deref().unwrap_or_default(),
        evidence: example.evidence.as_deref(),
        schema,
        demonstrations: demonstrations
            .get(example.original_db_id())
            .cloned()
            .unwrap_or_else(|| Arc::from([])),
    }
}
