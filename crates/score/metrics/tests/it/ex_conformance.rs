//! Item-by-item agreement with the official scripts on real predictions.
//!
//! Without the data the tests say that they skipped, and fail in CI.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use sqlgauge_conformance::{data, files, read};
use sqlgauge_engine::{Engine, GoldCache, Limits, SqliteEngine};
use sqlgauge_metrics::{Pair, Target, find};
use sqlgauge_sql::resolve;
use sqlgauge_sql::tree::{Body, Expr};
use sqlgauge_sql::visit::{Visitor, walk_query};

use crate::esm_conformance::{entries, golds};

/// One system's answer to one item, with what the official scripts say of it by metric id.
struct Case {
    system: String,
    index: usize,
    gold: Arc<str>,
    prediction: String,
    target: Arc<Target>,
    official: Vec<(&'static str, bool)>,
    /// Whether the official scripts' SQLite refused the prediction.
    refused_officially: bool,
}

impl Case {
    /// Class V1 of `docs/explanation/official-defects-execution.md`: their SQLite is older than ours and refused a query whose
    /// subquery groups by a column of the query around it.
    fn is_newer_sqlite(&self, official: bool, here: Option<f64>) -> bool {
        self.refused_officially && !official && here == Some(1.0) && groups_by_outer_column(self)
    }
}

fn groups_by_outer_column(case: &Case) -> bool {
    struct Finder(bool);
    impl Visitor for Finder {
        fn body(&mut self, body: &Body) {
            let Body::Select(select) = body else { return };
            let ids: Vec<_> =
                select.from.iter().flat_map(|from| from.relations()).map(|relation| relation.id).collect();
            self.0 |= select
                .group_by
                .iter()
                .any(|key| matches!(key, Expr::Column(column) if !ids.contains(&column.relation)));
        }
    }
    let mut finder = Finder(false);
    if let Ok(query) = resolve(&case.prediction, case.target.database.schema()) {
        walk_query(&mut finder, &query);
    }
    finder.0
}

/// Scores all cases on all cores and lists those that the official scripts score otherwise.
fn disagreements(engine: &SqliteEngine, cases: &[Case]) -> Vec<String> {
    let cache = GoldCache::new(64 << 20);
    let next = AtomicUsize::new(0);
    let lines = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let pair = Pair::new(engine, &case.target, &case.gold, &case.prediction, Some(&cache));
                    for (id, official) in &case.official {
                        let score = find(id).unwrap().score(&pair);
                        let agrees = score.value == Some(f64::from(u8::from(*official)));
                        if agrees {
                            continue;
                        }
                        if case.is_newer_sqlite(*official, score.value) {
                            println!("{} {} {id}: runs on a newer SQLite only", case.system, case.index);
                        } else {
                            let line = format!(
                                "{} {} {id}: official {official}, here {:?} {}\n  gold {}\n  pred {}",
                                case.system,
                                case.index,
                                score.value,
                                Value::Object(score.detail.entries().clone()),
                                case.gold,
                                case.prediction
                            );
                            lines.lock().unwrap().push((case.system.clone(), case.index, line));
                        }
                    }
                }
            });
        }
    });
    let mut lines = lines.into_inner().unwrap();
    lines.sort();
    lines.into_iter().map(|(_, _, line)| line).collect()
}

fn assert_none(disagreements: &[String], scores: usize) {
    let mut report = String::new();
    for line in disagreements {
        writeln!(report, "{line}").unwrap();
    }
    if let Some(path) = std::env::var_os("SQLGAUGE_DISAGREEMENTS") {
        fs::write(path, &report).unwrap();
    }
    println!("{} of {scores} scores disagree", disagreements.len());
    assert!(disagreements.is_empty(), "{} of {scores} scores disagree:\n{report}", disagreements.len());
}

fn spider_golds(spider: &Path, engine: &SqliteEngine) -> Vec<(Arc<str>, Arc<Target>)> {
    let entries = entries(&spider.join("tables.json"));
    let mut targets: HashMap<String, Arc<Target>> = HashMap::new();
    golds(&spider.join("dev_gold.sql"))
        .into_iter()
        .map(|(gold, db_id)| {
            let target = targets.entry(db_id.clone()).or_insert_with(|| {
                let path = spider.join(format!("database/{db_id}/{db_id}.sqlite"));
                Arc::new(
                    Target::new(&db_id, engine.open(&path).unwrap()).with_foreign_keys(&entries[&db_id].keys),
                )
            });
            (Arc::from(gold), Arc::clone(target))
        })
        .collect()
}

#[test]
#[ignore = "long: cargo xtask long"]
fn spider_dev_agrees_with_the_official_script() {
    let Some(data) = data() else { return };
    let spider = data.join("spider");
    // Some predictions join two large tables without a condition; the official scripts, too, gave up on them.
    let engine = SqliteEngine::new(Limits { timeout: Duration::from_secs(3), ..Limits::default() });
    let golds = spider_golds(&spider, &engine);
    let mut cases = Vec::new();
    for oracle in files(&spider.join("oracle/dev"), "jsonl") {
        let system = oracle.file_stem().unwrap().to_string_lossy().into_owned();
        let predictions = read(&spider.join(format!("predictions/dev/{system}.sql")));
        let predictions: Vec<&str> = predictions.split('\n').collect();
        for line in read(&oracle).lines() {
            let item: Value = serde_json::from_str(line).unwrap();
            let index = usize::try_from(item["i"].as_u64().unwrap()).unwrap();
            let (gold, target) = &golds[index];
            cases.push(Case {
                system: system.clone(),
                index,
                gold: Arc::clone(gold),
                prediction: predictions[index].to_owned(),
                target: Arc::clone(target),
                official: vec![
                    ("ex-spider", item["ex"] == 1),
                    ("ex-spider-distinct", item["ex_keep_distinct"] == 1),
                    ("esm", item["esm"] == 1),
                ],
                refused_officially: item["executes"] == 0,
            });
        }
    }
    assert_none(&disagreements(&engine, &cases), 3 * cases.len());
}

#[test]
#[ignore = "long: cargo xtask long"]
fn bird_superhero_agrees_with_the_official_script() {
    let Some(data) = data() else { return };
    let bird = data.join("bird");
    let engine = SqliteEngine::new(Limits::default());
    let read = |path: PathBuf| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let database = engine.open(&bird.join("database/superhero/superhero.sqlite")).unwrap();
    let target = Arc::new(Target::new("superhero", database));
    let golds = read(bird.join("dev.json"));
    let mut cases = Vec::new();
    for (system, items) in read(bird.join("ex_set_superhero.json")).as_object().unwrap() {
        let predictions = read(bird.join(format!("predictions/dev/{system}.json")));
        for (index, official) in items.as_object().unwrap() {
            let Some(prediction) = predictions[index].as_str() else { continue };
            let prediction = prediction.split("\t----- bird -----\t").next().unwrap_or_default();
            let index: usize = index.parse().unwrap();
            cases.push(Case {
                system: system.clone(),
                index,
                gold: Arc::from(golds[index]["SQL"].as_str().unwrap()),
                prediction: prediction.to_owned(),
                target: Arc::clone(&target),
                official: vec![("ex-bird", official.as_bool().unwrap())],
                refused_officially: false,
            });
        }
    }
    assert_none(&disagreements(&engine, &cases), cases.len());
}
