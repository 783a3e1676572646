//! `compat spider` prints the numbers that follow from the official outcome per item.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use assert_cmd::Command;
use sqlgauge_conformance::{data, read};

/// Systems of every style: fine-tuned, prompted, several statements in one line.
const SYSTEMS: &[&str] =
    &["etm_DAIL", "etm_C3", "etm_RESDSQL", "etm_codeS", "llmnl2sql_codes-7b", "llmnl2sql_codes-7b_FIRSTSTMT"];

const LEVELS: [&str; 5] = ["easy", "medium", "hard", "extra", "all"];

/// Count, execution and exact match per level from the outcome per item.
fn expected(oracle: &str) -> BTreeMap<&'static str, Vec<String>> {
    let items: Vec<serde_json::Value> =
        oracle.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_level = |level: &'static str| {
        items.iter().filter(move |item| level == "all" || item["hardness"] == level).collect::<Vec<_>>()
    };
    let mean = |level: &'static str, field: &str| {
        let items = of_level(level);
        let right = items.iter().filter(|item| item[field] == 1).count();
        format!("{:.3}", right as f64 / items.len() as f64)
    };
    BTreeMap::from([
        ("count", LEVELS.map(|level| of_level(level).len().to_string()).to_vec()),
        ("execution", LEVELS.map(|level| mean(level, "ex")).to_vec()),
        ("exact match", LEVELS.map(|level| mean(level, "esm")).to_vec()),
    ])
}

#[test]
fn the_official_table_has_the_official_numbers() {
    let Some(root) = data() else { return };
    let spider = root.join("spider");
    for system in SYSTEMS {
        let output = Command::cargo_bin("sqlgauge")
            .unwrap()
            .args(["compat", "spider", "--etype", "all", "--gold"])
            .arg(spider.join("dev_gold.sql"))
            .arg("--pred")
            .arg(spider.join(format!("predictions/dev/{system}.sql")))
            .arg("--db")
            .arg(spider.join("database"))
            .arg("--table")
            .arg(spider.join("tables.json"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let table = String::from_utf8(output.stdout).unwrap();
        for (row, cells) in expected(&read(&spider.join(format!("oracle/dev/{system}.jsonl")))) {
            let line = table.lines().find(|line| line.starts_with(row)).unwrap();
            let printed: Vec<&str> = line[20..].split_whitespace().collect();
            assert_eq!(printed, cells, "{system}: {row}");
        }
    }
}
