//! A benchmark under other schemas: `sqlgauge evolve`.

#[cfg(feature = "services")]
mod naming;

use std::path::PathBuf;

use sqlgauge_dataset::{Benchmark, BenchmarkSource, Databases, load_benchmark, load_tables};
use sqlgauge_engine::{Limits, Moment};
use sqlgauge_evolve::layout::Statistics;
use sqlgauge_evolve::{ChangeKind, EvolveOptions, EvolvePlan, evolve};
use sqlgauge_names::Naturalness;

use crate::context::{Context, Watcher};
use crate::error::{About, Error};
use crate::guard::keep_run;
#[cfg(feature = "services")]
use crate::llm::LlmSettings;
use crate::one_database::name_database;
use crate::subset::{self, Subset};
use crate::values::OutputPath;

/// Changes the schemas of a benchmark, and its databases and golds with them. Every item is run before it is written.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use sqlgauge_core::{Context, EvolveJob, Sample};
/// use sqlgauge_evolve::{ChangeKind, EvolvePlan};
///
/// let folder = tempfile::tempdir()?;
/// let sample = Sample::unpack(folder.path())?;
///
/// let mut job = EvolveJob::new(&sample.questions, &sample.databases, folder.path().join("evolved"));
/// job.plan = EvolvePlan::Kinds { kinds: vec![ChangeKind::RenameColumns], per_item: false };
/// let evolved = job.run(&Context::default())?;
/// assert_eq!(evolved[0].0, "rename-columns");
/// assert!(evolved[0].1.golds_changed > 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct EvolveJob {
    /// The golds and their questions.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub benchmark: BenchmarkSource,
    /// Folder with the databases, or one of them.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub db: PathBuf,
    /// The benchmark's tables.json: foreign keys that its databases do not declare, and names in words
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", value_parser = crate::cli::stdin::input_file))]
    pub tables: Option<PathBuf>,
    /// Folder to write: a benchmark per kind; a file with --training
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub out: OutputPath,
    /// The changes.
    #[cfg_attr(feature = "cli", arg(skip = every_kind()))]
    pub plan: EvolvePlan,
    /// Seed of all proposals: the same seed gives the same benchmark
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 0))]
    pub seed: u64,
    /// Largest share of eligible tables or columns to change (0 < x <= 1)
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", default_value_t = 0.5))]
    pub intensity: f64,
    /// How readable new names are
    #[cfg_attr(feature = "cli", arg(long, value_name = "LEVEL", default_value = Naturalness::Regular.name(),
        value_parser = crate::cli::naturalness()))]
    pub naturalness: Naturalness,
    /// The language model that thinks of new names; the built-in lexicon without it.
    #[cfg(feature = "services")]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub namer: Option<LlmSettings>,
    /// Worker threads; 0 means one per core. The result does not depend on them
    #[cfg_attr(feature = "cli", arg(long, short, value_name = "N", default_value_t = 0))]
    pub jobs: usize,
    /// Which questions are evolved; by default all.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub subset: Subset,
    /// Limits of every query.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub limits: Limits,
}

/// A schema of every kind of change for each database.
fn every_kind() -> EvolvePlan {
    EvolvePlan::Kinds { kinds: ChangeKind::ALL.to_vec(), per_item: false }
}

impl EvolveJob {
    /// Every kind of change of half of what can be changed, one schema for each database.
    pub fn new(gold: impl Into<PathBuf>, db: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Self {
        Self {
            benchmark: BenchmarkSource { gold: gold.into(), ..BenchmarkSource::default() },
            db: db.into(),
            tables: None,
            out: out.into().into(),
            plan: every_kind(),
            seed: 0,
            intensity: 0.5,
            naturalness: Naturalness::Regular,
            #[cfg(feature = "services")]
            namer: None,
            limits: Limits::default(),
            subset: Subset::default(),
            jobs: 0,
        }
    }

    /// Writes the evolved benchmarks; each has its name and what was done.
    ///
    /// # Errors
    /// When an input cannot be read, the intensity is not a share, the model gives no answers, or the folder holds
    /// something else or cannot be written.
    pub fn run(&self, context: &Context<'_>) -> Result<Vec<(String, Statistics)>, Error> {
        if !(self.intensity > 0.0 && self.intensity <= 1.0) {
            let text = format!("--intensity {} is not above 0 and up to 1; a half is 0.5", self.intensity);
            return Err(Error::Invalid(text));
        }
        keep_run(&self.out)?;
        let mut benchmark = load_benchmark(&self.benchmark)?;
        name_database(&mut benchmark, Some(&self.db), None)?;
        let engine = context.sqlite(self.limits, Moment::now())?;
        let selection =
            subset::select(&self.subset, &benchmark.examples, &self.db, &engine, context.watcher())?;
        benchmark.examples = subset::pick(benchmark.examples, selection.positions.as_deref());
        benchmark.notes.iter().for_each(|text| context.watcher().note(text));
        self.run_on(&benchmark, context)
    }

    /// The same for a benchmark that is read.
    pub(crate) fn run_on(
        &self,
        benchmark: &Benchmark,
        context: &Context<'_>,
    ) -> Result<Vec<(String, Statistics)>, Error> {
        let tables = self.tables.as_deref().map(load_tables).transpose()?;
        tables.iter().flat_map(|tables| &tables.notes).for_each(|text| context.watcher().note(text));
        let options = EvolveOptions {
            plan: self.plan.clone(),
            seed: self.seed,
            intensity: self.intensity,
            naturalness: self.naturalness,
            #[cfg(feature = "services")]
            names: self.names(benchmark, context)?,
            #[cfg(not(feature = "services"))]
            names: None,
            tables,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            jobs: self.jobs,
        };
        let databases = Databases::open(&self.db)?;
        let engine = context.sqlite(self.limits, Moment::now())?;
        let progress = counted(context.watcher(), "databases");
        evolve(benchmark, &databases, &engine, &options, &self.out, &progress)
            .about(|| format!("{} could not be evolved", self.benchmark.gold.display()))
    }
}

/// Tells a watcher how many of what `noun` names are done.
pub(crate) fn counted(watcher: &dyn Watcher, noun: &'static str) -> impl Fn(usize, usize) + Sync {
    let started = std::sync::Once::new();
    move |done, total| {
        started.call_once(|| watcher.started(noun, total, 0));
        watcher.advanced(done);
    }
}
