//! Every real database opens, and every gold query of the dev set runs.
#![allow(clippy::unwrap_used, reason = "a test fails by panic")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use sqlgauge_engine::{Database, Engine, Execution, Limits, SqliteEngine};

/// All `<folder>/<db>/<db>.sqlite`.
fn databases(folder: &Path) -> BTreeMap<String, PathBuf> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let file = path.join(format!("{name}.sqlite"));
        if file.is_file() {
            files.insert(name, file);
        }
    }
    files
}

fn open_all(engine: &SqliteEngine, folder: &Path) -> BTreeMap<String, Arc<Database>> {
    let started = Instant::now();
    let opened: BTreeMap<_, _> =
        databases(folder).into_iter().map(|(name, path)| (name, engine.open(&path).unwrap())).collect();
    println!("{} databases of {} opened in {:?}", opened.len(), folder.display(), started.elapsed());
    opened
}

/// The pairs of query and database of a Spider gold file.
fn golds(path: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter_map(|line| line.rsplit_once('\t'))
        .map(|(sql, db)| (sql.to_owned(), db.trim().to_owned()))
        .collect()
}

#[test]
fn every_catalog_is_read() {
    let Some(data) = common::real_data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    for folder in ["spider/database", "spider/train_database", "bird/database", "bird/schema_only"] {
        let opened = open_all(&engine, &data.join(folder));
        assert!(!opened.is_empty());
        for (name, database) in opened {
            let tables = database.schema().tables();
            assert!(
                tables.iter().all(|table| !table.columns.is_empty()),
                "{name} has a table without columns"
            );
            assert_eq!(database.content_hash().unwrap().len(), 64);
        }
    }
}

#[test]
fn every_dev_gold_runs_and_the_number_of_threads_changes_nothing() {
    let Some(data) = common::real_data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    let opened = open_all(&engine, &data.join("spider/database"));
    let golds = golds(&data.join("spider/dev_gold.sql"));
    let run = |(sql, db): &(String, String)| engine.run(&opened[db], sql);

    let started = Instant::now();
    let alone: Vec<Execution> = golds.iter().map(run).collect();
    println!("{} golds on one thread in {:?}", golds.len(), started.elapsed());
    for (execution, (sql, db)) in alone.iter().zip(&golds) {
        assert_eq!(execution.outcome.status(), "ok", "{db}: {sql}: {:?}", execution.outcome.failure());
    }

    std::thread::scope(|scope| {
        for part in 0..4 {
            let (alone, golds) = (&alone, &golds);
            scope.spawn(move || {
                for (before, gold) in alone.iter().zip(golds).skip(part).step_by(2) {
                    let again = run(gold);
                    assert!(again.outcome == before.outcome, "{gold:?}");
                    assert_eq!(again.vm_steps, before.vm_steps, "{gold:?}");
                }
            });
        }
    });
}
