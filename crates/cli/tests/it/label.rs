//! `label` through the command line, on the bundled sample: a person whose verdicts are the sample's own scores.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{items, stderr};

/// The sample, unpacked and scored, and the verdict on each answer by system and id.
struct Sample {
    folder: TempDir,
    right: BTreeMap<(String, String), bool>,
}

impl Sample {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("demo");
        Command::cargo_bin("sqlgauge").unwrap().args(["demo", "--out"]).arg(&out).assert().success();
        let text = |item: &Value, key: &str| item[key].as_str().unwrap().to_owned();
        let verdict =
            |item: &Value| ((text(item, "system"), text(item, "id")), item["metrics"]["ex@1"] == 1.0);
        let right = items(&out.join("run")).iter().map(verdict).collect();
        Self { folder, right }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn label(&self, words: &[&str]) -> Output {
        Command::cargo_bin("sqlgauge")
            .unwrap()
            .current_dir(self.folder.path())
            .arg("label")
            .args(words)
            .output()
            .unwrap()
    }

    fn plan(&self, out: &str, more: &[&str]) -> Output {
        let questions = [
            "plan",
            "--questions",
            "demo/benchmark/questions.json",
            "--db",
            "demo/benchmark/database",
            "--out",
        ];
        self.label(
            &[&questions[..], &[out, "--pred", "careful=demo/benchmark/predictions/careful.jsonl"], more]
                .concat(),
        )
    }

    /// Answers every question as the sample was scored, until none is asked; how many there were.
    fn answer_all(&self, folder: &str, systems: &[&str]) -> usize {
        let mut count = 0;
        loop {
            let questions = json(&self.label(&["next", "--in", folder, "--count", "5", "--json"]));
            for question in questions.as_array().unwrap() {
                let id = question["id"].as_str().unwrap();
                let is_right = |system: &&&str| self.right[&((**system).to_owned(), id.to_owned())];
                let right: Vec<&str> = systems.iter().filter(is_right).copied().collect();
                let words = if right.is_empty() { "wrong".to_owned() } else { right.join(",") };
                json(&self.label(&[
                    "add",
                    "--in",
                    folder,
                    "--id",
                    id,
                    "--verdict",
                    &words,
                    "--by",
                    "ann",
                    "--json",
                ]));
                count += 1;
            }
            if questions.as_array().unwrap().is_empty() {
                return count;
            }
        }
    }

    fn accuracy(&self, system: &str) -> f64 {
        let of = || self.right.iter().filter(|((name, _), _)| name == system).map(|(_, right)| *right);
        of().filter(|right| *right).count() as f64 / of().count() as f64
    }
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_plan_is_labelled_until_the_number_may_be_signed() {
    let sample = Sample::new();
    let peer = "baseline=demo/benchmark/predictions/baseline.jsonl";
    let planned = text(&sample.plan("labels", &["--peer", peer, "--width", "0.1"]));
    assert!(planned.contains("sqlgauge label next --in labels"), "{planned}");
    let first = text(&sample.label(&["next", "--in", "labels"]));
    assert!(
        first.contains("Does this result answer the question?") && first.contains("Answer of careful:"),
        "{first}"
    );
    assert!(
        first.contains("--verdict right\n") && first.contains("Or in place of right: wrong, or unsure"),
        "{first}"
    );
    let before = text(&sample.label(&["status", "--in", "labels"]));
    assert!(
        before.contains("Not sure yet after 0 labels") && before.contains("5 drawn questions"),
        "{before}"
    );
    let count = sample.answer_all("labels", &["careful"]);
    let status = json(&sample.label(&["status", "--in", "labels", "--json"]));
    assert_eq!((status["enough"].as_bool(), status["labels"].as_u64()), (Some(true), Some(count as u64)));
    let end = |key: &str| status["quantities"][0][key].as_f64().unwrap();
    let truth = sample.accuracy("careful");
    assert!(
        end("low") <= truth && truth <= end("high") && end("high") - end("low") < 0.2001,
        "{status} {truth}"
    );
    assert!(text(&sample.label(&["next", "--in", "labels"])).contains("Enough to stop"));
    // What `import` reads is what was written.
    let rows = std::fs::read_to_string(sample.path("labels/labels.jsonl")).unwrap();
    assert!(
        rows.lines().count() == count && rows.contains("\"correct\":1,\"verdict\":\"right\",\"by\":\"ann\""),
        "{rows}"
    );
}

#[test]
fn two_systems_are_asked_only_where_their_results_differ() {
    let sample = Sample::new();
    let against = "baseline=demo/benchmark/predictions/baseline.jsonl";
    text(&sample.plan("two", &["--against", against, "--winner", "--quiet"]));
    let question = text(&sample.label(&["next", "--in", "two"]));
    assert!(question.contains("Which of these two results answers the question?"), "{question}");
    assert!(
        question.contains("--verdict careful\n")
            && question.contains("Or in place of careful: baseline, right (both)"),
        "{question}"
    );
    let count = sample.answer_all("two", &["careful", "baseline"]);
    let status = json(&sample.label(&["status", "--in", "two", "--json"]));
    let free = status["free"].as_u64().unwrap();
    assert!(free > 0 && count as u64 + free <= status["questions"].as_u64().unwrap(), "{status}");
    assert!(status["quantities"][0]["estimate"].as_f64().unwrap() > 0.0, "{status}");
}

#[test]
fn a_name_with_a_comma_is_one_system() {
    let sample = Sample::new();
    let against = "base, line=demo/benchmark/predictions/baseline.jsonl";
    text(&sample.plan("named", &["--against", against, "--winner", "--quiet"]));
    let questions = json(&sample.label(&["next", "--in", "named", "--json"]));
    let id = questions[0]["id"].as_str().unwrap();
    let add = |words: &[&str]| {
        let begin = ["add", "--in", "named", "--id", id, "--by", "ann", "--replace"];
        sample.label(&[&begin[..], words].concat())
    };
    let right = || -> Vec<String> {
        let rows = std::fs::read_to_string(sample.path("named/labels.jsonl")).unwrap();
        let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut names: Vec<String> = rows
            .filter(|row| row["verdict"] == "right")
            .map(|row| row["system"].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    text(&add(&["--verdict", "base, line"]));
    assert_eq!(right(), ["base, line"]);
    text(&add(&["--verdict", "careful", "--verdict", "base, line"]));
    assert_eq!(right(), ["base, line", "careful"]);
    let refused = add(&["--verdict", "careful,base, line"]);
    assert!(stderr(&refused).contains("\"base\" is not a verdict"), "{}", stderr(&refused));
}

#[test]
fn labels_that_do_not_fit_and_bad_options_are_refused() {
    let sample = Sample::new();
    text(&sample.plan("labels", &["--quiet"]));
    let id = sample.right.iter().find(|((system, _), right)| system == "careful" && **right);
    let id = id.unwrap().0.1.as_str();
    let add = |words: &[&str]| sample.label(&[&["add", "--in", "labels", "--by", "ann"][..], words].concat());
    text(&add(&["--id", id, "--verdict", "right"]));
    std::fs::write(sample.path("strange.tsv"), "id\tcorrect\nnowhere-1\t1\n").unwrap();
    std::fs::write(sample.path("changed.tsv"), format!("id\tcorrect\tshown\n{id}\t1\t{}\n", "0".repeat(64)))
        .unwrap();
    let before = std::fs::read(sample.path("labels/labels.jsonl")).unwrap();
    for (output, part) in [
        (add(&["--id", "nowhere-1", "--verdict", "right"]), "no question \"nowhere-1\""),
        (add(&["--id", id, "--verdict", "perhaps"]), "write right, wrong, unsure"),
        (add(&["--id", id, "--verdict", "wrong"]), "--replace"),
        (add(&["--from", "strange.tsv"]), "strange.tsv: the plan has no question"),
        (sample.plan("labels", &["--width", "0.02"]), "choose a new --out"),
        (sample.plan("new", &["--width", "3"]), "write 3 points as 0.03"),
        (sample.plan("new", &["--level", "95"]), "write 95 % as 0.95"),
        (sample.label(&["status", "--in", "nowhere"]), "sqlgauge label plan"),
        (sample.label(&["trial", "--in", "labels", "--oracle", "strange.tsv"]), "has no label of"),
    ] {
        assert_eq!(output.status.code(), Some(2), "{part}");
        assert!(stderr(&output).contains(part), "{part}: {}", stderr(&output));
    }
    let changed = text(&add(&["--from", "changed.tsv"]));
    assert!(changed.contains(&format!("left out, of a different answer: {id}")), "{changed}");
    assert_eq!(before, std::fs::read(sample.path("labels/labels.jsonl")).unwrap());
    assert!(!sample.path("new").exists());
    let again = text(&add(&["--id", id, "--verdict", "right"]));
    assert!(again.contains("Added 0 labels; already there"), "{again}");
}

#[test]
fn a_trial_tells_what_a_plan_would_cost() {
    let sample = Sample::new();
    let peer = "baseline=demo/benchmark/predictions/baseline.jsonl";
    text(&sample.plan("labels", &["--peer", peer, "--width", "0.1", "--quiet"]));
    let right = sample.right.iter().filter(|((system, _), _)| system == "careful");
    let rows: Vec<String> = right.map(|((_, id), right)| format!("{id}\t{}", u8::from(*right))).collect();
    std::fs::write(sample.path("truth.tsv"), format!("id\tcorrect\n{}\n", rows.join("\n"))).unwrap();
    let trial = ["trial", "--in", "labels", "--oracle", "truth.tsv", "--runs", "12"];
    let tried = json(&sample.label(&[&trial[..], &["--json"]].concat()));
    assert_eq!(tried[0]["labels"].as_array().unwrap().len(), 12);
    assert!((tried[0]["truth"].as_f64().unwrap() - sample.accuracy("careful")).abs() < 1e-12);
    assert!(text(&sample.label(&trial)).contains("random sampling"));
    assert!(!sample.path("labels/draws.jsonl").exists(), "a trial writes nothing");
}
