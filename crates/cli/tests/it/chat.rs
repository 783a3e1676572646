//! Answers as models write them, from the command line.

use std::process::Output;

use crate::common::{Benchmark, items, sqlgauge, stderr};
use serde_json::{Value, json};

/// Three questions, each with the gold `RIGHT`.
const GOLDS: [&str; 3] = [RIGHT; 3];
const RIGHT: &str = "SELECT name FROM item WHERE price > 1";

/// What a run prints on standard error, and the score of `ex` and the query of each item.
fn score(predictions: &Value, words: &[&str]) -> (String, Vec<(f64, String)>) {
    let benchmark = Benchmark::new(&GOLDS, &[]);
    let output = run(&benchmark, predictions, words);
    let scored = items(&benchmark.path("run"));
    let of = |item: &Value| {
        let query = item["details"]["prediction"].as_str().unwrap_or_default().to_owned();
        (item["metrics"]["ex@1"].as_f64().unwrap(), query)
    };
    (stderr(&output), scored.iter().map(of).collect())
}

/// Scores predictions on a benchmark.
fn run(benchmark: &Benchmark, predictions: &Value, words: &[&str]) -> Output {
    let file = benchmark.path("pred.json");
    std::fs::write(&file, predictions.to_string()).unwrap();
    let mut arguments = benchmark.score();
    let place = arguments.iter().position(|word| word.starts_with("S=")).unwrap();
    arguments[place] = format!("S={}", file.display());
    arguments.retain(|word| word != "--quiet");
    arguments.extend(words.iter().map(|word| (*word).to_owned()));
    let output = sqlgauge(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    output
}

#[test]
fn a_note_names_the_option_where_answers_look_like_chat() {
    let fenced = format!("<think>easy</think>\n```sql\n{RIGHT};\n```");
    let note = "1 of 3 answers look like chat: `--extract-sql` takes the query out of them";
    let answers = json!([fenced, RIGHT, "SELECT 'SQL: a' FROM item"]);
    let (words, scores) = score(&answers, &["--metrics", "ex"]);
    assert!(words.contains(note), "{words}");
    assert!(scores[0].0 < 0.5, "{scores:?}");
    let (words, scores) = score(&answers, &["--metrics", "ex", "--extract-sql"]);
    assert!(!words.contains("look like chat"), "{words}");
    assert_eq!(scores[0], (1.0, RIGHT.to_owned()));
    let (words, _) = score(&json!([RIGHT, RIGHT, "SELECT 'SQL: a' FROM item"]), &["--metrics", "ex"]);
    assert!(!words.contains("look like chat"), "{words}");
    let benchmark = Benchmark::new(&GOLDS, &[]);
    let lists = json!({"0": [fenced, RIGHT], "1": [RIGHT], "2": []});
    std::fs::write(benchmark.path("lists.json"), lists.to_string()).unwrap();
    let arguments = benchmark.score().into_iter().filter(|word| word != "--quiet");
    let mut arguments: Vec<String> = arguments.map(|word| word.replace("pred.sql", "lists.json")).collect();
    "vote".clone_into(&mut arguments[0]);
    let words = stderr(&sqlgauge(&arguments));
    assert!(words.contains(note), "{words}");
}

#[test]
fn a_transcript_is_scored_by_its_final_query() {
    let call =
        json!({"function": {"name": "sql", "arguments": json!({"query": "SELECT 1 FROM item"}).to_string()}});
    let last = json!({"function": {"name": "sql", "arguments": json!({"query": RIGHT}).to_string()}});
    let transcript = json!([
        {"role": "user", "content": "Which?"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "content": "1"},
        {"role": "assistant", "content": null, "tool_calls": [last]},
        {"role": "tool", "content": "a"},
        {"role": "assistant", "content": "It is a."},
    ]);
    let row = |id: usize| json!({"id": id.to_string(), "prediction": transcript});
    let (words, scores) = score(&json!([row(0), row(1), row(2)]), &["--metrics", "ex"]);
    assert!(words.contains("3 answers are transcripts: the final query of each is scored"), "{words}");
    assert_eq!(scores, vec![(1.0, RIGHT.to_owned()); 3]);
}

/// An agent that calls a tool with each query.
fn agent(queries: &[&str]) -> Value {
    let step = |query: &&str| json!({"action": "sql", "action_input": query, "observation": "rows"});
    queries.iter().map(step).collect()
}

#[test]
fn the_queries_before_a_final_one_are_counted() {
    let benchmark = Benchmark::new(&GOLDS, &[]);
    let wrong = "SELECT name FROM item";
    let long: Vec<String> = (0..20).map(|at| format!("SELECT {at} FROM item")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let answers = [agent(&["SELECT nam FROM item", RIGHT]), agent(&[RIGHT, wrong]), agent(&long)];
    let rows = answers.iter().enumerate().map(|(at, answer)| json!({"id": at, "prediction": answer}));
    let output = run(&benchmark, &rows.collect(), &["--metrics", "ex,esm"]);

    let earlier: Vec<Value> =
        items(&benchmark.path("run")).iter().map(|item| item["details"]["earlier_queries"].clone()).collect();
    let first = &earlier[0]["last"][0];
    assert_eq!((&first["sql"], &first["right"]), (&json!("SELECT nam FROM item"), &json!(false)), "{first}");
    assert_ne!(first["status"], "ok");
    assert_eq!(earlier[1], json!({"last": [{"sql": RIGHT, "status": "ok", "right": true}]}));
    assert_eq!((earlier[2]["last"].as_array().unwrap().len(), &earlier[2]["omitted"]), (16, &json!(3)));

    let summary = std::fs::read_to_string(benchmark.path("run/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let counts = json!({"answers": 3, "queries": 24, "failed": 1, "repaired": 1, "right_before": 1});
    assert_eq!(summary["systems"][0]["transcripts"], counts);
    let page = std::fs::read_to_string(benchmark.path("run/report.html")).unwrap();
    assert!(page.contains("\"title\":\"Transcripts\""));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let row =
        printed.lines().skip_while(|line| !line.starts_with("Transcripts")).find(|line| line.contains(" S "));
    let cells: Vec<&str> = row.unwrap_or(&printed).split_whitespace().collect();
    assert_eq!(cells, ["S", "3", "8.0", "1", "1", "1"], "{printed}");

    let folder = benchmark.path("run").display().to_string();
    let shown = sqlgauge(&["show", &folder, "--id", "1"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains(&format!("query 1 of 2: right\n{RIGHT}\n")), "{shown}");
}

#[test]
fn a_run_without_transcripts_says_nothing_of_them() {
    let benchmark = Benchmark::new(&GOLDS, &[]);
    let output = run(&benchmark, &json!([RIGHT, RIGHT, "SELECT 1"]), &["--metrics", "ex"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("Transcripts"));
    for name in ["items.jsonl", "summary.json", "report.html"] {
        let text = std::fs::read_to_string(benchmark.path("run").join(name)).unwrap();
        let word = if name == "report.html" { "\"title\":\"Transcripts\"" } else { "transcripts" };
        assert!(!text.contains("\"earlier_queries\"") && !text.contains(word), "{name}");
    }
}
