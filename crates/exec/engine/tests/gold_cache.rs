//! The cache of gold executions.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

mod common;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::in_short;
use sqlgauge_engine::{Database, Engine, EngineError, Execution, GoldCache, Limits, SqliteEngine};

/// Counts the executions of the engine inside.
struct Counting {
    inside: SqliteEngine,
    runs: AtomicUsize,
}

impl Engine for Counting {
    fn name_and_version(&self) -> String {
        self.inside.name_and_version()
    }

    fn timeout(&self) -> Duration {
        self.inside.timeout()
    }

    fn open(&self, path: &Path) -> Result<Arc<Database>, EngineError> {
        self.inside.open(path)
    }

    fn run(&self, database: &Database, sql: &str) -> Execution {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.inside.run(database, sql)
    }
}

impl Counting {
    fn new() -> Self {
        Self { inside: SqliteEngine::new(Limits::default()), runs: AtomicUsize::new(0) }
    }
}

const SLOW: &str =
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 50000) SELECT count(*) FROM n";

#[test]
fn one_key_is_run_once_however_many_threads_ask() {
    let folder = tempfile::tempdir().unwrap();
    let path = common::database(folder.path(), "a.sqlite", "CREATE TABLE t(a)");
    let engine = Counting::new();
    let database = engine.open(&path).unwrap();
    let cache = GoldCache::new(1 << 20);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let execution = cache.run(&engine, &database, SLOW).unwrap();
                assert_eq!(in_short(&execution.outcome), "50000");
            });
        }
    });
    assert_eq!(engine.runs.load(Ordering::Relaxed), 1);
}

#[test]
fn the_key_is_the_content_of_the_database_and_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let first = common::database(folder.path(), "a.sqlite", "CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    let copy = folder.path().join("copy.sqlite");
    std::fs::copy(&first, &copy).unwrap();
    let other = common::database(folder.path(), "b.sqlite", "CREATE TABLE t(a); INSERT INTO t VALUES (2)");
    let engine = Counting::new();
    let cache = GoldCache::new(1 << 20);
    for (path, expected, runs) in [(&first, "1", 1), (&copy, "1", 1), (&other, "2", 2), (&first, "1", 2)] {
        let database = engine.open(path).unwrap();
        assert_eq!(in_short(&cache.run(&engine, &database, "SELECT a FROM t").unwrap().outcome), expected);
        assert_eq!(engine.runs.load(Ordering::Relaxed), runs, "{}", path.display());
    }
}

#[test]
fn a_full_cache_forgets_and_still_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = common::database(folder.path(), "a.sqlite", "CREATE TABLE t(a)");
    let engine = Counting::new();
    let database = engine.open(&path).unwrap();
    let cache = GoldCache::new(0);
    for _ in 0..2 {
        assert_eq!(in_short(&cache.run(&engine, &database, "SELECT 1").unwrap().outcome), "1");
    }
    assert_eq!(engine.runs.load(Ordering::Relaxed), 2);
}

#[test]
fn kept_results_outlive_the_process_until_content_text_or_limits_change() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("golds");
    let one = common::database(folder.path(), "a.sqlite", "CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    let two = common::database(folder.path(), "b.sqlite", "CREATE TABLE t(a); INSERT INTO t VALUES (2)");
    let limits = Limits::default();
    let narrow = Limits { max_rows: 7, ..limits };
    // Each runs in a new cache; whether the engine is asked is the last.
    for (path, limits, sql, expected, runs) in [
        (&one, &limits, "SELECT a, 0.1, x'00ff', NULL, 'é' FROM t", "1|0.1", 1),
        (&one, &limits, "SELECT a, 0.1, x'00ff', NULL, 'é' FROM t", "1|0.1", 0),
        (&two, &limits, "SELECT a, 0.1, x'00ff', NULL, 'é' FROM t", "2|0.1", 1),
        (&one, &limits, "SELECT a, 0.1, x'00ff', NULL, 'é'  FROM t", "1|0.1", 1),
        (&one, &narrow, "SELECT a, 0.1, x'00ff', NULL, 'é' FROM t", "1|0.1", 1),
        // What may be another next time, and what fails, is asked for again.
        (&one, &limits, "SELECT a, 0.1 FROM t WHERE date('now') > 0", "1|0.1", 1),
        (&one, &limits, "SELECT a, 0.1 FROM t WHERE date('now') > 0", "1|0.1", 1),
        (&one, &limits, "SELECT nothing FROM t", "", 1),
        (&one, &limits, "SELECT nothing FROM t", "", 1),
    ] {
        let engine = Counting::new();
        let cache = GoldCache::new(1 << 20).kept_in(&store, limits).unwrap();
        let execution = cache.run(&engine, &engine.open(path).unwrap(), sql).unwrap();
        let fresh = engine.inside.run(&engine.open(path).unwrap(), sql);
        assert_eq!(execution.outcome, fresh.outcome, "{sql}");
        assert!(
            in_short(&execution.outcome).starts_with(expected),
            "{sql}: {}",
            in_short(&execution.outcome)
        );
        assert_eq!(engine.runs.load(Ordering::Relaxed), runs, "{sql}");
    }
    // A torn file is as good as none.
    for entry in walk(&store) {
        let bytes = std::fs::read(&entry).unwrap();
        std::fs::write(&entry, &bytes[..bytes.len() - 1]).unwrap();
    }
    let engine = Counting::new();
    let cache = GoldCache::new(1 << 20).kept_in(&store, &limits).unwrap();
    let sql = "SELECT a, 0.1, x'00ff', NULL, 'é' FROM t";
    assert!(cache.run(&engine, &engine.open(&one).unwrap(), sql).unwrap().rows().is_some());
    assert_eq!(engine.runs.load(Ordering::Relaxed), 1);
}

/// The files in the folders of a folder.
fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let inside = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    inside(folder).flat_map(|folder| inside(&folder).collect::<Vec<_>>()).collect()
}
