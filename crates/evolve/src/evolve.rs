//! A benchmark evolved: every kind, every database, every item.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use sqlgauge_base::{Random, seed_of};
use sqlgauge_dataset::{Benchmark, Databases, DatasetError, Example};
use sqlgauge_engine::{Engine, EngineError};

use crate::chain::Chain;
use crate::kind::Kind;
use crate::layout::{Header, Statistics};
use crate::migrate::MigrationError;
use crate::names::Naturalness;
use crate::output::Folder;
use crate::perturbations::{Context, propose};
use crate::shard::Evolving;
use crate::source::SourceDatabase;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The kinds, each into a folder of its own.
    pub kinds: Vec<Kind>,
    /// The seed of all proposals.
    pub seed: u64,
    /// The share of what could be changed that is changed at most, between 0 and 1.
    pub intensity: f64,
    /// How readable new names are.
    pub naturalness: Naturalness,
    /// The version of sqlgauge, for the record.
    pub tool_version: String,
}

/// Why a benchmark could not be evolved.
#[derive(Debug, thiserror::Error)]
pub enum EvolveError {
    /// A database that is not there.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// A database that cannot be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A new database that cannot be written.
    #[error(transparent)]
    Migration(#[from] MigrationError),
    /// A file that cannot be written.
    #[error("{} cannot be written ({source}): {}", path.display(), sqlgauge_base::file::remedy(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of an earlier run that cannot be read.
    #[error("{} cannot be read ({message}): remove its folder and run again", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The folder is of another command.
    #[error("{} holds a benchmark that was evolved otherwise; choose another --out, or remove it", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
}

/// How far it is: databases done and all of them.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Evolves a benchmark into a folder per kind, and says of each what it holds. What an earlier run of the same command
/// has done is not done again.
///
/// # Errors
/// [`EvolveError`]. What is wrong with an item or a database for a kind is no error, but in the records.
pub fn evolve(
    benchmark: &Benchmark,
    databases: &Databases,
    engine: &dyn Engine,
    options: &Options,
    out: &Path,
    progress: Progress<'_>,
) -> Result<Vec<(Kind, Statistics)>, EvolveError> {
    let sources = sources(benchmark, databases, engine)?;
    let inputs = inputs(benchmark, &sources)?;
    let mut folders = Vec::new();
    for &kind in &options.kinds {
        let header = Header {
            format: crate::layout::FORMAT_VERSION,
            tool_version: options.tool_version.clone(),
            kind: Some(kind),
            seed: options.seed,
            intensity: options.intensity,
            naturalness: options.naturalness,
            step: None,
            items: benchmark.examples.len(),
            inputs: inputs.clone(),
        };
        folders.push((kind, Folder::open(&out.join(kind.name()), header)?));
    }
    let (done, total) = (AtomicUsize::new(0), sources.len() * folders.len());
    sources.par_iter().try_for_each(|source| {
        folders.iter().try_for_each(|(kind, folder)| {
            if !folder.has(source.db_id) {
                let shard = one(source, *kind, options, &folder.database(source.db_id))?;
                folder.keep(source.db_id, &shard)?;
            }
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            Ok::<(), EvolveError>(())
        })
    })?;
    engine.check()?;
    folders.into_iter().map(|(kind, folder)| Ok((kind, folder.finish()?))).collect()
}

/// One kind on one database.
fn one(
    source: &SourceDatabase<'_>,
    kind: Kind,
    options: &Options,
    folder: &Path,
) -> Result<crate::shard::Shard, EvolveError> {
    let mut chain = Chain::new(source.schema().clone());
    let needed = source.needed();
    let context = Context {
        needed: &needed,
        intensity: options.intensity,
        naturalness: options.naturalness,
        probe: source,
    };
    let mut random = Random::new([options.seed, seed_of(source.db_id), seed_of(kind.name())]);
    propose(kind, &context, &mut chain, &mut random);
    let evolving = Evolving { source, chain: &chain, db_id: source.db_id, folder };
    evolving.run(&source.items)
}

/// The databases in the order of their names, each with its items.
fn sources<'a>(
    benchmark: &'a Benchmark,
    databases: &Databases,
    engine: &'a dyn Engine,
) -> Result<Vec<SourceDatabase<'a>>, EvolveError> {
    let mut items: BTreeMap<&str, Vec<&Example>> = BTreeMap::new();
    for example in &benchmark.examples {
        items.entry(&example.db_id).or_default().push(example);
    }
    let open = |(db_id, items)| {
        let database = engine.open(&databases.locate(db_id)?.main)?;
        Ok(SourceDatabase::new(db_id, database, items, engine))
    };
    items.into_iter().map(open).collect()
}

/// What the outcome depends on besides the options, as one hash.
fn inputs(benchmark: &Benchmark, sources: &[SourceDatabase<'_>]) -> Result<String, EvolveError> {
    let mut text = String::new();
    for example in &benchmark.examples {
        for part in [&example.id, &example.db_id].into_iter().chain(&example.question).chain(&example.golds) {
            text.push_str(part);
            text.push('\0');
        }
    }
    let mut hash = format!("{:016x}", seed_of(&text));
    for source in sources {
        let own = source.database.content_hash()?;
        hash = format!("{:016x}", seed_of(&format!("{hash}{}{own}", source.db_id)));
    }
    Ok(hash)
}
