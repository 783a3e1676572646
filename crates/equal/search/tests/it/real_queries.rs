//! Real gold queries against themselves, written differently: nothing may tell them apart.
//!
//! The data folder is `SQLGAUGE_DATA`, else `../shared/data` beside the workspace. Without it the test says that it
//! skipped, and fails where `CI=true`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlgauge_base::pool::Pool;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_search::{Search, SearchOptions, SearchVerdict};
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::{From, JoinKind};
use sqlgauge_sql::visit::{Rewriter, rewrite_query};
use sqlgauge_sql::{PrintDialect, print, resolve};

fn data() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data");
    let folder = std::env::var_os("SQLGAUGE_DATA").map_or(default, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "the data folder {} is missing", folder.display());
    println!("skipped: the data folder {} is missing", folder.display());
    None
}

/// Joins the other way round, so that rows come in another order and every freedom is used.
struct Swap;

impl Rewriter for Swap {
    fn from(&mut self, from: &mut From) {
        if let From::Join(join) = from {
            let join = &mut **join;
            if join.kind == JoinKind::Inner {
                std::mem::swap(&mut join.left, &mut join.right);
            }
        }
    }
}

#[test]
fn joins_the_other_way_round_are_never_told_apart() {
    let Some(folder) = data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    let mut by_database: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut schemas: BTreeMap<String, Arc<Schema>> = BTreeMap::new();
    let mut add = |name: &str, path: PathBuf, gold: &str| {
        if !schemas.contains_key(name) {
            schemas.insert(name.to_owned(), Arc::clone(engine.open(&path).unwrap().schema()));
        }
        let schema = &schemas[name];
        let mut query = resolve(gold, schema).unwrap();
        rewrite_query(&mut Swap, &mut query);
        let swapped = print(&query, schema, PrintDialect::Sqlite).unwrap();
        by_database.entry(name.to_owned()).or_default().push((gold.to_owned(), swapped));
    };
    for line in fs::read_to_string(folder.join("spider/dev_gold.sql")).unwrap().lines() {
        let Some((gold, name)) = line.split_once('\t') else { continue };
        add(name, folder.join(format!("spider/database/{name}/{name}.sqlite")), gold);
    }
    let text = fs::read_to_string(folder.join("bird/dev.json")).unwrap();
    let items: serde_json::Value = serde_json::from_str(&text).unwrap();
    for item in items.as_array().unwrap() {
        let (name, gold) = (item["db_id"].as_str().unwrap(), item["SQL"].as_str().unwrap());
        add(name, folder.join(format!("bird/schema_only/{name}/{name}.sqlite")), gold);
    }
    let options = SearchOptions { databases: 120, ..SearchOptions::default() };
    let (mut searched, mut inapplicable) = (0, BTreeMap::new());
    let mut wrong = Vec::new();
    for (name, pairs) in &by_database {
        let texts: Vec<(&str, &str)> =
            pairs.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect();
        let refute = |at: usize| {
            let search = Search::new(Arc::clone(&schemas[name]), options).unwrap();
            search.refute(texts[at].0, texts[at].1)
        };
        for ((left, right), verdict) in texts.iter().zip(Pool::of(2).map(texts.len(), refute).unwrap()) {
            match verdict.unwrap() {
                SearchVerdict::Survived(_) => searched += 1,
                SearchVerdict::Inapplicable(why) => *inapplicable.entry(why.to_string()).or_insert(0) += 1,
                SearchVerdict::Refuted(refutation) => {
                    wrong.push(format!(
                        "{name}\n{left}\n{right}\n{}\n{}",
                        refutation.difference(),
                        refutation.database()
                    ));
                }
            }
        }
    }
    println!("{searched} golds survived, {} were told apart, inapplicable: {inapplicable:#?}", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(searched > 2500, "{inapplicable:#?}");
}
