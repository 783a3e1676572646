//! `sqlgauge verify`: exit codes, the object that `--json` prints, and what a refused text gets.

mod common;

use common::{sqlgauge, stderr};
use serde_json::Value;

const DDL: &str = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL);\n";

fn verify(left: &str, right: &str, more: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("schema.sql");
    std::fs::write(&schema, DDL).unwrap();
    let schema = schema.display().to_string();
    let mut arguments = vec!["verify", "--schema", &schema, "--left", left, "--right", right];
    arguments.extend(more);
    sqlgauge(&arguments)
}

fn object(left: &str, right: &str, more: &[&str]) -> Value {
    let output = verify(left, right, &[more, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_exit_code_is_the_verdict() {
    for (left, right, code, verdict) in [
        ("SELECT name FROM item", "select i.name from item as i", 0, "equivalent"),
        ("SELECT name FROM item", "SELECT DISTINCT name FROM item", 1, "different"),
        ("SELECT random() FROM item", "SELECT random() + 1 FROM item", 3, "unknown"),
    ] {
        let output = verify(left, right, &[]);
        assert_eq!(output.status.code(), Some(code), "{left} | {right}: {}", stderr(&output));
        assert_eq!(object(left, right, &[])["verdict"], verdict);
    }
    for (left, right, side) in [
        ("SELECT nme FROM item", "SELECT name FROM item", "left"),
        ("SELECT name FROM item", "SELECT COUNT(id, name) FROM item", "right"),
    ] {
        let output = verify(left, right, &[]);
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(said.contains(&format!("the {side} query does not run")), "{said}");
    }
}

#[test]
fn the_semantics_decides_what_counts() {
    let (left, right) = ("SELECT name FROM item", "SELECT DISTINCT name FROM item");
    assert_eq!(object(left, right, &["--semantics", "bag"])["verdict"], "different");
    assert_ne!(object(left, right, &["--semantics", "set"])["verdict"], "different");
}

/// The witness is a script for any SQLite, on which the queries return what the object says.
#[test]
fn the_witness_is_a_script_that_tells_the_queries_apart() {
    let (left, right) = ("SELECT name FROM item WHERE price > 3", "SELECT name FROM item WHERE price >= 3");
    let object = object(left, right, &[]);
    assert_eq!(object["stage"], "search");
    assert!(object["ms"]["rules"].is_number() && object["ms"]["search"].is_number(), "{object}");
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch(object["witness"].as_str().unwrap()).unwrap();
    for (sql, result) in [(left, "left_result"), (right, "right_result")] {
        let mut statement = connection.prepare(sql).unwrap();
        let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let names: Vec<String> = names.map(Result::unwrap).collect();
        let rows = object[result]["rows"].as_array().unwrap();
        let expected: Vec<&str> = rows.iter().map(|row| row[0].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{sql}");
    }
}

#[test]
fn a_proof_names_its_rules_and_what_it_assumes() {
    let object = object("SELECT COUNT(name) FROM item", "SELECT COUNT(*) FROM item", &[]);
    assert_eq!(object["stage"], "rules");
    assert_eq!(object["rules"][0], "left: 6 count-of-not-null in query");
    assert_eq!(object["assumes"][0], "NOT NULL item.name");
}
