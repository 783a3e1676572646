//! Whether a gold and its evolved form are proved equal: asked where changes add, remove and rename.

use crate::common::scripted;
use sqlgauge_evolve::ChangeRecord;

const WORLD: &str = "
    CREATE TABLE person (id INTEGER PRIMARY KEY, full_name TEXT, age INTEGER, note TEXT);
    CREATE TABLE visit (person_id INTEGER REFERENCES person (id), cost REAL, place TEXT);
    INSERT INTO person VALUES (1, 'Ann Lee', 20, 'x'), (2, 'Bo Ray', 30, NULL);
    INSERT INTO visit VALUES (1, 2.5, 'a'), (1, 1.0, 'b'), (2, 4.0, NULL);";

const GOLDS: [&str; 4] = [
    "SELECT full_name FROM person WHERE age > 25",
    "SELECT p.full_name, sum(v.cost) FROM person AS p JOIN visit AS v ON p.id = v.person_id GROUP BY p.id",
    "SELECT place FROM visit WHERE person_id IN (SELECT id FROM person WHERE age < 25)",
    // What it returns is nothing that a rule can speak of.
    "SELECT full_name FROM person WHERE abs(random()) >= 0",
];

/// What is said of each gold, in their order.
fn proved(changes: &[&str]) -> Vec<Option<bool>> {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> =
        changes.iter().map(|change| format!("{{\"db_id\": \"d\", {change}}}\n")).collect();
    let out = scripted(folder.path(), WORLD, &lines.concat(), &GOLDS);
    let text = std::fs::read_to_string(out.join("changes.jsonl")).unwrap();
    let records = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let items = records.filter_map(|record| match record {
        ChangeRecord::Item(item) => {
            assert!(item.written, "{:?}", item.detail);
            Some(item.equivalent)
        }
        _ => None,
    });
    items.collect()
}

#[test]
fn what_adds_removes_and_renames_is_proved() {
    let proofs = proved(&[
        r#""operator": "rename_table", "table": "person", "to": "human""#,
        r#""operator": "rename_column", "table": "human", "column": "full_name", "to": "whole_name""#,
        r#""operator": "rename_column", "table": "visit", "column": "person_id", "to": "human_id""#,
        r#""operator": "drop_column", "table": "human", "column": "note""#,
        r#""operator": "add_table", "ddl": "CREATE TABLE extra (id INTEGER PRIMARY KEY)", "rows": null"#,
    ]);
    assert_eq!(proofs, [Some(true), Some(true), Some(true), Some(false)]);
}

#[test]
fn of_what_splits_it_is_not_asked() {
    let proofs = proved(&[
        r#""operator": "split_table", "table": "person", "fragments": [["person", ["full_name"]], ["person_info", ["age", "note"]]]"#,
    ]);
    assert_eq!(proofs, [None; 4]);
}
