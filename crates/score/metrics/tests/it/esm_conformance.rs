//! Agreement with the official scripts, item by item, on real prediction files.
//!
//! Without the data the tests say that they skipped, and fail in CI.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use sqlgauge_conformance::{data, read};
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_metrics::esm::{BoundKeys, ForeignKeyMap, Switches, score};
use sqlgauge_sql::spider::{Catalog, ParseFailure, hardness, parse};

pub(crate) fn golds(path: &Path) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let (sql, db) = line.trim().rsplit_once('\t')?;
        Some((sql.to_owned(), db.to_owned()))
    };
    read(path).lines().filter_map(pair).collect()
}

/// What `tables.json` says of a database.
pub(crate) struct Entry {
    catalog: Catalog,
    pub(crate) keys: ForeignKeyMap,
}

pub(crate) fn entries(path: &Path) -> HashMap<String, Entry> {
    let json: Json = serde_json::from_str(&read(path)).unwrap();
    json.as_array().unwrap().iter().map(|entry| (text(&entry["db_id"]), read_entry(entry))).collect()
}

fn text(json: &Json) -> String {
    json.as_str().unwrap().to_owned()
}

fn read_entry(entry: &Json) -> Entry {
    let tables: Vec<String> = entry["table_names_original"].as_array().unwrap().iter().map(text).collect();
    let column = |json: &Json| (json[0].as_i64().unwrap(), text(&json[1]));
    let columns: Vec<(i64, String)> =
        entry["column_names_original"].as_array().unwrap().iter().map(column).collect();
    let number = |json: &Json| usize::try_from(json.as_u64().unwrap()).unwrap();
    let pair = |json: &Json| (number(&json[0]), number(&json[1]));
    let foreign: Vec<(usize, usize)> = entry["foreign_keys"].as_array().unwrap().iter().map(pair).collect();
    let of_table = |at: usize| {
        columns.iter().filter(move |(table, _)| usize::try_from(*table) == Ok(at)).map(|(_, name)| name)
    };
    Entry {
        catalog: Catalog::new(tables.iter().enumerate().map(|(at, table)| (table, of_table(at)))),
        keys: ForeignKeyMap::from_tables_json(&tables, &columns, &foreign),
    }
}

fn catalogs(folder: &Path, golds: &[(String, String)]) -> HashMap<String, Catalog> {
    let engine = SqliteEngine::new(Limits::default());
    let mut catalogs = HashMap::new();
    for (_, db) in golds {
        let path = folder.join(db).join(format!("{db}.sqlite"));
        if path.exists() && !catalogs.contains_key(db) {
            let database = engine.open(&path).unwrap();
            catalogs.insert(db.clone(), Catalog::from_schema(database.schema()));
        }
    }
    catalogs
}

#[test]
#[ignore = "long: cargo xtask long"]
fn every_item_agrees_with_the_official_outcome() {
    let Some(data) = data().map(|data| data.join("spider")) else { return };
    let golds = golds(&data.join("dev_gold.sql"));
    let catalogs = catalogs(&data.join("database"), &golds);
    let bound: HashMap<String, BoundKeys> = entries(&data.join("tables.json"))
        .into_iter()
        .filter_map(|(db, entry)| Some((db.clone(), BoundKeys::new(&entry.keys, catalogs.get(&db)?))))
        .collect();
    let mut differences = Vec::new();
    let mut items = 0;
    for oracle in fs::read_dir(data.join("oracle/dev")).unwrap() {
        let oracle = oracle.unwrap().path();
        let system = oracle.file_stem().unwrap().to_string_lossy().into_owned();
        let predictions = read(&data.join(format!("predictions/dev/{system}.sql")));
        let predictions: Vec<&str> = predictions.lines().collect();
        for line in read(&oracle).lines() {
            let official: Json = serde_json::from_str(line).unwrap();
            let index = usize::try_from(official["i"].as_u64().unwrap()).unwrap();
            let (gold, db) = &golds[index];
            let prediction = predictions[index].trim().split('\t').next().unwrap();
            let ours = score(&catalogs[db], &bound[db], gold, prediction, Switches::default()).unwrap();
            let ours = (ours.hardness.as_str(), i64::from(ours.exact), i64::from(ours.parsed()));
            let flag = |name: &str| official[name].as_i64().unwrap();
            let theirs = (official["hardness"].as_str().unwrap(), flag("esm"), flag("parsed"));
            items += 1;
            if ours != theirs {
                differences.push(format!("{system} {index}: ours {ours:?}, official {theirs:?}"));
            }
        }
    }
    println!("{items} items compared");
    assert!(items > 0);
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn every_gold_query_has_a_hardness() {
    let Some(data) = data().map(|data| data.join("spider")) else { return };
    for (gold, tables, folder) in [
        ("dev_gold.sql", "tables.json", Some("database")),
        ("train_gold.sql", "tables.json", Some("train_database")),
        ("test_gold.sql", "test_tables.json", None),
    ] {
        let golds = golds(&data.join(gold));
        let entries = entries(&data.join(tables));
        let from_files = folder.map(|folder| catalogs(&data.join(folder), &golds)).unwrap_or_default();
        let mut failures = Vec::new();
        let mut unknown = 0;
        for (sql, db) in &golds {
            // A rebuilt database may lack a table that the benchmark's schema file has.
            let catalogs = [from_files.get(db), entries.get(db).map(|entry| &entry.catalog)];
            let queries: Vec<_> = catalogs.into_iter().flatten().map(|catalog| parse(catalog, sql)).collect();
            if queries.is_empty() {
                unknown += 1;
            } else if let Some(query) = queries.iter().flatten().next() {
                hardness(query).unwrap();
            } else {
                failures.push((sql, queries));
            }
        }
        println!(
            "{gold}: {} queries, {unknown} without a schema, {} unreadable",
            golds.len(),
            failures.len()
        );
        // A train query names a table that its benchmark does not have; the official scripts stop on it.
        let only_unknown_tables = failures
            .iter()
            .all(|(_, queries)| queries.iter().all(|q| matches!(q, Err(ParseFailure::UnknownTable(_)))));
        assert!(only_unknown_tables, "{gold}: {failures:?}");
        assert!(failures.is_empty() || gold == "train_gold.sql", "{gold}: {failures:?}");
    }
}
