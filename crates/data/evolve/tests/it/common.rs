//! A database `d` that is evolved by a script.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use sqlgauge_dataset::{BenchmarkSource, Databases, load_benchmark};
use sqlgauge_engine::{Limits, SqliteEngine};
use sqlgauge_evolve::{EvolveOptions, EvolvePlan, evolve, read_script};

/// Makes the database, and evolves it with those golds; gives the folder with the benchmark. `changes` are the lines of the
/// script.
pub(crate) fn scripted(folder: &Path, world: &str, changes: &str, golds: &[&str]) -> PathBuf {
    let place = folder.join("database/d");
    std::fs::create_dir_all(&place).unwrap();
    Connection::open(place.join("d.sqlite")).unwrap().execute_batch(world).unwrap();
    let items: Vec<_> =
        golds.iter().map(|gold| serde_json::json!({"db_id": "d", "question": "?", "query": gold})).collect();
    let gold = folder.join("dev.json");
    std::fs::write(&gold, serde_json::to_string(&items).unwrap()).unwrap();
    let script = folder.join("changes.jsonl");
    std::fs::write(&script, changes).unwrap();
    let options = EvolveOptions::of(EvolvePlan::Script(read_script(&script).unwrap()));
    let benchmark = load_benchmark(&BenchmarkSource { gold, ..BenchmarkSource::default() }).unwrap();
    let databases = Databases::open(&folder.join("database")).unwrap();
    let engine = SqliteEngine::new(Limits::default());
    let out = folder.join("out");
    evolve(&benchmark, &databases, &engine, &options, &out, &|_, _| ()).unwrap();
    out.join("script")
}
