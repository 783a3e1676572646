//! A file of pairs as a run, of which the left queries are the golds: `sqlgauge verify --pairs`.
//!
//! # Contract
//! As [`crate::ScoreJob`]: nothing is written before the inputs are read, and a run that goes on needs the same ones.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sqlgauge_dataset::{Databases, Over, Pairs, parse_pairs};
use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_metrics::verify_id;
use sqlgauge_report::Report;
use sqlgauge_run::{Manifest, PAIRS, PairGround, PairScorer, RunDirectory};
use sqlgauge_sql::schema::Schema;

use crate::context::Context;
use crate::error::Error;
use crate::guard::keep_inputs_of_run;
use crate::open_run::{OpenRun, goes_on, start};
use crate::settings::{NOW, VerifySettings, started_at};
use crate::source::{Source, digest_sources};

/// Verifies a file of pairs.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, PairsJob};
///
/// let folder = tempfile::tempdir()?;
/// let pairs = folder.path().join("pairs.jsonl");
/// let line = r#"{"left": "SELECT a FROM t", "right": "SELECT DISTINCT a FROM t", "ddl": "CREATE TABLE t (a INT)"}"#;
/// std::fs::write(&pairs, line)?;
///
/// let report = PairsJob::new(pairs, folder.path().join("run")).run(&Context::default())?;
/// assert_eq!(report.summary.systems[0].scores["verify@3"].mean, Some(0.0));
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct PairsJob {
    /// The pairs.
    pub pairs: Source,
    /// Folder in which the databases of the pairs are; without, pairs name files.
    pub databases: Option<PathBuf>,
    /// How to verify them.
    pub settings: VerifySettings,
    /// What the queries take for now; without, when the run began.
    pub now: Option<Moment>,
    /// The run directory.
    pub out: PathBuf,
    /// Discard the run that is there.
    pub restart: bool,
    /// Worker threads; 0 means one per core.
    pub jobs: usize,
    /// The command or call, for the record.
    pub command: Vec<String>,
}

/// The database files of pairs, by the name of the database.
type Files = BTreeMap<String, PathBuf>;

impl PairsJob {
    /// The job with the defaults of the command line, for pairs that bring their DDL or name their database's file.
    pub fn new(pairs: impl Into<Source>, out: impl Into<PathBuf>) -> Self {
        Self { pairs: pairs.into(), out: out.into(), ..Self::default() }
    }

    /// Verifies the pairs, and writes the run directory with its summary and its page; returns the report.
    ///
    /// # Errors
    /// As [`ScoreJob::run`](crate::ScoreJob::run).
    pub fn run(&self, context: &Context<'_>) -> Result<Report, Error> {
        self.open(context)?.run(context)
    }

    /// Reads the pairs, opens what they are over, and makes the run directory or opens it.
    ///
    /// # Errors
    /// When an input cannot be read, or the directory is another run's.
    pub fn open(&self, context: &Context<'_>) -> Result<OpenRun, Error> {
        let pairs = parse_pairs(&self.pairs.read()?)?;
        pairs.notes.iter().for_each(|text| context.watcher().note(text));
        let goes_on = goes_on(&self.out, self.restart);
        let now = self.now.map_or_else(|| started_at(&self.out, goes_on), Ok)?;
        let engine = context.engine(Limits::default(), now)?;
        let files = self.files(&pairs)?;
        let manifest = self.manifest(&pairs, &files, engine.as_ref(), now)?;
        keep_inputs_of_run(&self.out, &manifest)?;
        let grounds = self.grounds(engine.as_ref(), &pairs, &files)?;
        let directory = RunDirectory::create(&self.out, &manifest, start(self.restart))?;
        Ok(OpenRun {
            directory,
            examples: pairs.examples,
            systems: vec![pairs.right],
            scorer: Box::new(PairScorer::new(Arc::clone(&engine), self.settings.verification(), grounds)),
            engine,
            jobs: self.jobs,
            gates: Vec::new(),
            without_rows: None,
        })
    }

    /// A place in the file of pairs.
    fn place(&self, place: &str) -> String {
        format!("{}, {place}", self.pairs.path().display())
    }

    fn of_pair(&self, place: &str, error: impl Into<Error>) -> Error {
        Error::OfPair { place: self.place(place), source: Box::new(error.into()) }
    }

    fn files(&self, pairs: &Pairs) -> Result<Files, Error> {
        let folder = self.databases.as_deref().map(Databases::open).transpose()?;
        let databases = pairs.over.iter().filter_map(|(db_id, (over, place))| match over {
            Over::Database(name) => Some((db_id, name, place)),
            Over::Ddl(_) => None,
        });
        let file = |(db_id, name, place): (&String, &String, &String)| {
            let path = match &folder {
                Some(folder) => folder.locate(name).map_err(|error| self.of_pair(place, error))?.main,
                None => PathBuf::from(name),
            };
            Ok((db_id.clone(), path))
        };
        databases.map(file).collect()
    }

    fn manifest(
        &self,
        pairs: &Pairs,
        files: &Files,
        engine: &dyn Engine,
        now: Moment,
    ) -> Result<Manifest, Error> {
        let mut inputs = vec![(PAIRS.to_owned(), self.pairs.clone())];
        inputs.extend(
            files.iter().map(|(db_id, path)| (format!("database:{db_id}"), Source::File(path.clone()))),
        );
        let mut options: BTreeMap<String, Value> = self.settings.recorded().into_iter().collect();
        options.insert(NOW.to_owned(), now.to_string().into());
        Ok(Manifest {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            engine: engine.name_and_version(),
            command: self.command.clone(),
            metrics: vec![verify_id(self.settings.options().semantics).to_owned()],
            systems: vec![pairs.right.system.clone()],
            inputs: digest_sources(&inputs)?,
            options,
            examples: pairs.examples.len(),
        })
    }

    /// Reads every schema and opens every database.
    fn grounds(
        &self,
        engine: &dyn Engine,
        pairs: &Pairs,
        files: &Files,
    ) -> Result<HashMap<String, PairGround>, Error> {
        let ground = |(db_id, (over, place)): (&String, &(Over, String))| {
            let ground = match (over, files.get(db_id)) {
                (Over::Ddl(ddl), _) => {
                    let wrong = |source| Error::NoDdl { place: self.place(place), source };
                    PairGround::Schema(Arc::new(Schema::from_ddl(ddl).map_err(wrong)?))
                }
                (Over::Database(name), file) => {
                    let file = file.map_or_else(|| Path::new(name), PathBuf::as_path);
                    PairGround::Database(engine.open(file).map_err(|error| self.of_pair(place, error))?)
                }
            };
            Ok((db_id.clone(), ground))
        };
        pairs.over.iter().map(ground).collect()
    }
}
