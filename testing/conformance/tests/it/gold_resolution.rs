//! No gold query of any benchmark fails to resolve against its schema.

use std::path::Path;

use sqlgauge_conformance::{data, gold_lines, read};
use sqlgauge_dataset::load_tables;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_sql::resolve;
use sqlgauge_sql::schema::Schema;

/// Resolves golds; returns how many there are and a line for each that does not resolve.
fn check<'a>(golds: impl Iterator<Item = (&'a str, &'a str, &'a Schema)>) -> (usize, Vec<(String, String)>) {
    let mut count = 0;
    let failed = golds.filter_map(|(sql, db, schema)| {
        count += 1;
        resolve(sql, schema).err().map(|error| (db.to_owned(), format!("{sql} | {error}")))
    });
    let failed = failed.collect();
    (count, failed)
}

fn against_tables(gold: &Path, tables: &Path) -> (usize, Vec<(String, String)>) {
    let tables = load_tables(tables).unwrap();
    let schemas: Vec<(String, Schema)> =
        tables.entries().iter().map(|entry| (entry.db_id.clone(), entry.schema())).collect();
    // CoSQL writes `! =`, `> =` and `< =`, which no SQL allows; the official script closes them up before it runs
    // a query.
    let close_up = |sql: &str| sql.replace("> =", ">=").replace("< =", "<=").replace("! =", "!=");
    let golds: Vec<_> = gold_lines(gold).into_iter().map(|(sql, db)| (close_up(&sql), db)).collect();
    let schema_of = |db: &str| schemas.iter().find(|(name, _)| name == db).map(|(_, schema)| schema);
    check(golds.iter().map(|(sql, db)| {
        (sql.as_str(), db.as_str(), schema_of(db).unwrap_or_else(|| panic!("no schema of {db}")))
    }))
}

#[test]
#[ignore = "long: cargo xtask long"]
fn spider_and_cosql_golds_resolve() {
    let Some(root) = data() else { return };
    let spider = root.join("spider");
    let engine = SqliteEngine::new(Limits::default());
    // A gold that SQLite itself refuses is the benchmark's fault: for its syntax, which is the same on every
    // database, or for the same missing name on the gold's own.
    let sqlite_refuses = |db: &str, line: &str| {
        let paths = ["database", "train_database"]
            .map(|folder| spider.join(folder).join(db).join(format!("{db}.sqlite")));
        let any = spider.join("database/singer/singer.sqlite");
        let path = paths.into_iter().find(|path| path.is_file()).unwrap_or(any);
        let sql = line.split(" | ").next().unwrap();
        let outcome = engine.run(&engine.open(&path).unwrap(), sql).outcome;
        outcome
            .failure()
            .is_some_and(|failure| line.contains("syntax error") || line.contains(&failure.message))
    };
    for (gold, tables) in [
        (spider.join("dev_gold.sql"), spider.join("tables.json")),
        (spider.join("train_gold.sql"), spider.join("tables.json")),
        (spider.join("test_gold.sql"), spider.join("test_tables.json")),
        (root.join("cosql/gold.txt"), root.join("cosql/tables.json")),
    ] {
        let (count, failed) = against_tables(&gold, &tables);
        let all = failed.len();
        let failed: Vec<_> =
            failed.iter().filter(|(db, line)| !sqlite_refuses(db, line)).map(|(_, line)| line).collect();
        println!(
            "{}: {count} golds, {all} do not resolve, of which SQLite runs {}",
            gold.display(),
            failed.len()
        );
        failed.iter().for_each(|line| println!("  {line}"));
        assert!(count > 1000 && failed.is_empty());
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn bird_golds_resolve() {
    let Some(root) = data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    let bird = root.join("bird");
    let items: serde_json::Value = serde_json::from_str(&read(&bird.join("dev.json"))).unwrap();
    let golds: Vec<(String, std::sync::Arc<Schema>)> = items
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let db = item["db_id"].as_str().unwrap();
            let database = engine.open(&bird.join(format!("schema_only/{db}/{db}.sqlite"))).unwrap();
            (item["SQL"].as_str().unwrap().to_owned(), std::sync::Arc::clone(database.schema()))
        })
        .collect();
    let (count, failed) = check(golds.iter().map(|(sql, schema)| (sql.as_str(), "", schema.as_ref())));
    println!("BIRD dev: {count} golds, {} do not resolve", failed.len());
    failed.iter().for_each(|(_, line)| println!("  {line}"));
    assert!(count == 1534 && failed.is_empty());
}
