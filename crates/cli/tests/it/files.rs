//! Files as people have them, from the command line to the score: what pairs them, and what is said where nothing can.

use crate::common::{Benchmark, sqlgauge, stderr};

/// Files of golds and predictions, and what comes of `score` with those further arguments.
struct Case {
    name: &'static str,
    gold: (&'static str, &'static str),
    pred: (&'static str, &'static str),
    arguments: &'static [&'static str],
    outcome: Outcome,
}

enum Outcome {
    /// Mean of `ex`, its items, and by what they were paired.
    Score(f64, u64, &'static str),
    /// Exit code 2 and a sentence with these parts.
    Refused(&'static [&'static str]),
}
use Outcome::{Refused, Score};

const GOLDS: &str = r#"[{"id": "a1", "db_id": "shop", "question": "Cheap?", "query": "SELECT name FROM item WHERE price < 2"},
    {"id": "a2", "db_id": "shop", "question": "How many?", "query": "SELECT count(*) FROM item"}]"#;
const A1: &str = "SELECT name FROM item WHERE price < 2";

const CASES: &[Case] = &[
    Case {
        name: "golds without a database",
        gold: ("gold.csv", "question,sql\nHow many?,SELECT count(*) FROM item\n"),
        pred: ("pred.json", r#"{"q1": "SELECT count(id) FROM item"}"#),
        arguments: &[],
        outcome: Score(1.0, 1, "position"),
    },
    Case {
        name: "ids of a batch in another order",
        gold: ("gold.json", GOLDS),
        pred: (
            "p.jsonl",
            "{\"custom_id\": \"a2\", \"sql\": \"SELECT count(*) FROM item\"}\n{\"custom_id\": \"a1\", \"sql\": \"SELECT name FROM item WHERE price < 2\"}",
        ),
        arguments: &[],
        outcome: Score(1.0, 2, "column custom_id"),
    },
    Case {
        name: "an object where the answer should be",
        gold: ("gold.json", GOLDS),
        pred: ("p.jsonl", r#"{"id": "a1", "response": {"text": "SELECT 1"}}"#),
        arguments: &[],
        outcome: Refused(&["the SQL is an object", "--column prediction=response.text"]),
    },
    Case {
        name: "a path with an index, and ids of predictions alone",
        gold: ("gold.json", GOLDS),
        pred: (
            "p.jsonl",
            r#"{"id": "run-7", "key": "a2", "choices": [{"message": {"content": "SELECT count(*) FROM item"}}]}"#,
        ),
        arguments: &["--column", "pred.sql=choices.0.message.content", "--column", "pred.id=key"],
        outcome: Score(0.5, 2, "column key"),
    },
    Case {
        name: "prompts that hold the questions, in another order",
        gold: ("gold.json", GOLDS),
        pred: (
            "p.jsonl",
            "{\"prompt\": \"Tables: item. Question:  how many?\", \"completion\": \"SELECT count(*) FROM item\"}\n{\"prompt\": \"Tables: item. Question: Cheap?\", \"completion\": \"SELECT name FROM item WHERE price < 2\"}",
        ),
        arguments: &[],
        outcome: Score(1.0, 2, "question"),
    },
    Case {
        name: "prompts that are messages, for a part of the questions",
        gold: ("gold.json", GOLDS),
        pred: (
            "p.json",
            r#"[{"prompt": [{"role": "user", "content": "Q: How many?"}], "completion": [{"role": "assistant", "content": "SELECT 3"}]}]"#,
        ),
        arguments: &["--column", "prediction=completion.0.content"],
        outcome: Score(0.5, 2, "question"),
    },
    Case {
        name: "a prompt with the question of another row",
        gold: ("gold.json", GOLDS),
        pred: (
            "p.json",
            r#"[{"prompt": "How many?", "sql": "SELECT 3"}, {"prompt": "Q: How many?", "sql": "SELECT 3"}]"#,
        ),
        arguments: &[],
        outcome: Refused(&["1 row with the question of another example"]),
    },
    Case {
        name: "the results of promptfoo",
        gold: ("gold.json", GOLDS),
        pred: (
            "p.json",
            r#"{"evalId": "e", "results": {"version": 3, "results": [{"id": "u2", "response": {"output": "SELECT 3"}, "vars": {"question": "How many?"}},
                {"id": "u1", "response": {"output": "SELECT 'pen'"}, "vars": {"question": "Cheap?"}}]}}"#,
        ),
        arguments: &[],
        outcome: Score(1.0, 2, "question"),
    },
    Case {
        name: "pairs of question and SQL",
        gold: ("gold.json", GOLDS),
        pred: (
            "p.json",
            "[[\"How many?\", \"SELECT 3\\t----- bird -----\\tshop\"], [\"Cheap?\", \"SELECT 'pen'\\t----- bird -----\\tshop\"]]",
        ),
        arguments: &[],
        outcome: Score(1.0, 2, "question"),
    },
    Case {
        name: "scripts of several statements",
        gold: ("gold.json", GOLDS),
        pred: ("p.jsonl", r#"{"id": "a1", "pred_sqls": ["CREATE TEMP VIEW v AS SELECT 1;", "SELECT 3"]}"#),
        arguments: &[],
        outcome: Refused(&["the statements of one script", "--column prediction=NAME"]),
    },
    Case {
        name: "the index of a data frame",
        gold: ("gold.csv", "question,sql\nHow many?,SELECT count(*) FROM item\nFour?,SELECT 4\n"),
        pred: ("p.csv", ",sql\n0,SELECT 3\n1,SELECT 5\n"),
        arguments: &[],
        outcome: Score(0.5, 2, "the column without a name"),
    },
    Case {
        name: "another question's row",
        gold: ("gold.json", GOLDS),
        pred: ("p.json", r#"[{"question": "How many?", "sql": "A"}, {"question": "Other", "sql": "B"}]"#),
        arguments: &[],
        outcome: Refused(&[
            "1 row with the question of another example",
            "paired by position",
            "pred.id=NAME",
        ]),
    },
    Case {
        name: "no row of this benchmark",
        gold: ("gold.json", GOLDS),
        pred: ("p.json", r#"{"b1": "SELECT 1", "b2": "SELECT 1"}"#),
        arguments: &[],
        outcome: Refused(&["2 of its ids are not in the benchmark"]),
    },
    Case {
        name: "no answer at all",
        gold: ("gold.json", GOLDS),
        pred: ("p.json", r#"{"a1": null, "a2": null}"#),
        arguments: &[],
        outcome: Refused(&["has no prediction for any example"]),
    },
    Case {
        name: "golds by id, one without an answer, and an abstention",
        gold: ("gold.json", r#"{"a1": "SELECT count(*) FROM item", "a2": null}"#),
        pred: ("p.json", r#"{"a1": "SELECT 3", "a2": "null"}"#),
        arguments: &[],
        outcome: Score(1.0, 2, "key"),
    },
    Case {
        name: "an answer to a question that has none",
        gold: (
            "gold.json",
            r#"{"version": "1", "data": [{"id": "a1", "sql": "SELECT 3"}, {"id": "a2", "sql": "null"}]}"#,
        ),
        pred: ("p.json", r#"{"a1": "SELECT 3", "a2": "SELECT 3"}"#),
        arguments: &[],
        outcome: Score(0.5, 2, "key"),
    },
    Case {
        name: "a database that is not there",
        gold: (
            "gold.json",
            r#"[{"id": 1, "db_id": "shop", "gold": "SELECT 3"}, {"id": 2, "db_id": "mall", "gold": "SELECT 3"}]"#,
        ),
        pred: ("p.json", r#"{"1": "SELECT 3", "2": "SELECT 3"}"#),
        arguments: &["--skip-missing-db"],
        outcome: Score(1.0, 1, "key"),
    },
    Case {
        name: "a draw among the databases that are there",
        gold: (
            "gold.json",
            r#"[{"id": 1, "db_id": "mall", "gold": "SELECT 3"}, {"id": 2, "db_id": "mall", "gold": "SELECT 3"}, {"id": 3, "db_id": "shop", "gold": "SELECT 3"}]"#,
        ),
        pred: ("p.json", r#"{"1": "SELECT 3", "2": "SELECT 3", "3": "SELECT 3"}"#),
        arguments: &["--skip-missing-db", "--limit", "1"],
        outcome: Score(1.0, 1, "key"),
    },
    Case {
        name: "an item that is there twice",
        gold: (
            "gold.json",
            r#"[{"question_id": 7, "question": "q", "db_id": "shop", "SQL": "SELECT 3"}, {"question_id": 7, "question": "q", "db_id": "shop", "SQL": "SELECT 3"}]"#,
        ),
        pred: ("p.json", r#"{"0": "SELECT 3", "1": "SELECT 4"}"#),
        arguments: &[],
        outcome: Score(0.5, 2, "position"),
    },
];

/// Scores into `run`; where golds name no database, the file is given.
fn score(benchmark: &Benchmark, case: &Case) -> std::process::Output {
    let (gold, pred) = (benchmark.path(case.gold.0), benchmark.path(case.pred.0));
    std::fs::write(&gold, case.gold.1).unwrap();
    std::fs::write(&pred, case.pred.1).unwrap();
    let databases =
        benchmark.path(if case.gold.1.contains("db_id") { "database" } else { "database/shop/shop.sqlite" });
    let (run, pred) = (benchmark.path("run"), format!("S={}", pred.display()));
    let paths = [&gold, &databases, &run].map(|path| path.display().to_string());
    let [gold, databases, run] = paths.each_ref().map(String::as_str);
    let fixed = [
        "score",
        "--gold",
        gold,
        "--db",
        databases,
        "--pred",
        &pred,
        "--metrics",
        "ex",
        "--out",
        run,
        "--restart",
    ];
    sqlgauge(&[&fixed, case.arguments].concat())
}

fn read(benchmark: &Benchmark, file: &str) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(benchmark.path("run").join(file)).unwrap()).unwrap()
}

#[test]
fn every_file_is_scored_as_meant_or_refused() {
    let benchmark = Benchmark::new(&["SELECT 1"], &["SELECT 1"]);
    for case in CASES {
        let output = score(&benchmark, case);
        let message = stderr(&output);
        match case.outcome {
            Refused(parts) => {
                assert_eq!(output.status.code(), Some(2), "{}: {message}", case.name);
                assert!(parts.iter().all(|part| message.contains(part)), "{}: {message}", case.name);
            }
            Score(mean, count, paired_by) => {
                assert!(output.status.success(), "{}: {message}", case.name);
                let system = &read(&benchmark, "summary.json")["systems"][0];
                let score = &system["scores"]["ex@1"];
                assert_eq!(
                    (score["mean"].as_f64(), score["count"].as_u64()),
                    (Some(mean), Some(count)),
                    "{}",
                    case.name
                );
                assert_eq!(system["paired_by"], paired_by, "{}", case.name);
                assert_eq!(
                    read(&benchmark, "run.json")["options"]["paired_by"]["S"],
                    paired_by,
                    "{}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn a_folder_of_queries_is_read_by_their_names() {
    let benchmark = Benchmark::new(&["SELECT 1"], &["SELECT 1"]);
    let folder = benchmark.path("sql");
    std::fs::create_dir(&folder).unwrap();
    let run = || {
        std::fs::write(benchmark.path("gold.json"), GOLDS).unwrap();
        let [gold, databases, out] =
            ["gold.json", "database", "run"].map(|name| benchmark.path(name).display().to_string());
        let pred = format!("S={}", folder.display());
        sqlgauge(&[
            "score",
            "--gold",
            &gold,
            "--db",
            &databases,
            "--pred",
            &pred,
            "--metrics",
            "ex",
            "--out",
            &out,
        ])
    };
    assert!(stderr(&run()).contains("a folder without a file that ends in .sql"));
    std::fs::write(folder.join("a2.sql"), "SELECT count(*)\nFROM item\n").unwrap();
    std::fs::write(folder.join("a1.sql"), A1).unwrap();
    let output = run();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(&benchmark, "summary.json")["systems"][0]["scores"]["ex@1"]["mean"], 1.0);
    // The folder is an input of the run like any file.
    std::fs::write(folder.join("a1.sql"), "SELECT 1").unwrap();
    let again = run();
    assert_eq!(again.status.code(), Some(2), "{}", stderr(&again));
}

/// As training libraries log them: no id, and a row for each of several answers.
#[test]
fn rows_with_the_same_question_are_its_answers() {
    let benchmark = Benchmark::new(&["SELECT 1"], &["SELECT 1"]);
    let row = |question: &str, sql: &str| {
        format!("{{\"input\": \"user {question} assistant\", \"output\": \"{sql}\"}}\n")
    };
    let rows = [("How many?", "SELECT 3"), ("How many?", "SELECT 4"), ("Cheap?", "SELECT 4"), ("Cheap?", A1)];
    let rows = rows.map(|(question, sql)| row(question, sql)).concat();
    let [gold, pred, databases, out] =
        ["gold.json", "p.jsonl", "database", "run"].map(|name| benchmark.path(name).display().to_string());
    std::fs::write(&gold, GOLDS).unwrap();
    std::fs::write(&pred, rows).unwrap();
    let pred = format!("S={pred}");
    let output = sqlgauge(&[
        "score",
        "--gold",
        &gold,
        "--db",
        &databases,
        "--pred",
        &pred,
        "--metrics",
        "ex",
        "--out",
        &out,
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let summary = read(&benchmark, "summary.json");
    let of = |at: usize| &summary["systems"][at];
    assert_eq!([&of(0)["system"], &of(1)["system"]], ["S#1", "S#2"]);
    assert_eq!([&of(0)["scores"]["ex@1"]["mean"], &of(1)["scores"]["ex@1"]["mean"]], [0.5, 0.5]);
    assert_eq!(of(0)["paired_by"], "question");
}

#[test]
fn a_bar_is_for_the_first_of_several_answers() {
    let benchmark = Benchmark::new(&["SELECT 3", "SELECT 3"], &["x"]);
    let lists = r#"{"0": ["SELECT 3", "SELECT 4"], "1": ["SELECT 4", "SELECT 3"]}"#;
    std::fs::write(benchmark.path("lists.json"), lists).unwrap();
    let run = |bar: &str| {
        let words = benchmark.score().into_iter().map(|word| word.replace("pred.sql", "lists.json"));
        let further = ["--metrics", "ex", "--restart", "--fail-under", bar].map(str::to_owned);
        sqlgauge(&words.chain(further).collect::<Vec<_>>())
    };
    assert!(run("ex=0.5").status.success());
    let output = run("ex=0.6");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("S#1: ex@1 is 50.0 %"), "{}", stderr(&output));
}

#[test]
fn no_bar_is_reached_where_golds_fail() {
    let golds = ["SELECT count(*) FROM item", "SELECT nope FROM item", "SELECT nope FROM item"];
    let benchmark = Benchmark::new(&golds, &["SELECT 3", "SELECT 1", "SELECT 1"]);
    let run = |further: &[&str]| {
        let further = further.iter().map(|word| (*word).to_owned());
        sqlgauge(
            &benchmark
                .score()
                .into_iter()
                .chain(["--metrics".into(), "ex".into()])
                .chain(further)
                .collect::<Vec<_>>(),
        )
    };
    let bar = ["--fail-under", "ex=0.9"];
    let output = run(&bar);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("2 of 3 golds do not run, so no bar is reached"), "{}", stderr(&output));
    assert!(run(&[bar[0], bar[1], "--allow-gold-failures", "2"]).status.success());
    assert!(run(&[]).status.success());
    let folder = benchmark.path("run").display().to_string();
    let report = |further: &[&str]| sqlgauge(&[&["report", folder.as_str()], further].concat());
    assert_eq!(report(&bar).status.code(), Some(1));
    let json = report(&["--output-format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["warnings"][0], "2 of 3 golds do not run; the scores are over the other 1");
    assert_eq!(sqlgauge(&["compare", &folder, &folder, "--max-regression", "1"]).status.code(), Some(1));
    assert!(
        sqlgauge(&["compare", &folder, &folder, "--max-regression", "1", "--allow-gold-failures", "2"])
            .status
            .success()
    );
}
