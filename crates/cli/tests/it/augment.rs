//! `sqlgauge evolve --training` on a benchmark of three databases and one kind of change, written here as `evolve` writes it.

use std::collections::HashSet;
use std::process::Output;

use crate::common::{json_lines, sqlgauge, stderr, write_database};
use serde_json::{Value, json};
use tempfile::TempDir;

const DATABASES: [&str; 3] = ["shop", "zoo", "port"];

fn world() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in DATABASES {
        let ddl = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE other (a INT); CREATE TABLE third (b INT);";
        write_database(&path("database"), name, ddl);
    }
    let gold = "SELECT name FROM item";
    let original: Vec<Value> = (0..6)
        .map(|at| json!({"question_id": at, "db_id": DATABASES[at / 2], "question": format!("Names {at}?"), "query": gold}))
        .collect();
    std::fs::write(path("train.json"), json!(original).to_string()).unwrap();
    let evolved = |kind: &str, table: &str, answer: &str| {
        let ddl =
            format!("CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT);\nCREATE TABLE other (a INT);");
        let relevant = format!("CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT);");
        let item = |at: usize| {
            json!({"source_index": at, "question_id": at.to_string(), "db_id": DATABASES[at / 2],
                "source_db_id": DATABASES[at / 2], "question": format!("Names {at}?"), "evidence": null,
                "difficulty": null, "query": answer, "source_query": gold, "answerable": answer.starts_with("SELECT"),
                "ddl": ddl, "ddl_relevant": relevant, "ddl_needed": relevant})
        };
        let header = json!({"record": "header", "format": 2, "tool_version": "0", "kind": kind, "seed": 7,
            "intensity": 0.5, "naturalness": "regular", "inputs": "", "step": null, "items": 6});
        std::fs::create_dir_all(path("evolved").join(kind)).unwrap();
        let items: Vec<Value> = (0..6).map(item).collect();
        std::fs::write(path("evolved").join(kind).join("dev.json"), json!(items).to_string()).unwrap();
        std::fs::write(path("evolved").join(kind).join("changes.jsonl"), format!("{header}\n")).unwrap();
    };
    evolved("rename-tables", "product", "SELECT name FROM product");
    evolved("remove-columns-in-gold", "item", "It cannot be answered.");
    folder
}

fn augment(world: &TempDir, out: &str, further: &[&str]) -> Output {
    let path = |name: &str| world.path().join(name).display().to_string();
    let (gold, db, evolved, out) = (path("train.json"), path("database"), path("evolved"), path(out));
    let fixed = ["evolve", "--training", "--gold", &gold, "--db", &db, "--evolved", &evolved, "--out", &out];
    sqlgauge(&fixed.into_iter().chain(further.iter().copied()).collect::<Vec<_>>())
}

fn lines(world: &TempDir, name: &str) -> Vec<Value> {
    json_lines(&world.path().join(name))
}

#[test]
fn questions_over_all_schemas_are_chats_split_by_database() {
    let world = world();
    let output = augment(&world, "sft.jsonl", &["--validation", "0.3"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let (train, validation) = (lines(&world, "sft.jsonl"), lines(&world, "sft.validation.jsonl"));
    assert_eq!((train.len(), validation.len()), (12, 6));
    let databases = |side: &[Value]| side.iter().map(|e| e["db_id"].to_string()).collect::<HashSet<_>>();
    assert!(databases(&train).is_disjoint(&databases(&validation)));
    for example in train.iter().chain(&validation) {
        let messages = example["messages"].as_array().unwrap();
        let roles: Vec<&str> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant"]);
        let (user, answer) =
            (messages[1]["content"].as_str().unwrap(), messages[2]["content"].as_str().unwrap());
        let (table, expected) = match example["kind"].as_str().unwrap() {
            "original" => ("item", "SELECT name FROM item"),
            "rename-tables" => ("product", "SELECT name FROM product"),
            _ => ("item", "It cannot be answered."),
        };
        assert!(
            user.contains(&format!("CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT);")),
            "{user}"
        );
        assert!(user.ends_with(&format!("-- Question: {}", example["question"].as_str().unwrap())), "{user}");
        assert_eq!(answer, expected);
    }
    let before = train;
    assert!(augment(&world, "sft.jsonl", &["--validation", "0.3", "--quiet"]).status.success());
    assert_eq!(lines(&world, "sft.jsonl"), before);
}

#[test]
fn irrelevant_tables_are_as_many_as_wanted() {
    let world = world();
    let tables = |further: &[&str]| {
        assert!(augment(&world, "sft.jsonl", further).status.success());
        let of = |example: &Value| {
            example["messages"][1]["content"].as_str().unwrap().matches("CREATE TABLE").count()
        };
        lines(&world, "sft.jsonl").iter().filter(|e| e["kind"] == "original").map(of).collect::<HashSet<_>>()
    };
    assert_eq!(tables(&["--irrelevant-tables", "0"]), HashSet::from([1]));
    assert_eq!(tables(&["--irrelevant-tables", "1"]), HashSet::from([2]));
    assert_eq!(tables(&[]), HashSet::from([3]));
    assert_eq!(tables(&["--only-evolved"]), HashSet::new());
}

#[test]
fn keys_of_tables_json_are_in_the_prompts_over_the_original_schemas() {
    let world = world();
    let entry = json!({"db_id": "shop", "table_names_original": ["item", "other"],
        "column_names_original": [[-1, "*"], [0, "id"], [0, "name"], [1, "a"]], "foreign_keys": [[3, 1]]});
    let tables = world.path().join("tables.json");
    std::fs::write(&tables, json!([entry]).to_string()).unwrap();
    let output = augment(&world, "sft.jsonl", &["--validation", "0", "--tables", tables.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    for example in lines(&world, "sft.jsonl").iter().filter(|example| example["kind"] == "original") {
        let prompt = example["messages"][1]["content"].as_str().unwrap();
        assert_eq!(prompt.contains("REFERENCES item"), example["db_id"] == "shop", "{prompt}");
    }
}

#[test]
fn another_original_is_refused() {
    let world = world();
    let text = std::fs::read_to_string(world.path().join("train.json")).unwrap();
    std::fs::write(world.path().join("train.json"), text.replace("\"zoo\"", "\"shop\"")).unwrap();
    let output = augment(&world, "sft.jsonl", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("which --gold does not have"), "{}", stderr(&output));
}

#[test]
#[cfg(feature = "parquet")]
fn a_name_in_parquet_makes_a_table_of_the_same() {
    let world = world();
    assert!(augment(&world, "sft.parquet", &["--validation", "0.3"]).status.success());
    let bytes = std::fs::read(world.path().join("sft.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1") && bytes.len() > 500);
}

#[test]
fn within_databases_questions_are_kept_apart() {
    let world = world();
    let output = augment(&world, "sft.jsonl", &["--validation", "0.4", "--intra-database"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let (train, validation) = (lines(&world, "sft.jsonl"), lines(&world, "sft.validation.jsonl"));
    assert!(!validation.is_empty() && train.len() + validation.len() == 18);
    let of = |side: &[Value], field: &str| side.iter().map(|e| e[field].to_string()).collect::<HashSet<_>>();
    assert!(of(&train, "question").is_disjoint(&of(&validation, "question")));
    assert!(of(&validation, "db_id").is_subset(&of(&train, "db_id")));
}
