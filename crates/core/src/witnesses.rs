//! The counterexamples of a run as a test suite: `sqlgauge pack --witnesses`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use sqlgauge_base::file::AtomicFolder;
use sqlgauge_engine::{Engine, Limits, Moment, SqliteEngine, machine_error};
use sqlgauge_metrics::{Metric, Pair, Target, execution_metric, find, is_verify};
use sqlgauge_report::ItemView;
use sqlgauge_run::{Items, Manifest, RunError, RunFiles};
use sqlgauge_search::suite::{Candidate, chosen, fill};

use crate::context::Context;
use crate::error::Error;
use crate::show::database_of;

/// Writes the counterexamples of a run as SQLite files beside the benchmark's databases.
///
/// For each question the fewest databases are kept that tell the gold from as many of the predictions as all of them do.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, Sample, SuiteJob};
///
/// let folder = tempfile::tempdir()?;
/// let run = folder.path().join("run");
/// Sample::unpack(folder.path())?.score_job(&["verify"], &run)?.run(&Context::default())?;
///
/// let suite = SuiteJob::new(run, folder.path().join("suite")).run(&Context::default())?;
/// assert!(suite.databases > 0 && suite.refuted <= suite.predictions);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SuiteJob {
    /// Run directory with `verify` among its metrics.
    pub folder: PathBuf,
    /// Folder to write; a new or an empty one.
    pub out: PathBuf,
}

/// A test suite that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SuiteSize {
    /// Databases beside those of the benchmark.
    pub databases: usize,
    /// Predictions that the run refuted.
    pub predictions: usize,
    /// Those of them that a database of the suite tells from their gold.
    pub refuted: usize,
    /// Id of the metric that tells them apart.
    pub metric: &'static str,
}

/// What a run says of one question.
#[derive(Default)]
struct Question {
    golds: Vec<String>,
    /// The scripts of the databases that tell a prediction from the gold.
    scripts: BTreeSet<String>,
    /// The predictions that were told from it.
    predictions: BTreeSet<String>,
}

/// By database, and the id of the question.
type Questions = BTreeMap<String, BTreeMap<String, Question>>;

impl SuiteJob {
    /// The suite of that run in that folder.
    pub fn new(folder: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), out: out.into() }
    }

    /// Writes the suite; the watcher is told which counterexamples are left out.
    ///
    /// # Errors
    /// When the run has no counterexamples, one of its databases has changed, or the folder cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<SuiteSize, Error> {
        let RunFiles { manifest, items, .. } = RunFiles::open(&self.folder)?;
        let Some(verify) = manifest.metrics.iter().find(|metric| is_verify(metric)) else {
            return Err(Error::Invalid(format!(
                "{} has no counterexamples; make the run with --metrics verify, or with sqlgauge verify --gold",
                self.folder.display()
            )));
        };
        let folder = AtomicFolder::create(&self.out).map_err(|error| self.unwritable(error))?;
        let metric = find(metric_beside(&manifest, verify))?;
        let writer = Writer { engine: context.sqlite(Limits::default(), Moment::now())?, metric, context };
        let mut size = SuiteSize { metric: metric.id(), ..SuiteSize::default() };
        for (db_id, questions) in questions(&items)? {
            let source = database_of(&self.folder, &manifest, &db_id)?;
            let place = Place::new(folder.path(), source, &db_id)?;
            for (id, question) in questions {
                let (databases, refuted) = writer.add(&place, &id, &question)?;
                size.databases += databases;
                size.refuted += refuted;
                size.predictions += question.predictions.len();
            }
        }
        folder.commit().map_err(|error| self.unwritable(error))?;
        Ok(size)
    }

    fn unwritable(&self, source: io::Error) -> Error {
        if source.kind() == io::ErrorKind::DirectoryNotEmpty {
            let out = self.out.display();
            return Error::Invalid(format!("{out} is not empty; choose another folder with --out"));
        }
        Error::Unwritable { path: self.out.clone(), source }
    }
}

/// The metric that compares results as the run's counterexamples were compared, or nearly so: those of the first that verifies.
fn metric_beside(manifest: &Manifest, verify: &str) -> &'static str {
    manifest.semantics_of(verify).and_then(execution_metric).unwrap_or("ex@1")
}

fn questions(items: &Items) -> Result<Questions, Error> {
    let mut questions = Questions::new();
    items.for_each(|item| {
        let view = ItemView::new(item);
        let script = item.details.verdict.as_ref().and_then(|record| record.witness.clone());
        if let (Some(script), Some(prediction)) = (script, view.prediction()) {
            let of_database = questions.entry(item.db_id.clone()).or_default();
            let question = of_database.entry(item.id.clone()).or_default();
            question.golds = view.golds().into_iter().map(str::to_owned).collect();
            question.scripts.insert(script);
            question.predictions.insert(prediction.to_owned());
        }
        Ok::<(), RunError>(())
    })?;
    Ok(questions)
}

/// The folder of one database in the suite.
struct Place {
    folder: PathBuf,
    /// The benchmark's own database.
    source: PathBuf,
}

impl Place {
    /// Makes the folder with a copy of the benchmark's own database.
    fn new(out: &Path, source: PathBuf, db_id: &str) -> Result<Self, Error> {
        let folder = out.join(db_id);
        let path = folder.join(format!("{db_id}.sqlite"));
        let copied = std::fs::create_dir_all(&folder).and_then(|()| std::fs::copy(&source, &path));
        copied.map_err(|source| Error::Unwritable { path, source })?;
        Ok(Self { folder, source })
    }
}

/// Writes the databases of questions.
struct Writer<'a> {
    engine: SqliteEngine,
    metric: &'static dyn Metric,
    context: &'a Context<'a>,
}

impl Writer<'_> {
    /// How many databases were kept for a question, and how many of its predictions they refute.
    fn add(&self, place: &Place, id: &str, question: &Question) -> Result<(usize, usize), Error> {
        let predictions: Vec<&str> = question.predictions.iter().map(String::as_str).collect();
        let mut candidates = Vec::new();
        for (number, script) in question.scripts.iter().enumerate() {
            let path = place.folder.join(format!("{}-{number}.sqlite", file_name(id)));
            if let Err(error) = fill(&place.source, script, &path) {
                if let Some(source) = machine_error(&error) {
                    return Err(Error::Unwritable { path, source });
                }
                let text = format!("a counterexample of question {id} is left out: {error}");
                self.context.watcher().note(&text);
                continue;
            }
            let target = Target::new(id, self.engine.open(&path)?);
            let tells_apart = |prediction: &str| {
                let pair = |gold| Pair::new(&self.engine, &target, gold, prediction, None);
                question.golds.iter().all(|gold| self.metric.score(&pair(gold)).value == Some(0.0))
            };
            let refuted = predictions.iter().enumerate().filter(|(_, prediction)| tells_apart(prediction));
            candidates.push(Candidate { path, told: refuted.map(|(at, _)| at).collect() });
        }
        let best = chosen(&candidates);
        let is_kept = |path: &Path| best.iter().any(|candidate| candidate.path == path);
        for Candidate { path, .. } in candidates.iter().filter(|candidate| !is_kept(&candidate.path)) {
            std::fs::remove_file(path).map_err(|source| Error::Unwritable { path: path.clone(), source })?;
        }
        let refuted: BTreeSet<usize> =
            best.iter().flat_map(|candidate| candidate.told.iter().copied()).collect();
        Ok((best.len(), refuted.len()))
    }
}

/// The id of a question as the beginning of a file name.
fn file_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    format!("question-{}", id.chars().map(plain).collect::<String>())
}
