//! Makes later versions of databases, without golds, for a corpus.
//!
//! # Contract
//! Of every database the steps of a history are made ([`EvolvePlan::Steps`]), drawn from kinds in scope. Version `n` of `DB` is
//! `OUT/DB__n/DB__n.sqlite`. A step to which no kind applies makes no version, and one whose data cannot be migrated ends the
//! history of its database. The same databases, steps and seed make the same bytes, whatever the number of threads.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use sqlgauge_base::regular;
use sqlgauge_dataset::{Benchmark, Databases, Example};
use sqlgauge_engine::Engine;

use crate::change::Change;
use crate::error::EvolveError;
use crate::evolve::evolve;
use crate::kind::ChangeKind;
use crate::layout::{ChangeRecord, SchemaRecord};
use crate::plan::{EvolveOptions, EvolvePlan};

/// Where the history is made before its databases get their names.
const HISTORY: &str = ".history";
/// The share of what could be changed that one step changes at most.
const INTENSITY: f64 = 0.5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps {
    /// The kinds of change that are drawn from; those in scope count.
    pub kinds: Vec<ChangeKind>,
    /// How many steps, each of one kind.
    pub count: u32,
    pub seed: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    pub db_id: String,
    /// The database that it is a version of.
    pub of: String,
    pub path: PathBuf,
    /// What leads from the schema of that database to its own.
    pub changes: Vec<Change>,
}

/// Makes those versions of every database, below `out`, in the order of their names; `jobs` as in [`EvolveOptions`].
///
/// # Errors
/// [`EvolveError`]. A database that cannot be changed is not an error.
pub fn versions(
    databases: &Databases,
    engine: &dyn Engine,
    steps: &Steps,
    jobs: usize,
    out: &Path,
) -> Result<Vec<Version>, EvolveError> {
    // Items that ask nothing, so that their databases are evolved.
    let about = |(index, (name, _))| Example::bare(format!("{index}"), index, name);
    let examples = databases.all()?.into_iter().enumerate().map(about).collect();
    let benchmark = Benchmark { examples, sources: Vec::new(), has_ids: true, notes: Vec::new() };
    let plan = EvolvePlan::Steps { kinds: steps.kinds.clone(), steps: steps.count };
    let options = EvolveOptions { seed: steps.seed, intensity: INTENSITY, jobs, ..EvolveOptions::of(plan) };
    let history = out.join(HISTORY);
    evolve(&benchmark, databases, engine, &options, &history, &|_, _| {})?;
    let mut versions = Vec::new();
    // A version differs from those before it by what it has more.
    let mut longest: HashMap<String, usize> = HashMap::new();
    for step in 1..=steps.count {
        let folder = history.join(format!("step-{step}"));
        for record in schemas(&folder.join("changes.jsonl"))? {
            let before = longest.entry(record.source_db_id.clone()).or_default();
            if record.infeasible.is_none() && record.changes.len() > *before {
                *before = record.changes.len();
                versions.push(moved(record, step, &folder, out)?);
            }
        }
    }
    fs::remove_dir_all(&history).map_err(|source| EvolveError::Write { path: history, source })?;
    versions.sort_by(|a, b| (&a.of, a.changes.len()).cmp(&(&b.of, b.changes.len())));
    Ok(versions)
}

fn schemas(path: &Path) -> Result<Vec<SchemaRecord>, EvolveError> {
    let unreadable = |message: String| EvolveError::Read { path: path.to_owned(), message };
    let text = regular::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    let mut records = Vec::new();
    for line in text.lines() {
        if let ChangeRecord::Schema(schema) =
            serde_json::from_str(line).map_err(|error| unreadable(error.to_string()))?
        {
            records.push(*schema);
        }
    }
    Ok(records)
}

/// Gives a step's database its name.
fn moved(record: SchemaRecord, step: u32, folder: &Path, out: &Path) -> Result<Version, EvolveError> {
    let of = record.source_db_id;
    let db_id = format!("{of}__{step}");
    let path = out.join(&db_id).join(format!("{db_id}.sqlite"));
    let file = folder.join("database").join(&of).join(format!("{of}.sqlite"));
    let place = out.join(&db_id);
    fs::create_dir_all(&place)
        .and_then(|()| fs::rename(file, &path))
        .map_err(|source| EvolveError::Write { path: path.clone(), source })?;
    Ok(Version { db_id, of, path, changes: record.changes })
}

#[cfg(test)]
mod tests {
    use sqlgauge_engine::{Limits, SqliteEngine};

    use super::*;

    const SCRIPT: &str = "
        CREATE TABLE artist (artist_id INTEGER PRIMARY KEY, full_name TEXT, country TEXT, age INTEGER);
        CREATE TABLE album (album_id INTEGER PRIMARY KEY, title TEXT, artist_id INTEGER REFERENCES artist(artist_id), price REAL);
        INSERT INTO artist VALUES (1, 'Ada Byron', 'Chile', 30), (2, 'Bea Cole', 'Ghana', 41);
        INSERT INTO album VALUES (1, 'A', 1, 2.5), (2, 'B', 2, 3.5), (3, 'C', 1, 4.5);";

    #[test]
    fn each_step_is_a_database_and_the_same_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in/music/music.sqlite");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        rusqlite::Connection::open(&path).unwrap().execute_batch(SCRIPT).unwrap();
        let databases = Databases::open(&folder.path().join("in")).unwrap();
        let engine = SqliteEngine::new(Limits::default());
        let steps = Steps { kinds: ChangeKind::ALL.to_vec(), count: 4, seed: 7 };
        let versions_in =
            |out: &str| versions(&databases, &engine, &steps, 2, &folder.path().join(out)).unwrap();
        let (first, again) = (versions_in("a"), versions_in("b"));
        assert!(!first.is_empty() && first.len() <= 4, "{first:?}");
        for (version, other) in first.iter().zip(&again) {
            assert_eq!((&version.db_id, &version.changes), (&other.db_id, &other.changes));
            assert_eq!(fs::read(&version.path).unwrap(), fs::read(&other.path).unwrap());
            assert!(version.db_id.starts_with("music__") && version.of == "music");
            let [now, before] = [&version.path, &path].map(|path| {
                let database = engine.open(path).unwrap();
                serde_json::to_value(&**database.schema()).unwrap()
            });
            assert_ne!(now, before, "{}", version.db_id);
        }
        assert!(first.windows(2).all(|pair| pair[0].changes.len() < pair[1].changes.len()));
        assert!(!folder.path().join("a").join(HISTORY).exists());
    }
}
