//! Golden questions of an application: asked, scored, and compared with the last run: `sqlgauge run` and `sqlgauge init`.
//!
//! # Contract
//! - Nothing is asked before the questions, the databases and the bars are found to fit together.
//! - The answers stand in `answers.jsonl` of the run, which scores them as `score --extract-sql` does. The same folder again asks what
//!   is not there.
//! - A question without an answer is an item without a prediction. A run in which none got an answer is an error.

mod ask;
mod init;
mod last;
mod process;
mod words;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sqlgauge_base::verb_for;
use sqlgauge_dataset::{Databases, Example};
use sqlgauge_engine::Moment;
use sqlgauge_metrics::Metric;
use sqlgauge_report::Report;
use sqlgauge_run::ANSWERS;

pub use ask::Application;
pub use init::{InitFile, InitJob};
pub use sqlgauge_run::GoldenAnswer;

use crate::compare::{CompareJob, SystemComparison};
use crate::context::Context;
use crate::error::Error;
use crate::one_database::name_database;
use crate::score::{ScoreJob, System};
use crate::settings::{default_metrics, gates_of};
use crate::source::Source;

/// The name of the application in its runs.
const SYSTEM: &str = "app";

/// Asks an application golden questions, scores its answers, and compares them with the last run.
///
/// ```
/// # #[cfg(unix)]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Application, Context, GoldenJob, Sample, Source};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let app = Application::Command("echo 'SELECT COUNT(*) FROM book'".to_owned());
/// let questions = Source::from(sample.questions.as_path());
/// let job = GoldenJob::new(questions, sample.databases, app, folder.path().join("runs/first"));
/// let run = job.run(&Context::default())?;
/// assert_eq!(run.report.summary.systems[0].system, "app");
/// # Ok(())
/// # }
/// # #[cfg(not(unix))]
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct GoldenJob {
    /// The questions with their golds.
    pub questions: Source,
    /// Folder with the databases, or one of them, or the address of a server.
    pub db: PathBuf,
    /// What is asked.
    pub application: Application,
    /// The field with the SQL in an answer that is JSON; `sql` without it.
    pub answer_path: Option<String>,
    /// The key that an address gets as `Authorization: Bearer`.
    pub key: Option<String>,
    /// What to score with; none is the default of `score`.
    pub metrics: Vec<&'static dyn Metric>,
    /// Bars that the means are to reach, as written: `METRIC=X`.
    pub gates: Vec<String>,
    /// Folder with the run to compare with.
    pub runs: PathBuf,
    /// The run directory.
    pub out: PathBuf,
    /// Questions that are asked at the same time.
    pub jobs: usize,
    /// Time limit of one answer.
    pub timeout: Duration,
    /// The command or call, for the record.
    pub command: Vec<String>,
}

/// What came of asking and scoring.
pub struct GoldenRun {
    /// The run directory.
    pub out: PathBuf,
    /// What came of each question.
    pub answers: Vec<GoldenAnswer>,
    /// The scores.
    pub report: Report,
    /// The run before it and the comparison with it, if there is one.
    pub comparison: Option<(PathBuf, SystemComparison)>,
}

impl GoldenJob {
    /// Four questions at a time, two minutes for an answer, and the defaults of `sqlgauge score`. The run before it is looked for next to
    /// the run directory.
    pub fn new(
        questions: Source,
        db: impl Into<PathBuf>,
        application: Application,
        out: impl Into<PathBuf>,
    ) -> Self {
        let out = out.into();
        Self {
            questions,
            db: db.into(),
            application,
            answer_path: None,
            key: None,
            metrics: Vec::new(),
            gates: Vec::new(),
            runs: out.parent().unwrap_or(Path::new("")).to_owned(),
            out,
            jobs: 4,
            timeout: Duration::from_mins(2),
            command: Vec::new(),
        }
    }

    /// A new folder among the runs, named by the time.
    pub fn new_folder(runs: &Path) -> PathBuf {
        let now = Moment::now().to_string();
        let name: String = now.chars().filter(char::is_ascii_alphanumeric).collect();
        let first = runs.join(&name);
        let mut others = (2..).map(|number: u64| runs.join(format!("{name}-{number}")));
        if first.exists() { others.find(|path| !path.exists()).unwrap_or(first) } else { first }
    }

    /// Asks, scores and compares.
    ///
    /// # Errors
    /// When an input cannot be read or does not fit the others, no question gets an answer, or the job is asked to stop.
    pub fn run(&self, context: &Context<'_>) -> Result<GoldenRun, Error> {
        let score = self.score_job();
        let examples = self.examples(&score)?;
        let answers = self.ask(&examples, context)?;
        if let Some(sentence) = unanswered(&answers) {
            context.watcher().note(&sentence);
        }
        let report = score.run(context)?;
        let comparison = self.compare(&report, context)?;
        Ok(GoldenRun { out: self.out.clone(), answers, report, comparison })
    }

    fn score_job(&self) -> ScoreJob {
        let app = System::new(SYSTEM, self.out.join(ANSWERS));
        ScoreJob {
            extract: true,
            gates: self.gates.clone(),
            command: self.command.clone(),
            ..ScoreJob::new(
                self.questions.clone(),
                self.db.clone(),
                vec![app],
                self.metrics.clone(),
                self.out.clone(),
            )
        }
    }

    /// The questions, each of which has a text and a database.
    fn examples(&self, score: &ScoreJob) -> Result<Vec<Example>, Error> {
        let mut benchmark = score.benchmark()?;
        name_database(&mut benchmark, Some(&self.db), None)?;
        let metrics =
            if self.metrics.is_empty() { default_metrics(&benchmark) } else { self.metrics.clone() };
        let ids: Vec<String> = metrics.iter().map(|metric| metric.id().to_owned()).collect();
        gates_of(&self.gates, &ids)?;
        let databases = Databases::open(&self.db)?;
        for example in &benchmark.examples {
            let file = self.questions.path();
            if example.question.as_ref().is_none_or(|question| question.trim().is_empty()) {
                let text = format!("{}: item {:?} has no question to ask", file.display(), example.id);
                return Err(Error::Invalid(text));
            }
            databases.locate(&example.db_id).map_err(|error| Error::of_databases(file, error))?;
        }
        Ok(benchmark.examples)
    }

    /// The answers, in a folder that is there afterwards if they are.
    fn ask(&self, examples: &[Example], context: &Context<'_>) -> Result<Vec<GoldenAnswer>, Error> {
        let answers = ask::ask_all(self, examples, &self.out.join(ANSWERS), context);
        if answers.is_err() {
            // Only while it is empty.
            let _ = std::fs::remove_dir(&self.out);
        }
        answers
    }

    fn compare(
        &self,
        report: &Report,
        context: &Context<'_>,
    ) -> Result<Option<(PathBuf, SystemComparison)>, Error> {
        let Some(last) = last::last_before(&self.runs, &self.out, &report.manifest)? else { return Ok(None) };
        let job =
            CompareJob { other: Some(self.out.clone()), at_other_times: true, ..CompareJob::new(&last) };
        match job.run() {
            Ok(comparison) => Ok(Some((last, comparison))),
            Err(error) => {
                context.watcher().note(&format!("not compared with {}: {error}", last.display()));
                Ok(None)
            }
        }
    }
}

impl GoldenRun {
    /// Keeps whether the run passed its bars: the next one is compared with the last that did.
    ///
    /// # Errors
    /// [`Error::Unwritable`].
    pub fn keep_passed(&self, passed: bool) -> Result<(), Error> {
        let last = self.comparison.as_ref().map(|(last, _)| last.as_path());
        last::keep_passed(&self.out, passed, last)
    }

    /// The run as `sqlgauge run --json` prints it.
    pub fn to_json(&self) -> Value {
        let failed = self.answers.iter().filter(|answer| answer.answer.is_none());
        let (last, comparison) = self.comparison.as_ref().map_or((None, None), |(last, comparison)| {
            (Some(last.display().to_string()), Some(comparison.to_json()))
        });
        json!({
            "out": self.out.display().to_string(),
            "questions": self.answers.len(),
            "unanswered": failed.map(|answer| json!({"id": answer.id, "error": answer.error})).collect::<Vec<_>>(),
            "summary": self.report.summary,
            "compared_with": last,
            "comparison": comparison,
        })
    }
}

/// How many questions have no answer, and why the first has none.
fn unanswered(answers: &[GoldenAnswer]) -> Option<String> {
    let failed: Vec<&GoldenAnswer> = answers.iter().filter(|answer| answer.answer.is_none()).collect();
    let first = failed.first()?;
    let (count, all) = (failed.len(), answers.len());
    let have = verb_for(&count, ["has", "have"]);
    let why = first.error.as_deref().unwrap_or_default();
    Some(format!("{count} of {all} questions {have} no answer; the first, {}: {why}", first.id))
}
