//! Evolves a benchmark: every kind, every database, every item.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::Serialize;
use sqlgauge_base::seed_of;
use sqlgauge_dataset::{Benchmark, Databases, Example, Tables};
use sqlgauge_engine::Engine;

use crate::chain::Chain;
use crate::error::EvolveError;
use crate::kind::{Answerability, ChangeKind};
use crate::layout::{ChangesHeader, Statistics};
use crate::output::Folder;
use crate::script::ChangeScript;
use crate::source::SourceDatabase;
use crate::work::Work;
use sqlgauge_names::{Naturalness, Suggestions};

/// A file in the folder, locked by the process that writes there; hidden, so that a loop of a shell over the folder does not meet it.
const LOCK: &str = ".evolve.lock";

/// What is asked for.
#[derive(Debug, Clone)]
pub struct EvolveOptions {
    /// What is changed, and into which folders.
    pub plan: EvolvePlan,
    /// The seed of all proposals.
    pub seed: u64,
    /// The share of what could be changed that is changed at most, between 0 and 1.
    pub intensity: f64,
    /// How readable new names are.
    pub naturalness: Naturalness,
    /// Names for what is renamed; without them the lexicon's.
    pub names: Option<Suggestions>,
    /// What the benchmark's `tables.json` says of the databases: keys that these do not declare, and names in words.
    pub tables: Option<Tables>,
    /// The version of sqlgauge, for the record.
    pub tool_version: String,
}

impl EvolveOptions {
    /// Changes all that can be changed to regular names of the lexicon, from seed 0.
    pub fn of(plan: EvolvePlan) -> Self {
        Self {
            plan,
            seed: 0,
            intensity: 1.0,
            naturalness: Naturalness::Regular,
            names: None,
            tables: None,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// What is changed.
#[derive(Debug, Clone)]
pub enum EvolvePlan {
    /// Each kind by itself, into a folder of its name. With `per_item` each item has a schema of its own.
    Kinds {
        kinds: Vec<ChangeKind>,
        /// Whether each item has a schema of its own, where it has one for each database else.
        per_item: bool,
    },
    /// A history: one kind after the other, drawn from these, each version into a folder `step-1`, `step-2`, ….
    Steps {
        /// The kinds that are drawn from; those in scope that change the schema count.
        kinds: Vec<ChangeKind>,
        /// How many.
        steps: u32,
    },
    /// The changes of a script, into the folder `script`.
    Script(ChangeScript),
}

/// What one folder holds.
#[derive(Debug, Clone)]
enum Variant {
    Kind(ChangeKind, bool),
    Step(u32),
    Script,
}

impl Variant {
    fn all(plan: &EvolvePlan) -> Vec<Self> {
        match plan {
            EvolvePlan::Kinds { kinds, per_item } => {
                kinds.iter().map(|&kind| Self::Kind(kind, *per_item)).collect()
            }
            EvolvePlan::Steps { steps, .. } => (1..=*steps).map(Self::Step).collect(),
            EvolvePlan::Script(_) => vec![Self::Script],
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Kind(kind, _) => kind.name().to_owned(),
            Self::Step(step) => format!("step-{step}"),
            Self::Script => "script".to_owned(),
        }
    }
}

/// How far it is: databases done and all of them.
pub type EvolveProgress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Evolves a benchmark into the folders of a plan, and says of each, by its name, what it holds. What an earlier run of the
/// same command has done is not done again.
///
/// # Errors
/// [`EvolveError`]. What is wrong with an item or a database for a kind is no error, but in the records.
pub fn evolve(
    benchmark: &Benchmark,
    databases: &Databases,
    engine: &dyn Engine,
    options: &EvolveOptions,
    out: &Path,
    progress: EvolveProgress<'_>,
) -> Result<Vec<(String, Statistics)>, EvolveError> {
    let sources = sources(benchmark, databases, engine, options.tables.as_ref())?;
    check_plan(&options.plan, &sources)?;
    let _lock = lock(out)?;
    let inputs = inputs(benchmark, &sources, options)?;
    let mut folders = Vec::new();
    for variant in Variant::all(&options.plan) {
        let header = ChangesHeader {
            format: crate::layout::FORMAT_VERSION,
            tool_version: options.tool_version.clone(),
            kind: if let Variant::Kind(kind, _) = variant { Some(kind) } else { None },
            seed: options.seed,
            intensity: options.intensity,
            naturalness: options.naturalness,
            names: options.names.as_ref().map(|names| names.of.clone()),
            per_item: matches!(variant, Variant::Kind(_, true)),
            step: if let Variant::Step(step) = variant { Some(step) } else { None },
            items: benchmark.examples.len(),
            inputs: inputs.clone(),
        };
        let folder = Folder::open(&out.join(variant.name()), header)?;
        folders.push((variant, folder));
    }
    let (done, total) = (AtomicUsize::new(0), sources.len() * folders.len());
    sources.par_iter().try_for_each(|source| {
        let work = Work { source, options };
        let mut history = Chain::new(source.schema().clone());
        let mut version: Option<PathBuf> = None;
        for (variant, folder) in &folders {
            let place = folder.database(source.db_id);
            if let Variant::Step(step) = variant {
                work.replay_or_step(*step, folder, &mut history, version.as_deref())?;
            }
            if !folder.has(source.db_id) {
                let shard = match variant {
                    Variant::Step(_) => work.version(&history, &place)?,
                    Variant::Script => work.script(&place)?,
                    Variant::Kind(kind, _) if kind.scope() == Answerability::Out => work.out_of_scope(*kind),
                    Variant::Kind(ChangeKind::AddTables, _) => work.beside_others(&place)?,
                    Variant::Kind(kind, true) => work.per_item(*kind, folder)?,
                    Variant::Kind(kind, false) => work.per_database(*kind, &place)?,
                };
                // An engine that failed did not tell the truth about its queries, so its results are not kept for the next run.
                engine.check()?;
                folder.keep(source.db_id, &shard)?;
            }
            version = Some(place.join(format!("{}.sqlite", source.db_id))).filter(|path| path.exists());
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        }
        Ok::<(), EvolveError>(())
    })?;
    engine.check()?;
    folders.into_iter().map(|(variant, folder)| Ok((variant.name(), folder.finish()?))).collect()
}

/// Finds what a plan asks for that would change nothing.
fn check_plan(plan: &EvolvePlan, sources: &[SourceDatabase<'_>]) -> Result<(), EvolveError> {
    match plan {
        EvolvePlan::Script(script) => {
            let is_asked_about = |db_id: &str| sources.iter().any(|source| source.db_id == db_id);
            let mut changed = script.iter().filter(|(_, changes)| !changes.is_empty());
            match changed.find(|(db_id, _)| !is_asked_about(db_id)) {
                Some((db_id, _)) => Err(EvolveError::ScriptDatabase { db_id: db_id.clone() }),
                None => Ok(()),
            }
        }
        EvolvePlan::Steps { kinds, .. } if !kinds.iter().any(|&kind| is_step(kind)) => {
            Err(EvolveError::NoStep)
        }
        EvolvePlan::Steps { .. } | EvolvePlan::Kinds { .. } => Ok(()),
    }
}

/// Whether a history can have the kind: its questions can still be answered, and the schema is another.
pub(crate) fn is_step(kind: ChangeKind) -> bool {
    kind.scope() == Answerability::In && kind.changes_schema()
}

/// Holds the folder as long as the file is open.
fn lock(out: &Path) -> Result<File, EvolveError> {
    let unwritable = |path: &Path| {
        let path = path.to_owned();
        move |source| EvolveError::Write { path, source }
    };
    fs::create_dir_all(out).map_err(unwritable(out))?;
    let path = out.join(LOCK);
    let lock = sqlgauge_base::file::lock(&path).map_err(unwritable(&path))?;
    lock.ok_or_else(|| EvolveError::Locked { path: out.to_owned() })
}

/// The databases in the order of their names, each with its items.
fn sources<'a>(
    benchmark: &'a Benchmark,
    databases: &Databases,
    engine: &'a dyn Engine,
    tables: Option<&'a Tables>,
) -> Result<Vec<SourceDatabase<'a>>, EvolveError> {
    let mut items: BTreeMap<&str, Vec<&Example>> = BTreeMap::new();
    for example in &benchmark.examples {
        items.entry(&example.db_id).or_default().push(example);
    }
    let open = |(db_id, items): (&'a str, Vec<&'a Example>)| {
        let database = engine.open(&databases.locate(db_id)?.main)?;
        let entry = match tables {
            Some(tables) => {
                Some(tables.get(db_id).ok_or_else(|| EvolveError::NoEntry { db_id: db_id.to_owned() })?)
            }
            None => None,
        };
        Ok(SourceDatabase::new((db_id, database), items, engine, entry))
    };
    items.into_iter().map(open).collect()
}

/// What the outcome depends on besides the options, as one hash.
fn inputs(
    benchmark: &Benchmark,
    sources: &[SourceDatabase<'_>],
    options: &EvolveOptions,
) -> Result<String, EvolveError> {
    let mut text = match &options.plan {
        EvolvePlan::Kinds { .. } => String::new(),
        EvolvePlan::Steps { kinds, .. } => stored(kinds)?,
        EvolvePlan::Script(script) => stored(script)?,
    };
    for example in &benchmark.examples {
        for part in [&example.id, &example.db_id].into_iter().chain(&example.question).chain(&example.golds) {
            text.push_str(part);
            text.push('\0');
        }
    }
    let mut hash = format!("{:016x}", seed_of(&text));
    for source in sources {
        let content = source.database.content_hash()?;
        let names = options.names.as_ref().and_then(|names| names.databases.get(source.db_id));
        let more = stored(&(names, source.entry))?;
        hash = format!("{:016x}", seed_of(&format!("{hash}{}{content}{more}", source.db_id)));
    }
    Ok(hash)
}

/// A value as it is stored: unlike its debug text, that is the same when a type or the order of its fields changes.
fn stored(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_value(value).map(|value| value.to_string())
}
