//! Whatever is wrong with the input: one sentence that names it, exit code 2, nothing half-written.

use crate::common::{Benchmark, items, sqlgauge, stderr};

/// Replaces the value after `option`.
fn with(mut arguments: Vec<String>, option: &str, value: &str) -> Vec<String> {
    let place = arguments.iter().position(|argument| argument == option).unwrap();
    value.clone_into(&mut arguments[place + 1]);
    arguments
}

fn and(mut arguments: Vec<String>, more: &[&str]) -> Vec<String> {
    arguments.extend(more.iter().map(|&argument| argument.to_owned()));
    arguments
}

#[test]
fn every_bad_input_is_named_in_one_sentence() {
    let benchmark =
        Benchmark::new(&["SELECT name FROM item", "SELECT 1"], &["SELECT name FROM item", "SELECT 1"]);
    let file = |name: &str, text: &str| {
        std::fs::write(benchmark.path(name), text).unwrap();
        benchmark.path(name).display().to_string()
    };
    let short = file("short.sql", "SELECT 1\n");
    let broken = file("broken.jsonl", "{\"id\": 0, \"sql\": \"SELECT 1\"}\n{\"id\": 1, sql}\n");
    let elsewhere = file("elsewhere.sql", "SELECT 1\tshops\nSELECT 1\tshops\n");
    let no_database = file("text.sqlite", "this is no database, but it is long enough to look at");
    let score = || benchmark.score();
    for (arguments, wanted) in [
        (with(score(), "--gold", "nowhere.sql"), vec!["nowhere.sql"]),
        (with(score(), "--gold", &elsewhere), vec!["shops", "shop"]),
        (with(score(), "--pred", &format!("S={short}")), vec!["short.sql", "1", "2"]),
        (with(score(), "--pred", &format!("S={broken}")), vec!["broken.jsonl", "line 2"]),
        (with(score(), "--db", "nowhere"), vec!["nowhere"]),
        (with(score(), "--db", &no_database), vec!["text.sqlite", "not a SQLite database"]),
        (with(score(), "--out", "/dev/null/run"), vec!["/dev/null", "--out"]),
        (and(score(), &["--metrics", "ex-spyder"]), vec!["ex-spyder", "ex-spider@1"]),
        (and(score(), &["--fail-under", "ex-spider"]), vec!["METRIC=X"]),
        (and(score(), &["--fail-under", "esm=2", "--metrics", "esm"]), vec!["between 0 and 1"]),
        (and(score(), &["--timeout", "-1"]), vec!["-1"]),
        (and(score(), &["--no-such-flag"]), vec!["--no-such-flag"]),
        (vec!["report".into(), benchmark.path("nothing").display().to_string()], vec!["run.json"]),
        (vec!["inspect".into(), no_database.clone()], vec!["text.sqlite"]),
    ] {
        let output = sqlgauge(&arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(wanted.iter().all(|part| message.contains(part)), "{arguments:?}: {message}");
        assert!(!message.contains("panicked"), "{message}");
        assert!(!benchmark.path("run").exists(), "{arguments:?} left a run directory");
    }
}

#[test]
fn what_evolve_could_only_ignore_is_refused() {
    let benchmark = Benchmark::new(&["SELECT name FROM item"], &["SELECT 1"]);
    let path = |name: &str| benchmark.path(name).display().to_string();
    let script = |name: &str, text: &str| {
        std::fs::write(benchmark.path(name), text).unwrap();
        path(name)
    };
    let change = r#"{"db_id": "shop", "operator": "rename_table", "table": "item", "to": "ware"}"#;
    let valid = script("good.jsonl", change);
    let misspelt = script("misspelt.jsonl", &change.replace("shop", "shup"));
    let empty = script("empty.jsonl", "");
    let run = |command: &str, further: &[&str]| {
        let (gold, databases, out) = (path("gold.sql"), path("database"), path("out"));
        let words = [command, "--gold", &gold, "--db", &databases, "--out", &out, "--quiet"];
        sqlgauge(&[words.as_slice(), further].concat())
    };
    for (command, further, wanted) in [
        ("evolve", vec!["--script", &misspelt], vec!["\"shup\"", "no gold asks about"]),
        ("evolve", vec!["--script", &empty], vec!["empty.jsonl", "has no change"]),
        ("evolve", vec!["--script", &valid, "--kinds", "rename-columns"], vec!["--script", "--kinds"]),
        ("evolve", vec!["--script", &valid, "--intensity", "0.3"], vec!["--script", "--intensity"]),
        (
            "evolve",
            vec!["--steps", "2", "--kinds", "remove-tables-in-gold"],
            vec!["can still be answered", "rename-columns"],
        ),
        ("evolve", vec!["--kinds", "rename-column"], vec!["rename-column", "rename-columns"]),
        ("augment", vec![], vec!["--evolved", "--kinds"]),
        ("augment", vec!["--kinds", "all", "--evolved", "x"], vec!["--evolved", "--kinds"]),
    ] {
        let output = run(command, &further);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{further:?}: {message}");
        assert!(wanted.iter().all(|part| message.contains(part)), "{further:?}: {message}");
        assert!(!benchmark.path("out").exists(), "{further:?} left a folder");
    }
    let output = run("evolve", &["--script", &valid]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn a_folder_with_something_else_in_it_is_left_alone() {
    let benchmark = Benchmark::new(&["SELECT 1"], &["SELECT 1"]);
    std::fs::create_dir(benchmark.path("run")).unwrap();
    std::fs::write(benchmark.path("run/letter.txt"), "dear").unwrap();
    let output = sqlgauge(&benchmark.score());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("letter.txt"));
    assert_eq!(std::fs::read_dir(benchmark.path("run")).unwrap().count(), 1);
}

#[test]
fn exit_codes_say_how_it_ended() {
    let benchmark =
        Benchmark::new(&["SELECT name FROM item"; 2], &["SELECT name FROM item", "SELECT id FROM item"]);
    let run = benchmark.path("run").display().to_string();
    let reached = and(benchmark.score(), &["--metrics", "ex", "--fail-under", "ex=0.5"]);
    assert_eq!(sqlgauge(&reached).status.code(), Some(0));
    let missed = and(benchmark.score(), &["--metrics", "ex", "--fail-under", "ex=0.6"]);
    let output = sqlgauge(&missed);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("ex@1 is 50.0 % (95 % interval 9.5 % to 90.5 %), under 60.0 %"));
    let junit = sqlgauge(&["report", &run, "--output-format", "junit", "--fail-under", "ex=0.6"]);
    assert_eq!(junit.status.code(), Some(1));
    assert!(std::fs::read_to_string(benchmark.path("run/report.xml")).unwrap().contains("<testsuites"));
    let other = and(benchmark.score(), &["--metrics", "ex-bird"]);
    let refused = sqlgauge(&other);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--restart"), "{}", stderr(&refused));
}

#[test]
fn hostile_predictions_get_their_outcome_and_change_nothing() {
    let hostile = [
        ("DROP TABLE item", "denied"),
        ("ATTACH 'evil.db' AS e", "denied"),
        ("PRAGMA writable_schema = 1", "denied"),
        ("SELECT load_extension('x')", "denied"),
        ("SELECT 1; DELETE FROM item", "multiple_statements"),
        ("WITH RECURSIVE c AS (SELECT 1 UNION ALL SELECT 1 FROM c) SELECT count(*) FROM c", "timeout"),
        ("SELECT zeroblob(2000000000)", "too_large"),
        ("SELEC name", "syntax_error"),
        ("SELECT nom FROM item", "no_such_column"),
    ];
    let golds = vec!["SELECT name FROM item"; hostile.len()];
    let benchmark = Benchmark::new(&golds, &hostile.map(|(sql, _)| sql));
    let database = benchmark.path("database/shop/shop.sqlite");
    let before = std::fs::read(&database).unwrap();
    let output = sqlgauge(&and(benchmark.score(), &["--timeout", "0.3"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for (item, (sql, status)) in items(&benchmark.path("run")).iter().zip(hostile) {
        assert_eq!(item["status"], status, "{sql}");
        assert_eq!(item["metrics"]["ex@1"], 0.0, "{sql}");
    }
    assert_eq!(std::fs::read(&database).unwrap(), before);
    assert_eq!(std::fs::read_dir(benchmark.path("database/shop")).unwrap().count(), 1);
}

#[test]
fn a_run_in_which_no_gold_runs_says_so_and_fails() {
    let benchmark = Benchmark::new(&["SELECT nothing FROM item"; 2], &["SELECT name FROM item"; 2]);
    let output = sqlgauge(&benchmark.score());
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("none of the 2 gold queries runs") && message.contains("nothing"), "{message}");
    assert!(benchmark.path("run/summary.json").exists());
    // One that runs is enough, and one that only the official script's repairs make run is one.
    for golds in [
        ["SELECT nothing FROM item", "SELECT id FROM item"],
        ["SELECT x", "SELECT id FROM item WHERE id ! = 1"],
    ] {
        let benchmark = Benchmark::new(&golds, &["SELECT name FROM item"; 2]);
        let output = sqlgauge(&benchmark.score());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
}

#[test]
fn golds_that_return_nothing_are_counted_and_said() {
    let golds = ["SELECT id FROM item WHERE id > 9", "SELECT id FROM item"];
    let benchmark = Benchmark::new(&golds, &golds);
    let arguments: Vec<String> =
        benchmark.score().into_iter().filter(|argument| argument != "--quiet").collect();
    let output = sqlgauge(&arguments);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("1 of 2 gold queries returns no row"), "{table}");
    let summary = std::fs::read_to_string(benchmark.path("run/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!((&summary["golds"]["empty"], &summary["golds"]["failed"]), (&1.into(), &0.into()));
    let page = std::fs::read_to_string(benchmark.path("run/report.html")).unwrap();
    assert!(page.contains("1 of 2 gold queries returns no row"));

    let connection = rusqlite::Connection::open(benchmark.path("database/shop/shop.sqlite")).unwrap();
    connection.execute_batch("DELETE FROM item").unwrap();
    drop(connection);
    let output = sqlgauge(&and(arguments, &["--restart"]));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("databases without a row (shop)"), "{table}");
}

/// What a run says of itself, as JSON and on standard error.
fn run_says(benchmark: &Benchmark, more: &[&str]) -> (serde_json::Value, String) {
    let arguments = benchmark.score().into_iter().filter(|argument| argument != "--quiet");
    let output = sqlgauge(&arguments.chain(more.iter().map(|&flag| flag.to_owned())).collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = std::fs::read_to_string(benchmark.path("run/summary.json")).unwrap();
    let text = stderr(&output) + &String::from_utf8_lossy(&output.stdout);
    (serde_json::from_str(&summary).unwrap(), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn what_an_official_scripts_changes_of_the_texts_make_is_said() {
    let golds = ["SELECT DISTINCT price > 1 AS value FROM item", "SELECT id FROM item"];
    let benchmark = Benchmark::new(&golds, &["SELECT price > 1 FROM item", "SELECT id FROM item"]);
    let (summary, text) = run_says(&benchmark, &["--metrics", "ex-spider,ex"]);
    let system = &summary["systems"][0];
    assert_eq!(system["scores"]["ex-spider@1"]["mean"], 1.0);
    assert_eq!(
        system["as_written"]["ex-spider@1"],
        serde_json::json!({"items": 1, "gained": 0, "mean": 0.5})
    );
    assert!(text.contains("without that: S 50.0, not 100.0 (1 answer becomes wrong)"), "{text}");
    // A script whose changes decide nothing is not spoken of.
    let same = Benchmark::new(&["SELECT DISTINCT id FROM item"; 2], &["SELECT id FROM item"; 2]);
    let (summary, text) = run_says(&same, &["--metrics", "ex-spider"]);
    assert!(summary["systems"][0].get("as_written").is_none() && !text.contains("as they are written"));
}

#[test]
fn an_official_scripts_changes_are_no_fault_of_a_system() {
    let golds = ["SELECT DISTINCT price > 1 FROM item", "SELECT id FROM item"];
    let benchmark =
        Benchmark::new(&golds, &["SELECT price > 1 FROM item GROUP BY 1", "SELECT name FROM item"]);
    let (summary, text) = run_says(&benchmark, &["--metrics", "ex-spider"]);
    let causes = summary["systems"][0]["fixes"]["causes"].as_array().unwrap();
    let ids: Vec<&str> = causes.iter().filter_map(|fix| fix["cause"].as_str()).collect();
    assert_eq!(ids, ["official-script", "other-column"]);
    assert!(text.contains("changed by the official script"), "{text}");
}

#[test]
fn a_tie_at_limit_is_a_cause_where_both_queries_have_it() {
    let gold = "SELECT name FROM item GROUP BY id ORDER BY count(*) LIMIT 1";
    let answers = [
        "SELECT name FROM item GROUP BY name ORDER BY count(id) LIMIT 1",
        "SELECT name FROM item ORDER BY name LIMIT 1",
        "SELECT name FROM item GROUP BY name ORDER BY count(*) LIMIT 2",
    ];
    let benchmark = Benchmark::new(&[gold; 3], &answers);
    let (summary, text) = run_says(&benchmark, &["--metrics", "ex"]);
    let run = items(&benchmark.path("run"));
    let tied: Vec<&serde_json::Value> = run.iter().map(|item| &item["details"]["tied"]).collect();
    assert_eq!(tied, [&serde_json::json!(3), &serde_json::Value::Null, &serde_json::Value::Null]);
    let causes = summary["systems"][0]["fixes"]["causes"].as_array().unwrap();
    assert!(causes.iter().any(|fix| fix["cause"] == "tie" && fix["items"] == 1), "{causes:?}");
    assert!(text.contains("a tie at LIMIT, decided by chance"), "{text}");
}

#[test]
fn causes_do_not_depend_on_the_other_metrics() {
    let golds = [
        "SELECT DISTINCT price > 1 FROM item",
        "SELECT id FROM item WHERE name = 'pen'",
        "SELECT id, name FROM item",
        "SELECT name FROM item ORDER BY price",
    ];
    let answers = [
        "SELECT price > 1 FROM item GROUP BY 1",
        "SELECT id FROM item WHERE name = 'PEN'",
        "SELECT name, id FROM item",
        "SELECT id FROM item LIMIT 1",
    ];
    let fixes = |metrics: &str| {
        let benchmark = Benchmark::new(&golds, &answers);
        let (summary, _) = run_says(&benchmark, &["--metrics", metrics]);
        summary["systems"][0]["fixes"].clone()
    };
    for metric in ["ex", "ex-spider", "ex-bird"] {
        let alone = fixes(metric);
        assert!(alone["causes"].as_array().is_some_and(|causes| !causes.is_empty()), "{metric}: {alone}");
        for others in ["ex-bird,esm,ex-spider,ex", "verify,ex-subset,ex,ex-bird"] {
            let others: Vec<&str> = others.split(',').filter(|other| *other != metric).collect();
            assert_eq!(fixes(&format!("{metric},{}", others.join(","))), alone, "{metric} beside {others:?}");
        }
    }
}

#[test]
fn answers_that_are_no_answers_to_this_benchmark_are_noticed() {
    let golds = ["SELECT id FROM item", "SELECT name FROM item", "SELECT price FROM item"];
    let golds = [&golds[..], &golds[..]].concat();
    let (_, text) = run_says(&Benchmark::new(&golds, &golds), &["--metrics", "ex,suite"]);
    assert!(text.contains("S: all 6 answers are the golds' own texts"), "{text}");
    assert!(text.contains("suite@1: no database has others beside it"), "{text}");
    let (_, text) = run_says(&Benchmark::new(&golds, &["SELECT a FROM b"; 6]), &["--metrics", "ex"]);
    assert!(text.contains("6 of 6 answers of S read tables that their database does not have"), "{text}");
}
