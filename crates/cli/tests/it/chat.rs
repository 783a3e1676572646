//! Answers as models write them, from the command line.

use crate::common::{Benchmark, items, sqlgauge, stderr};
use serde_json::{Value, json};

/// Three questions, each with the gold `RIGHT`.
const GOLDS: [&str; 3] = [RIGHT; 3];
const RIGHT: &str = "SELECT name FROM item WHERE price > 1";

/// What a run prints on standard error, and the score of `ex` and the query of each item.
fn score(predictions: &Value, words: &[&str]) -> (String, Vec<(f64, String)>) {
    let benchmark = Benchmark::new(&GOLDS, &[]);
    let file = benchmark.path("pred.json");
    std::fs::write(&file, predictions.to_string()).unwrap();
    let mut arguments = benchmark.score();
    let place = arguments.iter().position(|word| word.starts_with("S=")).unwrap();
    arguments[place] = format!("S={}", file.display());
    arguments.retain(|word| word != "--quiet");
    arguments.extend(words.iter().map(|word| (*word).to_owned()));
    let output = sqlgauge(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let scored = items(&benchmark.path("run"));
    let of = |item: &Value| {
        let query = item["details"]["prediction"].as_str().unwrap_or_default().to_owned();
        (item["metrics"]["ex@1"].as_f64().unwrap(), query)
    };
    (stderr(&output), scored.iter().map(of).collect())
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
