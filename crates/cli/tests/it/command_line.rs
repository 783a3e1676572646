//! What people and scripts do with the command line: lists of what there is, standard input, JSON, exit codes, a
//! project's own file of flags, columns under other names.

use std::path::Path;
use std::process::Output;

use crate::common::{Benchmark, sqlgauge, stderr, stdout, strings};
use assert_cmd::Command;
use serde_json::Value;

const DDL: &str = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);";

fn with_stdin(arguments: &[String], input: &str, folder: &Path) -> Output {
    Command::cargo_bin("sqlgauge")
        .unwrap()
        .args(arguments)
        .write_stdin(input)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_metric_and_format_is_listed_where_it_is_asked_for() {
    let listed = stdout(&sqlgauge(&strings(&["metrics"])));
    let described = json(&sqlgauge(&strings(&["metrics", "--json"])));
    let help = stdout(&sqlgauge(&strings(&["score", "--help"])));
    let help: String = help.split_whitespace().collect();
    assert_eq!(described.as_array().unwrap().len(), sqlgauge_metrics::all().len());
    for metric in sqlgauge_metrics::all() {
        assert!(listed.contains(metric.id()) && help.contains(metric.id()), "{}", metric.id());
        assert!(!metric.needs().is_empty());
    }
    assert!(help.contains("jsonl") && help.contains("db_id"), "{help}");
    let one = json(&sqlgauge(&strings(&["metrics", "esm", "--json"])));
    assert_eq!((&one[0]["id"], &one[0]["range"]), (&"esm@1".into(), &"0 or 1".into()));
    assert_eq!(sqlgauge(&strings(&["metrics", "exx"])).status.code(), Some(2));
}

#[test]
fn match_ends_with_0_for_equal_1_for_not_and_2_for_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("schema.sql"), DDL).unwrap();
    for (right, code) in [
        ("select NAME from item as i", 0),
        ("SELECT id FROM item", 1),
        ("SELECT nam FROM item", 2),
        ("SELEC", 2),
    ] {
        let arguments = strings(&["match", "--schema", "schema.sql", "SELECT name FROM item", right]);
        let output = with_stdin(&arguments, "", folder.path());
        assert_eq!(output.status.code(), Some(code), "{right}: {}", stderr(&output));
        let output = with_stdin(&[arguments, strings(&["--json"])].concat(), "", folder.path());
        assert_eq!((output.status.code(), json(&output)["equal"].as_bool()), (Some(code), Some(code == 0)));
    }
}

#[test]
fn a_dash_is_standard_input_for_one_file_or_query() {
    let benchmark = Benchmark::new(&["SELECT name FROM item"], &["SELECT name FROM item"]);
    let folder = benchmark.path("");
    let mut arguments = benchmark.score();
    let predictions = arguments.iter().position(|argument| argument.starts_with("S=")).unwrap();
    arguments[predictions] = "S=-".to_owned();
    let output = with_stdin(&arguments, "SELECT id FROM item\n", &folder);
    assert!(output.status.success(), "{}", stderr(&output));
    let manifest = std::fs::read_to_string(benchmark.path("run/run.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let inputs = manifest["inputs"].as_array().unwrap();
    let input = inputs.iter().find(|input| input["role"] == "predictions:S").unwrap();
    assert_eq!(input["path"], "-");
    assert_eq!(
        json(&sqlgauge(&strings(&["report", benchmark.path("run").to_str().unwrap(), "--format", "json"])))["systems"]
            [0]["scores"]["ex@1"]["mean"],
        0.0
    );

    let matched = with_stdin(
        &strings(&["match", "--schema", "-", "SELECT id FROM item", "SELECT id FROM item"]),
        DDL,
        &folder,
    );
    assert_eq!(matched.status.code(), Some(0), "{}", stderr(&matched));
    let db = benchmark.path("database/shop/shop.sqlite").display().to_string();
    let parsed = with_stdin(&strings(&["inspect", "-", "--db", &db]), "select ID from ITEM", &folder);
    assert!(stdout(&parsed).starts_with("SELECT"), "{}", stderr(&parsed));
    let twice = with_stdin(&strings(&["match", "--schema", "-", "-", "SELECT 1"]), DDL, &folder);
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("standard input can stand for one"), "{}", stderr(&twice));
}

#[test]
fn json_is_a_list_where_there_can_be_several() {
    let benchmark = Benchmark::new(
        &["SELECT name FROM item", "SELECT id FROM item"],
        &["SELECT name FROM item", "SELECT price FROM item"],
    );
    let mut arguments = benchmark.score();
    arguments.retain(|argument| argument != "--quiet");
    let second = format!("T={}", benchmark.path("pred.sql").display());
    arguments.extend(strings(&["--pred", &second, "--json"]));
    let scored = json(&sqlgauge(&arguments));
    assert_eq!(scored["systems"].as_array().unwrap().len(), 2);
    let run = benchmark.path("run").display().to_string();
    for (more, systems) in [(vec![], 2), (vec!["--system", "T"], 1)] {
        let arguments = [vec!["show", &run, "--id", "1", "--json"], more].concat();
        let summary = json(&sqlgauge(&strings(&arguments)));
        assert_eq!(summary.as_array().unwrap().len(), systems);
        assert_eq!(summary[0]["metrics"]["ex@1"], 0.0);
    }
    let compared = json(&sqlgauge(&strings(&["compare", &run, "--json"])));
    assert_eq!(compared["comparisons"].as_array().unwrap().len(), 4);
    let official = json(&sqlgauge(&strings(&[
        "compat",
        "spider",
        "--gold",
        benchmark.path("gold.sql").to_str().unwrap(),
        "--pred",
        benchmark.path("pred.sql").to_str().unwrap(),
        "--db",
        benchmark.path("database").to_str().unwrap(),
        "--json",
    ])));
    assert_eq!(
        (&official["levels"][4]["count"], &official["levels"][4]["execution"]),
        (&2.into(), &0.5.into())
    );
}

#[test]
fn wrong_answers_are_shown_by_their_cause() {
    let benchmark = Benchmark::new(
        &["SELECT name FROM item", "SELECT name FROM item", "SELECT id FROM item"],
        &["SELECT name FROM item", "SELECT price FROM item", "SELECT nothing FROM item"],
    );
    assert!(sqlgauge(&benchmark.score()).status.success());
    let run = benchmark.path("run").display().to_string();
    let summary: Value =
        serde_json::from_slice(&std::fs::read(benchmark.path("run/summary.json")).unwrap()).unwrap();
    let causes = summary["systems"][0]["fixes"]["causes"].as_array().unwrap();
    let mut ids = Vec::new();
    for cause in causes {
        let cause = cause["cause"].as_str().unwrap();
        let items = json(&sqlgauge(&strings(&["show", &run, "--cause", cause, "--json"])));
        let name = sqlgauge_report::cause_title(cause);
        assert_eq!(json(&sqlgauge(&strings(&["show", &run, "--cause", name, "--json"]))), items, "{name}");
        ids.extend(items.as_array().unwrap().iter().map(|item| (cause, item["id"].clone())));
    }
    ids.sort_by_key(|(_, id)| id.to_string());
    assert_eq!(ids.iter().map(|(_, id)| id).collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(ids[1].0, "does-not-run");
    let unknown = sqlgauge(&strings(&["show", &run, "--cause", "bad-luck"]));
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("it has the query does not run, "), "{}", stderr(&unknown));
}

#[test]
fn a_projects_file_gives_the_flags_that_are_not_typed() {
    let benchmark = Benchmark::new(&["SELECT name FROM item"], &["SELECT name FROM item"]);
    let folder = benchmark.path("");
    std::fs::write(
        benchmark.path("sqlgauge.toml"),
        "db = 'database'\n[score]\ngold = 'gold.sql'\npred = ['S=pred.sql']\nmetrics = ['ex', 'esm']\nout = 'run'\n",
    )
    .unwrap();
    let output = with_stdin(&strings(&["score", "--quiet"]), "", &folder);
    assert!(output.status.success(), "{}", stderr(&output));
    let manifest = std::fs::read_to_string(benchmark.path("run/run.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["metrics"], serde_json::json!(["ex@1", "esm@1"]));
    std::fs::write(benchmark.path("sqlgauge.toml"), "[score]\ngoold = 'x'\n").unwrap();
    let output = with_stdin(&strings(&["metrics"]), "", &folder);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("--goold") && stderr(&output).contains("sqlgauge.toml"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn columns_inside_objects_are_named_with_dots_and_a_missing_one_is_explained() {
    let benchmark = Benchmark::new(&["SELECT name FROM item"], &["SELECT name FROM item"]);
    let item = r#"[{"id": "a", "where": "shop", "target": {"sql": "SELECT name FROM item"}}]"#;
    std::fs::write(benchmark.path("gold.json"), item).unwrap();
    std::fs::write(benchmark.path("pred.json"), r#"{"a": "SELECT name FROM item"}"#).unwrap();
    let mut arguments = benchmark.score();
    for (old, new) in [("gold.sql", "gold.json"), ("pred.sql", "pred.json")] {
        arguments.iter_mut().for_each(|argument| *argument = argument.replace(old, new));
    }
    let output = sqlgauge(&arguments);
    assert_eq!(output.status.code(), Some(2));
    for part in ["target.sql", "where", "--column", "gold="] {
        assert!(stderr(&output).contains(part), "{part}: {}", stderr(&output));
    }
    for database in ["db_id=where", "db=where"] {
        let named = strings(&["--column", "gold=target.sql", "--column", database, "--restart"]);
        let output = sqlgauge(&[arguments.clone(), named].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

#[test]
#[cfg(feature = "pages")]
fn shells_and_man_get_their_pages_from_the_same_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&sqlgauge(&strings(&["completions", shell])));
        assert!(script.contains("fail-under"), "{shell}");
    }
    assert!(stdout(&sqlgauge(&strings(&["man"]))).contains(".TH sqlgauge"));
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert!(sqlgauge(&strings(&["man", "--out", pages.to_str().unwrap()])).status.success());
    assert!(pages.join("sqlgauge-score.1").is_file());
}

/// The ids of the items of a run.
fn ids_of(benchmark: &Benchmark) -> Vec<String> {
    let items = crate::common::items(&benchmark.path("run"));
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_part_of_a_benchmark_is_scored_with_the_files_of_the_whole() {
    let easy = "SELECT name FROM item";
    let hard =
        "SELECT name FROM item WHERE price > 1 AND id < 3 GROUP BY name ORDER BY count(*) DESC LIMIT 1";
    let golds = [easy, hard, easy, hard, easy, hard];
    let benchmark = Benchmark::new(&golds, &golds);
    // The first question asks about a database that is missing; the part leaves it out.
    let gold = std::fs::read_to_string(benchmark.path("gold.sql")).unwrap();
    std::fs::write(benchmark.path("gold.sql"), gold.replacen("\tshop", "\tabsent", 1)).unwrap();
    let part = |more: &[&str]| {
        let output = sqlgauge(&[benchmark.score(), strings(&["--restart"]), strings(more)].concat());
        (output.status.code(), stderr(&output))
    };
    let (code, message) = part(&[]);
    let remedies = "with --db-id, or leave out those whose databases are missing with --skip-missing-db";
    assert!(code == Some(2) && message.contains(remedies), "{message}");
    assert_eq!(part(&["--db-id", "absent,shop"]).0, Some(2));
    assert_eq!(part(&["--db-id", "shop"]).0, Some(0));
    assert_eq!(ids_of(&benchmark), ["1", "2", "3", "4", "5"]);
    std::fs::write(benchmark.path("ids"), "4\n2\n").unwrap();
    assert_eq!(part(&["--ids", benchmark.path("ids").to_str().unwrap()]).0, Some(0));
    assert_eq!(ids_of(&benchmark), ["2", "4"]);
    assert_eq!(part(&["--db-id", "shop", "--where", "hardness=easy"]).0, Some(0));
    assert_eq!(ids_of(&benchmark), ["2", "4"]);
    assert_eq!(part(&["--db-id", "shop", "--limit", "2", "--seed", "7"]).0, Some(0));
    let drawn = ids_of(&benchmark);
    assert_eq!(drawn.len(), 2);
    // The same part goes on; another one is another run.
    let again = [benchmark.score(), strings(&["--db-id", "shop", "--limit", "2", "--seed", "7"])].concat();
    assert_eq!(sqlgauge(&again).status.code(), Some(0));
    assert_eq!(sqlgauge(&benchmark.score()).status.code(), Some(2));
    for (flags, reason) in [
        (&["--db-id", "shops"][..], "no question has db_id \"shops\"; there are absent, shop"),
        (&["--db-id", "shop", "--where", "hardness=impossible"], "no question has hardness \"impossible\""),
        (&["--where", "size=3"], "as in hardness=extra"),
        (&["--db-id", "shop", "--limit", "0"], "--limit 0 leaves no question"),
    ] {
        let (code, message) = part(flags);
        assert!(code == Some(2) && message.contains(reason), "{flags:?}: {message}");
    }
}

#[test]
fn what_a_run_got_wrong_is_scored_again() {
    let golds = ["SELECT name FROM item", "SELECT id FROM item", "SELECT count(*) FROM item"];
    let benchmark = Benchmark::new(&golds, &[golds[0], "SELECT price FROM item", "SELECT 7"]);
    assert_eq!(sqlgauge(&benchmark.score()).status.code(), Some(0));
    std::fs::rename(benchmark.path("run"), benchmark.path("before")).unwrap();
    let before = benchmark.path("before").display().to_string();
    let again = || sqlgauge(&[benchmark.score(), strings(&["--last-failed", &before])].concat());
    let output = again();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(ids_of(&benchmark), ["1", "2"]);
    let report = sqlgauge(&strings(&["report", benchmark.path("run").to_str().unwrap()]));
    let text = stdout(&report).replace('\n', " ");
    assert!(text.contains("a part of the benchmark: 2 questions that S failed (ex@1 in"), "{text}");
    for (format, times) in [("csv", 2), ("json", 1), ("markdown", 1)] {
        let run = benchmark.path("run").display().to_string();
        let report = stdout(&sqlgauge(&strings(&["report", &run, "--output-format", format])));
        assert_eq!(report.matches("2 questions that S failed").count(), times, "{report}");
    }
    // Nothing is left to mend.
    std::fs::write(benchmark.path("pred.sql"), golds.join("\n")).unwrap();
    let mended = [benchmark.score(), strings(&["--restart"])].concat();
    assert_eq!(sqlgauge(&mended).status.code(), Some(0));
    std::fs::remove_dir_all(benchmark.path("before")).unwrap();
    std::fs::rename(benchmark.path("run"), benchmark.path("before")).unwrap();
    assert!(stderr(&again()).contains("no answer is wrong there by"), "{}", stderr(&again()));
}

#[test]
fn options_of_verify_need_the_metric() {
    let benchmark = Benchmark::new(&["SELECT id FROM item"], &["SELECT id FROM item"]);
    let with = |more: &[&str]| sqlgauge(&[benchmark.score(), strings(more)].concat());
    let output = with(&["--metrics", "ex", "--bound", "2"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--bound is for the metric verify"), "{}", stderr(&output));
    let options = ["--metrics", "ex,verify", "--bound", "2", "--semantics", "bag", "--pair-timeout", "3"];
    assert_eq!(with(&options).status.code(), Some(0));
    let recorded: Value =
        serde_json::from_str(&std::fs::read_to_string(benchmark.path("run/run.json")).unwrap()).unwrap();
    let option = |name: &str| recorded["options"][name].clone();
    assert_eq!(option("verify_bound"), 2);
    assert_eq!(option("verify_solver_ms"), 3000);
    assert_eq!(recorded["metrics"], serde_json::json!(["ex@1", "verify-bag@3"]));
    let output = with(&["--metrics", "verify-set", "--semantics", "bag", "--restart"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("verify-set@3 says by its id what counts"), "{}", stderr(&output));
    let output = with(&["--metrics", "verify@2", "--restart"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("take `verify@3`"), "{}", stderr(&output));
    let mut arguments = benchmark.score();
    arguments.pop_if(|last| last == "--quiet");
    let output = sqlgauge(&[arguments, strings(&["--metrics", "ex-bird,verify", "--restart"])].concat());
    assert!(stderr(&output).contains("verify-set@3 compares them as ex-bird@1 does"), "{}", stderr(&output));
}

#[test]
fn the_first_metric_is_ex_unless_one_is_named() {
    let benchmark = Benchmark::new(&["SELECT id FROM item"], &["SELECT id FROM item"]);
    let metrics = |benchmark: &Benchmark| {
        let text = std::fs::read_to_string(benchmark.path("run/run.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["metrics"].clone()
    };
    assert_eq!(sqlgauge(&benchmark.score()).status.code(), Some(0));
    assert_eq!(metrics(&benchmark), serde_json::json!(["ex@1", "ex-spider@1", "ex-bird@1", "esm@1"]));
    let with_evidence = r#"[{"question_id": 0, "db_id": "shop", "question": "?", "evidence": "id is its number", "SQL": "SELECT id FROM item"}]"#;
    std::fs::write(benchmark.path("gold.sql"), with_evidence).unwrap();
    let arguments = [benchmark.score(), strings(&["--restart", "--format", "json"])].concat();
    let output = sqlgauge(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(metrics(&benchmark), serde_json::json!(["ex-bird@1", "ex@1"]));
}

#[test]
fn answers_to_the_original_are_scored_on_what_was_evolved_from_it() {
    let benchmark = Benchmark::new(
        &["SELECT id FROM item", "SELECT name FROM item", "SELECT price FROM item"],
        &["SELECT id FROM item", "SELECT 1", "SELECT price FROM item"],
    );
    let item = |source: usize, sql: &str| serde_json::json!({"source_index": source, "question_id": format!("new {source}"), "db_id": "shop", "question": "?", "query": sql});
    let evolved = serde_json::json!([item(2, "SELECT price FROM item"), item(1, "SELECT name FROM item")]);
    std::fs::write(benchmark.path("evolved.json"), evolved.to_string()).unwrap();
    let original = benchmark.path("gold.sql").display().to_string();
    let mut arguments = benchmark.score();
    arguments[2] = benchmark.path("evolved.json").display().to_string();
    assert_eq!(sqlgauge(&arguments).status.code(), Some(2));
    arguments.extend(strings(&["--answers-to", &original]));
    let output = sqlgauge(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let items = crate::common::items(&benchmark.path("run"));
    let scores: Vec<(&str, f64)> = items
        .iter()
        .map(|item| (item["id"].as_str().unwrap(), item["metrics"]["ex@1"].as_f64().unwrap()))
        .collect();
    assert_eq!(scores, [("new 2", 1.0), ("new 1", 0.0)]);
    // A benchmark that was not evolved says so.
    let output = sqlgauge(&[benchmark.score(), strings(&["--restart", "--answers-to", &original])].concat());
    assert!(output.status.code() == Some(2) && stderr(&output).contains("does not say which question"));
}

#[test]
fn two_runs_are_compared_by_what_was_asked_in_both() {
    let golds: Vec<String> = (0..12).map(|n| format!("SELECT id + {n} FROM item")).collect();
    let golds: Vec<&str> = golds.iter().map(String::as_str).collect();
    let worse: Vec<&str> =
        golds.iter().enumerate().map(|(at, gold)| if at < 8 { "SELECT 1" } else { gold }).collect();
    let (good, bad) = (Benchmark::new(&golds, &golds), Benchmark::new(&golds, &worse));
    // Positions are the ids, so that without the first line all golds are others.
    let other = Benchmark::new(&golds[1..], &worse[1..]);
    for benchmark in [&good, &bad, &other] {
        let output = sqlgauge(&[benchmark.score(), strings(&["--metrics", "ex"])].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let run = |benchmark: &Benchmark| benchmark.path("run").display().to_string();
    let compare = |first: &Benchmark, second: &Benchmark, more: &[&str]| {
        sqlgauge(&[strings(&["compare", &run(first), &run(second), "--json"]), strings(more)].concat())
    };
    let output = compare(&good, &bad, &["--max-regression", "1.0"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("ex@1 is lower by 66.7 points, more than 1"), "{}", stderr(&output));
    let comparison = json(&output);
    assert_eq!(comparison["only_first"].as_array().unwrap().len(), 8);
    assert_eq!(
        comparison["left_out"],
        serde_json::json!({"only_first": 0, "only_second": 0, "changed": 0, "of_time": 0})
    );
    for (first, second, bar) in [(&bad, &good, "0"), (&good, &bad, "70"), (&good, &good, "0")] {
        assert_eq!(compare(first, second, &["--max-regression", bar]).status.code(), Some(0), "{bar}");
    }
    assert_eq!(compare(&good, &bad, &["--max-regression=-1"]).status.code(), Some(2));
    let output = compare(&good, &other, &[]);
    assert!(
        output.status.code() == Some(2) && stderr(&output).contains("no item in common"),
        "{}",
        stderr(&output)
    );
    assert_eq!(compare(&good, &bad, &["--systems", "S,T"]).status.code(), Some(2));
    assert!(stderr(&compare(&good, &good, &[])).contains("both folders are the same run"));
}
