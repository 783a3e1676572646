//! The folder that is written: one process at a time.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlgauge_dataset::{Benchmark, Databases};
use sqlgauge_engine::{Database, Engine, EngineError, Execution, Failure, FailureKind, Limits, SqliteEngine};
use sqlgauge_evolve::{ChangeKind, EvolveError, EvolveOptions, EvolvePlan, EvolvedItem, evolve};

use crate::common::{benchmark, of_kinds};

/// A benchmark of one question about one table.
fn one_person(folder: &Path) -> (Benchmark, Databases) {
    benchmark(folder, "CREATE TABLE person (name TEXT)", &["SELECT name FROM person"])
}

#[test]
fn a_second_writer_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (benchmark, databases) = one_person(folder.path());
    let options = of_kinds(&[ChangeKind::RenameColumns]);
    let engine = SqliteEngine::new(Limits::default());
    let out = folder.path().join("out");
    let run = || evolve(&benchmark, &databases, &engine, &options, &out, &|_, _| ());
    std::fs::create_dir_all(&out).unwrap();
    let lock = File::create(out.join(".evolve.lock")).unwrap();
    lock.try_lock().unwrap();
    let error = run().unwrap_err();
    assert!(matches!(&error, EvolveError::Locked { path } if *path == out), "{error}");
    assert!(!out.join("rename-columns").exists());
    drop(lock);
    assert_eq!(run().unwrap()[0].1.written, 1);
}

/// An engine on a machine that fails for as long as it is told to.
struct Failing {
    engine: SqliteEngine,
    fails: AtomicBool,
}

impl Engine for Failing {
    fn name_and_version(&self) -> String {
        self.engine.name_and_version()
    }

    fn timeout(&self) -> Duration {
        self.engine.timeout()
    }

    fn open(&self, path: &Path) -> Result<Arc<Database>, EngineError> {
        self.engine.open(path)
    }

    fn run(&self, database: &Database, sql: &str) -> Execution {
        if self.fails.load(Ordering::Relaxed) {
            return Execution::failed(Failure::new(FailureKind::Machine, "too many open files"));
        }
        self.engine.run(database, sql)
    }

    fn check(&self) -> Result<(), EngineError> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(EngineError::Machine {
                path: "d.sqlite".into(),
                message: "too many open files".into(),
            });
        }
        self.engine.check()
    }
}

/// What a failing machine made of a database is not kept: the next run does it again.
#[test]
fn what_a_failing_machine_returned_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (benchmark, databases) = one_person(folder.path());
    let options = of_kinds(&[ChangeKind::RenameColumns]);
    let engine = Failing { engine: SqliteEngine::new(Limits::default()), fails: AtomicBool::new(true) };
    let out = folder.path().join("out");
    let run = || evolve(&benchmark, &databases, &engine, &options, &out, &|_, _| ());
    let error = run().unwrap_err();
    assert!(matches!(&error, EvolveError::Engine(EngineError::Machine { .. })), "{error}");
    engine.fails.store(false, Ordering::Relaxed);
    assert_eq!(run().unwrap()[0].1.written, 1);
}

/// A run that was broken off when nothing was left to do but to clean up and rename: the header is there and the folder
/// `shards` is not.
#[test]
fn what_was_broken_off_at_its_end_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (benchmark, databases) = one_person(folder.path());
    let options = of_kinds(&[ChangeKind::RenameColumns]);
    let engine = SqliteEngine::new(Limits::default());
    let out = folder.path().join("out");
    let run = || evolve(&benchmark, &databases, &engine, &options, &out, &|_, _| ());
    run().unwrap();
    let whole = out.join("rename-columns");
    let changes = std::fs::read_to_string(whole.join("changes.jsonl")).unwrap();
    let mut header: serde_json::Value = serde_json::from_str(changes.lines().next().unwrap()).unwrap();
    header.as_object_mut().unwrap().remove("record");
    let partial = out.join("rename-columns.sqlgauge-partial");
    std::fs::rename(&whole, &partial).unwrap();
    std::fs::write(partial.join("header.json"), header.to_string()).unwrap();

    assert_eq!(run().unwrap()[0].1.written, 1);
    assert_eq!(std::fs::read_to_string(whole.join("changes.jsonl")).unwrap(), changes);
    assert!(!partial.exists() && !whole.join("header.json").exists() && !whole.join("shards").exists());
}

/// Three settings of one question: the tables that it needs, one to three others beside them, and the whole schema.
#[test]
fn added_tables_are_shown_beside_those_that_are_needed() {
    let folder = tempfile::tempdir().unwrap();
    let tables = ["person", "pet", "house", "street", "town", "school"];
    let ddl: String = tables
        .map(|name| format!("CREATE TABLE {name} ({name}_id INTEGER PRIMARY KEY, name TEXT);"))
        .concat();
    let (benchmark, databases) = benchmark(folder.path(), &ddl, &["SELECT name FROM pet"; 12]);
    let options = of_kinds(&[ChangeKind::AddTables, ChangeKind::InventTables]);
    let engine = SqliteEngine::new(Limits::default());
    let out = folder.path().join("out");
    let folders = evolve(&benchmark, &databases, &engine, &options, &out, &|_, _| ()).unwrap();
    assert!(folders.iter().all(|(_, statistics)| statistics.written == 12));

    let count = |ddl: &str| ddl.matches("CREATE TABLE").count();
    let items = |kind: &str| -> Vec<EvolvedItem> {
        serde_json::from_slice(&std::fs::read(out.join(kind).join("dev.json")).unwrap()).unwrap()
    };
    let mut sizes = std::collections::BTreeSet::new();
    for item in items("add-tables") {
        assert_eq!((count(&item.ddl_needed), count(&item.ddl)), (1, tables.len()));
        assert!(item.ddl_needed.contains("CREATE TABLE pet"), "{}", item.ddl_needed);
        assert!(item.ddl_relevant.contains(item.ddl_needed.trim()), "{}", item.ddl_relevant);
        assert_eq!(item.query, item.source_query);
        sizes.insert(count(&item.ddl_relevant) - 1);
    }
    assert_eq!(sizes, [1, 2, 3].into());
    let statistics = folders[0].1.manipulated_per_query.unwrap();
    assert!((statistics.min, statistics.max) == (1.0, 3.0), "{statistics:?}");
    for item in items("invent-tables") {
        assert_eq!(count(&item.ddl_needed), 1);
        // The tables of the database stay out, and the invented one that extends the needed one is shown.
        assert!(count(&item.ddl_relevant) <= 2 && count(&item.ddl) > tables.len(), "{}", item.ddl);
        assert_eq!(count(&item.ddl_relevant) == 2, item.ddl.matches("REFERENCES pet").count() == 1);
    }

    let steps = EvolvePlan::Steps { kinds: vec![ChangeKind::AddTables], steps: 1 };
    let refused =
        evolve(&benchmark, &databases, &engine, &EvolveOptions::of(steps), &out.join("s"), &|_, _| ());
    assert!(matches!(refused, Err(EvolveError::NoStep)));
}
