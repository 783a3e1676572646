//! From inputs to a finished run directory: `sqlgauge score`.
//!
//! # Contract
//! - Nothing is written before the inputs are read and found to fit together.
//! - A run that goes on needs the same inputs and options ([`RunDirectory::create`]); without a time of its own it takes
//!   the recorded one for now. The log is the same, byte for byte, however often it was stopped.
//! - A run that is asked to stop ends with [`Error::Stopped`]; what is in the log stays.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use sqlgauge_dataset::{
    Benchmark, Columns, Databases, Example, FileFormat, PairedBy, Prediction, PredictionOptions,
    PredictionSet, Tables, chat_note, parse_benchmark, parse_predictions, parse_tables,
};
use sqlgauge_engine::{Limits, Moment};
use sqlgauge_metrics::{Metric, Reads, find};
use sqlgauge_report::Report;
use sqlgauge_run::{
    ANSWERS, BenchmarkScorer, InputRecord, Manifest, RunDirectory, Shard, UsedDatabases, digest_inputs,
};

use crate::context::{Context, Watcher};
use crate::error::Error;
use crate::guard::keep_inputs_of_run;
use crate::one_database::name_database;
use crate::open_run::{OpenRun, goes_on, start};
use crate::pack::{read_pack, with_pack};
use crate::settings::{
    VerifySettings, default_metrics, gates_of, note_on_verify, pairing, recorded_options, started_at,
    verifies,
};
use crate::source::{Source, digest_sources};
use crate::subset::{self, Selection, Subset, pick};
use crate::values::OutputPath;
use crate::without_rows::DatabasesWithoutRows;

/// The answers of one system.
#[derive(Debug, Clone)]
pub struct System {
    /// Its name.
    pub name: String,
    /// Its predictions.
    pub predictions: Source,
    /// Columns that the user named in them.
    pub columns: Columns,
}

impl System {
    /// A system whose predictions have no unusual columns.
    pub fn new(name: impl Into<String>, predictions: impl Into<Source>) -> Self {
        Self { name: name.into(), predictions: predictions.into(), columns: Columns::default() }
    }

    /// Its predictions on the examples of a benchmark.
    pub(crate) fn read(
        &self,
        benchmark: &Benchmark,
        format: Option<FileFormat>,
        extract: bool,
        only_sql: bool,
    ) -> Result<PredictionSet, Error> {
        let option = format;
        let format = self.predictions.format(option)?;
        let options = PredictionOptions { format, columns: self.columns.clone(), extract, only_sql };
        Ok(parse_predictions(&self.name, self.predictions.read_rows(option)?, benchmark, &options)?)
    }

    /// Its predictions for a benchmark that was evolved from the one that they answer.
    pub(crate) fn read_answers_to(
        &self,
        original: &Benchmark,
        evolved: &Benchmark,
        format: Option<FileFormat>,
        extract: bool,
    ) -> Result<PredictionSet, Error> {
        let set = self.read(original, format, extract, true)?;
        let of_source = |example: &Example| {
            let answer = example.source_index.and_then(|position| set.predictions.get(position));
            let answer = answer.ok_or_else(|| {
                Error::Invalid(format!(
                    "{}: question {} does not say which question of --answers-to it was made from; give a benchmark of \
                     `sqlgauge evolve` and the one that it was evolved from",
                    evolved.sources.first().map(|path| path.display().to_string()).unwrap_or_default(),
                    example.id
                ))
            })?;
            Ok(answer.clone().map(|answer| Prediction { id: example.id.clone(), ..answer }))
        };
        let predictions = evolved.examples.iter().map(of_source).collect::<Result<_, Error>>()?;
        Ok(PredictionSet { predictions, ..set })
    }
}

/// Scores systems on a benchmark.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, Sample, ScoreJob, Source, System, metrics_of};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let careful = System::new("careful", sample.predictions_of("careful").expect("a file of it"));
///
/// let gold = Source::from(sample.questions.as_path());
/// let run = folder.path().join("run");
/// let job = ScoreJob::new(gold, sample.databases, vec![careful], metrics_of(["ex", "esm"])?, run);
/// let report = job.run(&Context::default())?;
/// assert!(report.summary.systems[0].scores["ex@1"].mean.is_some_and(|mean| mean > 0.8));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct ScoreJob {
    /// The golds.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub gold: Source,
    /// File with the questions, where the gold file has none
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub questions: Option<Source>,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file, or a server (`postgresql://USER@HOST:PORT/{db_id}`,
    /// `mysql://USER@HOST:PORT/{db_id}`, password in PGPASSWORD, `MYSQL_PWD` or `SQLGAUGE_DB_PASSWORD`), or DuckDB files
    /// (`duckdb:FOLDER/{db_id}.duckdb`), or a DB-API driver of Python (`dbapi:MODULE?connect=FILE&database={db_id}`); may be left out
    /// where --tables is given and no metric runs a query
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR", required_unless_present_any = ["results",
        "tables"]))]
    pub db: Option<PathBuf>,
    /// Schema file (tables.json); exact set match takes foreign keys from it
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub tables: Option<Source>,
    /// Predictions of one system; may be given several times
    #[cfg_attr(
        feature = "cli",
        arg(
            long = "pred",
            id = "predictions",
            value_name = "NAME=FILE",
            required_unless_present = "results"
        )
    )]
    pub systems: Vec<System>,
    /// The benchmark that the predictions answer, where --gold was evolved from it
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub answers_to: Option<Source>,
    /// What to score with; none is the default, see [`default_metrics`].
    #[cfg_attr(feature = "cli", arg(skip))]
    pub metrics: Vec<&'static dyn Metric>,
    /// Witness pack (`sqlgauge pack`): score with the metric `pack` too
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub pack: Option<PathBuf>,
    /// Run directory to write; the same command again finishes an interrupted run
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub out: OutputPath,
    /// Discard the run that is in the folder
    #[cfg_attr(feature = "cli", arg(long))]
    pub restart: bool,
    /// Which questions are scored; by default all.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub subset: Subset,
    /// By system, by what answers were paired that this job gets with their ids, for the record.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub paired_by: BTreeMap<String, PairedBy>,
    /// Date, or date and time of UTC, that queries take for now [default: when the run began]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME"))]
    pub now: Option<Moment>,
    /// Worker threads; 0 means one per core
    #[cfg_attr(feature = "cli", arg(long, short, value_name = "N", default_value_t = 0))]
    pub jobs: usize,
    /// Connections to each database of a server at once
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..)))]
    pub connections: u16,
    /// Folder that keeps results of golds: another run asks the database only for new ones
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub gold_cache: Option<OutputPath>,
    /// Score shard I of N, e.g. 3/16; give every shard the same --now. `sqlgauge merge` puts them together
    #[cfg_attr(feature = "cli", arg(long, value_name = "I/N", requires = "now"))]
    pub shard: Option<Shard>,
    /// Exit with code 1 if a system's mean is below the bar; may be given several times
    #[cfg_attr(feature = "cli", arg(long = "fail-under", value_name = "METRIC=X"))]
    pub gates: Vec<String>,
    /// Take the SQL out of the chatter of an LLM (code fences, explanations); off for official scores
    #[cfg_attr(feature = "cli", arg(long = "extract-sql"))]
    pub extract: bool,
    /// Format of the file with the questions or golds, where detection is wrong
    #[cfg_attr(feature = "cli", arg(long, value_name = "FORMAT", value_parser = crate::cli::file_format()))]
    pub format: Option<FileFormat>,
    /// Format of the prediction files, where detection is wrong
    #[cfg_attr(feature = "cli", arg(long = "pred-format", value_name = "FORMAT",
        value_parser = crate::cli::file_format()))]
    pub prediction_format: Option<FileFormat>,
    /// Columns that the user named in the golds.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub columns: Columns,
    /// Limits of every query.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub limits: Limits,
    /// How metrics that verify do it, where one is scored.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub verify: VerifySettings,
    /// The command or call, for the record.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub command: Vec<String>,
}

impl ScoreJob {
    /// The job to score systems on golds into a run directory, with the defaults of `sqlgauge score` for all else.
    pub fn new(
        gold: Source,
        db: impl Into<Option<PathBuf>>,
        systems: Vec<System>,
        metrics: Vec<&'static dyn Metric>,
        out: impl Into<PathBuf>,
    ) -> Self {
        Self { gold, db: db.into(), systems, metrics, out: out.into().into(), ..Self::default() }
    }

    /// Scores, and writes the run directory with its summary and its page; returns the report.
    ///
    /// # Errors
    /// See the head of this file; the libraries' errors as they are.
    pub fn run(&self, context: &Context<'_>) -> Result<Report, Error> {
        self.open(context)?.run(context)
    }

    /// Reads the inputs, and makes the run directory or opens it.
    ///
    /// # Errors
    /// When an input cannot be read or does not fit the others, or the directory is another run's.
    pub fn open(&self, context: &Context<'_>) -> Result<OpenRun, Error> {
        let watcher = context.watcher();
        let tables = self.tables.as_ref().map(|tables| parse_tables(&tables.read()?)).transpose()?;
        let mut benchmark = self.benchmark()?;
        name_database(&mut benchmark, self.db.as_deref(), tables.as_ref())?;
        let metrics =
            if self.metrics.is_empty() { default_metrics(&benchmark) } else { self.metrics.clone() };
        let metrics = self.verify.named(self.with_pack_metric(metrics)?)?;
        note_on_verify(&metrics).iter().for_each(|text| watcher.note(text));
        let ids: Vec<String> = metrics.iter().map(|metric| metric.id().to_owned()).collect();
        let gates = gates_of(&self.gates, &ids)?;
        let without_rows = self.without_rows(&metrics, tables.as_ref(), &benchmark)?;
        let folder = self.db.as_deref().or(without_rows.as_ref().map(DatabasesWithoutRows::path));
        let folder = folder.unwrap_or(Path::new(""));
        let of_tables = tables.iter().flat_map(|tables| &tables.notes);
        benchmark.notes.iter().chain(of_tables).for_each(|text| watcher.note(text));
        // Before there is a folder, so that there is none if they cannot be read. A run that goes on has read them.
        let goes_on = goes_on(&self.out, self.restart);
        let now = self.now.map_or_else(|| started_at(&self.out, goes_on), Ok)?;
        let engine = context.engine_for(self.db.as_deref(), self.connections.into(), self.limits, now)?;
        let Selection { positions: selection, missing } =
            subset::select(&self.subset, &benchmark.examples, folder, engine.as_ref(), watcher)?;
        // A million examples are several hundred megabytes: where all are taken there is no second copy of them.
        let taken_examples =
            selection.as_deref().map(|selection| pick(benchmark.examples.clone(), Some(selection)));
        let examples = taken_examples.as_deref().unwrap_or(&benchmark.examples);
        let part = self.part(selection, examples.len())?;
        let part = part.as_deref();
        let read =
            if goes_on { None } else { Some(self.read_systems(&self.systems, &benchmark, part, watcher)?) };
        let used = self.databases(folder, examples)?;
        if self.has_suite_metric() && used.files().iter().all(|(role, _)| !role.starts_with("suite:")) {
            watcher.note(NO_SUITE);
        }
        let targets = used.open(engine.as_ref(), tables.as_ref())?;
        let databases = if self.db.is_some() { used.digest(&targets)? } else { Vec::new() };
        let mut manifest = self.manifest(ids, examples.len(), databases, engine.name_and_version(), now)?;
        if !missing.is_empty() {
            let part = manifest.options.entry(SUBSET.to_owned()).or_insert_with(|| self.subset.to_json());
            part["missing_databases"] = missing.into();
        }
        if let Some(part) = manifest.options.get_mut(SUBSET) {
            part["of"] = benchmark.examples.len().into();
        }
        manifest.options.extend(read.as_deref().map(|sets| pairing(sets, &self.paired_by)));
        if let Some(shard) = self.shard {
            shard.record(&mut manifest);
        }
        keep_inputs_of_run(&self.out, &manifest)?;
        let targets = match &self.pack {
            Some(path) => with_pack(targets, &read_pack(path)?, path, engine.as_ref())?,
            None => targets,
        };
        let directory = RunDirectory::create(&self.out, &manifest, start(self.restart))?;
        drop(taken_examples);
        let systems = if let Some(systems) = read {
            systems
        } else {
            let of_part = part.map(|part| pick(benchmark.examples.clone(), Some(part)));
            let examples = of_part.as_deref().unwrap_or(&benchmark.examples);
            self.read_systems(self.unfinished(&directory, examples)?, &benchmark, part, watcher)?
        };
        let examples = pick(benchmark.examples, part);
        let mut scorer = BenchmarkScorer::new(Arc::clone(&engine), metrics, targets)
            .with_verification(self.verify.verification());
        if let Some(folder) = &self.gold_cache {
            let refused = |source| Error::Unwritable { path: folder.to_path_buf(), source };
            scorer = scorer.keeping_golds(folder, &self.limits).map_err(refused)?;
        }
        Ok(OpenRun {
            directory,
            examples,
            systems,
            scorer: Box::new(scorer),
            engine,
            jobs: self.jobs,
            gates,
            without_rows,
        })
    }

    /// The metrics, with `pack` among them where there is a pack.
    fn with_pack_metric(
        &self,
        mut metrics: Vec<&'static dyn Metric>,
    ) -> Result<Vec<&'static dyn Metric>, Error> {
        let has_metric = metrics.iter().any(|metric| metric.id().starts_with("pack@"));
        match &self.pack {
            Some(_) if !has_metric => metrics.push(find("pack")?),
            None if has_metric => {
                let text = "the metric pack needs --pack FILE; `sqlgauge pack` makes the file";
                return Err(Error::Invalid(text.to_owned()));
            }
            _ => {}
        }
        Ok(metrics)
    }

    pub(crate) fn benchmark(&self) -> Result<Benchmark, Error> {
        let questions = self.questions.as_ref().map(Source::read).transpose()?;
        Ok(parse_benchmark(
            &self.gold.read_rows(self.format)?,
            questions.as_ref(),
            self.gold.format(self.format)?,
            &self.columns,
        )?)
    }

    /// The benchmark that the predictions answer, where it is another.
    fn original(&self) -> Result<Option<Benchmark>, Error> {
        let read = |source: &Source| {
            Ok(parse_benchmark(&source.read()?, None, source.format(None)?, &Columns::default())?)
        };
        self.answers_to.as_ref().map(read).transpose()
    }

    fn has_suite_metric(&self) -> bool {
        self.metrics.iter().any(|metric| metric.id().starts_with("suite@"))
    }

    /// The databases that the golds ask about, without rows, where the user has none but their schemas.
    fn without_rows(
        &self,
        metrics: &[&'static dyn Metric],
        tables: Option<&Tables>,
        benchmark: &Benchmark,
    ) -> Result<Option<DatabasesWithoutRows>, Error> {
        if self.db.is_some() {
            return Ok(None);
        }
        let (Some(tables), Some(file)) = (tables, &self.tables) else {
            return Err(Error::Invalid(NO_SCHEMA.to_owned()));
        };
        if let Some(metric) = metrics.iter().find(|metric| metric.reads() != Reads::NoRows) {
            return Err(Error::NeedsDatabases { metric: metric.id() });
        }
        let names = benchmark.examples.iter().map(|example| example.db_id.as_str()).collect();
        DatabasesWithoutRows::make(tables, file.path(), names).map(Some)
    }

    fn databases(&self, folder: &Path, examples: &[Example]) -> Result<UsedDatabases, Error> {
        UsedDatabases::locate(&Databases::open(folder)?, examples, self.has_suite_metric())
            .map_err(|error| Error::asked_in_part(self.gold.path(), error))
    }

    /// The positions of the examples that are scored, where they are not all.
    fn part(&self, selection: Option<Vec<usize>>, examples: usize) -> Result<Option<Vec<usize>>, Error> {
        let Some(shard) = self.shard else { return Ok(selection) };
        let mut positions = selection.unwrap_or_else(|| (0..examples).collect());
        shard.cut(&mut positions);
        if positions.is_empty() {
            return Err(Error::EmptyShard { shard, examples });
        }
        Ok(Some(positions))
    }

    /// The systems whose answers are needed to go on with a run. Its inputs are what they were when it began, so those of
    /// a system all of whose items are in the log are not read again.
    fn unfinished(&self, directory: &RunDirectory, examples: &[Example]) -> Result<&[System], Error> {
        let finished = directory.finished(examples)?.checked_div(examples.len()).unwrap_or(0);
        Ok(&self.systems[finished.min(self.systems.len())..])
    }

    fn read_systems(
        &self,
        systems: &[System],
        benchmark: &Benchmark,
        part: Option<&[usize]>,
        watcher: &dyn Watcher,
    ) -> Result<Vec<PredictionSet>, Error> {
        let original = self.original()?;
        let read = |system: &System| match &original {
            Some(original) => {
                system.read_answers_to(original, benchmark, self.prediction_format, self.extract)
            }
            None => system.read(benchmark, self.prediction_format, self.extract, true),
        };
        let sets: Vec<Result<PredictionSet, Error>> = systems.par_iter().map(read).collect();
        let mut sets = sets.into_iter().collect::<Result<Vec<_>, _>>()?;
        // An application that was asked may be right word for word.
        let of_application = self.out.join(ANSWERS);
        for set in sets.iter().filter(|set| set.source != of_application) {
            if let Some(note) = repeats_gold(set, benchmark) {
                watcher.note(&note);
            }
        }
        if let Some(part) = part {
            sets = sets.into_iter().map(|set| set.of_part(part, &benchmark.examples)).collect();
        }
        for set in &sets {
            let texts = set.predictions.iter().flatten().map(|answer| answer.sql.as_str());
            let chat = if self.extract { None } else { chat_note(texts) };
            set.notes.iter().chain(&chat).for_each(|text| watcher.note(&format!("{}: {text}", set.system)));
        }
        Ok(sets)
    }

    fn manifest(
        &self,
        metrics: Vec<String>,
        examples: usize,
        databases: Vec<InputRecord>,
        engine: String,
        now: Moment,
    ) -> Result<Manifest, Error> {
        let mut sources: Vec<(String, &Source)> = vec![("gold".to_owned(), &self.gold)];
        sources.extend(self.questions.iter().map(|source| ("questions".to_owned(), source)));
        sources.extend(self.answers_to.iter().map(|source| ("answers_to".to_owned(), source)));
        sources.extend(self.tables.iter().map(|source| ("tables".to_owned(), source)));
        sources.extend(
            self.systems.iter().map(|system| (format!("predictions:{}", system.name), &system.predictions)),
        );
        let mut inputs = digest_sources(&sources)?;
        if let Some(pack) = &self.pack {
            inputs.extend(digest_inputs(&[("pack".to_owned(), pack.clone())])?);
        }
        inputs.extend(databases);
        let verify = verifies(&self.metrics).then_some(&self.verify);
        let mut options = recorded_options(&self.limits, now, self.extract, verify);
        if !self.subset.is_all() {
            options.insert(SUBSET.to_owned(), self.subset.to_json());
        }
        Ok(Manifest {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            engine,
            command: self.command.clone(),
            metrics,
            systems: self.systems.iter().map(|system| system.name.clone()).collect(),
            inputs,
            options,
            examples,
        })
    }
}

/// The option of a run that records the part of the benchmark.
pub(crate) const SUBSET: &str = "subset";

/// Said where there is neither a database nor a schema.
const NO_SCHEMA: &str = "golds need their databases: give --db, or --tables alone for metrics that run nothing, such as etm and esm";

/// Said where test-suite accuracy has no suite.
const NO_SUITE: &str = "suite@1: no database has others beside it in its folder, so the score is that of ex-spider@1; \
                        `sqlgauge pack --witnesses` makes such databases";

/// Answers from which on it is no chance that all are the golds' own texts.
const FEW: usize = 5;

/// Says so where every answer is the text of its gold: the gold file in the place of predictions.
fn repeats_gold(set: &PredictionSet, benchmark: &Benchmark) -> Option<String> {
    let mut answers = 0;
    for (prediction, example) in set.predictions.iter().zip(&benchmark.examples) {
        let Some(prediction) = prediction else { continue };
        if example.golds.iter().all(|gold| gold.trim() != prediction.sql.trim()) {
            return None;
        }
        answers += 1;
    }
    (answers >= FEW).then(|| {
        format!(
            "{}: all {answers} answers are the golds' own texts; give the file of the system's answers",
            set.system
        )
    })
}
