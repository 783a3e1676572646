//! `sqlgauge robustness` on a small evolved benchmark, written here as `evolve` writes it.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{sqlgauge, stderr, write_database};
use serde_json::{Value, json};
use tempfile::TempDir;

const GOLDS: [&str; 4] = [
    "SELECT name FROM item WHERE id = 1",
    "SELECT count(*) FROM item",
    "SELECT price FROM item WHERE id = 2",
    "SELECT name FROM item WHERE price > 2",
];
/// What `weak` says on the original: right on the first two.
const WEAK: [&str; 4] = [GOLDS[0], GOLDS[1], "SELECT name FROM item WHERE id = 2", "SELECT id FROM item"];

/// A benchmark of four items, `rename-tables` of the first three, and `remove-tables-in-gold` of all.
struct World(TempDir);

impl World {
    fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        world.database("database", "item");
        world.database("evolved/rename-tables/database", "product");
        let original =
            (0..4).map(|at| json!({"question_id": format!("q{at}"), "db_id": "shop", "query": GOLDS[at]}));
        world.write("dev.json", &json!(original.collect::<Vec<_>>()).to_string());
        world.evolved("rename-tables", (0..3).map(|at| (at, GOLDS[at].replace("item", "product"))).collect());
        let sentence =
            "The given table information is insufficient to generate an SQL query to answer the question";
        world.evolved("remove-tables-in-gold", (0..4).map(|at| (at, sentence.to_owned())).collect());

        world.write("original/good.sql", &GOLDS.join("\n"));
        world.write("original/weak.sql", &WEAK.join("\n"));
        let renamed: Vec<String> = GOLDS[..3].iter().map(|sql| sql.replace("item", "product")).collect();
        world.write("preds/good/rename-tables.sql", &renamed.join("\n"));
        world.write("preds/weak/rename-tables.sql", &format!("{}\n{}\n{}", WEAK[0], renamed[1], WEAK[2]));
        world.write("preds/good/remove-tables-in-gold.sql", "SELECT 1\nSELECT 2\nSELECT 3\nSELECT 4");
        world.write(
            "preds/weak/remove-tables-in-gold.json",
            &json!({"q0": sentence, "q1": "", "q2": null, "q3": "SELECT 1"}).to_string(),
        );
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), text).unwrap();
    }

    fn database(&self, folder: &str, table: &str) {
        let ddl = format!(
            "CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, price REAL);
             INSERT INTO {table} VALUES (1, 'pen', 1.5), (2, 'book', 12), (3, 'lamp', NULL);"
        );
        write_database(&self.path(folder), "shop", &ddl);
    }

    fn evolved(&self, kind: &str, golds: Vec<(usize, String)>) {
        let item = |(at, gold): (usize, String)| {
            json!({"source_index": at, "question_id": format!("q{at}"), "db_id": "shop", "source_db_id": "shop",
                "question": "?", "evidence": null, "difficulty": null, "query": gold, "source_query": GOLDS[at],
                "answerable": kind == "rename-tables", "ddl": "", "ddl_relevant": "", "ddl_needed": ""})
        };
        let items: Vec<Value> = golds.into_iter().map(item).collect();
        let header = json!({"record": "header", "format": 2, "tool_version": "0", "kind": kind, "seed": 7,
            "intensity": 0.5, "naturalness": "regular", "inputs": "", "step": null, "items": 4});
        self.write(&format!("evolved/{kind}/dev.json"), &json!(items).to_string());
        self.write(&format!("evolved/{kind}/changes.jsonl"), &format!("{header}\n"));
    }

    fn run(&self, command: &str, arguments: &[(&str, &str)], further: &[&str]) -> Output {
        let mut words = vec![command.to_owned()];
        for (flag, value) in arguments {
            let of_path = |path: &str| self.path(path).display().to_string();
            let value = match value.split_once('=') {
                Some((name, path)) => format!("{name}={}", of_path(path)),
                None => of_path(value),
            };
            words.extend([(*flag).to_owned(), value]);
        }
        words.extend(further.iter().map(|word| (*word).to_owned()));
        sqlgauge(&words)
    }

    fn score(&self, metrics: &str) {
        let files = [
            ("--gold", "dev.json"),
            ("--db", "database"),
            ("--pred", "good=original/good.sql"),
            ("--pred", "weak=original/weak.sql"),
            ("--out", "runs/original"),
        ];
        let output = self.run("score", &files, &["--metrics", metrics, "--quiet"]);
        assert!(output.status.success(), "{}", stderr(&output));
    }

    fn robustness(&self, further: &[&str]) -> Output {
        let files = [
            ("--original", "runs/original"),
            ("--evolved", "evolved"),
            ("--pred", "good=preds/good"),
            ("--pred", "weak=preds/weak"),
            ("--out", "out"),
        ];
        self.run("robustness", &files, further)
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn close(value: &Value, expected: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - expected).abs() < 1e-12)
}

#[test]
fn both_systems_are_compared_with_themselves_on_the_same_items() {
    let world = World::new();
    world.score("ex,table-f1,column-f1");
    let output = world.robustness(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for said in ["33.3 % after rename-tables (41.7 % with the original", "a system should abstain"] {
        assert!(text.contains(said), "{text}");
    }
    assert!(!text.contains("run again"), "{text}");

    let report = read(&world.path("out/robustness.json"));
    let (good, weak) = (&report["systems"][0], &report["systems"][1]);
    for metric in ["ex@1", "table-f1@2", "column-f1@2"] {
        for scores in [&good["original"], &good["rows"][0]["scores"], &good["average_over_changes"]] {
            assert!(close(&scores[metric]["mean"], 1.0), "{metric} {scores}");
        }
    }
    assert!(close(&good["out_of_scope"][0]["true_positives"]["mean"], 0.0));

    let row = &weak["rows"][0];
    assert_eq!((&row["label"], &row["items"]), (&json!("rename-tables"), &json!(3)));
    assert!(close(&weak["original"]["ex@1"]["mean"], 0.5));
    assert!(close(&row["scores"]["ex@1"]["mean"], 1.0 / 3.0));
    assert!(close(&row["original"]["ex@1"]["mean"], 2.0 / 3.0));
    let change = &row["changes"]["ex@1"];
    assert!(close(&change["difference"], -1.0 / 3.0) && close(&change["p_value"], 1.0), "{change}");
    assert_eq!((&change["gained"], &change["lost"]), (&json!(0), &json!(1)));
    assert!(close(&weak["average_over_changes"]["ex@1"]["mean"], 1.0 / 3.0));
    assert!(close(&weak["average_with_original"]["ex@1"]["mean"], f64::midpoint(0.5, 1.0 / 3.0)));
    assert_eq!(weak["not_asked_again"], 0);
    assert!(close(&row["databases"]["shop"]["evolved"], 1.0 / 3.0));
    let out_of_scope = &weak["out_of_scope"][0];
    assert!(close(&out_of_scope["true_positives"]["mean"], 0.5), "{out_of_scope}");
    assert_eq!(out_of_scope["missing"], 1);
}

/// The answers to the original on a table that has another name: those that name it are lost.
#[test]
fn answers_to_the_original_are_taken_on_every_benchmark() {
    let world = World::new();
    world.score("ex,table-f1,column-f1");
    let files = [("--original", "runs/original"), ("--out", "stale")];
    let evolved = world.path("evolved").display().to_string();
    let predictions = |weak: &'static str| {
        [files.as_slice(), &[("--pred", "good=original/good.sql"), ("--pred", weak)]].concat()
    };
    let output = world.run("robustness", &predictions("weak=original/weak.sql"), &[&evolved]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("All systems: the old answers were run again"), "{text}");
    let report = read(&world.path("stale/robustness.json"));
    for system in report["systems"].as_array().unwrap() {
        assert_eq!(system["not_asked_again"], 2);
        let row = &system["rows"][0];
        assert_eq!((&row["label"], &row["items"]), (&json!("rename-tables"), &json!(3)));
        assert!(close(&row["scores"]["ex@1"]["mean"], 0.0), "{row}");
        assert!(close(&system["out_of_scope"][0]["true_positives"]["mean"], 0.0), "{system}");
    }
    world.write("copies/rename-tables.sql", &WEAK[..3].join("\n"));
    world.write("copies/remove-tables-in-gold.sql", &WEAK.join("\n"));
    std::fs::remove_dir_all(world.path("stale")).unwrap();
    let unchanged = [files.as_slice(), &[("--pred", "weak=copies")]].concat();
    let copied = world.run("robustness", &unchanged, &[&evolved]);
    let text = String::from_utf8_lossy(&copied.stdout).into_owned();
    assert!(text.contains("weak (1 of 2 changed schemas)"), "{text}{}", stderr(&copied));
    std::fs::remove_dir_all(world.path("stale")).unwrap();
    let mixed = world.run("robustness", &predictions("weak=preds/weak"), &[&evolved]);
    assert_eq!(mixed.status.code(), Some(2));
    assert!(stderr(&mixed).contains("a file for every one"), "{}", stderr(&mixed));
    std::fs::rename(world.path("dev.json"), world.path("moved.json")).unwrap();
    let moved = world.run("robustness", &predictions("weak=original/weak.sql"), &[&evolved]);
    assert!(stderr(&moved).contains("no longer where they were"), "{}", stderr(&moved));
}

#[test]
fn every_format_is_written_and_the_same_again() {
    let world = World::new();
    world.score("ex,table-f1,column-f1");
    assert!(world.robustness(&["--quiet"]).status.success());
    let names =
        ["robustness.json", "robustness.jsonl", "robustness.csv", "report.html", "report.md", "junit.xml"];
    let all = || names.map(|name| std::fs::read(world.path("out").join(name)).unwrap());
    let before = all();
    assert!(world.robustness(&["--quiet"]).status.success());
    assert!(all() == before);
    let text = |name: &str| std::fs::read_to_string(world.path("out").join(name)).unwrap();
    assert_eq!(text("robustness.jsonl").lines().count(), 10);
    assert!(text("robustness.csv").contains("weak,rename-tables,0.5,,ex@1,3,0.333"));
    assert!(
        text("report.md").contains("| rename\\-tables | 3 |")
            || text("report.md").contains("| rename-tables | 3 |")
    );
    assert!(text("report.html").contains("class=\"num toned\"") && !text("report.html").contains("<script"));
    assert!(text("junit.xml").contains("tests=\"2\" failures=\"0\""));
}

#[test]
fn a_loss_beyond_the_bar_is_a_failure() {
    let world = World::new();
    world.score("ex,table-f1,column-f1");
    let output = world.robustness(&["--max-drop", "0.2", "--quiet"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let junit = std::fs::read_to_string(world.path("out/junit.xml")).unwrap();
    assert!(junit.contains("tests=\"2\" failures=\"1\"") && junit.contains("it may fall by 20.0"), "{junit}");
    let page = std::fs::read_to_string(world.path("out/report.html")).unwrap();
    let lost = page.split(" points of ").next().and_then(|page| page.rsplit(" loses ").next()).unwrap();
    let numbers = lost.replace('\u{2212}', "-").replace(['[', ']', ','], "");
    let numbers: Vec<f64> = numbers.split(' ').map(|number| number.parse().expect(lost)).collect();
    assert!(numbers[0] > 20.0 && numbers[1] <= numbers[0] && numbers[0] <= numbers[2], "{lost}");
    for run in page.split("href=\"runs/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(world.path("out/runs").join(run).is_file(), "{run}");
    }
    assert_eq!(page.matches("href=\"runs/").count(), 2);
}

#[test]
fn what_does_not_belong_together_is_refused_by_name() {
    let world = World::new();
    world.score("ex");
    let message = |world: &World| {
        let output = world.robustness(&["--quiet"]);
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    assert!(
        message(&world).contains("does not score table-f1@2; score the original with --metrics"),
        "{}",
        message(&world)
    );
    world.score_again();
    std::fs::remove_file(world.path("preds/weak/rename-tables.sql")).unwrap();
    assert!(message(&world).contains("has no predictions on"), "{}", message(&world));
    world.write("preds/weak/rename-tables.sql", "a\nb\nc");
    let items = std::fs::read_to_string(world.path("evolved/rename-tables/dev.json")).unwrap();
    world.write(
        "evolved/rename-tables/dev.json",
        &items.replace("\"question_id\":\"q2\"", "\"question_id\":\"x\""),
    );
    assert!(
        message(&world)
            .contains("item \"x\" comes from item 2 of the original, and the original run has \"q2\"")
    );
    world.write("evolved/rename-tables/changes.jsonl", "{\"record\": \"header\"}");
    assert!(message(&world).contains("its first line is not a header"), "{}", message(&world));
}

impl World {
    /// With all metrics, in place of the run that is there.
    fn score_again(&self) {
        std::fs::remove_dir_all(self.path("runs/original")).unwrap();
        self.score("ex,table-f1,column-f1");
    }
}
