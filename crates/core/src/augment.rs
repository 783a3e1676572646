//! Training data of a benchmark and its evolved schemas: `sqlgauge evolve --training`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_base::NotBuiltIn;
use sqlgauge_base::counted;
use sqlgauge_dataset::{Benchmark, BenchmarkSource, Tables, load_benchmark, load_tables};
use sqlgauge_engine::{Limits, Moment};
use sqlgauge_evolve::{ChangeKind, EvolvePlan, with_keys};
use sqlgauge_llm::Prompt;
use sqlgauge_prompt::augment::{AugmentSettings, ChatExample, SkippedTriple, SplitBy, Triple, split};
use sqlgauge_prompt::{PLACEHOLDERS, built_in_prompt};
use sqlgauge_robustness::{Evolved, find};
use sqlgauge_sql::schema::Schema;

use crate::context::Context;
use crate::error::Error;
use crate::evolve::EvolveJob;
use crate::guard::{keep_database, keep_inputs};
use crate::lines::write_lines;
use crate::schemas::SchemaSource;
use crate::subset::{self, Subset, pick};

/// Makes training data: questions with schemas and answers, as chats.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{AugmentJob, Context, EvolvedSchemas, Sample};
/// use sqlgauge_evolve::ChangeKind;
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
/// let schemas = EvolvedSchemas::Kinds(vec![ChangeKind::RenameColumns]);
///
/// let out = folder.path().join("train.jsonl");
/// let data = AugmentJob::new(sample.questions, sample.databases, schemas, out).run(&Context::default())?;
/// assert!(data.train > 41);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct AugmentJob {
    /// The golds of the original benchmark, with their questions.
    pub benchmark: BenchmarkSource,
    /// Folder with its databases; rows are not needed.
    pub db: PathBuf,
    /// The benchmark's tables.json: foreign keys that its databases do not declare, and names in words.
    pub tables: Option<PathBuf>,
    /// The evolved schemas.
    pub schemas: EvolvedSchemas,
    /// File to write: JSON lines, or a table where its name ends in `.parquet`.
    pub out: PathBuf,
    /// Share of the examples that are for validation, from 0 to below 1.
    pub validation: f64,
    /// What is either trained on or validated on: a database, or a question with all its schemas.
    pub split_by: SplitBy,
    /// Tables that an answer does not read and its example shows, at most.
    pub irrelevant_tables: usize,
    /// Leave out the questions over the original schemas.
    pub only_evolved: bool,
    /// File with the prompt; that of `predict` without it.
    pub prompt: Option<PathBuf>,
    /// Which questions the examples are of; by default all.
    pub subset: Subset,
    /// Seed of everything random.
    pub seed: u64,
}

/// Where the evolved schemas come from.
#[derive(Debug, Clone)]
pub enum EvolvedSchemas {
    /// Folders that [`EvolveJob`] wrote for the original.
    Folders(Vec<PathBuf>),
    /// Kinds of change: the job evolves the original by them into the folder `OUT.evolved`.
    Kinds(Vec<ChangeKind>),
}

/// The training data that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainingData {
    /// Examples to train on.
    pub train: usize,
    /// Examples to validate on.
    pub validation: usize,
    /// The file of the latter.
    pub validation_file: PathBuf,
    /// Examples left out because another has the same texts.
    pub duplicates: usize,
    /// Examples to validate on that were left out because they are trained on.
    pub leaks: usize,
}

/// Examples, and how many triples give none.
#[derive(Default)]
struct Examples {
    examples: Vec<ChatExample>,
    skipped: BTreeMap<SkippedTriple, usize>,
}

impl Examples {
    fn add(&mut self, triple: &Triple<'_>, settings: &AugmentSettings) {
        match triple.example(settings) {
            Ok(example) => self.examples.push(example),
            Err(why) => *self.skipped.entry(why).or_default() += 1,
        }
    }
}

impl AugmentJob {
    /// The job with the defaults of the command line.
    pub fn new(
        gold: impl Into<PathBuf>,
        db: impl Into<PathBuf>,
        schemas: EvolvedSchemas,
        out: impl Into<PathBuf>,
    ) -> Self {
        Self {
            benchmark: BenchmarkSource { gold: gold.into(), ..BenchmarkSource::default() },
            db: db.into(),
            tables: None,
            schemas,
            out: out.into(),
            validation: 0.1,
            split_by: SplitBy::Database,
            irrelevant_tables: 3,
            only_evolved: false,
            prompt: None,
            subset: Subset::default(),
            seed: 0,
        }
    }

    /// Writes both files; the watcher is told which items are left out.
    ///
    /// # Errors
    /// When an input cannot be read, is not of the original, or gives no example, or a file is an input or cannot be
    /// written.
    pub fn run(&self, context: &Context<'_>) -> Result<TrainingData, Error> {
        let validation_file = self.check()?;
        let all = load_benchmark(&self.benchmark)?;
        let engine = context.sqlite(Limits::default(), Moment::now())?;
        let selection = subset::select(&self.subset, &all.examples, &self.db, &engine, context.watcher())?;
        let positions = selection.positions;
        let mut original = all.clone();
        original.examples = pick(original.examples, positions.as_deref());
        let items: Option<HashSet<usize>> = positions.map(|positions| positions.into_iter().collect());
        let settings = AugmentSettings {
            prompt: match &self.prompt {
                Some(path) => Prompt::load(path, PLACEHOLDERS)?,
                None => built_in_prompt()?,
            },
            irrelevant_tables: Some(self.irrelevant_tables),
            seed: self.seed,
        };
        let mut examples = Examples::default();
        if !self.only_evolved {
            self.add_original(&original, &settings, &mut examples, context)?;
        }
        for folder in self.folders(&original, context)? {
            for evolved in find(&folder)? {
                let is_taken = |item: usize| items.as_ref().is_none_or(|items| items.contains(&item));
                add_evolved(&evolved, (&all, &is_taken), &settings, &mut examples)?;
            }
        }
        let Examples { examples, skipped } = examples;
        if examples.is_empty() {
            let text = "no example to write: no question has an answer over its schema";
            return Err(Error::Invalid(text.to_owned()));
        }
        for (why, count) in skipped {
            context.watcher().note(&format!("left out: {} {why}", counted(count, "item")));
        }
        let split = split(examples, self.split_by, self.validation, self.seed);
        write(&self.out, &split.train)?;
        write(&validation_file, &split.validation)?;
        Ok(TrainingData {
            train: split.train.len(),
            validation: split.validation.len(),
            validation_file,
            duplicates: split.duplicates,
            leaks: split.leaks,
        })
    }

    /// Refuses what makes no sense before anything is read; gives the file of the validation side.
    fn check(&self) -> Result<PathBuf, Error> {
        if !(0.0..1.0).contains(&self.validation) {
            let text = format!("--validation {} is not a share from 0 to below 1", self.validation);
            return Err(Error::Invalid(text));
        }
        if is_table(&self.out) && !cfg!(feature = "parquet") {
            return Err(NotBuiltIn { what: "--out with a name in .parquet", feature: "parquet" }.into());
        }
        let nameless = || Error::Invalid("--out names no file".to_owned());
        let stem = self.out.file_stem().ok_or_else(nameless)?.to_string_lossy();
        let extension =
            self.out.extension().map_or_else(String::new, |text| format!(".{}", text.to_string_lossy()));
        let validation_file = self.out.with_file_name(format!("{stem}.validation{extension}"));
        let inputs = [
            ("gold", Some(&self.benchmark.gold)),
            ("questions", self.benchmark.questions.as_ref()),
            ("tables", self.tables.as_ref()),
            ("prompt", self.prompt.as_ref()),
        ];
        let inputs = || inputs.iter().filter_map(|(role, path)| Some((*role, path.as_ref()?.as_path())));
        for path in [&self.out, &validation_file] {
            keep_inputs("--out", path, inputs())?;
            keep_database("--out", path)?;
        }
        Ok(validation_file)
    }

    /// The folders with evolved benchmarks, which are made where kinds are named.
    fn folders(&self, original: &Benchmark, context: &Context<'_>) -> Result<Vec<PathBuf>, Error> {
        let kinds = match &self.schemas {
            EvolvedSchemas::Folders(folders) => return Ok(folders.clone()),
            EvolvedSchemas::Kinds(kinds) => kinds.clone(),
        };
        let mut name = self.out.clone().into_os_string();
        name.push(".evolved");
        let folder = PathBuf::from(name);
        std::fs::create_dir_all(&folder)
            .map_err(|source| Error::Unwritable { path: folder.clone(), source })?;
        let job = EvolveJob {
            benchmark: self.benchmark.clone(),
            tables: self.tables.clone(),
            plan: EvolvePlan::Kinds { kinds, per_item: false },
            seed: self.seed,
            ..EvolveJob::new(&self.benchmark.gold, &self.db, &folder)
        };
        job.run_on(original, context)?;
        Ok(vec![folder])
    }

    fn add_original(
        &self,
        original: &Benchmark,
        settings: &AugmentSettings,
        examples: &mut Examples,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let (mut schemas, _) = SchemaSource::Databases(self.db.clone())
            .read(original, context)
            .map_err(|error| Error::asked_in_part(&self.benchmark.gold, error))?;
        let tables = self.tables.as_deref().map(load_tables).transpose()?;
        for entry in tables.iter().flat_map(Tables::entries) {
            if let Some(schema) = schemas.get_mut(&entry.db_id) {
                *schema = Arc::new(with_keys(schema, entry));
            }
        }
        for example in &original.examples {
            let triple = Triple {
                source_db_id: &example.db_id,
                source_index: example.index,
                kind: "original",
                question: example.question.as_deref().unwrap_or_default(),
                evidence: example.evidence.as_deref(),
                schema: &schemas[&example.db_id],
                answer: example.golds.first().map_or("", String::as_str),
                relevant: None,
            };
            examples.add(&triple, settings);
        }
        Ok(())
    }
}

fn add_evolved(
    evolved: &Evolved,
    (original, is_taken): (&Benchmark, &dyn Fn(usize) -> bool),
    settings: &AugmentSettings,
    examples: &mut Examples,
) -> Result<(), Error> {
    let mut schemas: HashMap<&str, Schema> = HashMap::new();
    let benchmark = evolved.benchmark();
    // What the kind changes is what is shown.
    let shows_others = evolved.header.kind.is_some_and(|kind| !kind.changes_schema());
    for item in evolved.items.iter().filter(|item| is_taken(item.source_index)) {
        let source =
            original.examples.get(item.source_index).filter(|example| example.db_id == item.source_db_id);
        let strange = || {
            Error::Invalid(format!(
                "{}: item {:?} comes from item {} of the original, which --gold does not have; give the file that was evolved",
                benchmark.display(),
                item.question_id,
                item.source_index
            ))
        };
        let source = source.ok_or_else(strange)?;
        for ddl in [&item.ddl, &item.ddl_relevant] {
            if !schemas.contains_key(ddl.as_str()) {
                let place = || format!("{}, item {:?}", benchmark.display(), item.question_id);
                let schema =
                    Schema::from_ddl(ddl).map_err(|source| Error::NoDdl { place: place(), source })?;
                schemas.insert(ddl, schema);
            }
        }
        let triple = Triple {
            source_db_id: &item.source_db_id,
            source_index: item.source_index,
            kind: &evolved.label,
            question: item.question.as_deref().or(source.question.as_deref()).unwrap_or_default(),
            evidence: item.evidence.as_deref(),
            schema: &schemas[item.ddl.as_str()],
            answer: &item.query,
            relevant: (!item.answerable || shows_others).then(|| &schemas[item.ddl_relevant.as_str()]),
        };
        examples.add(&triple, settings);
    }
    Ok(())
}

/// Whether the name asks for a table.
fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "parquet")
}

fn write(path: &Path, examples: &[ChatExample]) -> Result<(), Error> {
    #[cfg(feature = "parquet")]
    if is_table(path) {
        return Ok(sqlgauge_prompt::augment::write_parquet(path, examples)?);
    }
    write_lines(path, examples)
}
