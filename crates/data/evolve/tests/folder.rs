//! The folder that is written: one process at a time.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::fs::File;

use rusqlite::Connection;
use sqlgauge_dataset::{BenchmarkSource, Databases, load_benchmark};
use sqlgauge_engine::{Limits, SqliteEngine};
use sqlgauge_evolve::{EvolveError, Kind, Options, Plan, evolve};

#[test]
fn a_second_writer_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let databases = folder.path().join("database");
    std::fs::create_dir_all(databases.join("d")).unwrap();
    Connection::open(databases.join("d/d.sqlite"))
        .unwrap()
        .execute_batch("CREATE TABLE person (name TEXT)")
        .unwrap();
    let gold = folder.path().join("dev.json");
    std::fs::write(&gold, r#"[{"db_id": "d", "question": "?", "query": "SELECT name FROM person"}]"#)
        .unwrap();
    let benchmark = load_benchmark(&BenchmarkSource { gold, ..BenchmarkSource::default() }).unwrap();
    let options = Options::of(Plan::Kinds { kinds: vec![Kind::RenameColumns], per_item: false });
    let engine = SqliteEngine::new(Limits::default());
    let databases = Databases::open(&databases).unwrap();
    let out = folder.path().join("out");
    let run = || evolve(&benchmark, &databases, &engine, &options, &out, &|_, _| ());
    std::fs::create_dir_all(&out).unwrap();
    let held = File::create(out.join("evolve.lock")).unwrap();
    held.try_lock().unwrap();
    let error = run().unwrap_err();
    assert!(matches!(&error, EvolveError::Locked { path } if *path == out), "{error}");
    assert!(!out.join("rename-columns").exists());
    drop(held);
    assert_eq!(run().unwrap()[0].1.written, 1);
}
