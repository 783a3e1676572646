//! Texts of other dialects, read for what they name: beside the same question's gold in SQLite, which other people wrote, and beside
//! the tree that a text was translated from.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sqlgauge_conformance::{data, one_of, statements};
use sqlgauge_dialects::{TypedSchema, dialect, reading, translate};
use sqlgauge_engine::{Database, Engine, Limits, SqliteEngine};
use sqlgauge_sql::spider::{self, Catalog, Hardness};
use sqlgauge_sql::{Features, NamedThings, resolve};

const DIALECTS: [&str; 3] = ["postgres", "mysql", "duckdb"];

/// The golds of a file of BIRD, by the question.
fn golds(path: &Path) -> HashMap<u64, (String, String)> {
    let items: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let text = |item: &Value, name: &str| item[name].as_str().unwrap().to_owned();
    items
        .iter()
        .map(|item| (item["question_id"].as_u64().unwrap(), (text(item, "db_id"), text(item, "SQL"))))
        .collect()
}

/// Mini-Dev's golds in PostgreSQL are not ours, nor are BIRD's in SQLite: a question has one answer, so both name the same tables.
#[test]
#[ignore = "long: cargo xtask long"]
fn golds_of_two_dialects_name_the_same() {
    let Some(root) = data() else { return };
    let bird = root.join("bird");
    let sqlite = golds(&bird.join("dev.json"));
    let engine = SqliteEngine::new(Limits::default());
    let file = |folder: &str, db_id: &str| bird.join(folder).join(db_id).join(format!("{db_id}.sqlite"));
    let (mut count, mut read, mut tables, mut columns, mut hardness) = (0, 0, 0, 0, [0, 0]);
    for (id, (db_id, sql)) in golds(&root.join("mini_dev/bird_mini_dev_postgres.json")) {
        let path = Some(file("database", &db_id)).filter(|path| path.exists());
        let database = engine.open(&path.unwrap_or_else(|| file("schema_only", &db_id))).unwrap();
        let schema = database.schema();
        let other = &sqlite[&id].1;
        let Ok(query) = resolve(other, schema) else { continue };
        let features = Features::of(&query, schema);
        count += 1;
        let reading = reading(&sql, "postgres");
        let Some(named) = NamedThings::of(&reading, schema).unwrap() else {
            println!("{id} is not read: {sql}\n  {reading}");
            continue;
        };
        read += 1;
        tables += usize::from(named.tables == features.tables);
        columns += usize::from(named.columns == features.columns);
        if named.tables != features.tables {
            println!("{id} names {:?}, not {:?}\n  {sql}\n  {other}", named.tables, features.tables);
        }
        let catalog = Catalog::from_schema(schema);
        let of =
            |sql: &str| -> Option<Hardness> { spider::hardness(&spider::parse(&catalog, sql).ok()?).ok() };
        if let (Some(one), Some(two)) = (of(&reading), of(other)) {
            hardness[0] += 1;
            hardness[1] += usize::from(one == two);
        }
    }
    println!(
        "{count} golds, {read} are read; the same tables {tables}, the same columns {columns}, hardness {hardness:?}"
    );
    assert!(count > 450 && read == count, "{read} of {count}");
    assert!(tables * 100 >= count * 95 && columns * 100 >= count * 85, "{tables}, {columns} of {count}");
    // Where they differ, the two golds are written with other joins or aliases.
    assert!(hardness[1] * 100 >= hardness[0] * 85, "{hardness:?}");
}

/// What a tree is translated into names what the tree reads.
#[test]
#[ignore = "long: cargo xtask long"]
fn translations_name_what_their_trees_read() {
    let Some(root) = data() else { return };
    let engine = SqliteEngine::new(Limits::default());
    let mut databases: HashMap<PathBuf, Arc<Database>> = HashMap::new();
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for statement in statements(&root).into_iter().step_by(one_of(7)) {
        let open = || engine.open(&statement.database).unwrap();
        let schema = databases.entry(statement.database.clone()).or_insert_with(open).schema();
        let Ok(query) = resolve(&statement.sql, schema) else { continue };
        let Features { tables, columns, .. } = Features::of(&query, schema);
        let expected = NamedThings { tables, columns };
        let typed = TypedSchema::declared(schema);
        for name in DIALECTS {
            let Ok(text) = translate(&query, &typed, dialect(name).unwrap()) else { continue };
            let [translations, read, same] = counts.entry(name).or_default();
            *translations += 1;
            let reading = reading(&text, name);
            let Some(named) = NamedThings::of(&reading, schema).unwrap() else {
                println!("{name} is not read: {text}\n  {reading}");
                continue;
            };
            *read += 1;
            if named == expected {
                *same += 1;
            } else if *read - *same < 20 {
                println!("{name}: {text}\n  {named:?}\n  {expected:?}");
            }
        }
    }
    println!("said, read, the same: {counts:?}");
    for (name, [translations, read, same]) in counts {
        assert!(translations > 1_000 && read == translations, "{name}: {read} of {translations}");
        assert!(same * 100 >= translations * 99, "{name}: {same} of {translations}");
    }
}
