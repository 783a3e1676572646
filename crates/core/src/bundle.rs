//! The results of a run in one file: `sqlgauge bundle`.
//!
//! # Contract
//! - The golds and predictions that the log of a run has are executed once more on the databases of the run, whose hashes must be those
//!   of the run, by its limits of time and at its time; every result stands in the bundle with its types.
//! - A prediction that the log has cut, or an item of which no gold runs, is a failed result with that reason.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;
use sqlgauge_base::file::AtomicFile;
use sqlgauge_dataset::{Databases, Example};
use sqlgauge_engine::{Database, Engine, Limits, Outcome, ResultSet, Value as EngineValue};
use sqlgauge_results::{BundleHead, BundleWriter, BundledResult, ItemConfig, MISSING, ResultFile, Value};
use sqlgauge_run::{Item, Manifest, RunError, RunFiles, UsedDatabases, digest_inputs};

use crate::context::Context;
use crate::error::Error;
use crate::settings::started_at;

/// Writes the results of a run as one file.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{BundleJob, Context, ResultsJob, Sample, SystemResults};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let run = folder.path().join("run");
/// sample.score_job(&["ex"], &run)?.run(&Context::default())?;
///
/// let bundle = folder.path().join("run.bundle");
/// let written = BundleJob::new(&run, &sample.databases, &bundle).run(&Context::default())?;
/// // One result for each gold: 41 questions, of which some have several.
/// assert_eq!(written.golds, 48);
/// let careful = SystemResults { name: "careful".to_owned(), path: bundle };
/// let scored = ResultsJob::new(vec![careful], None, folder.path().join("again")).run(&Context::default())?;
/// assert!(scored.systems[0].metrics["fair@1"].right > 30);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct BundleJob {
    /// The run directory.
    pub run: PathBuf,
    /// Folder with the databases, or one of them.
    pub db: PathBuf,
    /// The file to write.
    pub out: PathBuf,
}

/// What a bundle holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BundleSize {
    /// Gold results.
    pub golds: usize,
    /// Results of systems.
    pub results: usize,
    /// Golds and results that failed.
    pub failed: usize,
}

type Cache = HashMap<(String, String), Arc<BundledResult>>;

struct Executor<'a> {
    engine: &'a dyn Engine,
    databases: HashMap<String, Arc<Database>>,
    cache: Cache,
}

impl Executor<'_> {
    fn run(&mut self, db_id: &str, sql: &str) -> Result<Arc<BundledResult>, Error> {
        let key = (db_id.to_owned(), sql.to_owned());
        if let Some(cached) = self.cache.get(&key) {
            return Ok(Arc::clone(cached));
        }
        let database = self.databases.get(db_id);
        let database = database.ok_or_else(|| {
            Error::Invalid(format!("no database {db_id:?} was opened; give --db of the run"))
        })?;
        let outcome = self.engine.run(database, sql).outcome;
        self.engine.check()?;
        let result = Arc::new(match &outcome {
            Outcome::Rows(rows) => BundledResult::ResultFile(table_of(rows)),
            Outcome::Failed(failure) => failed(outcome.status(), &failure.to_string()),
        });
        self.cache.insert(key, Arc::clone(&result));
        Ok(result)
    }
}

impl BundleJob {
    /// The bundle of a run.
    pub fn new(run: impl Into<PathBuf>, db: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Self {
        Self { run: run.into(), db: db.into(), out: out.into() }
    }

    /// Executes the queries of the run and writes the file.
    ///
    /// # Errors
    /// When the run cannot be read, a database is not that of the run, or the file cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<BundleSize, Error> {
        let run = RunFiles::open(&self.run)?;
        let (mut examples, mut items) = (BTreeMap::new(), Vec::new());
        run.items.for_each(|item| {
            let golds = item.details.golds().to_vec();
            let example = Example { golds, ..Example::bare(item.id.clone(), item.index, item.db_id.clone()) };
            examples.entry(item.index).or_insert(example);
            items.push(short(item));
            Ok::<(), RunError>(())
        })?;
        let examples: Vec<Example> = examples.into_values().collect();
        let engine = context.engine(limits_of(&run.manifest), started_at(&self.run, true)?)?;
        let mut executor =
            Executor { engine: engine.as_ref(), databases: HashMap::new(), cache: HashMap::new() };
        self.open_databases(&run.manifest, &examples, &mut executor)?;
        let configs: Vec<ItemConfig> =
            examples.iter().map(|example| ItemConfig::new(&example.id, Json::Null, true)).collect();
        let record =
            serde_json::to_value(&run.manifest).map_err(|error| Error::Invalid(error.to_string()))?;
        let head = BundleHead::new(engine.name_and_version(), run.manifest.systems.clone(), &configs, record);
        let mut size = BundleSize::default();
        let unwritable = |source| Error::Unwritable { path: self.out.clone(), source };
        let mut file = AtomicFile::create(&self.out).map_err(unwritable)?;
        let mut writer = BundleWriter::new(&mut file, &head).map_err(unwritable)?;
        for example in &examples {
            for (at, gold) in example.golds.iter().enumerate() {
                let result = executor.run(&example.db_id, gold)?;
                size.count(&result, true);
                writer
                    .gold(&example.id, &gold_name(&example.id, at, example.golds.len()), &result)
                    .map_err(unwritable)?;
            }
        }
        for item in &items {
            let Some(prediction) = &item.prediction else { continue };
            let result = match prediction {
                Ok(sql) => executor.run(&item.db_id, sql)?,
                Err(reason) => Arc::new(failed("cut", reason)),
            };
            size.count(&result, false);
            writer.prediction(&item.system, &item.id, &result).map_err(unwritable)?;
        }
        writer.finish().map_err(unwritable)?;
        file.commit().map_err(unwritable)?;
        Ok(size)
    }

    fn open_databases(
        &self,
        manifest: &Manifest,
        examples: &[Example],
        executor: &mut Executor<'_>,
    ) -> Result<(), Error> {
        let used = UsedDatabases::locate(&Databases::open(&self.db)?, examples, false)
            .map_err(|error| Error::of_databases(&self.run, error))?;
        let recorded: HashSet<(&str, &str)> =
            manifest.inputs.iter().map(|input| (input.role.as_str(), input.sha256.as_str())).collect();
        for (digest, (role, path)) in digest_inputs(&used.files())?.iter().zip(used.files()) {
            if !recorded.contains(&(digest.role.as_str(), digest.sha256.as_str())) {
                return Err(Error::Invalid(format!(
                    "{} is not the database that the run was made on; give the folder of the run, or score again",
                    path.display()
                )));
            }
            if let Some(db_id) = role.strip_prefix("database:") {
                executor.databases.insert(db_id.to_owned(), executor.engine.open(&path)?);
            }
        }
        Ok(())
    }
}

impl BundleSize {
    fn count(&mut self, result: &BundledResult, is_gold: bool) {
        self.golds += usize::from(is_gold);
        self.results += usize::from(!is_gold);
        self.failed += usize::from(matches!(result, BundledResult::Failed { .. }));
    }
}

/// What a bundle needs of an item.
struct ShortItem {
    system: String,
    id: String,
    db_id: String,
    /// The prediction, or why it is not in the log.
    prediction: Option<Result<String, String>>,
}

fn short(item: &Item) -> ShortItem {
    let cut = || "the run has only the beginning of this prediction".to_owned();
    let whole = item.details.whole_prediction().map(str::to_owned);
    let prediction = (item.status != MISSING).then(|| whole.ok_or_else(cut));
    ShortItem { system: item.system.clone(), id: item.id.clone(), db_id: item.db_id.clone(), prediction }
}

fn failed(status: &str, error: &str) -> BundledResult {
    BundledResult::Failed { status: status.to_owned(), error: error.to_owned() }
}

/// One gold has the item's name, of several each has a number behind it.
fn gold_name(id: &str, at: usize, golds: usize) -> String {
    if golds == 1 { id.to_owned() } else { format!("{id}_{at:04}") }
}

/// The limits of the run, as far as they decide results.
fn limits_of(manifest: &Manifest) -> Limits {
    let timeout = manifest.options.get("timeout_ms").and_then(Json::as_u64);
    let defaults = Limits::default();
    Limits { timeout: timeout.map_or(defaults.timeout, std::time::Duration::from_millis), ..defaults }
}

/// A result with its types. Bytes, and text that is not UTF-8, are text for a comparison.
fn table_of(rows: &ResultSet) -> ResultFile {
    let value = |value: &EngineValue| match value {
        EngineValue::Null => Value::Null,
        EngineValue::Integer(integer) => Value::Int((*integer).into()),
        EngineValue::Real(real) => Value::Float(*real),
        EngineValue::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned().into()),
        EngineValue::Decimal(decimal) => Value::Text(decimal.to_string().into()),
        EngineValue::Blob(bytes) => Value::Text(format!("0x{}", sqlgauge_base::hex(bytes)).into()),
    };
    let rows_of = rows.rows().map(|row| row.iter().map(value).collect()).collect();
    ResultFile::typed(rows.columns.clone(), rows_of)
        .unwrap_or_else(|_| ResultFile::empty(rows.columns.clone()))
}
