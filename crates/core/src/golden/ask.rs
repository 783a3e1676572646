//! Asks an application the questions, several at a time.
//!
//! # Contract
//! - Each question has an answer, or a sentence on why it has none. Both are kept, in the order of the questions, in
//!   `answers.jsonl` of the run; a question that stands there is not asked again.
//! - Of an answer that is JSON the SQL is the field `sql`, or the one at the path that the user named; any other text is taken whole,
//!   and `score` takes the SQL out of what is around it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use sqlgauge_base::pool::Pool;
use sqlgauge_base::{program, regular};
use sqlgauge_dataset::{ColumnRole, Columns, Example};
use sqlgauge_run::GoldenAnswer;

use super::words::split;
use super::{GoldenJob, process};
use crate::context::Context;
use crate::error::Error;
use crate::lines::write_lines;

/// Bytes that one answer may have.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// The application that is asked.
#[derive(Debug, Clone)]
pub enum Application {
    /// A command as a person types it: a process for each question.
    Command(String),
    /// The address of an HTTP endpoint, which gets `{"id", "question", "db_id"}`. It needs the feature `services`.
    Url(String),
}

/// How long an answer may take.
#[derive(Clone, Copy)]
pub(super) struct Patience<'a> {
    pub time: Duration,
    /// Set when nothing is waited for any more.
    pub stop: &'a AtomicBool,
}

fn is_to(answer: &GoldenAnswer, example: &Example) -> bool {
    (answer.db_id.as_str(), answer.question.as_str()) == (&example.db_id, question_of(example))
}

fn question_of(example: &Example) -> &str {
    example.question.as_deref().unwrap_or_default()
}

/// An application that can be asked.
pub(super) struct Asker {
    way: Way,
    /// Where the SQL stands in an answer that is JSON, if the user said so.
    field: Option<String>,
}

enum Way {
    Command(Vec<String>),
    #[cfg(feature = "services")]
    Url(Box<sqlgauge_llm::Endpoint>),
}

impl Asker {
    /// Checks what is to be asked; asks nothing.
    ///
    /// # Errors
    /// When the command cannot be split or its program is not there; when the address is not one of HTTP, or this build cannot use it.
    pub(super) fn new(
        application: &Application,
        answer_path: Option<&str>,
        key: Option<&str>,
        time: Duration,
    ) -> Result<Self, Error> {
        let way = match application {
            Application::Command(text) => Way::Command(command(text)?),
            Application::Url(url) => of_url(url, key, time)?,
        };
        Ok(Self { way, field: answer_path.map(str::to_owned) })
    }

    fn ask(&self, example: &Example, patience: Patience<'_>) -> GoldenAnswer {
        let began = Instant::now();
        let text = match &self.way {
            Way::Command(words) => process::ask(words, example, patience),
            #[cfg(feature = "services")]
            Way::Url(endpoint) => {
                let question = question_of(example);
                let body =
                    serde_json::json!({"id": example.id, "question": question, "db_id": example.db_id});
                endpoint.ask(&body, patience.stop).map_err(|error| error.to_string())
            }
        };
        let answer = text.and_then(|text| self.sql_of(text));
        GoldenAnswer {
            id: example.id.clone(),
            db_id: example.db_id.clone(),
            question: question_of(example).to_owned(),
            error: answer.as_ref().err().cloned(),
            answer: answer.ok(),
            seconds: (began.elapsed().as_secs_f64() * 1e3).round() / 1e3,
        }
    }

    /// The text with the SQL in an answer.
    fn sql_of(&self, text: String) -> Result<String, String> {
        let name = self.field.as_deref().unwrap_or("sql");
        let answer = match serde_json::from_str::<Value>(&text) {
            Ok(Value::String(answer)) => answer,
            Ok(Value::Object(fields)) => text_at(&fields, name)?,
            _ if self.field.is_some() => {
                return Err(format!("the answer is not JSON, so it has no field {name}"));
            }
            _ => text,
        };
        if answer.trim().is_empty() { Err("the answer is empty".to_owned()) } else { Ok(answer) }
    }
}

/// The text at a path of an answer; null is an empty one.
fn text_at(fields: &Map<String, Value>, path: &str) -> Result<String, String> {
    let mut columns = Columns::default();
    columns.set(ColumnRole::Prediction, path);
    match columns.answers_of(fields) {
        Some(Value::String(answer)) => Ok(answer.clone()),
        Some(Value::Null) => Ok(String::new()),
        other => {
            let problem = if other.is_some() { "is not a text" } else { "is missing" };
            let names: Vec<&str> = fields.keys().map(String::as_str).take(10).collect();
            let names = names.join(", ");
            Err(format!(
                "the field {path} of the answer {problem}; it has {names}: name one with --answer-path"
            ))
        }
    }
}

/// The words of a command whose program is there.
fn command(text: &str) -> Result<Vec<String>, Error> {
    let refused = |problem: String| Error::Invalid(format!("--ask {text}: {problem}"));
    let words = split(text).map_err(refused)?;
    let command = program::command_here(Path::new(&words[0]));
    let command = command
        .map_err(|error| refused(format!("{error}; for a program in this folder write ./{}", words[0])))?;
    if !Path::new(command.get_program()).is_file() {
        return Err(refused(format!("there is no program {}", words[0])));
    }
    Ok(words)
}

#[cfg(feature = "services")]
fn of_url(url: &str, key: Option<&str>, time: Duration) -> Result<Way, Error> {
    let endpoint = sqlgauge_llm::Endpoint::new(url, key.map(sqlgauge_llm::Secret::new), time, MOST_BYTES);
    let refused = |error| Error::LlmClient { option: "--ask-url", source: Box::new(error) };
    Ok(Way::Url(Box::new(endpoint.map_err(refused)?)))
}

#[cfg(not(feature = "services"))]
fn of_url(_: &str, _: Option<&str>, _: Duration) -> Result<Way, Error> {
    Err(sqlgauge_base::NotBuiltIn { what: "--ask-url", feature: "services" }.into())
}

/// Asks what the file of answers does not have yet, and writes it.
///
/// # Errors
/// [`Error::StoppedAsking`], with the answers so far in the file; when no question got an answer; when the file cannot be read or
/// written.
pub(super) fn ask_all(
    job: &GoldenJob,
    examples: &[Example],
    file: &Path,
    context: &Context<'_>,
) -> Result<Vec<GoldenAnswer>, Error> {
    let mut before = read(file)?;
    let earlier: Vec<Option<GoldenAnswer>> = examples
        .iter()
        .map(|example| before.remove(&example.id).filter(|answer| is_to(answer, example)))
        .collect();
    let resumed = earlier.iter().flatten().count();
    if resumed == examples.len() {
        return Ok(earlier.into_iter().flatten().collect());
    }
    let asker = Asker::new(&job.application, job.answer_path.as_deref(), job.key.as_deref(), job.timeout)?;
    let folder = file.parent().unwrap_or(file);
    let unwritable = |source| Error::Unwritable { path: folder.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let (watcher, done) = (context.watcher(), AtomicUsize::new(resumed));
    watcher.started("answers", examples.len(), resumed);
    watcher.heeds_stop(true);
    let ask = |place: usize| {
        if earlier[place].is_some() || context.is_stopped() {
            return Ok(earlier[place].clone());
        }
        let answer = asker.ask(&examples[place], Patience { time: job.timeout, stop: context.stop() });
        // The stop ends programs: their output is not an answer.
        Ok::<_, Error>((answer.error.is_none() || !context.is_stopped()).then(|| {
            watcher.advanced(done.fetch_add(1, Ordering::Relaxed) + 1);
            answer
        }))
    };
    let answers = Pool::of(job.jobs).try_map(examples.len(), ask)?;
    let answers: Vec<GoldenAnswer> = answers.into_iter().flatten().collect();
    keep(&answers, examples.len(), file)?;
    watcher.heeds_stop(false);
    Ok(answers)
}

/// Writes the answers, if there are some.
fn keep(answers: &[GoldenAnswer], questions: usize, file: &Path) -> Result<(), Error> {
    let is_whole = answers.len() == questions;
    if answers.iter().any(|answer| answer.answer.is_some()) {
        write_lines(file, answers)?;
    } else if is_whole {
        let first = answers.first().and_then(|answer| answer.error.as_deref()).unwrap_or_default();
        return Err(Error::Invalid(format!("no question got an answer; the first: {first}")));
    }
    if is_whole {
        return Ok(());
    }
    let text = format!("{} of {questions} answers are kept in {}", answers.len(), file.display());
    Err(Error::StoppedAsking(text))
}

/// The answers in a file, by id; empty without a file.
fn read(file: &Path) -> Result<HashMap<String, GoldenAnswer>, Error> {
    let bytes = match regular::read_unlinked(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(HashMap::new()),
        Err(error) => return Err(Error::Invalid(format!("{} cannot be read: {error}", file.display()))),
    };
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let answers = lines.map(serde_json::from_slice::<GoldenAnswer>).collect::<Result<Vec<_>, _>>();
    let answers = answers.map_err(|error| {
        let file = file.display();
        Error::Invalid(format!(
            "{file} is not a file of answers of `sqlgauge run` ({error}); choose another folder with --out"
        ))
    })?;
    Ok(answers.into_iter().map(|answer| (answer.id.clone(), answer)).collect())
}
