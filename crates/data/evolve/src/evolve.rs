//! Evolves a benchmark: every kind, every database, every item.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlgauge_base::pool::Pool;
use sqlgauge_base::seed_of;
use sqlgauge_dataset::{Benchmark, Databases, Example, Tables};
use sqlgauge_engine::Engine;

use crate::error::EvolveError;
use crate::layout::{ChangesHeader, Statistics};
use crate::output::Folder;
use crate::plan::{EvolveOptions, FolderPlan, stored};
use crate::source::SourceDatabase;
use crate::work::{History, Work};

/// A file in the folder, locked by the process that writes there; hidden, so that a loop of a shell over the folder does not meet it.
const LOCK: &str = ".evolve.lock";

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
    options.plan.check(&sources)?;
    let _lock = lock(out)?;
    let inputs = inputs(benchmark, &sources, options)?;
    let mut folders = Vec::new();
    for FolderPlan { name, kind, per_item, step, mode } in options.plan.folders() {
        let header = ChangesHeader {
            format: crate::layout::FORMAT_VERSION,
            tool_version: options.tool_version.clone(),
            kind,
            seed: options.seed,
            intensity: options.intensity,
            naturalness: options.naturalness,
            names: options.names.as_ref().map(|names| names.of.clone()),
            per_item,
            step,
            items: benchmark.examples.len(),
            inputs: inputs.clone(),
        };
        let folder = Folder::open(&out.join(&name), header)?;
        folders.push((name, mode, folder));
    }
    let (done, total) = (AtomicUsize::new(0), sources.len() * folders.len());
    Pool::of(options.jobs).try_map(sources.len(), |place| {
        let source = &sources[place];
        let work = Work { source, options };
        let mut history = History::new(source);
        for (_, mode, folder) in &folders {
            if let Some(shard) = work.shard(*mode, folder, &mut history)? {
                // An engine that failed did not tell the truth about its queries, so its results are not kept for the next run.
                engine.check()?;
                folder.keep(source.db_id, &shard)?;
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        }
        Ok::<(), EvolveError>(())
    })?;
    engine.check()?;
    folders.into_iter().map(|(name, _, folder)| Ok((name, folder.finish()?))).collect()
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
    let mut text = options.plan.inputs()?;
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
