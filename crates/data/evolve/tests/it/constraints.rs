//! What is declared of a column that is split or merged is declared of what takes its place, or left out by name.

use crate::common::scripted;
use sqlgauge_evolve::{ChangeRecord, EvolvedItem};

const WORLD: &str = "
    CREATE TABLE person (id INTEGER PRIMARY KEY, full_name TEXT NOT NULL DEFAULT 'A B');
    CREATE TABLE owner (id INTEGER PRIMARY KEY, street TEXT DEFAULT 'Main', city TEXT NOT NULL);
    INSERT INTO person VALUES (1, 'Ann Lee');
    INSERT INTO owner VALUES (1, 'Elm', 'Ulm');";

/// The DDL after a change, and what it left out.
fn evolved(change: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let golds = ["SELECT full_name FROM person", "SELECT street, city FROM owner"];
    let out = scripted(folder.path(), WORLD, &format!(r#"{{"db_id": "d", {change}}}"#), &golds);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let items: Vec<EvolvedItem> = serde_json::from_str(&read("dev.json")).unwrap();
    assert_eq!(items.len(), golds.len());
    let changes = read("changes.jsonl");
    let mut records = changes.lines().map(|line| serde_json::from_str(line).unwrap());
    let left_out = records.find_map(|record| match record {
        ChangeRecord::Schema(schema) => Some(schema.left_out),
        _ => None,
    });
    (items[0].ddl.clone(), left_out.unwrap())
}

/// A full name split, of which the first part is declared so.
fn split(not_null: &str) -> (String, Vec<String>) {
    evolved(&format!(
        r#""operator": "split_column", "table": "person", "column": "full_name", "whole": "given || ' ' || family", "parts": [
        {{"name": "given", "declared_type": "TEXT", {not_null} "value": "substr(full_name, 1, instr(full_name, ' ') - 1)"}},
        {{"name": "family", "declared_type": "TEXT", "value": "substr(full_name, instr(full_name, ' ') + 1)"}}]"#
    ).replace('\n', " "))
}

/// Street and city merged into one column, declared so.
fn merged(not_null: &str) -> (String, Vec<String>) {
    evolved(&format!(
        r#""operator": "merge_columns", "table": "owner",
        "whole": {{"name": "address", "declared_type": "TEXT", {not_null} "value": "street || ', ' || city"}},
        "columns": [["street", "substr(address, 1, instr(address, ', ') - 1)"], ["city", "substr(address, instr(address, ', ') + 2)"]]"#
    ).replace('\n', " "))
}

#[test]
fn constraints_go_over_or_are_named() {
    let not_null = r#""not_null": true,"#;
    let (ddl, left_out) = split(not_null);
    assert!(ddl.contains("given TEXT NOT NULL,\n    family TEXT\n"), "{ddl}");
    assert_eq!(left_out, ["DEFAULT of person.full_name"]);
    assert_eq!(split("").1, ["NOT NULL of person.full_name", "DEFAULT of person.full_name"]);
    let (ddl, left_out) = merged(not_null);
    assert!(ddl.contains("address TEXT NOT NULL\n"), "{ddl}");
    assert_eq!(left_out, ["DEFAULT of owner.street"]);
    assert_eq!(merged("").1, ["DEFAULT of owner.street", "NOT NULL of owner.city"]);
}
