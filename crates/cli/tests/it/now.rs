//! Time stands still in a run: the same inputs and the same moment give the same log, whenever and wherever they are scored.

use std::time::Duration;

use crate::common::{Benchmark, items, sqlgauge, stderr};

const NOW: &str = "SELECT datetime('now'), strftime('%f'), julianday(CURRENT_TIMESTAMP) FROM item";

fn benchmark() -> Benchmark {
    Benchmark::new(
        &[NOW, "SELECT name FROM item", "SELECT date('now') > '2024-06-01'", "SELECT 1"],
        &[
            "SELECT datetime(), '00.000', 2460000.5 FROM item",
            "SELECT name FROM item",
            "SELECT 1",
            "SELECT random() <> 0",
        ],
    )
}

/// Scores into that folder and returns the bytes of the log.
fn scored(benchmark: &Benchmark, out: &str, more: &[&str]) -> Vec<u8> {
    let mut arguments = benchmark.score();
    let place = arguments.iter().position(|argument| argument == "--out").unwrap();
    arguments[place + 1] = benchmark.path(out).display().to_string();
    arguments.extend(more.iter().map(|&argument| argument.to_owned()));
    let output = sqlgauge(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    std::fs::read(benchmark.path(out).join("items.jsonl")).unwrap()
}

fn option_now(benchmark: &Benchmark, out: &str) -> String {
    let text = std::fs::read_to_string(benchmark.path(out).join("run.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    manifest["options"]["now"].as_str().unwrap().to_owned()
}

#[test]
fn the_same_moment_gives_the_same_log() {
    let benchmark = benchmark();
    let first = scored(&benchmark, "a", &["--now", "2024-01-01"]);
    assert_eq!(option_now(&benchmark, "a"), "2024-01-01T00:00:00Z");
    assert_eq!(first, scored(&benchmark, "b", &["--now", "2024-01-01T00:00:00Z", "--jobs", "1"]));
    // Another moment gives another score.
    scored(&benchmark, "c", &["--now", "2025-01-01 00:00:00"]);
    let scores = |run: &str| -> Vec<serde_json::Value> {
        items(&benchmark.path(run)).iter().map(|item| item["metrics"]["ex@1"].clone()).collect()
    };
    assert_eq!(
        (scores("a"), scores("c")),
        (
            [0, 1, 0, 1].map(f64::from).map(Into::into).into(),
            [0, 1, 1, 1].map(f64::from).map(Into::into).into()
        )
    );
}

#[test]
fn items_say_what_they_depend_on() {
    let benchmark = benchmark();
    scored(&benchmark, "run", &[]);
    let depends: Vec<serde_json::Value> =
        items(&benchmark.path("run")).iter().map(|item| item["details"]["depends_on"].clone()).collect();
    let none = serde_json::Value::Null;
    let only = |what: &str| serde_json::json!([what]);
    assert_eq!(depends, [only("time"), none, only("time"), only("chance")]);
    let run = benchmark.path("run").display().to_string();
    let view = sqlgauge(&["show", &run, "--id", "0"]);
    assert!(String::from_utf8_lossy(&view.stdout).contains("depends on time"), "{view:?}");
    let report = sqlgauge(&["report", &run]);
    assert!(
        String::from_utf8_lossy(&report.stdout).contains("3 of 4 items depend on what time it is"),
        "{report:?}"
    );
}

/// A run that goes on stays at its moment; with another one it is another run.
#[test]
fn a_run_goes_on_at_its_own_moment() {
    let benchmark = benchmark();
    let whole = scored(&benchmark, "run", &[]);
    let began = option_now(&benchmark, "run");
    let log = benchmark.path("run/items.jsonl");
    let lines = whole.iter().take_while(|byte| **byte != b'\n').count() + 1;
    std::fs::write(&log, &whole[..lines]).unwrap();
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(scored(&benchmark, "run", &[]), whole);
    let mut arguments = benchmark.score();
    arguments.extend(["--now".to_owned(), "2001-01-01".to_owned()]);
    let output = sqlgauge(&arguments);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("option now") && message.contains(&began), "{message}");
    // What the gold returned is shown as it was scored.
    let view = sqlgauge(&["show", &benchmark.path("run").display().to_string(), "--id", "0"]);
    let seconds = began.replace('T', " ").replace('Z', "");
    assert!(String::from_utf8_lossy(&view.stdout).contains(&seconds), "{view:?}");
}

/// The official scripts run queries too.
#[test]
fn compat_has_a_moment() {
    let gold = "SELECT name FROM item";
    let early = "SELECT name FROM item WHERE date('now') < '2024-06-01'";
    let benchmark = Benchmark::new(&[gold], &[early]);
    let score = |script: &str, now: &str| {
        let path = |name: &str| benchmark.path(name).display().to_string();
        let (gold, pred, db) = (path("gold.sql"), path("pred.sql"), path("database"));
        let files = match script {
            "spider" => ["--gold", &gold, "--pred", &pred, "--db", &db],
            _ => ["--ground_truth_path", &gold, "--predicted_sql_path", &pred, "--db_root_path", &db],
        };
        let arguments: Vec<String> = ["compat", script]
            .iter()
            .chain(&files)
            .chain(&["--json", "--now", now])
            .map(ToString::to_string)
            .collect();
        let output = sqlgauge(&arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        output.stdout
    };
    for script in ["spider", "bird"] {
        assert_eq!(score(script, "2024-01-01"), score(script, "2024-01-01T00:00:00Z"));
        assert_ne!(score(script, "2024-01-01"), score(script, "2025-01-01"));
    }
}

#[test]
fn what_is_no_moment_is_refused_by_name() {
    let benchmark = benchmark();
    for text in ["yesterday", "2024-02-30", "2024-01-01T25:00:00Z"] {
        let mut arguments = benchmark.score();
        arguments.extend(["--now".to_owned(), text.to_owned()]);
        let output = sqlgauge(&arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains(&format!("invalid time {text:?}: write a date")),
            "{}",
            stderr(&output)
        );
    }
}
