//! A small test suite of a benchmark in one file: `sqlgauge pack`.

mod unfinished;

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlgauge_base::file::write_atomically;
use sqlgauge_base::pool::Pool;
use sqlgauge_base::{counted_of, regular};
use sqlgauge_dataset::{Benchmark, Columns, Databases, Example, FileFormat, PredictionSet, parse_benchmark};
use sqlgauge_engine::{Engine, Limits, Moment};
use sqlgauge_metrics::{PackedTarget, Target, Verification};
use sqlgauge_search::{DeclaredColumns, Search, Witness, create_table};
use sqlgauge_sql::schema::Schema;
use sqlgauge_verify::pack::{
    KillCount, Pack, PackError, PackQuestion, PackSettings, Refuted, gold_name, pack_question,
};
use sqlgauge_verify::{ColumnValues, Verdict};

use crate::context::Context;
use crate::error::Error;
use crate::guard::{keep_database, keep_inputs};
use crate::one_database::name_database;
use crate::score::System;
use crate::settings::VerifySettings;
use crate::source::Source;
use crate::subset::{self, Subset};
use crate::values::OutputPath;

use unfinished::Unfinished;

/// Makes a witness pack: for each question of a benchmark the few small databases on which mutations of its gold and wrong
/// answers of the given systems show.
///
/// The databases are invented: no row of the benchmark is in them.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, PackJob, Sample, Source, System};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let baseline = System::new("baseline", sample.predictions_of("baseline").expect("a file of it"));
///
/// let gold = Source::from(sample.questions.as_path());
/// let mut job = PackJob::new(gold, sample.databases, vec![baseline], folder.path().join("sample.pack"));
/// job.subset.limit = Some(4);
/// let pack = job.run(&Context::default())?;
/// assert_eq!(pack.questions, 4);
/// assert!(pack.answers.killed + pack.answers.equal <= pack.answers.tried);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct PackJob {
    /// The golds.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub gold: Source,
    /// Folder with `DB_ID/DB_ID.sqlite`, or one database file. Their schemas count, and which foreign keys their rows keep.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub db: PathBuf,
    /// Predictions of one system, whose wrong answers the pack is to refute; may be given several times
    #[cfg_attr(feature = "cli", arg(long = "pred", id = "predictions", value_name = "NAME=FILE"))]
    pub systems: Vec<System>,
    /// File to write (JSON Lines); with --witnesses a folder, which must be empty or not there
    #[cfg_attr(feature = "cli", arg(long, alias = "export", value_name = "FILE"))]
    pub out: OutputPath,
    /// Pack of the same golds to add to
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub base: Option<PathBuf>,
    /// How many databases a question may have, and how many mutations are tried.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub settings: PackSettings,
    /// Which questions are packed; by default all.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub subset: Subset,
    /// Worker threads; 0 means one per core
    #[cfg_attr(feature = "cli", arg(long, short, value_name = "N", default_value_t = 0))]
    pub jobs: usize,
    /// Take the SQL out of the chatter of an LLM (code fences, explanations)
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
    /// How differences are looked for.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub verify: VerifySettings,
}

/// A pack that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PackSize {
    /// Its questions.
    pub questions: usize,
    /// Those with a database.
    pub with_databases: usize,
    /// Those whose gold cannot be searched.
    pub unsearchable: usize,
    /// Its databases.
    pub databases: usize,
    /// Bytes of the file.
    pub bytes: usize,
    /// Mutations of golds.
    pub mutations: KillCount,
    /// Different answers of the systems.
    pub answers: KillCount,
}

impl PackJob {
    /// The pack of those golds, with the defaults of `sqlgauge pack` for all else.
    pub fn new(gold: Source, db: PathBuf, systems: Vec<System>, out: impl Into<PathBuf>) -> Self {
        Self { gold, db, systems, out: out.into().into(), ..Self::default() }
    }

    /// Builds the pack and writes its file.
    ///
    /// # Errors
    /// When an input cannot be read, the earlier pack is another benchmark's, or the file cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<PackSize, Error> {
        let inputs = self.systems.iter().map(|system| ("predictions", system.predictions.path()));
        keep_inputs("--out", &self.out, inputs.chain([("gold", self.gold.path())]))?;
        keep_database("--out", &self.out)?;
        let mut benchmark =
            parse_benchmark(&self.gold.read()?, None, self.gold.format(self.format)?, &self.columns)?;
        name_database(&mut benchmark, Some(&self.db), None)?;
        let engine = context.sqlite(self.limits, Moment::now())?;
        let selection =
            subset::select(&self.subset, &benchmark.examples, &self.db, &engine, context.watcher())?;
        let selection = selection.positions;
        let systems = self.read_systems(&benchmark)?;
        let base = self.base.as_deref().map(read_pack).transpose()?.unwrap_or_else(|| self.empty());
        if base.semantics != self.verify.options().semantics {
            return Err(Error::Invalid(format!(
                "--base compares results by {}; give --semantics {0} too",
                base.semantics
            )));
        }
        let positions = selection.unwrap_or_else(|| (0..benchmark.examples.len()).collect());
        let work = Work {
            job: self,
            examples: &benchmark.examples,
            systems: &systems,
            schemas: self.schemas(&engine, positions.iter().map(|&at| &benchmark.examples[at]))?,
            before: base.questions.iter().map(|question| (question.gold.as_str(), question)).collect(),
            verification: self.verify.verification(),
        };
        let unfinished = Unfinished::open(&self.out)?;
        let questions = work.questions(&positions, &unfinished, context)?;
        let size = self.write(&Pack { semantics: base.semantics, questions })?;
        unfinished.finish();
        Ok(size)
    }

    /// The schemas of the databases that the questions are about.
    fn schemas<'e>(
        &self,
        engine: &dyn Engine,
        examples: impl Iterator<Item = &'e Example>,
    ) -> Result<HashMap<&'e str, PackedSchema>, Error> {
        let databases = Databases::open(&self.db)?;
        let mut schemas = HashMap::new();
        for example in examples {
            if let Entry::Vacant(place) = schemas.entry(example.db_id.as_str()) {
                let database = engine.open(&databases.locate(&example.db_id)?.main)?;
                place.insert(PackedSchema::new(Arc::clone(&database.kept_schema(engine).schema)));
            }
        }
        Ok(schemas)
    }

    fn of_base(&self, source: PackError) -> Error {
        Error::Pack { path: self.base.clone().unwrap_or_default(), source }
    }

    fn empty(&self) -> Pack {
        Pack { semantics: self.verify.options().semantics, questions: Vec::new() }
    }

    fn read_systems(&self, benchmark: &Benchmark) -> Result<Vec<PredictionSet>, Error> {
        let read = |system: &System| system.read(benchmark, self.prediction_format, self.extract, true);
        self.systems.iter().map(read).collect()
    }

    fn write(&self, pack: &Pack) -> Result<PackSize, Error> {
        let mut file = Vec::new();
        let unwritable = |source| Error::Unwritable { path: self.out.to_path_buf(), source };
        pack.write(&mut file).map_err(unwritable)?;
        write_atomically(&self.out, |out| out.write_all(&file)).map_err(unwritable)?;
        let sum = |count: fn(&PackQuestion) -> KillCount| {
            pack.questions.iter().map(count).fold(KillCount::default(), KillCount::and)
        };
        Ok(PackSize {
            questions: pack.questions.len(),
            with_databases: pack.questions.iter().filter(|question| question.count() > 0).count(),
            unsearchable: pack.questions.iter().filter(|question| question.none.is_some()).count(),
            databases: pack.databases(),
            bytes: file.len(),
            mutations: sum(|question| question.mutations),
            answers: sum(|question| question.answers),
        })
    }
}

/// A schema, and its tables as DDL.
struct PackedSchema {
    schema: Arc<Schema>,
    text: String,
}

impl PackedSchema {
    fn new(schema: Arc<Schema>) -> Self {
        let tables = schema.tables().iter().map(|table| create_table(&schema, table));
        let text = tables.collect::<Vec<_>>().join(";\n");
        Self { schema, text }
    }
}

/// What questions are made of.
struct Work<'w> {
    job: &'w PackJob,
    examples: &'w [Example],
    systems: &'w [PredictionSet],
    schemas: HashMap<&'w str, PackedSchema>,
    /// Questions of the earlier pack, by the name of their gold.
    before: HashMap<&'w str, &'w PackQuestion>,
    verification: Verification,
}

impl Work<'_> {
    /// Makes those that are not made yet, side by side.
    fn questions(
        &self,
        positions: &[usize],
        unfinished: &Unfinished,
        context: &Context<'_>,
    ) -> Result<Vec<PackQuestion>, Error> {
        let keys: Vec<String> = positions.iter().map(|&at| self.key(at)).collect();
        let resumed = keys.iter().filter(|key| unfinished.question(key).is_some()).count();
        let (watcher, done) = (context.watcher(), AtomicUsize::new(resumed));
        watcher.started("questions", positions.len(), resumed);
        watcher.heeds_stop(true);
        let question = |place: usize| {
            let (at, key) = (positions[place], &keys[place]);
            if let Some(question) = unfinished.question(key) {
                return Ok(question);
            }
            if context.is_stopped() {
                let done = counted_of(done.load(Ordering::Relaxed), positions.len(), "question");
                return Err(Error::StoppedAsking(format!("stopped: {done} are packed")));
            }
            let question = self.question(at)?;
            unfinished.add(key, &question);
            watcher.advanced(done.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(question)
        };
        let questions = Pool::of(self.job.jobs).try_map(positions.len(), question);
        watcher.heeds_stop(false);
        questions
    }

    /// The key of all that a question depends on.
    fn key(&self, at: usize) -> String {
        let Example { id, db_id, .. } = &self.examples[at];
        let PackJob { settings, verify, limits, .. } = self.job;
        let version = env!("CARGO_PKG_VERSION");
        let settings = format!("{version} {settings:?} {:?} {} {limits:?}", verify.recorded(), verify.seed);
        let base = self.base_of(at).map(|base| format!("{base:?}")).unwrap_or_default();
        let texts = [&settings, &self.schemas[db_id.as_str()].text, id, db_id, self.gold(at), &base];
        unfinished::key(texts.into_iter().chain(answers(self.systems, at)))
    }

    /// Of several golds the first is packed.
    fn gold(&self, at: usize) -> &str {
        self.examples[at].golds.first().map_or("", String::as_str)
    }

    fn base_of(&self, at: usize) -> Option<&PackQuestion> {
        self.before.get(gold_name(self.gold(at)).as_str()).copied()
    }

    fn question(&self, at: usize) -> Result<PackQuestion, Error> {
        let Self { job, verification, .. } = self;
        let (example, gold) = (&self.examples[at], self.gold(at));
        let schema = &self.schemas[example.db_id.as_str()].schema;
        let question = PackQuestion::new(&example.id, &example.db_id, gold);
        let witnesses: Vec<Witness> = match self.base_of(at) {
            Some(base) => base.witnesses(schema).map_err(|source| job.of_base(source))?,
            None => Vec::new(),
        };
        let search = Search::new(Arc::clone(schema), job.verify.options().search())?;
        if job.verify.options().values != ColumnValues::Any {
            // A pack comes without rows that could hold other values.
            search.hold(DeclaredColumns::all());
        }
        let mut failure = None;
        let mut refute = |gold: &str, other: &str| match verification.verdict(schema, None, gold, other) {
            Ok(Ok(report)) => match report.verdict {
                Verdict::Different(counterexample) => {
                    Refuted::By(counterexample.refutation.database().clone())
                }
                Verdict::Equivalent(_) | Verdict::EquivalentUpTo(_) => Refuted::Equal,
                Verdict::Unknown(_) => Refuted::Open,
            },
            // A text that SQLite refuses needs no database.
            Ok(Err(_)) => Refuted::Open,
            Err(error) => {
                failure = Some(error);
                Refuted::Open
            }
        };
        let answers = answers(self.systems, at);
        let question =
            pack_question(&search, schema, question, (gold, &answers), witnesses, job.settings, &mut refute);
        failure.map_or(Ok(question), |error| Err(error.into()))
    }
}

/// The different answers to a question, in the order of the systems.
fn answers(systems: &[PredictionSet], at: usize) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let answers = systems.iter().filter_map(|set| Some(set.predictions.get(at)?.as_ref()?.sql.as_str()));
    answers.filter(|answer| seen.insert(*answer)).collect()
}

/// Reads a pack.
pub(crate) fn read_pack(path: &Path) -> Result<Pack, Error> {
    let of_file = |source| Error::Pack { path: path.to_owned(), source };
    let file = regular::open(path).map_err(|error| of_file(error.into()))?;
    Pack::read(BufReader::new(file)).map_err(of_file)
}

/// Gives the targets of a run the databases of a pack.
pub(crate) fn with_pack(
    targets: HashMap<String, Arc<Target>>,
    pack: &Pack,
    path: &Path,
    engine: &dyn Engine,
) -> Result<HashMap<String, Arc<Target>>, Error> {
    let packed = |(db_id, target): (String, Arc<Target>)| {
        let schema = Arc::clone(&target.database.kept_schema(engine).schema);
        let questions = pack.questions.iter().filter(|question| question.db_id == db_id);
        let packed = PackedTarget::new(schema, pack.semantics, questions)
            .map_err(|source| Error::Pack { path: path.to_owned(), source })?;
        Ok((db_id, Arc::new(Target::clone(&target).with_pack(Arc::new(packed)))))
    };
    targets.into_iter().map(packed).collect()
}
