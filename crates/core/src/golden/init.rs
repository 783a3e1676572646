//! Writes what `sqlgauge run` reads: `sqlgauge init`.
//!
//! # Contract
//! Nothing that is there is written over. A `sqlgauge.toml` that is there is an error before anything is written; questions that are
//! there are checked and used, a workflow that is there is left alone.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sqlgauge_base::server;
use sqlgauge_dataset::{BenchmarkSource, Databases, load_benchmark};
use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_sql::PrintDialect;
use sqlgauge_sql::schema::{Schema, TableKind};

use super::Application;
use crate::context::Context;
use crate::error::Error;

/// The questions, where the user names no file.
const QUESTIONS: &str = "questions.jsonl";
const WORKFLOW: &str = ".github/workflows/sqlgauge.yml";
const CONFIG: &str = "sqlgauge.toml";
/// Questions that are made of a schema.
const STARTERS: usize = 3;
/// What stands in a question that is made of a schema.
const TO_REPLACE: &str =
    "made of the schema: put a question of your users here, with the query that answers it";

/// Writes `sqlgauge.toml`, questions to begin with, and a workflow for GitHub.
#[derive(Debug, Clone)]
pub struct InitJob {
    /// The folder of the project.
    pub folder: PathBuf,
    /// A database, a folder of them, or the address of a server; as all paths, seen from the folder.
    pub db: PathBuf,
    /// The questions with their golds; without it `questions.jsonl`, which is made where it is not there.
    pub questions: Option<PathBuf>,
    /// What is asked.
    pub application: Application,
    /// The field with the SQL in an answer that is JSON.
    pub answer_path: Option<String>,
    /// The environment variable with the key of an address.
    pub key_variable: Option<String>,
}

/// A file of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitFile {
    /// Where it is, seen from the folder.
    pub path: PathBuf,
    /// Whether it was written now; else it was there.
    pub is_new: bool,
    /// Questions in it, where it has some.
    pub questions: Option<usize>,
}

impl InitJob {
    /// Writes what is missing, and says what there is.
    ///
    /// # Errors
    /// When `sqlgauge.toml` is there, the database or the questions cannot be read, or a file cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<Vec<InitFile>, Error> {
        let config = self.config()?;
        if fs::symlink_metadata(self.folder.join(CONFIG)).is_ok() {
            return Err(Error::Invalid(format!(
                "{CONFIG} is there and is not written over: put these lines into it, or remove it\n\n{config}"
            )));
        }
        let questions = self.questions(context)?;
        let config = InitFile { path: CONFIG.into(), is_new: self.write(CONFIG, &config)?, questions: None };
        let is_new = self.write(WORKFLOW, &self.workflow())?;
        Ok(vec![questions, config, InitFile { path: WORKFLOW.into(), is_new, questions: None }])
    }

    /// The questions that are there, or the ones that are made.
    fn questions(&self, context: &Context<'_>) -> Result<InitFile, Error> {
        let path = self.questions.clone().unwrap_or_else(|| QUESTIONS.into());
        let file = self.folder.join(&path);
        if self.questions.is_some() || file.exists() {
            Databases::open(&self.databases())?;
            let benchmark = load_benchmark(&BenchmarkSource { gold: file, ..BenchmarkSource::default() })?;
            return Ok(InitFile { path, is_new: false, questions: Some(benchmark.examples.len()) });
        }
        let starters = self.starters(context)?;
        let lines = starters.iter().map(|item| item.to_string() + "\n").collect::<Vec<_>>().concat();
        let is_new = self.write(QUESTIONS, &lines)?;
        Ok(InitFile { path, is_new, questions: Some(starters.len()) })
    }

    /// Questions about the first database that has some, whose golds run there.
    fn starters(&self, context: &Context<'_>) -> Result<Vec<Value>, Error> {
        let root = self.databases();
        let databases = Databases::open(&root)?;
        let names = if server::is_address(&root) {
            let name = databases.only()?;
            vec![(name.clone(), databases.locate(&name)?.main)]
        } else {
            databases.all()?
        };
        let engine = context.engine_for(Some(&root), 1, Limits::default(), Moment::now())?;
        for (db_id, path) in &names {
            let database = engine.open(path)?;
            let candidates = candidates(database.schema(), engine.as_ref());
            let items = candidates.filter(|(_, sql)| engine.run(&database, sql).rows().is_some());
            let items: Vec<Value> = items
                .take(STARTERS)
                .enumerate()
                .map(|(at, (question, gold))| {
                    let id = format!("starter-{}", at + 1);
                    json!({"id": id, "db_id": db_id, "question": question, "gold": gold, "todo": TO_REPLACE})
                })
                .collect();
            if !items.is_empty() {
                return Ok(items);
            }
        }
        Err(Error::Invalid(format!("{} has no table to ask about; check --db", self.db.display())))
    }

    /// Where the databases are. Joined to a folder, the address of a server would be a path.
    fn databases(&self) -> PathBuf {
        if server::is_address(&self.db) { self.db.clone() } else { self.folder.join(&self.db) }
    }

    fn config(&self) -> Result<String, Error> {
        let questions = self.questions.as_deref().unwrap_or(Path::new(QUESTIONS));
        let application = match &self.application {
            Application::Command(command) => format!("ask = {}", toml_text(command)),
            Application::Url(url) => format!("ask-url = {}", toml_text(url)),
        };
        let options = [("ask-key-env", &self.key_variable), ("answer-path", &self.answer_path)];
        let options = options.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
        let application =
            options.fold(application, |text, (key, value)| format!("{text}\n{key} = {}", toml_text(value)));
        Ok(include_str!("templates/sqlgauge.toml")
            .replacen("{questions}", &toml_path(questions)?, 1)
            .replacen("{db}", &toml_path(&self.db)?, 1)
            .replacen("{application}", &application, 1))
    }

    /// The workflow, which builds the program with what the project needs of it.
    fn workflow(&self) -> String {
        let needs = [
            ("services", matches!(self.application, Application::Url(_))),
            ("engines", server::is_address(&self.db)),
        ];
        let needed: Vec<&str> =
            needs.iter().filter(|(_, is_needed)| *is_needed).map(|(name, _)| *name).collect();
        let features =
            if needed.is_empty() { String::new() } else { format!(" --features {}", needed.join(",")) };
        let key = |name: &String| format!("\n        env: {{{name}: \"${{{{ secrets.{name} }}}}\"}}");
        let key = self.key_variable.as_ref().map(key).unwrap_or_default();
        include_str!("templates/workflow.yml").replacen("{features}", &features, 1).replacen("{key}", &key, 1)
    }

    /// Writes a file that is not there; says whether it did.
    fn write(&self, name: &str, text: &str) -> Result<bool, Error> {
        let path = self.folder.join(name);
        let written = fs::create_dir_all(path.parent().unwrap_or(&path))
            .and_then(|()| OpenOptions::new().write(true).create_new(true).open(&path))
            .and_then(|mut file| file.write_all(text.as_bytes()));
        match written {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(source) => Err(Error::Unwritable { path, source }),
        }
    }
}

/// Questions about a schema, each with its gold: what can be asked of any table comes first.
fn candidates<'a>(schema: &'a Schema, engine: &'a dyn Engine) -> impl Iterator<Item = (String, String)> + 'a {
    let quoted = |name: &str| {
        if engine.is_sqlite() { PrintDialect::Sqlite.identifier(name) } else { engine.quoted(name) }
    };
    let tables = || schema.tables().iter().filter(|table| table.kind == TableKind::Table);
    let counts = tables().map(move |table| {
        let question = format!("How many rows does the table {} have?", table.name);
        (question, format!("SELECT COUNT(*) FROM {}", quoted(&table.name)))
    });
    let columns = tables().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
    let of_columns = columns.flat_map(move |(table, column)| {
        let (from, name) = (quoted(&table.name), quoted(&column.name));
        let place = format!("the column {} of {}", column.name, table.name);
        [
            (
                format!("How many different values are in {place}?"),
                format!("SELECT COUNT(DISTINCT {name}) FROM {from}"),
            ),
            (format!("What is the largest value in {place}?"), format!("SELECT MAX({name}) FROM {from}")),
        ]
    });
    counts.chain(of_columns)
}

fn toml_path(path: &Path) -> Result<String, Error> {
    let text = path.to_str().ok_or_else(|| {
        Error::Invalid(format!(
            "the path {} is not UTF-8, which {CONFIG} cannot have; rename it",
            path.display()
        ))
    })?;
    Ok(toml_text(text))
}

/// A text of TOML in quotes: one of JSON, but for DEL.
fn toml_text(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
