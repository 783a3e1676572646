//! How predictions find their examples, and what is said when they cannot.

use serde_json::json;
use sqlgauge_dataset::{
    Benchmark, Columns, DatasetError, Input, PredictionOptions, PredictionSet, chat_note, parse_benchmark,
    parse_predictions,
};

const PLAIN: &str = "G0\ta\nG1\tb\nG2\ta\n";
const CONVERSATIONS: &str = "G0\ta\nG1\ta\n\nG2\tb\n";
const WITH_IDS: &str = r#"[{"id": "x", "db": "a", "sql": "G"}, {"id": "y", "db": "b", "sql": "G"}, {"id": "10", "db": "a", "sql": "G"}]"#;

fn benchmark(gold: &str) -> Benchmark {
    let name = if gold.starts_with('[') { "gold.json" } else { "gold.sql" };
    parse_benchmark(&Input::from_bytes(name, gold.into()), None, None, &Columns::default()).unwrap()
}

fn read_with(
    gold: &str,
    name: &str,
    content: &str,
    options: &PredictionOptions,
) -> Result<PredictionSet, DatasetError> {
    parse_predictions("S", Input::from_bytes(name, content.into()), &benchmark(gold), options)
}

fn read(gold: &str, name: &str, content: &str) -> Result<PredictionSet, DatasetError> {
    read_with(gold, name, content, &PredictionOptions::default())
}

/// The SQL of each example, `∅` where there is none.
fn texts(set: &PredictionSet) -> Vec<&str> {
    set.predictions.iter().map(|p| p.as_ref().map_or("∅", |p| p.sql.as_str())).collect()
}

/// What stands behind a query is chat too, and one answer in twenty is enough for a note.
#[test]
fn a_twentieth_of_chat_is_noted() {
    let note = |chat: &str, plain: usize| chat_note(std::iter::repeat_n("SELECT 1", plain).chain([chat]));
    for chat in ["SELECT 1; How many? SELECT 2;", "SELECT 1\n\nThis counts them.", "```sql\nSELECT 1\n```"] {
        assert!(
            note(chat, 19).is_some_and(|note| note.starts_with("1 of 20 answers look like chat")),
            "{chat}"
        );
        assert_eq!(note(chat, 20), None, "{chat}");
    }
    assert_eq!(note("`SELECT 1`", 0), None);
}

#[test]
fn every_format_is_matched_to_its_examples() {
    let cases: &[(&str, &str, &str, [&str; 3])] = &[
        (PLAIN, "p.sql", "A\nB\nC\n", ["A", "B", "C"]),
        (PLAIN, "p.sql", " A \r\nB\tb\r\nC ; \tx\ty", ["A", "B", "C ; "]),
        (PLAIN, "p.sql", "A\n\nC", ["A", "", "C"]),
        (PLAIN, "p.sql", "A\nB\n\n", ["A", "B", ""]),
        (PLAIN, "p.sql", "A\nB\nC\n\n \n", ["A", "B", "C"]),
        (PLAIN, "p.sql", "\n\n\n", ["", "", ""]),
        (PLAIN, "p.sql", "\u{FEFF}A\nB\u{2028}b\nC", ["A", "B\u{2028}b", "C"]),
        (CONVERSATIONS, "p.sql", "A\nB\n\nC\n", ["A", "B", "C"]),
        (CONVERSATIONS, "p.sql", "\nA\nB\n\n\nC\n\n", ["A", "B", "C"]),
        (CONVERSATIONS, "p.sql", "A\nB\nC\n", ["A", "B", "C"]),
        (CONVERSATIONS, "p.sql", "A\n\nC\n", ["A", "", "C"]),
        (PLAIN, "p.json", r#"{"2": "C", "0": "A\t----- bird -----\ta", "1": "B"}"#, ["A", "B", "C"]),
        (PLAIN, "p.json", r#"{"0": "A", "1": null}"#, ["A", "∅", "∅"]),
        (PLAIN, "p.json", r#"{"0": {"sql": "A"}, "2": "  "}"#, ["A", "∅", "  "]),
        (PLAIN, "p.json", r#"["A", null, "C"]"#, ["A", "∅", "C"]),
        (
            PLAIN,
            "p.json",
            r#"[{"query": "gold", "pred": "A"}, {"pred": "B"}, {"pred": null}]"#,
            ["A", "B", "∅"],
        ),
        (WITH_IDS, "p.json", r#"{"10": "C", "y": "B"}"#, ["∅", "B", "C"]),
        (WITH_IDS, "p.json", r#"{"2": "C", "1": "B", "0": "A"}"#, ["A", "B", "C"]),
        (
            WITH_IDS,
            "p.jsonl",
            "{\"id\": 10, \"prediction\": \"C\"}\n{\"id\": \"x\", \"prediction\": \"A\"}",
            ["A", "∅", "C"],
        ),
        (WITH_IDS, "p.csv", "id,sql\ny,\"SELECT \"\"b\"\"\"\nx,\n", ["", "SELECT \"b\"", "∅"]),
        (WITH_IDS, "p.csv", "generated_sql\nA\nB\nC\n", ["A", "B", "C"]),
        (
            CONVERSATIONS,
            "p.json",
            r#"[{"interaction": [{"pred": "A"}, "B"]}, {"interaction": [{"pred": "C"}]}]"#,
            ["A", "B", "C"],
        ),
    ];
    for (gold, name, content, expected) in cases {
        let set = read(gold, name, content).unwrap();
        assert_eq!(texts(&set), *expected, "{name}: {content}");
        let examples = benchmark(gold).examples;
        for (prediction, example) in set.predictions.iter().zip(&examples) {
            assert!(prediction.as_ref().is_none_or(|p| p.id == example.id));
        }
    }
}

#[test]
fn of_a_part_only_what_is_missing_there_is_noted() {
    let examples = benchmark(PLAIN).examples;
    let part = |positions: &[usize]| {
        let set = read(PLAIN, "p.json", r#"{"1": "B"}"#).unwrap().of_part(positions, &examples);
        (set.predictions.len(), set.notes)
    };
    assert_eq!(part(&[1]), (1, vec![]));
    assert_eq!(part(&[1, 2]), (2, vec!["1 of 2 examples has no prediction: 2".to_owned()]));
}

#[test]
fn what_was_repaired_or_missing_is_noted() {
    for (gold, name, content, notes) in [
        (PLAIN, "p.sql", "A\nB\nC\n", vec![]),
        (PLAIN, "p.json", r#"{"1": "B"}"#, vec!["2 of 3 examples have no prediction: 0, 2"]),
        (
            PLAIN,
            "p.json",
            r#"{"0": "A", "1": "B", "2": 0}"#,
            vec!["key \"2\": SQL that is no text read as an empty prediction"],
        ),
        (
            WITH_IDS,
            "p.json",
            r#"["A", "B", null]"#,
            vec!["it has no ids; paired by position", "1 of 3 examples has no prediction: 10"],
        ),
        (
            WITH_IDS,
            "p.json",
            r#"{"0": "A", "1": "B", "2": "C"}"#,
            vec!["its ids are the positions 0, 1, 2, …, not the benchmark's ids; paired by position"],
        ),
        (PLAIN, "p.sql", "A\nB\0\nC", vec!["line 2: contains a NUL character, which is kept"]),
        (
            PLAIN,
            "p.json",
            r#"["A", ["B"], {"sql": ["C"]}]"#,
            vec![
                "it has no ids; paired by position",
                "entry 1 (counted from 0), entry 2 (counted from 0): SQL that is no text read as an empty prediction",
            ],
        ),
    ] {
        assert_eq!(read(gold, name, content).unwrap().notes, notes, "{content}");
    }
}

#[test]
fn other_named_columns_are_kept_under_their_id() {
    let content = r#"{"id": "y", "db": "b", "question": "q", "pred": "B", "confidence": 0.5, "logits": [1], "model": "m"}"#;
    let set = read(WITH_IDS, "p.jsonl", content).unwrap();
    assert_eq!(set.extra.into_iter().collect::<Vec<_>>(), [("y".to_owned(), json!({"model": "m"}))]);
}

#[test]
fn how_sure_a_system_is_stands_beside_its_prediction() {
    let confidence = |fields: &str| {
        let row = format!("{{\"id\": \"y\", \"pred\": \"B\"{fields}}}");
        let set = read(WITH_IDS, "p.jsonl", &row).unwrap();
        let odd = set.notes.iter().any(|note| note.contains("a confidence outside of 0 to 1"));
        (set.predictions.into_iter().flatten().next().unwrap().confidence, odd)
    };
    assert_eq!(confidence(r#", "confidence": 0.5, "sum_logprob": -9"#), (Some(0.5), false));
    assert_eq!(confidence(r#", "confidence": "0.25""#), (Some(0.25), false));
    assert_eq!(confidence(r#", "sum_logprob": -0.3161"#), (Some((-0.3161_f64).exp()), false));
    assert_eq!(confidence(r#", "confidence": null, "sum_logprob": 0"#), (Some(1.0), false));
    assert_eq!(confidence(r#", "confidence": 1.5, "sum_logprob": -1"#), (None, true));
    assert_eq!(confidence(r#", "confidence": "high""#), (None, true));
    assert_eq!(confidence(""), (None, false));
}

#[test]
fn predictions_that_do_not_match_are_refused_with_the_counts_or_ids() {
    let cases: &[(&str, &str, &str, &str)] = &[
        (PLAIN, "p.sql", "A\nB", "p.sql has 2 lines, but the benchmark has 3 examples"),
        (
            PLAIN,
            "p.sql",
            "A\n\nB\nC\n",
            "p.sql has 4 lines (1 of them blank), but the benchmark has 3 examples",
        ),
        (PLAIN, "p.sql", "", "p.sql has 0 lines"),
        (
            CONVERSATIONS,
            "p.sql",
            "A\nB",
            "1 interaction with 2 turns, but the benchmark has 2 interactions with 3 turns",
        ),
        (
            CONVERSATIONS,
            "p.sql",
            "A\n\nB\nC",
            "1 turn in interaction 0 (counted from 0), but the benchmark has 2",
        ),
        (PLAIN, "p.json", r#"["A"]"#, "1 item without ids, but the benchmark has 3 examples"),
        (PLAIN, "p.json", r#"{"0": "A", "0": "B"}"#, "the key \"0\" occurs twice"),
        (
            PLAIN,
            "p.json",
            r#"{"0": "A", "3": "B", "7": "C"}"#,
            "2 of its ids are not in the benchmark: \"3\", \"7\"",
        ),
        (WITH_IDS, "p.json", r#"{"100": "A"}"#, "\"100\" (the closest that it has is \"10\")"),
        (WITH_IDS, "p.json", r#"{"0": "A", "1": "B"}"#, "2 of its ids are not in the benchmark"),
        (
            WITH_IDS,
            "p.jsonl",
            "{\"id\": \"x\", \"sql\": \"A\"}\n{\"id\": \"x\", \"sql\": \"B\"}",
            "the id \"x\" occurs twice, in line 1 and in line 2; remove one of them, or, if they are several answers",
        ),
        (
            WITH_IDS,
            "p.jsonl",
            "{\"id\": \"x\", \"sql\": \"A\"}\n{\"sql\": \"B\"}",
            "line 2: no id, though other items have one",
        ),
        (
            WITH_IDS,
            "p.jsonl",
            "{\"id\": \"x\", \"query\": \"the gold\"}",
            "line 1: no predicted SQL; it is looked for in prediction, ",
        ),
        (WITH_IDS, "p.jsonl", "{\"id\": \"x\", \"sql\": [\"A\"]}", "line 1: the SQL is a list"),
        (
            WITH_IDS,
            "p.jsonl",
            "{\"id\": \"x\", \"db_id\": \"b\", \"sql\": \"A\"}",
            "line 1: the database is \"b\", but the benchmark's example \"x\" says \"a\"",
        ),
        (PLAIN, "p.json", r#"{"1": "B\t----- bird -----\ta"}"#, "key \"1\": the database is \"a\""),
    ];
    for (gold, name, content, part) in cases {
        let message = read(gold, name, content).unwrap_err().to_string();
        assert!(message.contains(part), "{content}: {message}");
    }
}

#[test]
fn extraction_is_off_unless_asked_for() {
    let content = "SQL: SELECT 1;\nSELECT\t2\tb\n```sql SELECT 3 ``` as asked";
    assert_eq!(texts(&read(PLAIN, "p.sql", content).unwrap())[0], "SQL: SELECT 1;");
    let options = PredictionOptions { extract: true, ..PredictionOptions::default() };
    let set = read_with(PLAIN, "p.sql", content, &options).unwrap();
    assert_eq!(texts(&set), ["SELECT 1", "SELECT\t2", "SELECT 3"]);
    assert_eq!(
        set.notes,
        ["extraction removed a code fence from 1 prediction", "extraction removed a label from 1 prediction"]
    );
}

/// In JSON and in JSON lines, in a predictions file and among golds.
#[test]
fn a_lone_surrogate_spoils_one_answer() {
    let note = "line 2: half a character (a lone surrogate) read as NUL, which SQL text may not contain";
    for half in [r"\ud800", r"\uDFFF", r"\udc00\ud800", r"\uDBFF\u0041"] {
        for (name, content) in [
            ("p.json", format!("[\"A\",\n\"SELECT '{half}'\",\n\"C\"]")),
            ("p.jsonl", format!("{{\"sql\": \"A\"}}\n{{\"sql\": \"SELECT '{half}'\"}}\n\"C\"\n")),
        ] {
            let set = read(PLAIN, name, &content).unwrap();
            let answers = texts(&set);
            assert_eq!((answers[0], answers[2], set.notes[0].as_str()), ("A", "C", note));
            assert!(answers[1].starts_with("SELECT '\0"), "{content}: {answers:?}");
            let golds = content.replace("\"sql\"", "\"db_id\": \"d\", \"gold\"");
            if name == "p.jsonl" {
                let golds = golds.replace("\"C\"\n", "");
                let input = Input::from_bytes("g.jsonl", golds.into_bytes());
                let benchmark = parse_benchmark(&input, None, None, &Columns::default()).unwrap();
                assert_eq!(benchmark.examples[0].golds, ["A"]);
                assert!(benchmark.examples[1].golds[0].contains('\0'), "{benchmark:?}");
                assert_eq!(benchmark.notes.len(), 1, "{benchmark:?}");
            }
        }
    }
    let set = read(PLAIN, "p.json", r#"["\ud83d\ude00", "\\ud800", "C"]"#).unwrap();
    assert_eq!((texts(&set), set.notes.len()), (vec!["😀", r"\ud800", "C"], 1));
}

/// Far more than there are examples: an error before all of it is kept, and blank lines at the end are nothing still.
#[test]
fn a_file_of_far_too_many_answers_is_told_from_a_long_tail_of_blank_lines() {
    let many = |answer: &str| answer.repeat(200_000);
    for (name, content, expected) in [
        ("p.sql", many("A\n"), "has 200000 lines, but the benchmark has 3 examples"),
        ("p.sql", many("\n") + "A", "has 200001 lines (200000 of them blank), but"),
        ("p.json", format!("[{}1]", many("1,")), "has more than 100012 items, but"),
        ("p.jsonl", many("{\"sql\": \"A\"}\n"), "has more than 100012 items, but"),
    ] {
        let message = read(PLAIN, name, &content).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let set = read(PLAIN, "p.sql", &("A\nB\n".to_owned() + &many(" \n"))).unwrap();
    assert_eq!(texts(&set), ["A", "B", ""]);
}

#[test]
fn what_else_the_file_says_may_be_left_out() {
    let content = "{\"sql\": \"A\", \"confidence\": 0.5, \"model\": \"m\"}\n".repeat(3);
    let options = PredictionOptions { only_sql: true, ..PredictionOptions::default() };
    let set = read_with(PLAIN, "p.jsonl", &content, &options).unwrap();
    assert_eq!((texts(&set), set.extra.len()), (vec!["A", "A", "A"], 0));
    assert!(set.predictions.iter().flatten().all(|prediction| prediction.confidence == Some(0.5)));
    assert_eq!(read(PLAIN, "p.jsonl", &content).unwrap().extra.len(), 3);
}
