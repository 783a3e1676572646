//! `sqlgauge augment`.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::{ArgGroup, Args};
use sqlgauge_base::NotBuiltIn;
use sqlgauge_dataset::{Benchmark, BenchmarkSource, Databases, Format, Role, load_benchmark};
use sqlgauge_engine::Limits;
use sqlgauge_evolve::{Options, Plan, evolve};
use sqlgauge_llm::Prompt;
use sqlgauge_names::Naturalness;
use sqlgauge_prompt::augment::{Example, Settings, Skipped, Split, Triple, split};
use sqlgauge_prompt::predict::{PLACEHOLDERS, built_in_prompt};
use sqlgauge_robustness::{Evolved, find};
use sqlgauge_sql::schema::Schema;

use crate::Verdict;
use crate::engine::engine;
use crate::options::{column_help, columns, format};
use crate::output::{note, print, write_to};
use crate::scoring::asks;
use crate::stdin::input_file;
use crate::workload::SchemaSource;
use sqlgauge::{keep_database, keep_inputs};

const LEFT_OUT: NotBuiltIn = NotBuiltIn { what: "--out with a name in .parquet", feature: "parquet" };
/// How much is changed, as `sqlgauge evolve` does without being told.
const INTENSITY: f64 = 0.5;

/// Make training data of a benchmark and its evolved schemas: questions with schemas and answers, as chats
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("schemas").args(["evolved", "kinds"]).required(true)))]
pub struct Augment {
    /// File with the golds of the original (Spider or BIRD train.json, JSONL, CSV, Parquet)
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    gold: PathBuf,
    /// File with the questions, where the gold file has none
    #[arg(long, value_name = "FILE", value_parser = input_file)]
    questions: Option<PathBuf>,
    /// Folder with `DB_ID/DB_ID.sqlite` of the original; rows are not needed
    #[arg(long, value_name = "DIR")]
    db: PathBuf,
    /// Folder that `sqlgauge evolve` made of the original; may be given several times
    #[arg(long, value_name = "DIR")]
    evolved: Vec<PathBuf>,
    /// Kinds of change, separated by commas, or `all`: the original is evolved into the folder OUT.evolved
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = super::evolve::kinds())]
    kinds: Vec<String>,
    /// File to write: chats as JSONL, or a table where its name ends in .parquet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Share of the examples that are for validation, by whole databases; they go into OUT.validation beside it
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    validation: f64,
    /// Tables that an answer does not read and its example shows, at most
    #[arg(long, value_name = "N", default_value_t = 3)]
    irrelevant_tables: usize,
    /// Leave out the questions over the original schemas
    #[arg(long)]
    only_evolved: bool,
    /// File with the prompt, in place of the one that predict asks with
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Seed of everything random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Format of the gold file, where detection is wrong
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    format: Option<Format>,
    #[arg(long = "column", value_name = "ROLE=COLUMN", help = column_help(Role::all()))]
    columns: Vec<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// Examples, and how many triples make none.
#[derive(Default)]
struct Made {
    examples: Vec<Example>,
    skipped: BTreeMap<Skipped, usize>,
}

impl Made {
    fn take(&mut self, triple: &Triple<'_>, settings: &Settings) {
        match triple.example(settings) {
            Ok(example) => self.examples.push(example),
            Err(why) => *self.skipped.entry(why).or_default() += 1,
        }
    }
}

impl Augment {
    pub fn run(self) -> Result<Verdict> {
        let others = self.check()?;
        let source = BenchmarkSource {
            gold: self.gold.clone(),
            questions: self.questions.clone(),
            format: self.format,
            columns: columns(&self.columns)?,
        };
        let original = load_benchmark(&source)?;
        let settings = Settings {
            prompt: match &self.prompt {
                Some(path) => Prompt::load(path, PLACEHOLDERS)?,
                None => built_in_prompt()?,
            },
            irrelevant_tables: Some(self.irrelevant_tables),
            seed: self.seed,
        };
        let mut made = Made::default();
        if !self.only_evolved {
            self.take_original(&original, &settings, &mut made)?;
        }
        for folder in self.evolved_folders(&original)? {
            find(&folder)?
                .iter()
                .try_for_each(|evolved| take_evolved(evolved, &original, &settings, &mut made))?;
        }
        ensure!(!made.examples.is_empty(), "there is no example: no question has an answer over its schema");
        let skipped = made.skipped;
        let split = split(made.examples, self.validation, self.seed);
        write(&self.out, &split.train)?;
        write(&others, &split.validation)?;
        self.say(&split, &skipped, &others)?;
        Ok(Verdict::Done)
    }

    /// Says what makes no sense; gives the file for the validation side.
    fn check(&self) -> Result<PathBuf> {
        if !(0.0..1.0).contains(&self.validation) {
            bail!("--validation {} is no share from 0 to below 1", self.validation);
        }
        if is_table(&self.out) && !cfg!(feature = "parquet") {
            return Err(LEFT_OUT.into());
        }
        let stem = self.out.file_stem().context("--out names no file")?.to_string_lossy();
        let extension =
            self.out.extension().map_or_else(String::new, |text| format!(".{}", text.to_string_lossy()));
        let others = self.out.with_file_name(format!("{stem}.validation{extension}"));
        let inputs = || {
            let all = [
                ("gold", Some(&self.gold)),
                ("questions", self.questions.as_ref()),
                ("prompt", self.prompt.as_ref()),
            ];
            all.into_iter().filter_map(|(role, path)| Some((role, path?.as_path())))
        };
        for path in [&self.out, &others] {
            keep_inputs("--out", path, inputs())?;
            keep_database("--out", path)?;
        }
        Ok(others)
    }

    /// The folders with evolved benchmarks, which are made where kinds are named.
    fn evolved_folders(&self, original: &Benchmark) -> Result<Vec<PathBuf>> {
        if self.kinds.is_empty() {
            return Ok(self.evolved.clone());
        }
        let mut name = self.out.clone().into_os_string();
        name.push(".evolved");
        let folder = PathBuf::from(name);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("{} cannot be made; choose another --out", folder.display()))?;
        let options = Options {
            plan: Plan::Kinds { kinds: super::evolve::chosen(&self.kinds), per_item: false },
            seed: self.seed,
            intensity: INTENSITY,
            naturalness: Naturalness::Regular,
            names: None,
            tables: None,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let (databases, engine) = (Databases::open(&self.db)?, engine(Limits::default())?);
        evolve(original, &databases, &engine, &options, &folder, &|_, _| {})
            .with_context(|| format!("{} could not be evolved", self.gold.display()))?;
        Ok(vec![folder])
    }

    fn take_original(&self, original: &Benchmark, settings: &Settings, made: &mut Made) -> Result<()> {
        let schemas: HashMap<String, Arc<Schema>> =
            SchemaSource::Databases(self.db.clone()).read(original).with_context(|| asks(&self.gold))?;
        for example in &original.examples {
            let schema = schemas.get(&example.db_id).context("a schema was read for every database")?;
            made.take(
                &Triple {
                    source_db_id: &example.db_id,
                    source_index: example.index,
                    kind: "original",
                    question: example.question.as_deref().unwrap_or_default(),
                    evidence: example.evidence.as_deref(),
                    schema,
                    answer: example.golds.first().map_or("", String::as_str),
                    relevant: None,
                },
                settings,
            );
        }
        Ok(())
    }

    fn say(&self, split: &Split, skipped: &BTreeMap<Skipped, usize>, others: &Path) -> Result<()> {
        if self.quiet {
            return Ok(());
        }
        for (why, count) in skipped {
            note(format!("{count} items {why} are left out"));
        }
        print(&format!(
            "{} examples to train on: {}\n{} examples of other databases to validate on: {}\n{} left out that say what another \
             says, {} to validate on that are trained on\n",
            split.train.len(),
            self.out.display(),
            split.validation.len(),
            others.display(),
            split.duplicates,
            split.leaks
        ))
    }
}

fn take_evolved(evolved: &Evolved, original: &Benchmark, settings: &Settings, made: &mut Made) -> Result<()> {
    let mut schemas: HashMap<&str, Schema> = HashMap::new();
    for item in &evolved.items {
        let source =
            original.examples.get(item.source_index).filter(|example| example.db_id == item.source_db_id);
        let source = source.with_context(|| {
            format!(
                "{}: item {:?} comes from item {} of the original, which --gold does not have; give the file that was evolved",
                evolved.benchmark().display(),
                item.question_id,
                item.source_index
            )
        })?;
        for ddl in [&item.ddl, &item.ddl_relevant] {
            if !schemas.contains_key(ddl.as_str()) {
                let schema = Schema::from_ddl(ddl).with_context(|| {
                    format!("{}: the DDL of item {:?}", evolved.benchmark().display(), item.question_id)
                })?;
                schemas.insert(ddl, schema);
            }
        }
        made.take(
            &Triple {
                source_db_id: &item.source_db_id,
                source_index: item.source_index,
                kind: &evolved.label,
                question: item.question.as_deref().or(source.question.as_deref()).unwrap_or_default(),
                evidence: item.evidence.as_deref(),
                schema: &schemas[item.ddl.as_str()],
                answer: &item.query,
                relevant: (!item.answerable).then(|| &schemas[item.ddl_relevant.as_str()]),
            },
            settings,
        );
    }
    Ok(())
}

/// Whether the name asks for a table.
fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "parquet")
}

fn write(path: &Path, examples: &[Example]) -> Result<()> {
    if is_table(path) {
        return write_table(path, examples);
    }
    let mut text = String::new();
    for example in examples {
        text.push_str(&serde_json::to_string(example)?);
        text.push('\n');
    }
    write_to(path, &text)
}

#[cfg(feature = "parquet")]
fn write_table(path: &Path, examples: &[Example]) -> Result<()> {
    Ok(sqlgauge_prompt::augment::write_parquet(path, examples)?)
}

#[cfg(not(feature = "parquet"))]
fn write_table(_: &Path, _: &[Example]) -> Result<()> {
    Err(LEFT_OUT.into())
}
