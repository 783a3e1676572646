//! A database `d` that is evolved, and what SQLite returns of one.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::Value;
use sqlgauge_dataset::{Benchmark, BenchmarkSource, Databases, load_benchmark};
use sqlgauge_engine::{Limits, SqliteEngine};
use sqlgauge_evolve::layout::Statistics;
use sqlgauge_evolve::{ChangeKind, EvolveOptions, EvolvePlan, evolve, read_script};

/// Makes the database, and a benchmark with those golds.
pub(crate) fn benchmark(folder: &Path, world: &str, golds: &[&str]) -> (Benchmark, Databases) {
    let place = folder.join("database/d");
    std::fs::create_dir_all(&place).unwrap();
    Connection::open(place.join("d.sqlite")).unwrap().execute_batch(world).unwrap();
    let items: Vec<_> =
        golds.iter().map(|gold| serde_json::json!({"db_id": "d", "question": "?", "query": gold})).collect();
    let gold = folder.join("dev.json");
    std::fs::write(&gold, serde_json::to_string(&items).unwrap()).unwrap();
    let benchmark = load_benchmark(&BenchmarkSource { gold, ..BenchmarkSource::default() }).unwrap();
    (benchmark, Databases::open(&folder.join("database")).unwrap())
}

/// One schema for all items of each kind.
pub(crate) fn of_kinds(kinds: &[ChangeKind]) -> EvolveOptions {
    EvolveOptions::of(EvolvePlan::Kinds { kinds: kinds.to_vec(), per_item: false })
}

/// Makes the database, and evolves it with those golds below `out`.
pub(crate) fn evolved(
    folder: &Path,
    world: &str,
    options: &EvolveOptions,
    golds: &[&str],
) -> Vec<(String, Statistics)> {
    let (benchmark, databases) = benchmark(folder, world, golds);
    let engine = SqliteEngine::new(Limits::default());
    evolve(&benchmark, &databases, &engine, options, &folder.join("out"), &|_, _| ()).unwrap()
}

/// The same by a script with those lines; gives the folder with the benchmark.
pub(crate) fn scripted(folder: &Path, world: &str, changes: &str, golds: &[&str]) -> PathBuf {
    let script = folder.join("changes.jsonl");
    std::fs::write(&script, changes).unwrap();
    let options = EvolveOptions::of(EvolvePlan::Script(read_script(&script).unwrap()));
    evolved(folder, world, &options, golds);
    folder.join("out/script")
}

/// The rows of a query as texts, in their order.
pub(crate) fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let width = statement.column_count();
    let rows = statement
        .query_map([], |row| (0..width).map(|at| row.get::<_, Value>(at)).collect::<Result<Vec<_>, _>>());
    rows.unwrap().map(|row| format!("{:?}", row.unwrap())).collect()
}
