//! `compat spider` and `compat bird` print the numbers that follow from the official outcome per item.

use std::collections::BTreeMap;
use std::path::Path;

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
#[ignore = "long: cargo xtask long"]
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

/// BIRD's superhero questions, with the predictions of one system, as the official script takes them.
struct Superhero {
    folder: tempfile::TempDir,
    questions: Vec<serde_json::Value>,
}

impl Superhero {
    fn new(bird: &Path) -> Self {
        let all: Vec<serde_json::Value> = serde_json::from_str(&read(&bird.join("dev.json"))).unwrap();
        let questions: Vec<_> = all.into_iter().filter(|question| question["db_id"] == "superhero").collect();
        let folder = tempfile::tempdir().unwrap();
        let one_line =
            |sql: &serde_json::Value| sql.as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let golds: String = questions.iter().map(|q| one_line(&q["SQL"]) + "\tsuperhero\n").collect();
        std::fs::write(folder.path().join("gold.sql"), golds).unwrap();
        let difficulties: Vec<_> = questions
            .iter()
            .map(|q| serde_json::json!({"db_id": "superhero", "difficulty": q["difficulty"]}).to_string())
            .collect();
        std::fs::write(folder.path().join("difficulty.jsonl"), difficulties.join("\n")).unwrap();
        Self { folder, questions }
    }

    fn id(question: &serde_json::Value) -> String {
        question["question_id"].to_string()
    }

    /// The rows of the printed table by their first word.
    fn run(
        &self,
        bird: &Path,
        predictions: &serde_json::Value,
        more: &[&str],
    ) -> BTreeMap<String, Vec<String>> {
        let numbered: serde_json::Map<String, serde_json::Value> = self
            .questions
            .iter()
            .enumerate()
            .map(|(at, question)| (at.to_string(), predictions[Self::id(question)].clone()))
            .collect();
        let path = self.folder.path().join("predictions.json");
        std::fs::write(&path, serde_json::to_string(&numbered).unwrap()).unwrap();
        let output = Command::cargo_bin("sqlgauge")
            .unwrap()
            .args(["compat", "bird", "--predicted_sql_path"])
            .arg(path)
            .arg("--ground_truth_path")
            .arg(self.folder.path().join("gold.sql"))
            .arg("--db_root_path")
            .arg(bird.join("database"))
            .args(more)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let table = String::from_utf8(output.stdout).unwrap();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        table
            .lines()
            .map(words)
            .filter(|words| words.len() > 1)
            .map(|words| (words[0].clone(), words[1..].to_vec()))
            .collect()
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn the_bird_table_has_the_official_numbers() {
    let Some(root) = data() else { return };
    let bird = root.join("bird");
    let official: serde_json::Value =
        serde_json::from_str(&read(&bird.join("ex_set_superhero.json"))).unwrap();
    let superhero = Superhero::new(&bird);
    let difficulty = superhero.folder.path().join("difficulty.jsonl");
    let difficulty = difficulty.to_str().unwrap();
    let mut compared = 0;
    for (system, outcomes) in official.as_object().unwrap() {
        let file = bird.join(format!("predictions/dev/{system}.json"));
        if !file.is_file() {
            continue;
        }
        compared += 1;
        let predictions: serde_json::Value = serde_json::from_str(&read(&file)).unwrap();
        let mean = |level: &str| {
            let of_level =
                superhero.questions.iter().filter(|q| level == "total" || q["difficulty"] == level);
            let right: Vec<bool> =
                of_level.map(|question| outcomes[Superhero::id(question)].as_bool().unwrap()).collect();
            format!("{:.2}", 100.0 * right.iter().filter(|right| **right).count() as f64 / right.len() as f64)
        };
        let expected = ["simple", "moderate", "challenging", "total"].map(mean);
        let table = superhero.run(&bird, &predictions, &["--diff_json_path", difficulty]);
        assert_eq!(table["accuracy"], expected, "{system}");
        let table = superhero.run(&bird, &predictions, &["--sql_dialect", "SQLite"]);
        assert_eq!(table["EX"], expected[3..], "{system}");
        assert_eq!(table["count"], ["129"], "{system}");
    }
    assert!(compared >= 20, "only {compared} systems");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn mini_devs_measures_are_printed_and_logged() {
    let Some(root) = data() else { return };
    let bird = root.join("bird");
    let superhero = Superhero::new(&bird);
    let golds: serde_json::Map<String, serde_json::Value> = superhero
        .questions
        .iter()
        .map(|question| (Superhero::id(question), question["SQL"].clone()))
        .collect();
    let log = superhero.folder.path().join("log.txt");
    let log = log.to_str().unwrap();
    let table = superhero.run(&bird, &golds.into(), &["--metric", "soft-f1", "--output_log_path", log]);
    assert_eq!(table["Soft-F1"], ["100.00"]);
    assert_eq!(table["start"], ["calculate", "Soft", "F1"]);
    let logged = read(Path::new(log));
    assert!(logged.starts_with("start calculate Soft F1\n") && logged.contains("100.00"), "{logged}");
    let wrong = superhero
        .questions
        .iter()
        .map(|q| (Superhero::id(q), "SELECT NULL, 'x'".into()))
        .collect::<serde_json::Map<_, _>>();
    let table = superhero.run(&bird, &wrong.into(), &["--metric", "r-ves"]);
    assert_eq!(table["R-VES"], ["0.00"]);
    let output = Command::cargo_bin("sqlgauge")
        .unwrap()
        .args([
            "compat",
            "bird",
            "--predicted_sql_path",
            "p",
            "--ground_truth_path",
            "g",
            "--db_root_path",
            "d",
        ])
        .args(["--sql_dialect", "MySQL"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("MySQL"));
}

/// A prediction that is wrong only in its values is right with those of the gold.
#[test]
#[ignore = "long: cargo xtask long"]
fn values_are_plugged_in() {
    let benchmark = crate::common::Benchmark::new(
        &[
            "SELECT name FROM item WHERE price > 5",
            "SELECT name FROM item WHERE price > 5",
            "SELECT name FROM item WHERE id = 2",
        ],
        &[
            "SELECT name FROM item WHERE price > 100",
            "SELECT id FROM item WHERE price > 100",
            "SELECT name FROM item WHERE id = 'two'",
        ],
    );
    let run = |more: &[&str]| {
        let output = Command::cargo_bin("sqlgauge")
            .unwrap()
            .args(["compat", "spider", "--gold"])
            .arg(benchmark.path("gold.sql"))
            .arg("--pred")
            .arg(benchmark.path("pred.sql"))
            .arg("--db")
            .arg(benchmark.path("database"))
            .args(more)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let table = String::from_utf8(output.stdout).unwrap();
        let line = table.lines().find(|line| line.starts_with("execution")).unwrap().to_owned();
        line.split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(run(&[]), "0.000");
    assert_eq!(run(&["--plug_value"]), "0.667");
}
