//! The rival methods of `sqlgauge estimate`, end to end: confidences, labels, other systems, a judge on a local server.

use std::path::PathBuf;
use std::process::Output;

use crate::common::{write_database, write_json_lines};
use crate::server::{Reply, Server};
use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

const TABLES: [&str; 4] = ["singer", "song", "album", "venue"];

/// Known runs of some systems on four databases, and a target of 20 questions on a fifth.
struct World {
    folder: TempDir,
}

/// The query of a system: right for questions below its skill of ten, another column else; what ends in 9 does not run.
fn query(table: &str, number: usize, skill: usize) -> String {
    match number % 10 {
        9 => format!("SELEC name FROM {table}"),
        of_ten if of_ten < skill => format!("SELECT name FROM {table} WHERE id > {number}"),
        _ => format!("SELECT id FROM {table} WHERE id < {skill}"),
    }
}

/// Sure of the first six of ten.
fn confidence(number: usize) -> f64 {
    if number % 10 < 6 { 0.9 } else { 0.2 }
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        for db_id in TABLES.iter().chain(&["film"]) {
            let ddl = format!("CREATE TABLE {db_id} (id INTEGER PRIMARY KEY, name TEXT, year INTEGER);");
            write_database(&world.path("database"), db_id, &ddl);
        }
        let question = |id: usize, table: &str| json!({"id": format!("q{id}"), "db_id": table, "question": format!("Names of {table} above {id}?")});
        let questions = (0..80).map(|id| question(id, TABLES[id / 20]));
        world.lines("known.jsonl", questions);
        world.lines("target.jsonl", (0..20).map(|id| question(id, "film")));
        for (name, skill) in [("mid", 6), ("good", 8), ("bad", 2)] {
            for (part, count) in [("known", 80), ("target", 20)] {
                let table = |id: usize| if part == "known" { TABLES[id / 20] } else { "film" };
                let prediction = |id: usize| {
                    let mut row = json!({"id": format!("q{id}"), "prediction": query(table(id), id, skill)});
                    if name == "mid" {
                        row["confidence"] = confidence(id).into();
                    }
                    row
                };
                world.lines(&format!("{name}.{part}.jsonl"), (0..count).map(prediction));
            }
            let labels = (0..80).map(|id| json!({"id": format!("q{id}"), "correct": id % 10 < skill}));
            world.lines(&format!("{name}.labels.jsonl"), labels);
            world.import(name);
        }
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn lines(&self, name: &str, rows: impl Iterator<Item = Value>) {
        write_json_lines(&self.path(name), rows);
    }

    fn import(&self, name: &str) {
        let output = Command::new(env!("CARGO_BIN_EXE_sqlgauge"))
            .args([
                "import",
                "--quiet",
                "--questions",
                &self.text("known.jsonl"),
                "--db",
                &self.text("database"),
            ])
            .args(["--pred", &format!("{name}={}", self.text(&format!("{name}.known.jsonl")))])
            .args(["--correct", &self.text(&format!("{name}.labels.jsonl")), "--out", &self.text(name)])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// `estimate` of `mid` on the target.
    fn estimate(&self, method: &str, names: &[&str], peers: &[&str], more: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sqlgauge"));
        command.args(["estimate", "--json", "--quiet", "--method", method]);
        command.args(["--questions", &self.text("target.jsonl"), "--db", &self.text("database")]);
        command.args(["--pred", &format!("mid={}", self.text("mid.target.jsonl"))]);
        for name in names {
            command.args(["--known", &self.text(name)]);
        }
        for name in peers {
            command.args(["--peer", &format!("{name}={}", self.text(&format!("{name}.target.jsonl")))]);
        }
        command
            .args(more)
            .env_remove("OPENAI_API_KEY")
            .env("SOME_KEY", "sk-rivals-0123456789")
            .output()
            .unwrap()
    }

    fn report(&self, method: &str, names: &[&str], peers: &[&str], more: &[&str]) -> Value {
        let output = self.estimate(method, names, peers, more);
        assert!(output.status.success(), "{method}: {}", String::from_utf8_lossy(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let (low, high) =
            (report["interval"]["low"].as_f64().unwrap(), report["interval"]["high"].as_f64().unwrap());
        let accuracy = report["accuracy"].as_f64().unwrap();
        assert!(0.0 <= low && low <= accuracy && accuracy <= high && high <= 1.0, "{report}");
        assert_eq!(report["method"], method);
        report
    }
}

fn accuracy(report: &Value) -> f64 {
    report["accuracy"].as_f64().unwrap()
}

fn notes(report: &Value) -> String {
    report["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note.as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn confidences_of_the_system_itself_are_used_where_it_gives_some() {
    let world = World::new();
    // Six of ten are right and the same six of ten are sure, on both sides; one of ten does not run.
    for (method, more) in [("atc-mc", vec![]), ("doc", vec!["--tau", "0"]), ("doc", vec![])] {
        let report = world.report(method, &["mid"], &[], &more);
        assert!((accuracy(&report) - 0.6).abs() < 1e-9, "{method}: {report}");
        assert!(notes(&report).contains("the system's own"), "{}", notes(&report));
    }
    // The entropy of 0.9 is below that of 0.2, so the order is the same one.
    assert!((accuracy(&world.report("atc-ne", &["mid"], &[], &[])) - 0.6).abs() < 1e-9);
}

#[test]
fn without_a_confidence_the_item_model_gives_one() {
    let world = World::new();
    let rows = (0..20).map(|id| json!({"id": format!("q{id}"), "prediction": query("film", id, 6)}));
    world.lines("mid.target.jsonl", rows);
    for method in ["atc-mc", "atc-ne", "doc"] {
        let report = world.report(method, &["mid"], &[], &[]);
        assert!(notes(&report).contains("the item model's probability"), "{}", notes(&report));
        let again = world.report(method, &["mid"], &[], &[]);
        assert_eq!(report, again);
    }
}

#[test]
fn labels_of_the_target_rectify_the_mean_probability() {
    let world = World::new();
    // Right are the first half of ten; the system is sure of six. Ten labels: 5 of 10 right.
    let labels = (0..10).map(|id| json!({"id": format!("q{id}"), "correct": id < 5}));
    world.lines("labels.jsonl", labels);
    let file = world.text("labels.jsonl");
    let report = world.report("ppi", &[], &[], &["--labels", &file]);
    // Labelled and unlabelled answers have the same confidences, so every λ gives the mean label.
    assert!((accuracy(&report) - 0.5).abs() < 1e-9, "{report}");
    assert!(notes(&report).contains("10 labels"), "{}", notes(&report));
    let named = world.report("ppi", &[], &[], &["--labels", &format!("mid={file}")]);
    assert_eq!(report, named);
    // No other method reads them.
    let with = world.report("source", &["mid"], &[], &["--labels", &file]);
    assert_eq!(with, world.report("source", &["mid"], &[], &[]));
    let stray = world.path("stray.tsv");
    std::fs::write(&stray, "id\tcorrect\nelsewhere\t1\n").unwrap();
    let output = world.estimate("ppi", &[], &[], &["--labels", &stray.display().to_string()]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && error.contains("`elsewhere`"), "{error}");
}

#[test]
fn agreement_moves_the_accuracy_only_when_it_moves_itself() {
    let world = World::new();
    let all = ["mid", "good", "bad"];
    let report = world.report("agreement", &all, &["good", "bad"], &[]);
    // The same mix of questions on both sides: the same agreement, up to the number of answers.
    assert!((accuracy(&report) - 0.6).abs() < 0.03, "{report}");
    // Without the system's own run the line is that of the others.
    let others = world.report("agreement", &["good", "bad"], &["good", "bad"], &[]);
    assert!(notes(&others).contains("other systems, as mid has no known run"), "{}", notes(&others));
}

#[test]
fn a_method_without_its_input_says_what_is_missing() {
    let world = World::new();
    for (method, names, more, missing) in [
        ("atc-mc", vec![], vec![], "a known run of mid"),
        ("atc-ne", vec!["good"], vec![], "a known run of mid"),
        ("doc", vec![], vec![], "--known"),
        ("doc", vec!["mid"], vec!["--tau", "1.5"], "--tau 1.5"),
        ("ppi", vec!["mid"], vec![], "--labels"),
        ("agreement", vec!["mid"], vec![], "--peer"),
        ("judge-bug", vec![], vec![], "--judge-url"),
        ("judge-arena", vec![], vec![], "--judge-url"),
        ("judge-arena", vec![], vec!["--judge-url", "http://127.0.0.1:9", "--judge-model", "m"], "--peer"),
        (
            "source",
            vec!["mid"],
            vec!["--judge-url", "http://127.0.0.1:9", "--judge-model", "m"],
            "does not ask a judge",
        ),
        ("no-such", vec![], vec![], "judge-arena"),
    ] {
        let output = world.estimate(method, &names, &[], &more);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{method}: {error}");
        assert!(error.contains(missing), "{method}: {error}");
    }
}

fn says(verdict: &str, confidence: f64) -> Reply {
    Reply::chat(&format!("{{\"verdict\": \"{verdict}\", \"confidence\": {confidence}}}"), 300, 20)
}

#[test]
fn a_judge_is_asked_of_every_prediction_and_once_with_a_cache() {
    let world = World::new();
    let server = Server::start(|seen| match seen.part("sql") {
        sql if sql.starts_with("SELECT name") => says("correct", 0.9),
        sql if sql.starts_with("SELECT id") => says("incorrect", 0.8),
        _ => says("unsure", 0.5),
    });
    let (url, cache) = (server.url(), world.text("cache"));
    let more =
        ["--judge-url", &url, "--judge-model", "m", "--judge-key-env", "SOME_KEY", "--judge-cache", &cache];
    let report = world.report("judge-bug", &[], &[], &more);
    // Of twenty: twelve at 0.9, six at 0.2, two without a verdict.
    assert!((accuracy(&report) - (12.0 * 0.9 + 6.0 * 0.2) / 18.0).abs() < 1e-9, "{report}");
    assert!(
        notes(&report).contains("2 unsure") && notes(&report).contains("not conformal"),
        "{}",
        notes(&report)
    );
    assert_eq!(server.count(), 20);
    assert_eq!(server.seen()[0].header("authorization"), Some("Bearer sk-rivals-0123456789"));
    let again = world.report("judge-bug", &[], &[], &more);
    assert_eq!((server.count(), accuracy(&again)), (20, accuracy(&report)));
    assert!(!report.to_string().contains("sk-rivals"));
    // A budget of five requests, while 18 of 20 answers run: the interval holds the 13 that were not asked, and no answer that fails.
    let few = [&more[..4], &["--judge-max-requests", "5", "--judge-concurrency", "1"]].concat();
    let partly = world.report("judge-bug", &[], &[], &few);
    let [low, high] = ["low", "high"].map(|end| partly["interval"][end].as_f64().unwrap());
    assert!((high - 18.0 / 20.0).abs() < 1e-9 && high - low >= 13.0 / 20.0, "{partly}");
    assert!(notes(&partly).contains("stopped before the end"), "{}", notes(&partly));
}

#[test]
fn a_judge_compares_with_systems_of_known_accuracy() {
    let world = World::new();
    // Prefers names over ids over what does not run.
    let worth = |sql: &str| (sql.starts_with("SELECT name"), sql.starts_with("SELECT id"));
    let server = Server::start(move |seen| match worth(seen.part("sql_a")).cmp(&worth(seen.part("sql_b"))) {
        std::cmp::Ordering::Greater => says("A", 1.0),
        std::cmp::Ordering::Less => says("B", 1.0),
        std::cmp::Ordering::Equal => says("tie", 1.0),
    });
    let url = server.url();
    let more = ["--judge-url", &url, "--judge-model", "m"];
    let report = world.report("judge-arena", &["good", "bad"], &["good", "bad"], &more);
    // good is right in 8 of 10, bad in 2, and the system stands between them.
    assert!((0.3..0.8).contains(&accuracy(&report)), "{report}");
    assert!(notes(&report).contains("known on other questions only"), "{}", notes(&report));
    let one = world.estimate("judge-arena", &["good"], &["good"], &more);
    assert!(String::from_utf8_lossy(&one.stderr).contains("at least 2 other systems"));
}
