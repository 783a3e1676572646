//! Results without an engine, bundles, several versions of the golds, several answers: from the command line.

use std::fs;
use std::path::Path;

use crate::common::{Benchmark, items, sqlgauge, stderr};
use serde_json::{Value, json};

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn run(words: &[&str]) -> std::process::Output {
    let output = sqlgauge(words);
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    output
}

/// Two items: one whose columns agree alone and not by rows, one without a result; and a result of no item.
fn results() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("gold/a.csv", "n,x\n1,p\n2,q\n"),
        ("gold/b_a.csv", "n\n1\n"),
        ("gold/b_b.csv", "n\n2\n"),
        ("mine/a.csv", "n,x\n2,p\n1,q\n"),
        ("mine/stranger.csv", "n\n1\n"),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let config = ["a", "b", "c"]
        .map(|id| json!({"instance_id": id, "condition_cols": [], "ignore_order": true}).to_string());
    fs::write(folder.path().join("config.jsonl"), config.join("\n")).unwrap();
    folder
}

#[test]
fn results_are_scored_without_an_engine_and_every_denominator_is_said() {
    let folder = results();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mine = format!("mine={}", path("mine"));
    let words = [
        "score",
        "--results",
        &mine,
        "--gold-results",
        &path("gold"),
        "--config",
        &path("config.jsonl"),
        "--out",
        &path("run"),
    ];
    let output = run(&words);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("Items where the metrics differ") && text.contains("stand in other rows"),
        "{text}"
    );
    let json = read_json(&folder.path().join("run/results.json"));
    assert_eq!(json["no_gold"], json!(["c"]));
    assert_eq!(json["systems"][0]["no_item"], json!(["stranger"]));
    assert_eq!(
        json["systems"][0]["metrics"]["spider2@1"],
        json!({"right": 1, "answered": 1, "scored": 2, "unknown": 1})
    );
    assert_eq!(json["systems"][0]["metrics"]["fair@1"]["right"], 0);
    let statuses: Vec<Value> =
        items(&folder.path().join("run")).iter().map(|item| item["status"].clone()).collect();
    assert_eq!(statuses, ["ok", "missing", "missing"]);
}

#[cfg(unix)]
#[test]
fn odd_entries_of_a_folder_do_not_keep_the_others_from_being_scored() {
    let folder = results();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("mine/c.csv")).unwrap();
    std::os::unix::fs::symlink(at("mine/b.csv"), at("mine/b.csv")).unwrap();
    fs::create_dir(at("gold/c.csv")).unwrap();
    fs::write(at("mine/a.json"), "[]").unwrap();
    fs::write(at("mine/log.txt"), "done").unwrap();
    let path = |name: &str| at(name).display().to_string();
    let words = [
        "score",
        "--results",
        &path("mine"),
        "--gold-results",
        &path("gold"),
        "--out",
        &path("run"),
        "--json",
    ];
    run(&words);
    let json = read_json(&at("run/results.json"));
    assert_eq!(json["no_gold"], json!(["c"]));
    assert_eq!(json["systems"][0]["not_read"], json!(["a.json", "log.txt"]));
    assert_eq!(
        json["systems"][0]["metrics"]["fair@1"],
        json!({"right": 0, "answered": 2, "scored": 2, "unknown": 1})
    );
    let statuses: Vec<Value> = items(&at("run")).iter().map(|item| item["status"].clone()).collect();
    assert_eq!(statuses, ["ok", "not_a_file", "gold_failed"]);
}

#[test]
fn options_of_the_other_way_to_score_are_refused() {
    let folder = results();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for (words, part) in [
        (
            vec![
                "score",
                "--results",
                &path("mine"),
                "--metrics",
                "ex",
                "--gold-results",
                &path("gold"),
                "--out",
                &path("x"),
            ],
            "--metrics",
        ),
        (vec!["score", "--results", &path("mine"), "--out", &path("x")], "--gold-results"),
        (
            vec!["score", "--results", &path("none"), "--gold-results", &path("gold"), "--out", &path("x")],
            "cannot read",
        ),
    ] {
        let output = sqlgauge(&words);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
    assert!(!folder.path().join("x").exists());
}

#[test]
fn a_bundle_is_scored_without_its_databases_and_a_changed_database_is_refused() {
    let golds = ["SELECT name FROM item ORDER BY id", "SELECT price FROM item WHERE id = 3"];
    let world = Benchmark::new(&golds, &["SELECT name FROM item", "SELECT count(*) FROM no_such"]);
    run(&world.score().iter().map(String::as_str).collect::<Vec<_>>());
    let path = |name: &str| world.path(name).display().to_string();
    run(&["bundle", &path("run"), "--db", &path("database"), "--out", &path("run.bundle"), "-q"]);
    fs::rename(world.path("database"), world.path("gone")).unwrap();
    run(&["score", "--results", &path("run.bundle"), "--out", &path("again"), "-q"]);
    let json = read_json(&world.path("again/results.json"));
    assert_eq!(
        json["systems"][0]["metrics"]["fair@1"],
        json!({"right": 1, "answered": 2, "scored": 2, "unknown": 0})
    );
    assert_eq!(items(&world.path("again"))[1]["status"], "no_such_table");

    let database = world.path("gone/shop/shop.sqlite");
    rusqlite::Connection::open(&database).unwrap().execute_batch("DELETE FROM item WHERE id = 1").unwrap();
    let output = sqlgauge(&["bundle", &path("run"), "--db", &path("gone"), "--out", &path("other.bundle")]);
    assert!(stderr(&output).contains("is not the database that the run was made on"), "{}", stderr(&output));
    assert!(!world.path("other.bundle").exists());
}

#[test]
fn a_bundle_stands_for_all_its_systems_or_for_the_named_one() {
    let world = Benchmark::new(&["SELECT name FROM item"], &["SELECT name FROM item"]);
    let path = |name: &str| world.path(name).display().to_string();
    let mut words = world.score();
    words.extend(["--pred".to_owned(), format!("T={}", path("pred.sql"))]);
    run(&words.iter().map(String::as_str).collect::<Vec<_>>());
    run(&["bundle", &path("run"), "--db", &path("database"), "--out", &path("run.bundle"), "-q"]);
    let names = |folder: &str| -> Vec<Value> {
        let json = read_json(&world.path(&format!("{folder}/results.json")));
        json["systems"]
            .as_array()
            .unwrap()
            .iter()
            .map(|system| system["metrics"]["fair@1"]["right"].clone())
            .collect()
    };
    run(&["score", "--results", &path("run.bundle"), "--out", &path("all"), "-q"]);
    assert_eq!(names("all"), [json!(1), json!(1)]);
    run(&["score", "--results", &format!("T={}", path("run.bundle")), "--out", &path("one"), "-q"]);
    assert_eq!(names("one"), [json!(1)]);
    let unknown = format!("U={}", path("run.bundle"));
    let output = sqlgauge(&["score", "--results", &unknown, "--out", &path("none")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the name of one: S, T"), "{}", stderr(&output));
}

#[test]
fn versions_of_golds_are_compared_over_the_items_that_both_have() {
    let world = Benchmark::new(&[], &[]);
    let row =
        |id: usize, sql: &str| json!({"id": id.to_string(), "db_id": "shop", "question": "q", "query": sql});
    let first: Vec<Value> = (0..3).map(|id| row(id, &format!("SELECT {id}"))).collect();
    let second = vec![first[0].clone(), row(1, "SELECT 7"), row(9, "SELECT 9")];
    fs::write(world.path("first.json"), serde_json::to_string(&first).unwrap()).unwrap();
    fs::write(world.path("second.json"), serde_json::to_string(&second).unwrap()).unwrap();
    for (system, one) in [("x", 1), ("y", 7)] {
        let rows = [0, one, 2, 9].into_iter().zip([0, 1, 2, 9]).map(|(value, id)| {
            json!({"id": id.to_string(), "prediction": format!("SELECT {value}")}).to_string()
        });
        fs::write(world.path(&format!("{system}.jsonl")), rows.collect::<Vec<_>>().join("\n")).unwrap();
    }
    let named = |name: &str, file: &str| format!("{name}={}", world.path(file).display());
    let [a, b, x, y] =
        [named("a", "first.json"), named("b", "second.json"), named("x", "x.jsonl"), named("y", "y.jsonl")];
    let path = |name: &str| world.path(name).display().to_string();
    run(&[
        "score",
        "--gold",
        &a,
        "--gold",
        &b,
        "--db",
        &path("database"),
        "--pred",
        &x,
        "--pred",
        &y,
        "--metrics",
        "ex",
        "--out",
        &path("v"),
        "-q",
    ]);
    let json = read_json(&world.path("v/versions.json"));
    assert_eq!(
        (&json["shared"], &json["versions"][0]["items"], &json["versions"][1]["items"]),
        (&json!(2), &json!(3), &json!(3))
    );
    assert_eq!(json["versions"][0]["systems"]["x"]["rank"], 1);
    assert_eq!(json["versions"][1]["systems"]["x"]["rank"], 2);
    assert_eq!(
        (json["swaps"][0]["first"].as_str(), json["swaps"][0]["second"].as_str()),
        (Some("x"), Some("y"))
    );
    let change = &json["changes"][0];
    assert_eq!(
        (&change["system"], &change["versions"], &change["shared"], &change["missing"]),
        (&json!("x"), &json!(["a", "b"]), &json!(2), &json!(0))
    );
    assert_eq!((&change["means"], &change["lost"]), (&json!([1.0, 0.5]), &json!(["1"])));
    assert_eq!((&change["difference"], &change["p_value"]), (&json!(-0.5), &json!(1.0)));
    assert!(change["low"].as_f64() < Some(-0.5) && change["high"].as_f64() > Some(-0.5), "{change}");
    let page = fs::read_to_string(world.path("v/versions.html")).unwrap();
    assert!(page.contains("goes from 100.0 to 50.0 % (ex@1, 2 questions)"), "{page}");
    assert!(page.find("The same questions under two versions") < page.find("Each version alone"));
}

#[test]
fn lists_of_answers_have_rates_under_every_version() {
    let world = Benchmark::new(&[], &[]);
    let row = |id: &str, sql: &str| json!({"id": id, "db_id": "shop", "question": "q", "query": sql});
    let first = json!([row("a", "SELECT 1"), row("b", "SELECT 2")]);
    let second = json!([row("b", "SELECT 3")]);
    fs::write(world.path("first.json"), first.to_string()).unwrap();
    fs::write(world.path("second.json"), second.to_string()).unwrap();
    let lists = json!({"a": ["SELECT 1", "SELECT 3"], "b": ["SELECT 3", "SELECT 2", "SELECT 3"]});
    fs::write(world.path("lists.json"), lists.to_string()).unwrap();
    let named = |name: &str, file: &str| format!("{name}={}", world.path(file).display());
    let [one, two, lists] =
        [named("one", "first.json"), named("two", "second.json"), named("S", "lists.json")];
    let path = |name: &str| world.path(name).display().to_string();
    let (db, out) = (path("database"), path("v"));
    let words = [
        "score",
        "--gold",
        &one,
        "--gold",
        &two,
        "--db",
        &db,
        "--pred",
        &lists,
        "--metrics",
        "ex",
        "--k",
        "1,2",
        "--out",
        &out,
    ];
    let output = run(&words);
    assert!(String::from_utf8(output.stdout).unwrap().contains("Several answers by version"));
    let json = read_json(&world.path("v/versions.json"));
    let change = &json["changes"][0];
    assert_eq!(
        (&change["system"], &change["shared"], &change["gained"]),
        (&json!("S#1"), &json!(1), &json!(["b"]))
    );
    let rate = |version: usize, name: &str| {
        let rates = json["versions"][version]["samples"][0]["rates"].as_array().unwrap();
        rates.iter().find(|rate| rate["name"] == name).unwrap()["mean"].as_f64().unwrap()
    };
    assert!((rate(0, "pass@1") - f64::midpoint(1.0 / 2.0, 1.0 / 3.0)).abs() < 1e-9);
    assert!((rate(1, "pass@1") - 2.0 / 3.0).abs() < 1e-9 && (rate(1, "pass^2") - 1.0 / 3.0).abs() < 1e-9);
}

#[test]
fn lists_of_answers_have_rates_and_a_vote() {
    let world = Benchmark::new(&["SELECT 1", "SELECT 2", "SELECT 3"], &[]);
    let rows = [
        json!({"predictions": ["SELECT 0", "SELECT 1", "SELECT (1)"]}),
        json!({"predictions": ["SELECT 2", "SELECT 4", "SELECT 5"], "weights": [1, 1, 5]}),
        json!({"prediction": null, "reason": "no such table"}),
    ];
    fs::write(world.path("lists.jsonl"), rows.map(|row| row.to_string()).join("\n")).unwrap();
    let path = |name: &str| world.path(name).display().to_string();
    let lists = format!("S={}", path("lists.jsonl"));
    run(&[
        "score",
        "--gold",
        &path("gold.sql"),
        "--db",
        &path("database"),
        "--pred",
        &lists,
        "--k",
        "1,2,8",
        "--metrics",
        "ex",
        "--out",
        &path("run"),
        "-q",
    ]);
    let latex = sqlgauge(&["report", &path("run"), "--output-format", "latex"]);
    assert_eq!(latex.status.code(), Some(2));
    assert!(stderr(&latex).contains("samples.md"), "{}", stderr(&latex));
    let page = fs::read_to_string(world.path("run/samples.md")).unwrap();
    assert!(page.contains("pass@8 is left out: the most answers to a question are 3"), "{page}");
    assert!(page.contains("in pass@k and pass^k those with k answers or more, or none"), "{page}");
    assert!(!page.contains("Wilson"), "{page}");
    let json = read_json(&world.path("run/samples.json"));
    let rate = |name: &str| {
        json["systems"][0]["rates"].as_array().unwrap().iter().find(|rate| rate["name"] == name).unwrap()["mean"].as_f64().unwrap()
    };
    assert!((rate("pass@1") - (2.0 / 3.0 + 1.0 / 3.0) / 3.0).abs() < 1e-9);
    assert!((rate("pass@2") - (1.0 + 2.0 / 3.0) / 3.0).abs() < 1e-9);
    assert!((rate("pass^2") - (1.0 / 3.0) / 3.0).abs() < 1e-9);
    assert_eq!(json["systems"][0]["abstention"]["abstained"], 1);

    for by in ["result", "proof", "both"] {
        vote(&world, &lists, by, &["--metrics", "ex"]);
        let text = fs::read_to_string(world.path(&format!("{by}/S.jsonl"))).unwrap();
        let choices: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(choices[0]["prediction"], "SELECT 1", "{by}");
        assert_eq!(choices[1]["prediction"], "SELECT 5", "{by}");
        assert_eq!(
            (&choices[2]["prediction"], &choices[2]["reason"]),
            (&Value::Null, &json!("no such table"))
        );
    }
}

/// Votes over the answers of `lists`, into a folder with the name of the way.
fn vote(world: &Benchmark, lists: &str, by: &str, more: &[&str]) {
    let path = |name: &str| world.path(name).display().to_string();
    let (gold, database, out) = (path("gold.sql"), path("database"), path(by));
    let words =
        ["vote", "--gold", &gold, "--db", &database, "--pred", lists, "--by", by, "--out", &out, "-q"];
    run(&[&words[..], more].concat());
}

#[test]
fn a_vote_reads_a_row_per_answer_a_column_per_answer_and_chat() {
    let world = Benchmark::new(&["SELECT 1", "SELECT 2"], &[]);
    let path = |name: &str| world.path(name).display().to_string();
    let long = "id,sample,sql\n0,0,SELECT 0\n1,0,SELECT 2\n0,1,SELECT 1\n1,1,SELECT 3\n0,2,SELECT (1)\n1,2,SELECT 2\n";
    let wide = "id,sql_1,sql_2,sql_3\n0,SELECT 0,SELECT 1,SELECT (1)\n1,SELECT 2,SELECT 3,SELECT 2\n";
    let chat = |id: usize, texts: [&str; 3]| {
        let choices = texts.map(|sql| json!({"message": {"content": format!("Sure:\n```sql\n{sql}\n```")}}));
        json!({"custom_id": id.to_string(), "response": {"body": {"choices": choices}}}).to_string() + "\n"
    };
    let chats =
        chat(0, ["SELECT 0", "SELECT 1", "SELECT (1)"]) + &chat(1, ["SELECT 2", "SELECT 3", "SELECT 2"]);
    let raw = ["--extract-sql", "--column", "pred.sql=response.body.choices"];
    for (name, text, more) in
        [("long.csv", long, &[][..]), ("wide.csv", wide, &[][..]), ("chat.jsonl", chats.as_str(), &raw[..])]
    {
        fs::write(world.path(name), text).unwrap();
        vote(
            &world,
            &format!("S={}", path(name)),
            "result",
            &[more, &["--metrics", "ex", "--restart"]].concat(),
        );
        let voted = read_json(&world.path("result/vote.json"));
        assert_eq!(voted["gain"]["first_mean"], 1.0, "{name}");
        assert_eq!(voted["gain"]["second_mean"], 0.5, "{name}");
        assert_eq!(
            (&voted["curve"][0]["answered"], &voted["curve"][0]["right"]),
            (&json!(2), &json!(2)),
            "{name}"
        );
        let run = read_json(&world.path("result/run/summary.json"));
        let scores = &run["systems"][0]["scores"]["ex@1"];
        assert_eq!(voted["curve"][0]["interval"], json!([scores["low"], scores["high"]]), "{name}");
    }
}

#[test]
fn a_vote_takes_the_ids_of_a_file_of_questions() {
    let world = Benchmark::new(&["SELECT count(*) FROM item"], &[]);
    let questions = json!([{"question_id": "how-many", "db_id": "shop", "question": "How many items?"}]);
    fs::write(world.path("questions.json"), questions.to_string()).unwrap();
    let answers = json!({"id": "how-many", "predictions": ["SELECT 1", "SELECT count(*) FROM item"]});
    fs::write(world.path("lists.jsonl"), answers.to_string()).unwrap();
    let path = |name: &str| world.path(name).display().to_string();
    vote(&world, &format!("S={}", path("lists.jsonl")), "result", &["--questions", &path("questions.json")]);
    let item = &items(&world.path("result/run"))[0];
    assert_eq!((&item["id"], &item["details"]["question"]), (&json!("how-many"), &json!("How many items?")));
}

#[test]
fn answers_that_agree_by_luck_part_when_databases_are_made() {
    // On the rows at hand both return three; only one counts items without a price too.
    let world = Benchmark::new(&["SELECT count(*) FROM item"], &[]);
    let row = json!({"predictions": ["SELECT count(name) FROM item", "SELECT count(*) FROM item", "SELECT count(id) FROM item"]});
    fs::write(world.path("lists.jsonl"), row.to_string()).unwrap();
    let path = |name: &str| world.path(name).display().to_string();
    let lists = format!("S={}", path("lists.jsonl"));
    let chosen = |by: &str| {
        vote(&world, &lists, by, &[]);
        let text = fs::read_to_string(world.path(&format!("{by}/S.jsonl"))).unwrap();
        let choice: Value = serde_json::from_str(text.trim()).unwrap();
        (choice["groups"].as_u64().unwrap(), choice["prediction"].as_str().unwrap().to_owned())
    };
    assert_eq!(chosen("result"), (1, "SELECT count(name) FROM item".to_owned()));
    assert_eq!(chosen("both"), (2, "SELECT count(*) FROM item".to_owned()));
}
