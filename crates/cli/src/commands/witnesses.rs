//! `sqlgauge witnesses`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use sqlgauge_base::file::{AtomicFolder, remedy};
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_metrics::{Metric, Pair, Target, find};
use sqlgauge_report::ItemView;
use sqlgauge_run::{Items, Manifest, RunError, RunFiles};
use sqlgauge_search::suite::{Candidate, chosen, fill};

use super::show::database;
use crate::Verdict;
use crate::engine::engine;
use crate::output::{note, print};

/// Write the counterexamples of a run as a test suite: SQLite files beside the benchmark's databases
///
/// For each question the fewest databases are kept that tell the gold from as many of the predictions as all of them do,
/// by ex-spider. The folder is one for `--db`: `suite@1` and the official scripts run every file of a database's folder.
#[derive(Debug, Args)]
pub struct Witnesses {
    /// Run directory with `verify` among its metrics
    run: PathBuf,
    /// Folder to write; it must be empty or not there
    #[arg(long, value_name = "DIR")]
    export: PathBuf,
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

impl Witnesses {
    pub fn run(self) -> Result<Verdict> {
        let RunFiles { manifest, items, .. } = RunFiles::open(&self.run)?;
        let has_verify = manifest.metrics.iter().any(|metric| metric.starts_with("verify@"));
        ensure!(
            has_verify,
            "{} has no counterexamples; make the run with --metrics verify, or with sqlgauge verify --gold",
            self.run.display()
        );
        let export = AtomicFolder::create(&self.export).map_err(|error| self.unwritable(&error))?;
        let engine = engine(Limits::default())?;
        let metric = find("ex-spider")?;
        let (mut files, mut told, mut all) = (0, 0, 0);
        for (db_id, questions) in questions(&items)? {
            let suite = Suite::new(export.path(), &manifest, &db_id)?;
            for (id, question) in questions {
                let kept = suite.add(&engine, metric, &id, &question)?;
                files += kept.files;
                told += kept.told;
                all += question.predictions.len();
            }
        }
        export.commit().map_err(|error| self.unwritable(&error))?;
        print(&format!(
            "{files} databases in {} tell {told} of {all} refuted predictions from their golds by {}\n",
            self.export.display(),
            metric.id()
        ))?;
        Ok(Verdict::Done)
    }

    fn unwritable(&self, error: &io::Error) -> anyhow::Error {
        let export = self.export.display();
        if error.kind() == io::ErrorKind::DirectoryNotEmpty {
            return anyhow!("{export} is not empty; choose another folder with --export");
        }
        anyhow!("{export} cannot be written ({error}); {}", remedy(error))
    }
}

fn questions(items: &Items) -> Result<Questions> {
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
struct Suite {
    folder: PathBuf,
    source: PathBuf,
}

/// What the suite has of a question.
struct Kept {
    files: usize,
    told: usize,
}

impl Suite {
    /// Makes the folder with a copy of the benchmark's own database.
    fn new(export: &Path, manifest: &Manifest, db_id: &str) -> Result<Self> {
        let source = database(manifest, db_id)?;
        let folder = export.join(db_id);
        let copy = folder.join(format!("{db_id}.sqlite"));
        let written = || format!("{} cannot be written; choose another folder with --export", copy.display());
        std::fs::create_dir_all(&folder).with_context(written)?;
        std::fs::copy(&source, &copy).with_context(written)?;
        Ok(Self { folder, source })
    }

    fn add(&self, engine: &SqliteEngine, metric: &dyn Metric, id: &str, question: &Question) -> Result<Kept> {
        let predictions: Vec<&str> = question.predictions.iter().map(String::as_str).collect();
        let mut candidates = Vec::new();
        for (number, script) in question.scripts.iter().enumerate() {
            let path = self.folder.join(format!("{}-{number}.sqlite", file_name(id)));
            if let Err(error) = fill(&self.source, script, &path) {
                if is_of_the_system(&error) {
                    return Err(error).with_context(|| format!("{} cannot be written", path.display()));
                }
                note(format!("a counterexample of question {id} is left out: {error}"));
                continue;
            }
            let target = Target::new(id, engine.open(&path)?);
            let tells = |prediction: &str| {
                let score =
                    |gold: &String| metric.score(&Pair::new(engine, &target, gold, prediction, None)).value;
                question.golds.iter().all(|gold| score(gold) == Some(0.0))
            };
            let told = predictions.iter().enumerate().filter(|(_, prediction)| tells(prediction));
            candidates.push(Candidate { path, told: told.map(|(at, _)| at).collect() });
        }
        let kept = chosen(&candidates);
        for candidate in
            candidates.iter().filter(|candidate| !kept.iter().any(|kept| kept.path == candidate.path))
        {
            std::fs::remove_file(&candidate.path)?;
        }
        let told: BTreeSet<usize> = kept.iter().flat_map(|kept| kept.told.iter().copied()).collect();
        Ok(Kept { files: kept.len(), told: told.len() })
    }
}

/// Whether files could not be read or written, which says nothing of the counterexample.
fn is_of_the_system(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
    let of_system = [CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure];
    error.sqlite_error_code().is_some_and(|code| of_system.contains(&code))
}

/// The id of a question as the beginning of a file name.
fn file_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    format!("question-{}", id.chars().map(plain).collect::<String>())
}
