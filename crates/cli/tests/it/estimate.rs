//! `import` and `estimate` through the command line, on the bundled sample.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The sample, unpacked and scored.
struct Sample(TempDir);

impl Sample {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let out = folder.path().join("demo");
        Command::cargo_bin("sqlgauge").unwrap().args(["demo", "--out"]).arg(out).assert().success();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn questions(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path("demo/benchmark/questions.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Writes a target of some of the sample's questions and the answers of a system to them.
    fn target(&self, name: &str, system: &str, questions: &[Value]) -> (String, String) {
        let target = self.path(&format!("{name}.json"));
        std::fs::write(&target, serde_json::to_string(questions).unwrap()).unwrap();
        let ids: Vec<&str> = questions.iter().map(|question| question["id"].as_str().unwrap()).collect();
        let all = std::fs::read_to_string(self.path(&format!("demo/benchmark/predictions/{system}.jsonl")))
            .unwrap();
        let rows: Vec<&str> = all
            .lines()
            .filter(|line| {
                let line: Value = serde_json::from_str(line).unwrap();
                ids.contains(&line["id"].as_str().unwrap())
            })
            .collect();
        let predictions = self.path(&format!("{name}-{system}.jsonl"));
        std::fs::write(&predictions, rows.join("\n") + "\n").unwrap();
        (target.display().to_string(), format!("{system}={}", predictions.display()))
    }

    fn estimate(&self, target: &str, prediction: &str, more: &[&str]) -> Output {
        Command::cargo_bin("sqlgauge")
            .unwrap()
            .args(["estimate", "--json", "--quiet", "--questions", target, "--pred", prediction, "--db"])
            .arg(self.path("demo/benchmark/database"))
            .args(more)
            .output()
            .unwrap()
    }

    fn run_folder(&self) -> String {
        self.path("demo/run").display().to_string()
    }
}

fn json_of(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Through a driver, the answers end as they do on the files; agreement is that of results, which a note says.
#[test]
#[cfg(all(feature = "engines", target_os = "linux"))]
fn a_target_behind_a_driver_is_estimated() {
    let sample = Sample::new();
    let (target, prediction) = sample.target("target", "baseline", &sample.questions());
    let runs = sample.run_folder();
    let files = sample.path("files").display().to_string();
    json_of(&sample.estimate(&target, &prediction, &["--known", &runs, "--out", &files]));
    let database = sample.path("demo/benchmark/database/{db_id}/{db_id}.sqlite");
    let address = format!("dbapi:sqlite3?database={}", database.display());
    let out = sample.path("out").display().to_string();
    let output = Command::cargo_bin("sqlgauge")
        .unwrap()
        .args(["estimate", "--json", "--questions", &target, "--pred", &prediction, "--db", &address])
        .args(["--known", &runs, "--out", &out])
        .output()
        .unwrap();
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(notes.contains("agreement compares results on the server's own rows"), "{notes}");
    json_of(&output);
    let statuses = |folder: &str| {
        let text = std::fs::read_to_string(Path::new(folder).join("predictions.jsonl")).unwrap();
        let item = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        text.lines().map(item).map(|item| (item["id"].clone(), item["status"].clone())).collect::<Vec<_>>()
    };
    assert!(!statuses(&files).is_empty());
    assert_eq!(statuses(&out), statuses(&files));
    let record = std::fs::read_to_string(sample.path("out/run.json")).unwrap();
    assert!(record.contains("DB-API sqlite3") && record.contains(&address[..20]), "{record}");
    // Labels of answers to questions behind the driver make a known run too.
    let (labels, imported) = (sample.path("labels.tsv"), sample.path("imported"));
    std::fs::write(&labels, "id\tcorrect\nbike-01\t1\n").unwrap();
    let mut import = Command::cargo_bin("sqlgauge").unwrap();
    import.args(["import", "--questions", &target, "--pred", &prediction, "--db", &address, "--correct"]);
    import.arg(&labels).arg("--out").arg(&imported).assert().success();
    assert!(std::fs::read_to_string(imported.join("run.json")).unwrap().contains(&address[..20]));
}

/// Everything that depends on golds is garbled; the estimate is the same to the last bit.
#[test]
fn golds_of_the_target_are_never_read() {
    let sample = Sample::new();
    let mut questions = sample.questions();
    let with_golds = sample.target("target", "careful", &questions);
    for question in &mut questions {
        question["gold"] = json!("DROP TABLE nothing -- \u{0}garbled");
        question["difficulty"] = json!("unheard of");
    }
    let garbled = sample.target("garbled", "careful", &questions);
    for method in ["auto", "signals"] {
        let more = ["--known", &sample.run_folder(), "--method", method];
        let first = sample.estimate(&with_golds.0, &with_golds.1, &more);
        let second = sample.estimate(&garbled.0, &garbled.1, &more);
        assert_eq!(json_of(&first), json_of(&second), "{method}");
    }
}

#[test]
fn a_part_of_the_questions_is_estimated_as_from_files_of_its_own() {
    let sample = Sample::new();
    let questions = sample.questions();
    let is_of_part = |question: &&Value| question["db_id"] == "bike_rental";
    let cut: Vec<Value> = questions.iter().filter(is_of_part).cloned().collect();
    assert!(!cut.is_empty() && cut.len() < questions.len());
    let (whole, part) =
        (sample.target("whole", "careful", &questions), sample.target("part", "careful", &cut));
    let runs = sample.run_folder();
    let of_part = json_of(&sample.estimate(&part.0, &part.1, &["--known", &runs]));
    let part_of_whole = sample.estimate(&whole.0, &whole.1, &["--known", &runs, "--db-id", "bike_rental"]);
    assert_eq!(json_of(&part_of_whole), of_part);
    assert_eq!(of_part["metric"], "ex@1");
    let output = sample.estimate(&whole.0, &whole.1, &["--known", &runs, "--db-id", "nowhere"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_output_has_the_documented_shape_and_does_not_depend_on_threads() {
    let sample = Sample::new();
    let (target, prediction) = sample.target("target", "baseline", &sample.questions());
    let runs = sample.run_folder();
    let run = |threads: &str| {
        let output = Command::cargo_bin("sqlgauge")
            .unwrap()
            .env("RAYON_NUM_THREADS", threads)
            .args([
                "estimate",
                "--json",
                "--quiet",
                "--known",
                &runs,
                "--questions",
                &target,
                "--pred",
                &prediction,
            ])
            .arg("--db")
            .arg(sample.path("demo/benchmark/database"))
            .output()
            .unwrap();
        json_of(&output)
    };
    let (one, three) = (run("1"), run("3"));
    assert_eq!(one, three);
    assert_eq!(one["system"], "baseline");
    let number = |value: &Value| value.as_f64().unwrap();
    let (accuracy, interval) = (number(&one["accuracy"]), &one["interval"]);
    assert!((0.9 - number(&interval["level"])).abs() < 1e-12);
    assert!(0.0 <= number(&interval["low"]) && number(&interval["low"]) <= accuracy);
    assert!(accuracy <= number(&interval["high"]) && number(&interval["high"]) <= 1.0);
    assert!(one["sentence"].as_str().unwrap().starts_with("An estimated "));
    for key in ["outside", "method", "signals", "descriptors", "by_database"] {
        assert!(!one[key].is_null(), "{key}");
    }
    let parts: f64 = one["by_database"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| number(&part["accuracy"]) * number(&part["count"]))
        .sum();
    let count = sample.questions().len() as f64;
    assert!((parts / count - accuracy).abs() < 1e-9);
}

/// Labels that were judged elsewhere make the same known run as far as an estimate can tell: nothing is executed.
#[test]
fn imported_labels_are_known() {
    let sample = Sample::new();
    let questions = sample.questions();
    let labels = sample.path("labels.tsv");
    let rows: Vec<String> = questions
        .iter()
        .enumerate()
        .map(|(at, question)| format!("{}\t{}", question["id"].as_str().unwrap(), usize::from(at % 3 > 0)))
        .collect();
    std::fs::write(&labels, format!("id\tcorrect\n{}\n", rows.join("\n"))).unwrap();
    let (workload, all) = sample.target("workload", "careful", &questions);
    let out = sample.path("imported");
    Command::cargo_bin("sqlgauge")
        .unwrap()
        .args(["import", "--questions", &workload, "--pred", &all, "--correct"])
        .arg(&labels)
        .arg("--db")
        .arg(sample.path("demo/benchmark/database"))
        .arg("--out")
        .arg(&out)
        .assert()
        .success();
    let runs = out.display().to_string();
    let source = ["--method", "source", "--known", &runs];
    // What a run says of the very answers that are asked about is not used.
    let output = sample.estimate(&workload, &all, &source);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let (half, prediction) = sample.target("half", "careful", &questions[questions.len() / 2..]);
    let estimate = json_of(&sample.estimate(&half, &prediction, &source));
    let count = questions.len() / 2;
    let right = (0..count).filter(|at| at % 3 > 0).count();
    assert!((estimate["accuracy"].as_f64().unwrap() - right as f64 / count as f64).abs() < 1e-9);
}

/// A label counts only for the answer that was shown, in every command that reads labels.
#[test]
#[ignore = "long: cargo xtask long"]
fn a_label_of_an_earlier_answer_does_not_count() {
    let sample = Sample::new();
    let questions = sample.questions();
    let (workload, all) = sample.target("workload", "careful", &questions);
    let run = sample.run_folder();
    let systems: Value =
        serde_json::from_slice(&std::fs::read(sample.path("demo/run/run.json")).unwrap()).unwrap();
    let answers = std::fs::read_to_string(sample.path("workload-careful.jsonl")).unwrap();
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let row = |(at, answer): (usize, &Value)| {
        let sql = if at < 2 { answer["sql"].as_str().unwrap() } else { "SELECT 42" };
        let mut row = json!({"id": answer["id"], "shown": sqlgauge_run::sha256_of_bytes(sql.as_bytes())});
        for system in systems["systems"].as_array().unwrap() {
            row[system.as_str().unwrap()] = json!(1);
        }
        row["correct"] = json!(1);
        row.to_string() + "\n"
    };
    let rows: Vec<String> = answers.iter().take(4).enumerate().map(row).collect();
    let labels = sample.path("labels.jsonl");
    std::fs::write(&labels, rows.concat()).unwrap();
    let database = sample.path("demo/benchmark/database").display().to_string();
    let command = |words: &[&str]| {
        let output = Command::cargo_bin("sqlgauge").unwrap().args(words).arg(&labels).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap(), output.stdout)
    };
    let [out, vectors] = ["imported", "vectors.parquet"].map(|name| sample.path(name).display().to_string());
    let of = ["--questions", &workload, "--pred", &all, "--db", &database];
    let sentence = "2 of 4 labels are of an earlier answer and do not count";
    let mut readers = vec![
        [&["import", "--out", &out], &of[..], &["--correct"]].concat(),
        [&["estimate", "--method", "source", "--known", &run], &of[..], &["--labels"]].concat(),
    ];
    if cfg!(feature = "parquet") {
        readers
            .push([&["encode", "--encoder", "tfidf", "--out", &vectors], &of[..], &["--correct"]].concat());
    }
    for words in readers {
        let (_, message, _) = command(&words);
        let ids: Vec<&str> = answers[2..4].iter().map(|answer| answer["id"].as_str().unwrap()).collect();
        assert!(message.contains(sentence) && message.contains(&ids.join(", ")), "{words:?}: {message}");
    }
    let (_, message, _) = command(&["rules", "ablate", &run, "--correct"]);
    assert!(message.contains("with the label of an earlier answer"), "{message}");
    let (_, _, errors) = command(&["report", "--errors", &run, "--output-format", "json", "--correct"]);
    let errors: Value = serde_json::from_slice(&errors).unwrap();
    let careful =
        errors["systems"].as_array().unwrap().iter().find(|system| system["system"] == "careful").unwrap();
    assert_eq!((&careful["truth"]["right"], &careful["truth"]["other_answer"]), (&json!(2), &json!(2)));
    let items = std::fs::read_to_string(sample.path("imported/items.jsonl")).unwrap();
    assert_eq!(items.lines().filter(|line| line.contains("\"correct@1\":1")).count(), 2, "{items}");

    // Another answer than all labels are of: nothing is imported.
    std::fs::write(&labels, rows[2..].concat()).unwrap();
    let none = sample.path("none").display().to_string();
    let (code, message, _) = command(&[&["import", "--out", &none], &of[..], &["--correct"]].concat());
    assert!(code == Some(2) && message.contains("2 of 2 labels are of an earlier answer"), "{message}");
    assert!(!Path::new(&none).exists());
}

#[test]
fn what_cannot_be_estimated_is_said() {
    let sample = Sample::new();
    let questions = sample.questions();
    let (target, prediction) = sample.target("target", "careful", &questions);
    let empty = sample.path("empty.json");
    std::fs::write(&empty, "[]").unwrap();
    let runs = sample.run_folder();
    let cases: [(&str, Vec<&str>, &str); 4] = [
        (&target, vec![], "--known"),
        (&target, vec!["--known", &runs, "--method", "guess"], "signals"),
        (&target, vec!["--known", &runs, "--metric", "ex-spyder"], "ex-spyder"),
        (&target, vec!["--known", "/nowhere"], "/nowhere"),
    ];
    for (target, more, wanted) in cases {
        let output = sample.estimate(target, &prediction, &more);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{more:?}: {message}");
        assert!(message.contains(wanted) && !message.contains("panicked"), "{more:?}: {message}");
    }
    let output = sample.estimate(&empty.display().to_string(), &prediction, &["--known", &runs]);
    assert_eq!(output.status.code(), Some(2));
    let out = sample.path("out").display().to_string();
    json_of(&sample.estimate(&target, &prediction, &["--known", &runs, "--out", &out]));
    for arguments in [&["report", out.as_str()][..], &["show", out.as_str(), "--id", "bike-01"]] {
        let output = Command::cargo_bin("sqlgauge").unwrap().args(arguments).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains("is an estimate, not a scored run: its report is "), "{message}");
    }
}

#[test]
fn a_batch_that_replaces_another_of_its_name_says_so() {
    let sample = Sample::new();
    let (questions, runs) = (sample.questions(), sample.run_folder());
    let words = |name: &str, questions: &[Value]| {
        let (target, prediction) = sample.target(name, "baseline", questions);
        let output = Command::cargo_bin("sqlgauge")
            .unwrap()
            .args(["monitor", "--as-of", "wk1", "--known", &runs, "--questions", &target])
            .args(["--pred", &prediction, "--db"])
            .arg(sample.path("demo/benchmark/database"))
            .arg("--log")
            .arg(sample.path("log.jsonl"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let replaces = "wk1 replaces the earlier wk1";
    for _ in 0..2 {
        let first = words("first", &questions[..20]);
        assert!(!first.contains(replaces), "{first}");
    }
    let second = words("second", &questions[20..]);
    assert!(second.contains(replaces), "{second}");
}

#[test]
fn answers_to_a_different_benchmark_are_refused() {
    let sample = Sample::new();
    let questions = sample.questions();
    let (target, _) = sample.target("target", "careful", &questions);
    let said = |sql: &Value| {
        let rows = questions.iter().map(|question| json!({"id": question["id"], "sql": sql}).to_string());
        let file = sample.path("strange.jsonl");
        std::fs::write(&file, rows.collect::<Vec<_>>().join("\n")).unwrap();
        let prediction = format!("strange={}", file.display());
        let output = sample.estimate(&target, &prediction, &["--known", &sample.run_folder()]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said(&json!("SELECT a FROM elsewhere")).contains("read tables that the target does not have"));
    assert!(said(&Value::Null).contains("has no prediction for any example"));
}

/// One question is an estimate too, with an interval that says how little is known.
#[test]
fn one_item_has_a_wide_interval() {
    let sample = Sample::new();
    let questions: Vec<Value> = sample.questions().into_iter().take(1).collect();
    let (target, prediction) = sample.target("one", "careful", &questions);
    let estimate = json_of(&sample.estimate(&target, &prediction, &["--known", &sample.run_folder()]));
    let width =
        estimate["interval"]["high"].as_f64().unwrap() - estimate["interval"]["low"].as_f64().unwrap();
    assert!(width > 0.1, "{width}");
}

#[test]
fn a_run_whose_databases_moved_names_the_option_that_helps() {
    let sample = Sample::new();
    let (target, prediction) = sample.target("target", "careful", &sample.questions());
    let moved: &Path = &sample.path("moved");
    std::fs::rename(sample.path("demo/benchmark/database"), moved).unwrap();
    let run = |more: &[&str]| {
        Command::cargo_bin("sqlgauge")
            .unwrap()
            .args(["estimate", "--json", "--quiet", "--questions", &target, "--pred", &prediction])
            .args(["--known", &sample.run_folder(), "--db"])
            .arg(moved)
            .args(more)
            .output()
            .unwrap()
    };
    let output = run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--known-db"));
    json_of(&run(&["--known-db", &moved.display().to_string()]));
}

/// Labels alone give the plain interval: `scipy.stats.binomtest(6, 10).proportion_ci(0.9, "wilson")`.
#[test]
fn labels_alone_give_their_share_and_its_plain_interval() {
    let sample = Sample::new();
    let (target, prediction) = sample.target("labelled", "baseline", &sample.questions());
    let ids = sample.questions().into_iter().take(10).map(|question| question["id"].clone());
    let rows = ids.enumerate().map(|(at, id)| json!({"id": id, "correct": at < 6}).to_string() + "\n");
    let labels = sample.path("labels.jsonl");
    std::fs::write(&labels, rows.collect::<String>()).unwrap();
    let labels = labels.display().to_string();
    let one = json_of(&sample.estimate(&target, &prediction, &["--method", "ppi", "--labels", &labels]));
    let number = |value: &Value| value.as_f64().unwrap();
    assert!((number(&one["accuracy"]) - 0.6).abs() < 1e-12, "{one}");
    assert!((number(&one["interval"]["low"]) - 0.351_64).abs() < 1e-4, "{one}");
    assert!((number(&one["interval"]["high"]) - 0.805_77).abs() < 1e-4, "{one}");
    let sentence = one["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("An estimated 60.0 % of the 41 predictions are right by your labels."),
        "{sentence}"
    );
    assert_eq!(one["metric"], "labels");
}

/// The databases of the target are not there: their schemas are enough, and the estimate says what it could not see.
#[test]
fn a_schema_file_stands_in_for_databases() {
    let sample = Sample::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/sample/tables.json");
    let of_shop = |mut entries: Vec<Value>| {
        entries.retain(|entry| entry["db_id"] == "bike_rental");
        entries.iter_mut().for_each(|entry| entry["db_id"] = json!("shop"));
        entries
    };
    let (target, prediction) = sample.target("target", "careful", &of_shop(sample.questions()));
    let entries = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let shop = sample.path("shop.json");
    std::fs::write(&shop, json!(of_shop(entries)).to_string()).unwrap();
    let out = sample.path("out").display().to_string();
    let estimate = |tables: &Path, more: &[&str]| {
        let of = ["estimate", "--json", "--quiet", "--questions", &target, "--pred", &prediction];
        let mut command = Command::cargo_bin("sqlgauge").unwrap();
        command.args(of).args(["--known", &sample.run_folder(), "--tables"]).arg(tables).args(more);
        command.output().unwrap()
    };
    let notes = json_of(&estimate(&shop, &["--out", &out]))["notes"].to_string();
    assert!(notes.contains("no database of the target has rows"), "{notes}");
    let record: Value = serde_json::from_slice(&std::fs::read(sample.path("out/run.json")).unwrap()).unwrap();
    let roles: Vec<&str> =
        record["inputs"].as_array().unwrap().iter().filter_map(|input| input["role"].as_str()).collect();
    assert!(
        roles.contains(&"tables") && roles.iter().all(|role| !role.starts_with("database:")),
        "{roles:?}"
    );
    for (output, part) in [
        (estimate(&file, &[]), "has no database \"shop\", which a question is about; check --tables"),
        (estimate(&shop, &["--db", "d"]), "cannot be used with"),
    ] {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && message.contains(part), "{message}");
    }
}
