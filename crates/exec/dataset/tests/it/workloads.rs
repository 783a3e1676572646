//! Workloads: questions without golds, in every format, and no trace of a gold that is there.

use sqlgauge_dataset::{
    Benchmark, BenchmarkSource, ColumnRole, Columns, DatasetError, Input, WorkloadSource, load_benchmark,
    load_workload, parse_workload,
};

fn workload(name: &str, text: &str) -> Result<Benchmark, DatasetError> {
    parse_workload(&Input::from_bytes(name, text.into()), None, &Columns::default())
}

#[test]
fn questions_are_read_from_every_format_and_golds_from_none() {
    for (name, text) in [
        (
            "w.json",
            r#"[{"question": "How many?", "db_id": "d", "query": "SELECT 1", "sql": {"select": []}}]"#,
        ),
        ("w.json", r#"[{"question": "How many?", "db_id": "d", "SQL": 17, "difficulty": "simple"}]"#),
        ("w.jsonl", "{\"question\": \"How many?\", \"db_id\": \"d\", \"gold\": {\"x\": [1]}}\n"),
        ("w.jsonl", "{\"question\": \"How many?\", \"db_id\": \"d\"}\n"),
        ("w.csv", "db_id,question\nd,How many?\n"),
        ("w.tsv", "question\tdb_id\tgold\nHow many?\td\tSELECT\n"),
        ("w.json", r#"{"0": {"question": "How many?", "db_id": "d"}}"#),
        ("w.json", r#"[{"database_id": "d", "interaction": [{"utterance": "How many?", "query": [[]]}]}]"#),
    ] {
        let workload = workload(name, text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let [example] = workload.examples.as_slice() else { panic!("{text}: {workload:?}") };
        let fields = (example.id.as_str(), example.db_id.as_str(), example.question.as_deref());
        assert_eq!(fields, ("0", "d", Some("How many?")), "{text}");
        assert!(example.golds.is_empty() && example.difficulty.is_none(), "{text}");
    }
}

#[test]
fn what_is_no_workload_is_named() {
    for (name, text, problem) in [
        ("w.sql", "SELECT 1\td\n", "is a file of lines and has no questions"),
        ("w.json", "[]", "has no item"),
        ("w.json", r#"[{"db_id": "d", "query": "SELECT 1"}]"#, "question"),
        ("w.json", r#"[{"question": "How many?"}, {"question": "Who?", "db": "d"}]"#, "no database"),
        (
            "w.jsonl",
            "{\"id\": 1, \"question\": \"a\", \"db_id\": \"d\"}\n{\"id\": 1, \"question\": \"b\", \"db_id\": \"d\"}",
            "\"1\"",
        ),
    ] {
        let message = workload(name, text).unwrap_err().to_string();
        assert!(message.contains(problem) && message.contains(name), "{message}");
    }
}

#[test]
fn a_column_that_the_user_named_is_taken() {
    let mut columns = Columns::default();
    columns.set(ColumnRole::Question, "asked");
    let input = Input::from_bytes("w.csv", b"asked,question,db_id\nthis,that,d\n".to_vec());
    let workload = parse_workload(&input, None, &columns).unwrap();
    assert_eq!(workload.examples[0].question.as_deref(), Some("this"));
}

#[test]
fn the_published_benchmarks_are_workloads() {
    let Some(data) = crate::real_data::data() else { return };
    for (file, size) in [
        ("spider/dev.json", 1034),
        ("bird/dev.json", 1534),
        ("bird/llm_nl2sql/questions.json", 1534),
        ("spider/variants/spider_realistic.json", 508),
    ] {
        let path = data.join(file);
        let workload =
            load_workload(&WorkloadSource { path: path.clone(), ..WorkloadSource::default() }).unwrap();
        assert_eq!(workload.examples.len(), size, "{file}");
        // But for golds and difficulties, it is what the benchmark is.
        let mut benchmark =
            load_benchmark(&BenchmarkSource { gold: path, ..BenchmarkSource::default() }).unwrap();
        for example in &mut benchmark.examples {
            example.golds.clear();
            example.difficulty = None;
        }
        assert_eq!(workload, benchmark, "{file}");
    }
}
