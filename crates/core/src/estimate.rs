//! The accuracy of predictions without labels: `sqlgauge estimate`.
//!
//! # Contract
//! Labels are those of the known runs, and for the methods that ask for some, those that were given. Of the target only
//! questions, databases and predictions are read: golds in it are not looked at. An estimate is a function of the
//! inputs, the method, the level and the seed.

#[cfg(feature = "services")]
mod judge;
mod watch;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sqlgauge_base::counted;
use sqlgauge_base::server::is_address;
use sqlgauge_dataset::{
    Benchmark, Columns, Databases, FileFormat, load_labels, parse_tables, parse_workload,
    take_out_other_answers,
};
use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_estimate::report::drift::Series;
use sqlgauge_estimate::report::{ALARM_BELOW, FILES, Reliability};
use sqlgauge_estimate::watch::values;
use sqlgauge_estimate::{
    Estimate, EstimateOptions, Loader, Pool, PoolAnswer, PoolEvidence, TargetLabels, estimators,
};
use sqlgauge_run::{ITEMS, InputRecord, MANIFEST, Manifest, StoredRun, sha256_of_bytes};

#[cfg(feature = "services")]
pub use self::judge::JudgeSettings;
pub use self::watch::{MonitorJob, Watch};
use crate::context::{Context, Watcher};
use crate::error::Error;
use crate::guard::{keep_inputs, keep_run};
use crate::one_database::name_database;
use crate::score::System;
use crate::settings::{NOW, pairing};
use crate::source::{Source, digest_sources};
use crate::subset::{Subset, pick, select_without_golds};
use crate::values::OutputPath;
use crate::without_rows::DatabasesWithoutRows;

/// Labels of some of a system's predictions on the target.
#[derive(Debug, Clone)]
pub struct SystemLabels {
    /// Name of the system.
    pub system: String,
    /// File with ids and labels.
    pub file: PathBuf,
}

/// Estimates the accuracy of predictions without gold queries, from runs that were scored before.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, EstimateJob, Sample, System};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let known = folder.path().join("run");
/// sample.score_job(&["ex"], &known)?.run(&Context::default())?;
///
/// // The questions of the scored run again; their golds are not looked at.
/// let system = System::new("careful", sample.predictions_of("careful").expect("a file of it"));
/// let job = EstimateJob::new(sample.questions.as_path(), &sample.databases);
/// let job = EstimateJob { known: vec![known], systems: vec![system], limits: Sample::limits(), ..job };
/// let estimate = &job.run(&Context::default())?.report.estimates[0];
/// assert!(estimate.interval.low <= estimate.accuracy && estimate.accuracy <= estimate.interval.high);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct EstimateJob {
    /// Scored run to learn from (a folder by `sqlgauge score` or `sqlgauge import`); repeat for more
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub known: Vec<PathBuf>,
    /// File with the questions to estimate on (its gold queries are ignored); with --evaluator, an embedding file
    #[cfg_attr(feature = "cli", arg(long = "questions", alias = "target", value_name = "FILE"))]
    pub target: Source,
    /// Predictions of a system to estimate; repeat for more
    #[cfg_attr(
        feature = "cli",
        arg(
            long = "pred",
            id = "predictions",
            value_name = "NAME=FILE",
            required_unless_present = "evaluator"
        )
    )]
    pub systems: Vec<System>,
    /// Predictions of another system on the same questions, to compare answers with; repeat for more
    #[cfg_attr(feature = "cli", arg(long = "peer", value_name = "NAME=FILE"))]
    pub peers: Vec<System>,
    /// Folder with the target's databases, one of them, or the address of a server; rows are not needed. Empty with a schema file.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub db: PathBuf,
    /// Schema file (tables.json) in place of --db: answers are then compared on generated rows only
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub tables: Option<Source>,
    /// Folder with databases of the scored runs that have moved since; repeat for more
    // Looked in before the places that the runs recorded.
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub known_db: Vec<PathBuf>,
    /// Method; `auto` chooses one
    #[cfg_attr(feature = "cli", arg(long, value_name = "ID", default_value = "auto"))]
    pub method: String,
    /// Labels on the target, for the methods that need some.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub labels: Vec<SystemLabels>,
    /// Metric of the scored runs that accuracy means [default: the first metric of 0 and 1 of each run]
    #[cfg_attr(feature = "cli", arg(long, value_name = "ID"))]
    pub metric: Option<String>,
    /// Level of the interval, seed, and the options of the methods.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub options: EstimateOptions,
    /// Format of the file with the questions or golds, where detection is wrong
    #[cfg_attr(feature = "cli", arg(long, value_name = "FORMAT", value_parser = crate::cli::file_format()))]
    pub format: Option<FileFormat>,
    /// Format of the prediction files, where detection is wrong
    #[cfg_attr(feature = "cli", arg(long = "pred-format", value_name = "FORMAT",
        value_parser = crate::cli::file_format()))]
    pub prediction_format: Option<FileFormat>,
    /// Columns that the user named in the target.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub columns: Columns,
    /// Limits of every query.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub limits: Limits,
    /// Date, or date and time of UTC, that queries take for now [default: when the run began]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME"))]
    pub now: Option<Moment>,
    /// Folder to write: report.html, report.md, estimate.json, predictions.jsonl, run.json
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub out: Option<OutputPath>,
    /// The language model that the methods `judge-*` ask.
    #[cfg(feature = "services")]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub judge: Option<JudgeSettings>,
    /// Which of the questions are taken. The predictions are those for all of them.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub subset: Subset,
    /// The command or call, for the record.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub command: Vec<String>,
}

/// The estimates and what goes with them.
#[derive(Debug, Clone)]
pub struct Estimated {
    /// The report; [`Reliability::estimates`] has one estimate per system, in the order of the job.
    pub report: Reliability,
    /// What loading noticed, in sentences.
    pub notes: Vec<String>,
    /// Whether an alarm rings.
    pub rings: bool,
}

/// Refuses a level or a confidence out of range.
///
/// # Errors
/// [`Error::Level`], [`Error::Tau`].
pub fn check_estimate_options(options: EstimateOptions) -> Result<(), Error> {
    let EstimateOptions { level, tau, .. } = options;
    if !(0.5..1.0).contains(&level) {
        return Err(Error::Level(level));
    }
    if !(0.0..=1.0).contains(&tau) {
        return Err(Error::Tau(tau));
    }
    Ok(())
}

impl EstimateJob {
    /// The job with the defaults of the command line, for the questions in `target` on the databases in `db`.
    pub fn new(target: impl Into<Source>, db: impl Into<PathBuf>) -> Self {
        Self { target: target.into(), db: db.into(), method: "auto".to_owned(), ..Self::default() }
    }

    /// Estimates, and writes [`EstimateJob::out`].
    ///
    /// # Errors
    /// When an input cannot be read, the method does not exist or lacks what it needs, an option is out of range, or an
    /// output cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<Estimated, Error> {
        self.run_watched(context, None)
    }

    fn run_watched(&self, context: &Context<'_>, watch: Option<&Watch>) -> Result<Estimated, Error> {
        self.check()?;
        watch.map_or(Ok(()), Watch::check)?;
        let log = watch.map_or(Ok(None), |watch| watch.read_log(context.watcher()))?;
        #[cfg(feature = "services")]
        let judge = self.judge.as_ref().map(|judge| judge.service(&self.method, context)).transpose()?;
        let now = self.now.unwrap_or_else(Moment::now);
        let engine = context.engine(self.limits, now)?;
        let address = std::iter::once(&self.db).chain(&self.known_db).find(|db| is_address(db));
        let server = address.map(|db| context.engine_for(Some(db), 0, self.limits, now)).transpose()?;
        let (workload, of_target) = self.workload(context.watcher())?;
        let db = of_target.as_ref().map_or(&*self.db, DatabasesWithoutRows::path);
        let engines = (engine.as_ref(), server.as_deref());
        let (loader, mut without_rows) = self.load_known(engines)?;
        let (pool, paired_by) = self.load(loader, workload, db, engines, context.watcher())?;
        without_rows.extend(of_target);
        pool.notes.iter().for_each(|text| context.watcher().note(text));
        let log = log.map(|log| Ok::<_, Error>(log.of_known_runs(self.known_runs()?))).transpose()?;
        let inputs = self.inputs(&pool, &without_rows);
        self.keep_inputs(&inputs, watch)?;
        let mut evidence = self.evidence(&pool, context)?;
        #[cfg(feature = "services")]
        {
            evidence.judge = judge;
        }
        let estimates = self.estimate(&evidence)?;
        let values = |&target| values(&evidence.case(target, self.options));
        let targets = watch.map_or(&[][..], |_| &evidence.pool.targets);
        let answers = targets.iter().map(values).collect::<Result<Vec<_>, _>>()?;
        let questions = evidence.questions.clone();
        let mut batches = Vec::new();
        for range in watch.map_or_else(Vec::new, |watch| watch.batches(questions.len())) {
            evidence.questions = questions[range.clone()].to_vec();
            batches.push((range, self.estimate(&evidence)?));
        }
        let when = (now, context.watcher());
        let series = watch.map(|watch| watch.series(&estimates, &answers, &batches, log.as_ref(), when));
        let drift = series.transpose()?.unwrap_or_default();
        let rings = drift.iter().any(Series::rings);
        let mut options = self.recorded_options(&estimates, now, watch);
        options.extend([paired_by]);
        let report = Reliability {
            manifest: Manifest {
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                engine: server.as_ref().unwrap_or(&engine).name_and_version(),
                command: self.command.clone(),
                metrics: Vec::new(),
                systems: estimates.iter().map(|estimate| estimate.system.clone()).collect(),
                inputs: if self.out.is_some() { records(&inputs, &pool)? } else { Vec::new() },
                options,
                examples: questions.len(),
            },
            target: self.target.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
            estimates,
            drift,
            alarm_below: watch.and_then(|watch| watch.alarm_below),
        };
        self.out.as_ref().map_or(Ok(()), |out| report.write_to(out))?;
        watch.map_or(Ok(()), |watch| watch.write(&report, &answers, log, now))?;
        Ok(Estimated { report, notes: pool.notes.clone(), rings })
    }

    /// The options that decide the result, for `run.json`, method and metric as they were resolved; the command has the rest.
    fn recorded_options(
        &self,
        estimates: &[Estimate],
        now: Moment,
        watch: Option<&Watch>,
    ) -> BTreeMap<String, Value> {
        let resolved = |of: fn(&Estimate) -> &str| {
            let mut values: Vec<&str> = estimates.iter().map(of).filter(|value| !value.is_empty()).collect();
            values.dedup();
            (!values.is_empty()).then(|| values.join(", "))
        };
        let EstimateOptions { level, seed, tau, sample_sets } = self.options;
        let subset = (!self.subset.is_all()).then(|| ("subset".to_owned(), self.subset.to_json()));
        let options = BTreeMap::from([
            ("method".to_owned(), json!(resolved(|estimate| estimate.method.as_str()))),
            ("level".to_owned(), json!(level)),
            ("seed".to_owned(), json!(seed)),
            ("tau".to_owned(), json!(tau)),
            ("sample-sets".to_owned(), json!(sample_sets)),
            ("metric".to_owned(), json!(resolved(|estimate| estimate.metric.as_str()))),
            (NOW.to_owned(), json!(now.to_string())),
        ]);
        let bar = watch.and_then(|watch| watch.alarm_below).map(|bar| (ALARM_BELOW.to_owned(), json!(bar)));
        let per_year = watch.map(|watch| ("per_year".to_owned(), json!(watch.per_year)));
        options.into_iter().chain(subset).chain(bar).chain(per_year).collect()
    }

    /// Refuses to write over what the estimate is made of.
    fn keep_inputs(&self, inputs: &[(String, Cow<'_, Source>)], watch: Option<&Watch>) -> Result<(), Error> {
        let inputs = || inputs.iter().filter_map(|(role, source)| Some((role.as_str(), source.file()?)));
        for path in self.out.iter().flat_map(|out| FILES.map(|name| out.join(name))) {
            keep_inputs("--out", &path, inputs())?;
        }
        let mut outputs = watch.into_iter().flat_map(Watch::outputs);
        outputs.try_for_each(|(option, path)| keep_inputs(option, path, inputs()))
    }

    /// Refuses options that make no sense before anything is read.
    fn check(&self) -> Result<(), Error> {
        check_estimate_options(self.options)?;
        self.out.as_deref().map_or(Ok(()), keep_run)?;
        estimators::find(&self.method)?;
        let is_strange =
            |labels: &&SystemLabels| self.systems.iter().all(|system| system.name != labels.system);
        if let Some(SystemLabels { system, .. }) = self.labels.iter().find(is_strange) {
            let text = format!("labels are of {system:?}, which is not the name of a system in --pred");
            return Err(Error::Invalid(text));
        }
        match (self.db.as_os_str().is_empty(), &self.tables) {
            (true, None) => Err(Error::Invalid(NO_SCHEMA.to_owned())),
            (false, Some(_)) => Err(Error::Invalid(TWO_SCHEMAS.to_owned())),
            _ => Ok(()),
        }
    }

    /// The questions of the target, and their databases where it has none but their schemas.
    fn workload(&self, watcher: &dyn Watcher) -> Result<(Benchmark, Option<DatabasesWithoutRows>), Error> {
        let mut workload =
            parse_workload(&self.target.read()?, self.target.format(self.format)?, &self.columns)?;
        let Some(file) = &self.tables else {
            name_database(&mut workload, Some(&self.db), None)?;
            return Ok((workload, None));
        };
        let tables = parse_tables(&file.read()?)?;
        tables.notes.iter().for_each(|text| watcher.note(text));
        name_database(&mut workload, None, Some(&tables))?;
        let names = workload.examples.iter().map(|example| example.db_id.as_str()).collect();
        let databases = DatabasesWithoutRows::make(&tables, file.path(), names)?;
        Ok((workload, Some(databases)))
    }

    /// The scored runs, and the databases of those that were scored with a schema file.
    fn load_known<'e>(
        &self,
        (engine, server): (&'e dyn Engine, Option<&'e dyn Engine>),
    ) -> Result<(Loader<'e>, Vec<DatabasesWithoutRows>), Error> {
        let folders =
            self.known_db.iter().map(|path| Databases::open(path)).collect::<Result<Vec<_>, _>>()?;
        let mut loader = Loader::new(engine, server, folders, self.metric.clone());
        let mut of_runs = Vec::new();
        for path in &self.known {
            let run = StoredRun::read(path)?;
            let schemas = DatabasesWithoutRows::of_run(path, &run)?;
            let databases = schemas.as_ref().map(|schemas| Databases::open(schemas.path())).transpose()?;
            loader.known_run(path, run, databases.as_ref())?;
            of_runs.extend(schemas);
        }
        Ok((loader, of_runs))
    }

    /// The scored runs and the target, with the answers to the target's questions executed; and by what those were paired.
    fn load(
        &self,
        mut loader: Loader<'_>,
        mut workload: Benchmark,
        db: &Path,
        (engine, server): (&dyn Engine, Option<&dyn Engine>),
        watcher: &dyn Watcher,
    ) -> Result<(Pool, (String, Value)), Error> {
        let answered = self.systems.iter().chain(&self.peers);
        let read = |system: &System| system.read(&workload, self.prediction_format, false, false);
        let mut systems = answered.map(read).collect::<Result<Vec<_>, _>>()?;
        if let Some(part) = select_without_golds(&self.subset, &workload.examples, Some(db), watcher)? {
            systems = systems.into_iter().map(|set| set.of_part(&part, &workload.examples)).collect();
            workload.examples = pick(workload.examples, Some(&part));
        }
        let databases = Databases::open(db)?;
        loader
            .target(self.target.path(), &workload, &databases, &systems, self.systems.len())
            .map_err(|error| Error::asked_in_part(self.target.path(), error))?;
        let pool = loader.finish();
        [Some(engine), server].into_iter().flatten().try_for_each(|engine| {
            engine.check()?;
            engine.check_data()
        })?;
        check_answers(&pool)?;
        Ok((pool, pairing(&systems, &BTreeMap::new())))
    }

    /// What the estimates rest on: the pool, the labels on the target, and what methods may ask.
    fn evidence<'p>(&self, pool: &'p Pool, context: &Context<'_>) -> Result<PoolEvidence<'p>, Error> {
        let mut labels = TargetLabels::default();
        for SystemLabels { system, file } in &self.labels {
            let Some(system) = pool.system_named(system) else { continue };
            let mut of_system = load_labels(file, Some(&pool[system]), None, &self.columns)?;
            let answer = |id: &str| {
                let question = *pool.target_ids.get(id)?;
                Some(pool.get(system, question).map_or("", |answer| answer.sql.as_str()))
            };
            let others = take_out_other_answers(&mut of_system, file, answer);
            others.iter().for_each(|text| context.watcher().note(text));
            labels.add(pool, system, &of_system, file)?;
        }
        Ok(PoolEvidence::new(pool)?.with_labels(labels))
    }

    /// One estimate per system, of the questions that the evidence has.
    fn estimate(&self, evidence: &PoolEvidence<'_>) -> Result<Vec<Estimate>, Error> {
        let estimator = estimators::find(&self.method)?;
        let estimate = |&target| estimator.estimate(&evidence.case(target, self.options));
        Ok(evidence.pool.targets.iter().map(estimate).collect::<Result<Vec<_>, _>>()?)
    }

    /// A hash of what the known runs say, in any order.
    fn known_runs(&self) -> Result<String, Error> {
        let items = |path: &PathBuf| (String::new(), Cow::Owned(Source::File(path.join(ITEMS))));
        let records = digest_sources(&self.known.iter().map(items).collect::<Vec<_>>())?;
        let mut hashes: Vec<String> = records.into_iter().map(|record| record.sha256).collect();
        hashes.sort_unstable();
        Ok(sha256_of_bytes(hashes.concat().as_bytes()))
    }

    /// All that was read, with its role.
    fn inputs(&self, pool: &Pool, without_rows: &[DatabasesWithoutRows]) -> Vec<(String, Cow<'_, Source>)> {
        let mut inputs = vec![("target".to_owned(), Cow::Borrowed(&self.target))];
        for (role, systems) in [("predictions", &self.systems), ("peer", &self.peers)] {
            for system in systems {
                inputs.push((format!("{role}:{}", system.name), Cow::Borrowed(&system.predictions)));
            }
        }
        let file = |(role, path): (String, PathBuf)| (role, Cow::Owned(Source::File(path)));
        inputs.extend(self.labels.iter().map(|labels| file(("labels".to_owned(), labels.file.clone()))));
        for path in &self.known {
            let role = format!("known:{}", path.file_name().unwrap_or_default().to_string_lossy());
            inputs.extend([MANIFEST, ITEMS].map(|name| file((role.clone(), path.join(name)))));
        }
        inputs.extend(self.tables.iter().map(|tables| ("tables".to_owned(), Cow::Borrowed(tables))));
        let is_temporary = |path: &Path| without_rows.iter().any(|folder| path.starts_with(folder.path()));
        let is_read = |(_, path): &(String, PathBuf)| !is_address(path) && !is_temporary(path);
        inputs.extend(pool.database_files().into_iter().filter(is_read).map(file));
        inputs
    }
}

/// Said where the target has neither databases nor a schema.
const NO_SCHEMA: &str = "the answers need the schemas of their databases: give --db, or --tables alone";

/// Said where the target has both.
const TWO_SCHEMAS: &str = "--tables stands in for databases that are not there; leave it out, or --db";

/// The records of all that was read, those of databases on a server last.
fn records(inputs: &[(String, Cow<'_, Source>)], pool: &Pool) -> Result<Vec<InputRecord>, Error> {
    let mut records = digest_sources(inputs)?;
    for ((role, path), opened) in pool.database_files().into_iter().zip(&pool.databases) {
        if opened.dialect.is_some() {
            let sha256 = opened.database.content_hash()?.to_owned();
            records.push(InputRecord { role, path: path.display().to_string(), sha256 });
        }
    }
    Ok(records)
}

/// Fewest answers that show together that they are to a different benchmark.
const ENOUGH: usize = 5;

/// Refuses a system without an answer to the target, and one whose answers all read tables that the target does not have.
fn check_answers(pool: &Pool) -> Result<(), Error> {
    for &system in &pool.targets {
        let answers = pool.target_ids.values().filter_map(|&question| pool.get(system, question));
        let answers: Vec<&PoolAnswer> = answers.filter(|answer| !answer.sql.trim().is_empty()).collect();
        let name = &pool[system];
        if answers.is_empty() {
            return Err(Error::Invalid(format!("{name} answers no question of the target; check --pred")));
        }
        let is_strange = |answer: &&PoolAnswer| answer.status.as_deref() == Some("no_such_table");
        if answers.len() >= ENOUGH && answers.iter().all(is_strange) {
            return Err(Error::Invalid(format!(
                "all {} of {name} read tables that the target does not have; give its answers to these questions with --pred",
                counted(answers.len(), "answer")
            )));
        }
    }
    Ok(())
}
