//! `sqlgauge verify`: exit codes, the object that `--json` prints, and what a refused text gets.

use crate::common::{Benchmark, items, sqlgauge, stderr};
use serde_json::{Value, json};

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
        ("SELECT nme FROM item", "SELECT name FROM item", "gold"),
        ("SELECT name FROM item", "SELECT COUNT(id, name) FROM item", "prediction"),
    ] {
        let output = verify(left, right, &[]);
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(message.contains(&format!("the {side} query does not run")), "{message}");
    }
}

#[test]
fn a_result_that_the_gold_permits_too_is_said_to_be_a_tie() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.sqlite");
    let database = rusqlite::Connection::open(&path).unwrap();
    let rows =
        "INSERT INTO item VALUES (1, 'a', 1.0), (2, 'b', 1.0), (3, 'c', 2.0), (4, 'd', 3.0), (5, 'd', 4.0)";
    database.execute_batch(&format!("{DDL}{rows}")).unwrap();
    let path = path.display().to_string();
    let rarest = "SELECT name FROM item GROUP BY name ORDER BY COUNT(*) LIMIT 1";
    let answer = |right: &str| {
        let output = sqlgauge(&["verify", "--db", &path, "--left", rarest, "--right", right]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let tie = "both are among them";
    // Each name but `d` is there once: which of them comes first is SQLite's choice, and `c` is among them.
    let (code, text) = answer("SELECT name FROM item GROUP BY name ORDER BY COUNT(*), name DESC LIMIT 1");
    assert!(code == Some(3) && text.contains(tie), "{code:?} {text}");
    // `d` is not.
    let (code, text) =
        answer("SELECT name FROM item GROUP BY name ORDER BY COUNT(*) DESC, name DESC LIMIT 1");
    assert!(code != Some(0) && !text.contains(tie), "{code:?} {text}");
}

#[test]
fn an_empty_variable_names_no_solver() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("schema.sql");
    std::fs::write(&schema, DDL).unwrap();
    let query = "SELECT name FROM item";
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sqlgauge"));
    command.args(["verify", "--left", query, "--right", query, "--schema"]).arg(&schema);
    let output = command.env("SQLGAUGE_SOLVER", "").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
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

/// The database at hand is the most convincing witness, where it is one; what makes no difference in its rows is made plain.
#[test]
fn a_difference_on_the_database_at_hand_is_shown_by_a_slice_of_it() {
    let benchmark = Benchmark::new(&[], &[]);
    let database = benchmark.path("database/shop/shop.sqlite").display().to_string();
    let verify = |right: &str| {
        let left = "SELECT name FROM item WHERE price > 2";
        let output = sqlgauge(&["verify", "--db", &database, "--left", left, "--right", right, "--json"]);
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let report = verify("SELECT name FROM item WHERE price > 1");
    assert_eq!((report["verdict"].as_str(), report["stage"].as_str()), (Some("different"), Some("data")));
    let witness = report["witness"].as_str().unwrap();
    assert!(witness.contains("'a'") && !witness.contains("'pen'"), "{report}");
    assert_eq!(report["minimal"], "fewest");
    assert_eq!(verify("SELECT name FROM item WHERE price >= 2")["stage"], "search");
}

#[test]
fn a_proof_names_its_rules_and_what_it_assumes() {
    let object = object("SELECT COUNT(name) FROM item", "SELECT COUNT(*) FROM item", &[]);
    assert_eq!(object["stage"], "rules");
    assert_eq!(object["rules"][0], "gold: 6 count-of-not-null in query");
    assert_eq!(object["assumes"][0], "NOT NULL item.name");
}

const GOLDS: [&str; 3] = [
    "SELECT name FROM item WHERE price > 2",
    "SELECT COUNT(*) FROM item",
    "SELECT id FROM item ORDER BY price",
];
const PREDICTIONS: [&str; 3] =
    ["SELECT name FROM item WHERE price >= 2", "SELECT COUNT(id) FROM item", "SELECT nothing FROM item"];

fn whole_files(benchmark: &Benchmark, out: &str, jobs: &str) -> std::process::Output {
    let text = |name: &str| benchmark.path(name).display().to_string();
    let system = format!("S={}", text("pred.sql"));
    let arguments = ["verify", "--gold", &text("gold.sql"), "--db", &text("database"), "--pred", &system];
    sqlgauge(&[&arguments[..], &["--out", &text(out), "--jobs", jobs]].concat())
}

#[test]
fn whole_prediction_files_are_a_run_with_a_verdict_for_each_item() {
    let benchmark = Benchmark::new(&GOLDS, &PREDICTIONS);
    let output = whole_files(&benchmark, "run", "1");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("EX-SpotIt"), "{text}");
    let items = items(&benchmark.path("run"));
    let verdicts: Vec<&str> =
        items.iter().filter_map(|item| item["details"]["verdict"]["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["different", "equivalent"]);
    let scores: Vec<Option<f64>> = items.iter().map(|item| item["metrics"]["verify@3"].as_f64()).collect();
    assert_eq!(scores, [Some(0.0), Some(1.0), Some(0.0)]);
    // The same bytes with other threads, and nothing is done again.
    whole_files(&benchmark, "again", "3");
    let log = |run: &str| std::fs::read(benchmark.path(run).join("items.jsonl")).unwrap();
    assert_eq!(log("run"), log("again"));
    assert_eq!(whole_files(&benchmark, "run", "3").status.code(), Some(0));
    assert_eq!(log("run"), log("again"));
    let run = benchmark.path("run").display().to_string();
    let view = sqlgauge(&["show", &run, "--id", "0"]);
    assert!(String::from_utf8_lossy(&view.stdout).contains("\ntable item\n"), "{view:?}");
}

/// The paper's rows: coverage, the curve over the bounds, confirmed counterexamples, and what reuse changes.
#[test]
fn a_run_of_the_solver_alone_has_its_curve_and_the_effect_of_reuse() {
    let benchmark = Benchmark::new(&GOLDS[..2], &PREDICTIONS[..2]);
    let text = |name: &str| benchmark.path(name).display().to_string();
    // Right on the given rows, refuted by what refutes the first; the solver does not know its last function.
    let other =
        "SELECT name FROM item WHERE price >= 2 AND soundex(name) <> 'X'\nSELECT COUNT(*) FROM item\n";
    std::fs::write(benchmark.path("other.sql"), other).unwrap();
    let (first, second) = (format!("S={}", text("pred.sql")), format!("T={}", text("other.sql")));
    let arguments = [
        "verify",
        "--gold",
        &text("gold.sql"),
        "--db",
        &text("database"),
        "--pred",
        &first,
        "--pred",
        &second,
    ];
    let more = ["--only", "solver", "--bound", "2", "--semantics", "set", "--out", &text("run")];
    let output = sqlgauge(&[&arguments[..], &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("The solver alone") && shown.contains("different at 2"), "{shown}");
    assert!(shown.contains("right answers refuted by counterexamples to other systems"), "{shown}");
    let items = items(&benchmark.path("run"));
    let solver = &items[0]["details"]["verdict"]["solver"];
    if items[0]["details"]["verdict"]["reason"] == "no-solver" {
        return;
    }
    assert_eq!((solver["bound"].as_u64(), solver["encoded"].as_bool()), (Some(1), Some(true)), "{solver}");
    assert_eq!(items[0]["details"]["verdict"]["stage"], "smt");
    let manifest = std::fs::read_to_string(benchmark.path("run/run.json")).unwrap();
    assert!(manifest.contains("\"verify_only\""), "{manifest}");
}

#[test]
fn the_counterexamples_of_a_run_are_a_test_suite() {
    let benchmark = Benchmark::new(&GOLDS, &PREDICTIONS);
    whole_files(&benchmark, "run", "2");
    let text = |name: &str| benchmark.path(name).display().to_string();
    let export = || sqlgauge(&["pack", "--witnesses", &text("run"), "--out", &text("suite")]);
    let output = export();
    let message = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(message.starts_with("1 database in "), "{message}{}", stderr(&output));
    assert!(message.contains("1 of 1 refuted predictions differ"), "{message}");
    assert!(stderr(&export()).contains("is not empty"));
    let old = stderr(&sqlgauge(&["witnesses", &text("run"), "--export", &text("suite")]));
    assert!(old.contains("note: witnesses is the old name of pack --witnesses"), "{old}");
    assert!(old.contains("--export is the old name of --out") && old.contains("is not empty"), "{old}");
    let system = format!("S={}", text("pred.sql"));
    let suite = text("suite");
    let arguments = [
        "score",
        "--gold",
        &text("gold.sql"),
        "--db",
        &suite,
        "--pred",
        &system,
        "--metrics",
        "ex-spider,suite",
    ];
    let scored = sqlgauge(&[&arguments[..], &["--out", &text("scored"), "--quiet"]].concat());
    assert_eq!(scored.status.code(), Some(0), "{}", stderr(&scored));
    let first = &items(&benchmark.path("scored"))[0]["metrics"];
    // Right on the benchmark's own database, wrong on the suite.
    assert_eq!((first["ex-spider@1"].as_f64(), first["suite@1"].as_f64()), (Some(1.0), Some(0.0)));
}

const PAIRS: &str = r#"{"id": "a", "ddl": "CREATE TABLE t (x INTEGER NOT NULL);", "left": "SELECT COUNT(x) FROM t", "right": "SELECT COUNT(*) FROM t"}
{"id": "b", "ddl": "CREATE TABLE t (x INTEGER NOT NULL);", "left": "SELECT x FROM t WHERE x > 1", "right": "SELECT x FROM t WHERE x > 2"}
{"id": "c", "db": "shop", "left": "SELECT name FROM item WHERE price > 2", "right": "SELECT name FROM item WHERE price > 1"}
{"id": "d", "db": "shop", "left": "SELECT name FROM item", "right": "SELECT nme FROM item"}
{"id": "e", "db": "shop", "left": "SELECT nme FROM item", "right": "SELECT name FROM item"}
"#;

/// The item's gold and prediction, over the database that was scored.
#[test]
fn an_item_of_a_run_is_verified_by_its_id() {
    let benchmark = Benchmark::new(&GOLDS, &PREDICTIONS);
    assert!(whole_files(&benchmark, "run", "1").status.success());
    let run = benchmark.path("run").display().to_string();
    let verify = |more: &[&str]| sqlgauge(&[&["verify", run.as_str()], more].concat());
    let different = verify(&["--id", "0"]);
    assert_eq!(different.status.code(), Some(1), "{}", stderr(&different));
    assert!(String::from_utf8_lossy(&different.stdout).contains("`price >= 2`"));
    assert_eq!(verify(&["--id", "1"]).status.code(), Some(0));
    for (more, message) in [
        (&["--id", "2"][..], "the prediction query does not run"),
        (&["--id", "7"], "no item \"7\""),
        (&[], "--id"),
        (&["--id", "0", "--db", "x"], "--db"),
    ] {
        let refused = verify(more);
        assert!(
            refused.status.code() == Some(2) && stderr(&refused).contains(message),
            "{}",
            stderr(&refused)
        );
    }
}

fn verify_pairs(benchmark: &Benchmark, pairs: &str, out: &str, more: &[&str]) -> std::process::Output {
    let text = |name: &str| benchmark.path(name).display().to_string();
    std::fs::write(benchmark.path("pairs.jsonl"), pairs).unwrap();
    let arguments =
        ["verify", "--pairs", &text("pairs.jsonl"), "--db", &text("database"), "--out", &text(out)];
    sqlgauge(&[&arguments[..], more].concat())
}

#[test]
fn a_file_of_pairs_is_a_run_with_the_same_verdicts() {
    let benchmark = Benchmark::new(&[], &[]);
    let output = verify_pairs(&benchmark, PAIRS, "run", &["--jobs", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("Verdicts") && text.contains("n: number of pairs"), "{text}");
    let summary = std::fs::read_to_string(benchmark.path("run/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(
        summary["systems"][0]["scores"]["verify@3"]["low"],
        Value::Null,
        "no interval: pairs are not a sample"
    );
    let items = items(&benchmark.path("run"));
    let verdicts: Vec<&Value> = items.iter().map(|item| &item["details"]["verdict"]["verdict"]).collect();
    let null = Value::Null;
    let [equivalent, different] = ["equivalent", "different"].map(Value::from);
    assert_eq!(verdicts, [&equivalent, &different, &different, &null, &null]);
    assert_eq!(items[2]["details"]["verdict"]["stage"], "data");
    assert_eq!(
        (items[3]["status"].as_str(), items[3]["metrics"]["verify@3"].as_f64()),
        (Some("refused"), Some(0.0))
    );
    assert_eq!(
        (items[4]["status"].as_str(), items[4]["metrics"]["verify@3"].is_null()),
        (Some("gold_failed"), true)
    );
    // The same object as of the single pair, without its sentence: a log has none.
    let left = "SELECT x FROM t WHERE x > 1";
    let schema = benchmark.path("t.sql").display().to_string();
    std::fs::write(&schema, "CREATE TABLE t (x INTEGER NOT NULL);").unwrap();
    let single = sqlgauge(&[
        "verify",
        "--schema",
        &schema,
        "--left",
        left,
        "--right",
        "SELECT x FROM t WHERE x > 2",
        "--json",
    ]);
    let mut single: Value = serde_json::from_slice(&single.stdout).unwrap();
    single.as_object_mut().unwrap().remove("ms");
    let words = single.as_object_mut().unwrap().remove("words").unwrap();
    assert_eq!(words["causes"], json!(["other-constant"]));
    assert_eq!(items[1]["details"]["verdict"], single);
    // Other threads, and a run that was cut in the middle of a line and goes on.
    verify_pairs(&benchmark, PAIRS, "again", &["--jobs", "3", "--quiet"]);
    let log = |run: &str| std::fs::read(benchmark.path(run).join("items.jsonl")).unwrap();
    let whole = log("run");
    assert_eq!(whole, log("again"));
    std::fs::write(benchmark.path("again/items.jsonl"), &whole[..whole.len() / 2]).unwrap();
    let output = verify_pairs(&benchmark, PAIRS, "again", &["--json"]);
    assert_eq!(whole, log("again"));
    let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counts["verdicts"]["different"], 2);
    assert_eq!(counts["no_verdict"], 2);
}

#[test]
fn an_error_in_a_file_of_pairs_names_the_line_and_the_remedy() {
    let benchmark = Benchmark::new(&[], &[]);
    for (line, part) in [
        (
            r#"{"id": "f", "ddl": "CREATE TABEL t (x)", "left": "SELECT 1", "right": "SELECT 1"}"#,
            "line 6: \"ddl\" is not DDL",
        ),
        (
            r#"{"id": "f", "db": "shoop", "left": "SELECT 1", "right": "SELECT 1"}"#,
            "line 6: no database for db_id \"shoop\"",
        ),
        (r#"{"id": "f", "db": "shop", "left": "SELECT 1"}"#, "line 6: no SQL text in \"right\""),
    ] {
        let output = verify_pairs(&benchmark, &format!("{PAIRS}{line}\n"), "run", &[]);
        assert_eq!(output.status.code(), Some(2));
        let error = stderr(&output);
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_realistic_counterexample_says_whether_it_is_like_the_rows_there_are() {
    let benchmark = Benchmark::new(&[], &[]);
    let database = benchmark.path("database/shop/shop.sqlite").display().to_string();
    let verify = |bound: &str| {
        let [left, right] =
            [">", ">="].map(|sign| format!("SELECT name FROM item WHERE price {sign} {bound}"));
        let output = sqlgauge(&["verify", "--db", &database, "--left", &left, "--right", &right, "--json"]);
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(verify("5")["realistic"], true);
    let beyond = verify("20");
    assert_eq!(beyond["differs_on_database"], false, "{beyond}");
    assert_eq!((beyond["verdict"].as_str(), beyond["realistic"].as_bool()), (Some("different"), Some(false)));
    let not_kept = beyond["not_kept"].as_array().unwrap();
    assert!(
        not_kept.iter().any(|reason| reason.as_str().unwrap().starts_with("item.price is 20")),
        "{beyond}"
    );
}

/// A pack that knows no system refutes an answer that is right on the benchmark's rows by luck.
#[test]
fn a_pack_refutes_what_is_right_by_luck() {
    let benchmark = Benchmark::new(&GOLDS, &PREDICTIONS);
    let text = |name: &str| benchmark.path(name).display().to_string();
    let (gold, db, pack) = (text("gold.sql"), text("database"), text("shop.pack"));
    let output = sqlgauge(&["pack", "--gold", &gold, "--db", &db, "--out", &pack]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let message = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(message.contains("of 3 questions"), "{message}");
    let file = std::fs::read_to_string(&pack).unwrap();
    // Neither a query nor a row of the benchmark's database.
    assert!(!file.contains("SELECT") && !file.contains("lamp"), "{file}");

    let score = |more: &[&str]| {
        let system = format!("S={}", text("pred.sql"));
        let fixed =
            ["score", "--gold", &gold, "--db", &db, "--pred", &system, "--out", &text("run"), "--quiet"];
        sqlgauge(&[&fixed[..], more].concat())
    };
    let output = score(&["--metrics", "ex", "--pack", &pack]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let scores: Vec<[Option<f64>; 2]> = items(&benchmark.path("run"))
        .iter()
        .map(|item| ["ex@1", "pack@1"].map(|metric| item["metrics"][metric].as_f64()))
        .collect();
    assert_eq!(scores, [[Some(1.0), Some(0.0)], [Some(1.0), Some(1.0)], [Some(0.0), Some(0.0)]]);

    let output = score(&["--metrics", "ex,pack", "--restart"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the metric pack needs --pack FILE"), "{}", stderr(&output));
    std::fs::write(&pack, file.lines().next().unwrap()).unwrap();
    let output = score(&["--metrics", "ex", "--pack", &pack, "--restart"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("line 2 of the pack: 0 questions of 3 are there"),
        "{}",
        stderr(&output)
    );
}

/// A pack of other golds has none of the questions, and says so.
#[test]
fn a_pack_of_other_golds_scores_nothing() {
    let benchmark = Benchmark::new(&GOLDS, &PREDICTIONS);
    let other = Benchmark::new(&["SELECT 1"], &["SELECT 1"]);
    let text = |of: &Benchmark, name: &str| of.path(name).display().to_string();
    let pack = text(&other, "pack");
    let (gold, db) = (text(&other, "gold.sql"), text(&other, "database"));
    assert!(sqlgauge(&["pack", "--gold", &gold, "--db", &db, "--out", &pack, "--quiet"]).status.success());
    let mut score = benchmark.score();
    score.extend(["--metrics", "ex", "--pack", &pack].map(str::to_owned));
    assert!(sqlgauge(&score).status.success());
    for item in items(&benchmark.path("run")) {
        assert!(item["metrics"]["pack@1"].is_null());
        let reason = item["details"]["metrics"]["pack@1"]["reason"].as_str().unwrap_or_default();
        assert_eq!(reason, "the pack does not have the question with this gold");
    }
}
