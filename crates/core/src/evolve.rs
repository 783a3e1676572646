//! A benchmark under other schemas: `sqlgauge evolve`.

#[cfg(feature = "services")]
mod naming;

use std::path::PathBuf;

use sqlgauge_dataset::{Benchmark, BenchmarkSource, Databases, Subset, load_benchmark, load_tables};
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
use crate::subset;

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
pub struct EvolveJob {
    /// The golds and their questions.
    pub benchmark: BenchmarkSource,
    /// Folder with the databases, or one of them.
    pub db: PathBuf,
    /// A `tables.json`: foreign keys that the databases do not declare, and names in words.
    pub tables: Option<PathBuf>,
    /// Folder to write: a benchmark per kind.
    pub out: PathBuf,
    /// The changes.
    pub plan: EvolvePlan,
    /// Seed of all proposals: the same seed gives the same benchmark.
    pub seed: u64,
    /// Largest share of eligible tables or columns to change (0 < x <= 1).
    pub intensity: f64,
    /// How readable new names are.
    pub naturalness: Naturalness,
    /// The language model that thinks of new names; the built-in lexicon without it.
    #[cfg(feature = "services")]
    pub namer: Option<LlmSettings>,
    /// Limits of every query.
    pub limits: Limits,
    /// Which questions are evolved; by default all.
    pub subset: Subset,
    /// Worker threads; 0 means one per core. The result does not depend on them.
    pub jobs: usize,
}

impl EvolveJob {
    /// Every kind of change of half of what can be changed, one schema for each database.
    pub fn new(gold: impl Into<PathBuf>, db: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Self {
        Self {
            benchmark: BenchmarkSource { gold: gold.into(), ..BenchmarkSource::default() },
            db: db.into(),
            tables: None,
            out: out.into(),
            plan: EvolvePlan::Kinds { kinds: ChangeKind::ALL.to_vec(), per_item: false },
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
        keep_run("--out", &self.out)?;
        let mut benchmark = load_benchmark(&self.benchmark)?;
        name_database(&mut benchmark, Some(&self.db), None)?;
        if !self.subset.is_all() {
            let engine = context.sqlite(self.limits, Moment::now())?;
            let positions = subset::positions(&self.subset, &benchmark.examples, &self.db, &engine)?;
            benchmark.examples = subset::pick(benchmark.examples, positions.as_deref());
        }
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
        };
        let databases = Databases::open(&self.db)?;
        let engine = context.sqlite(self.limits, Moment::now())?;
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build()?;
        let progress = counted(context.watcher(), "databases");
        threads
            .install(|| evolve(benchmark, &databases, &engine, &options, &self.out, &progress))
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
