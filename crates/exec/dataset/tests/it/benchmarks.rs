//! What benchmark files mean, format by format, and what is said about bad ones.

use sqlgauge_dataset::{
    Benchmark, ColumnRole, Columns, DatasetError, FileFormat, Input, Turn, parse_benchmark,
};

fn input(name: &str, content: impl AsRef<[u8]>) -> Input {
    Input::from_bytes(name, content.as_ref().to_vec())
}

fn read(name: &str, content: impl AsRef<[u8]>) -> Result<Benchmark, DatasetError> {
    parse_benchmark(&input(name, content), None, None, &Columns::default())
}

fn read_with(gold: (&str, &str), questions: (&str, &str)) -> Result<Benchmark, DatasetError> {
    let questions = input(questions.0, questions.1);
    parse_benchmark(&input(gold.0, gold.1), Some(&questions), None, &Columns::default())
}

/// `id|db_id|question|evidence|difficulty|gold;gold|interaction.turn` per example.
fn example_lines(benchmark: &Benchmark) -> Vec<String> {
    let or_dash = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".to_owned());
    let line = |e: &sqlgauge_dataset::Example| {
        let turn = e.turn.map_or("-".to_owned(), |t| format!("{}.{}", t.interaction, t.turn));
        let (question, evidence, difficulty) =
            (or_dash(&e.question), or_dash(&e.evidence), or_dash(&e.difficulty));
        format!("{}|{}|{question}|{evidence}|{difficulty}|{}|{turn}", e.id, e.db_id, e.golds.join(";"))
    };
    benchmark
        .examples
        .iter()
        .enumerate()
        .inspect(|(i, e)| assert_eq!(*i, e.index))
        .map(|(_, e)| line(e))
        .collect()
}

#[test]
fn each_format_gives_the_same_kind_of_example() {
    let sparc = r#"[{"database_id": "d", "final": {}, "interaction": [
        {"utterance": "q1", "query": "SELECT 1", "sql": {"select": []}}, {"utterance": "q2", "query": "SELECT 2"}]},
        {"database_id": "e", "interaction": [{"utterance": "q3", "query": "SELECT 3"}]}]"#;
    let cases: &[(&str, &str, &[&str])] = &[
        ("gold.sql", "SELECT 1\td\n  SELECT 2 \te \n", &["0|d|-|-|-|SELECT 1|-", "1|e|-|-|-|SELECT 2 |-"]),
        ("gold.sql", "\n\nSELECT 1\td\r\n\r\n\n", &["0|d|-|-|-|SELECT 1|-"]),
        ("gold.txt", "A\td\nB\td\n\n\nC\te", &["0|d|-|-|-|A|0.1", "1|d|-|-|-|B|0.2", "2|e|-|-|-|C|1.1"]),
        ("gold.sql", "SELECT '\u{2028}\u{85}\u{B}'\td", &["0|d|-|-|-|SELECT '\u{2028}\u{85}\u{B}'|-"]),
        (
            "dev.json",
            r#"[{"query": "SELECT 1", "sql": {"from": {}}, "db_id": "d", "question": "q"}]"#,
            &["0|d|q|-|-|SELECT 1|-"],
        ),
        (
            "dev.json",
            r#"[{"question_id": 7, "SQL": "SELECT 1", "db_id": "d", "evidence": "", "difficulty": "simple"}]"#,
            &["7|d|-|-|simple|SELECT 1|-"],
        ),
        (
            "dev.json",
            r#"[{"SpiderQuestion": "old", "SpiderSynQuestion": "new", "query": "Q", "db_id": "d"}]"#,
            &["0|d|new|-|-|Q|-"],
        ),
        (
            "dev.json",
            r#"{"a": {"db": "d", "gold": ["Q", "R"]}, "b": {"db": "e", "gold": "S"}}"#,
            &["a|d|-|-|-|Q;R|-", "b|e|-|-|-|S|-"],
        ),
        (
            "dev.json",
            sparc,
            &["0|d|q1|-|-|SELECT 1|0.1", "1|d|q2|-|-|SELECT 2|0.2", "2|e|q3|-|-|SELECT 3|1.1"],
        ),
        (
            "dev.jsonl",
            "{\"id\": \"x\", \"db\": \"d\", \"nl\": \"q\", \"gold_sql\": \"Q\"}\n\n{\"id\": \"y\", \"db\": \"d\", \"sql\": \"R\"}",
            &["x|d|q|-|-|Q|-", "y|d|-|-|-|R|-"],
        ),
        (
            "dev.csv",
            "\"\u{FEFF}question_id\",db_id,SQL,hardness\n3,d,\"SELECT \"\"a\"\",\n1\",easy\n",
            &["3|d|-|-|easy|SELECT \"a\",\n1|-"],
        ),
        ("dev.tsv", "id\tdb_id\tgold\r\n1\td\tSELECT a, b\r\n", &["1|d|-|-|-|SELECT a, b|-"]),
    ];
    for (name, content, expected) in cases {
        assert_eq!(example_lines(&read(name, content).unwrap()), *expected, "{name}: {content}");
    }
}

#[test]
fn encodings_do_not_change_what_is_read() {
    let plain = read("gold.sql", "SELECT 'é'\td\nSELECT 2\td\n").unwrap();
    let text = "SELECT 'é'\td\r\nSELECT 2\td";
    let utf16: Vec<u8> =
        [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    for bytes in [
        text.as_bytes().to_vec(),
        format!("\u{FEFF}{text}").into_bytes(),
        utf16,
        text.replace('\n', "").into(),
    ] {
        assert_eq!(read("gold.sql", bytes).unwrap().examples, plain.examples);
    }
    let damaged = read("gold.sql", b"SELECT 1\td\nSELECT '\xE9'\td").unwrap();
    assert_eq!(damaged.examples[1].golds, ["SELECT '\u{FFFD}'"]);
    assert_eq!(damaged.notes, ["gold.sql: line 2: invalid UTF-8 replaced by U+FFFD"]);
}

#[test]
fn a_gold_file_and_its_questions_make_one_benchmark() {
    let questions = r#"[{"question_id": 5, "db_id": "d", "question": "q", "evidence": "e", "SQL": "select  1", "difficulty": "simple"},
                        {"question_id": 6, "db_id": "e", "question": "r", "SQL": "SELECT 9"}]"#;
    let benchmark = read_with(("gold.sql", "select 1\td\nSELECT 2\te"), ("dev.json", questions)).unwrap();
    assert_eq!(example_lines(&benchmark), ["5|d|q|e|simple|select 1|-", "6|e|r|-|-|SELECT 2|-"]);
    assert_eq!(benchmark.notes, ["gold.sql: 1 gold differs in text from dev.json; the former are used"]);
    assert_eq!(benchmark.sources.len(), 2);

    // Golds of a part, without databases, beside all questions.
    let part =
        read_with(("gold.json", r#"[{"question_id": 6, "SQL": "SELECT 9"}]"#), ("dev.json", questions));
    assert_eq!(example_lines(&part.unwrap()), ["6|e|r|-|-|SELECT 9|-"]);
    let other =
        read_with(("gold.json", r#"[{"question_id": 7, "SQL": "SELECT 9"}]"#), ("dev.json", questions));
    assert!(other.unwrap_err().to_string().contains("2 examples"));

    let sparc = r#"[{"database_id": "d", "interaction": [{"utterance": "q1"}, {"utterance": "q2"}]},
                    {"database_id": "d", "interaction": [{"utterance": "q3"}]}]"#;
    let benchmark = read_with(("gold.txt", "A\td\nB\td\n\nC\td"), ("dev.json", sparc)).unwrap();
    assert_eq!(benchmark.examples[2].turn, Some(Turn { interaction: 1, turn: 1 }));
    assert_eq!(benchmark.examples[2].question.as_deref(), Some("q3"));
    let shifted = read_with(("gold.txt", "A\td\n\nB\td\nC\td"), ("dev.json", sparc)).unwrap_err().to_string();
    assert!(shifted.contains("line 3: it is turn 1 of interaction 1"), "{shifted}");
}

#[test]
fn a_named_column_is_used_and_a_mistyped_one_is_named() {
    let items = r#"[{"db_id": "d", "query": "OLD", "new_gold_sql": "NEW"}]"#;
    let mut columns = Columns::default();
    columns.set(ColumnRole::Gold, "new_gold_sql");
    let benchmark = parse_benchmark(&input("dev.json", items), None, None, &columns).unwrap();
    assert_eq!(benchmark.examples[0].golds, ["NEW"]);
    columns.set(ColumnRole::Gold, "new_gold");
    let message = parse_benchmark(&input("dev.json", items), None, None, &columns).unwrap_err().to_string();
    assert!(
        message.contains("no column \"new_gold\" for the gold query; it has db_id, query, new_gold_sql"),
        "{message}"
    );
}

#[test]
fn the_format_can_be_forced() {
    let format: FileFormat = "jsonl".parse().unwrap();
    let gold = input("gold.sql", r#"{"db_id": "d", "sql": "SELECT 1"}"#);
    assert_eq!(parse_benchmark(&gold, None, Some(format), &Columns::default()).unwrap().examples.len(), 1);
}

#[test]
fn a_bad_benchmark_is_named_with_its_place() {
    let cases: &[(&str, &str, &str)] = &[
        ("gold.sql", "", "gold.sql has no example"),
        ("gold.sql", "\n\n", "gold.sql has no example"),
        ("gold.sql", "SELECT 1\td\nSELECT 2", "gold.sql, line 2: 1 field separated by tabs"),
        ("gold.sql", "SELECT\t1\td", "line 1: 3 fields separated by tabs"),
        ("dev.json", "[{\"db_id\": \"d\",\n \"query\" \"x\"}]", "dev.json, line 2 column 10: expected `:`"),
        ("dev.json", "[{\"db_id\": \"d\", \"db_id\": \"e\"}]", "the key \"db_id\" occurs twice"),
        ("dev.json", "3", "neither a JSON list nor a JSON object"),
        ("dev.json", "[3]", "entry 0 (counted from 0): a number where an object should be"),
        ("dev.json", r#"[{"interaction": ["x"]}, {}]"#, "turn 1: a text where an object should be"),
        (
            "dev.json",
            r#"[{"db_id": "d"}]"#,
            "entry 0 (counted from 0): no gold query; it is looked for in gold, ",
        ),
        ("dev.json", r#"[{"db_id": "d", "gold": "  "}]"#, "no gold query"),
        ("dev.json", r#"[{"db_id": "d", "gold": []}]"#, "no gold query"),
        ("dev.json", r#"[{"db_id": "d", "gold": 3}]"#, "\"gold\" is a number"),
        ("dev.json", r#"[{"gold": "A", "db": "d"}, {"gold": "SELECT 1"}]"#, "no database"),
        (
            "dev.json",
            r#"[{"id": 1, "db": "d", "gold": "Q"}, {"db": "d", "gold": "Q"}]"#,
            "entry 1 (counted from 0): no id",
        ),
        (
            "dev.json",
            r#"[{"id": 1, "db": "d", "gold": "Q"}, {"id": "1", "db": "d", "gold": "Q"}]"#,
            "the id \"1\" occurs twice, in entry 0 (counted from 0) and in entry 1",
        ),
        ("dev.jsonl", "{\"id\": 1}\n\n{\"id\": }", "dev.jsonl, line 3 column 8: expected value"),
        ("dev.csv", "id,db,gold\n1,d\n", "dev.csv, line 2: 2 fields where the header has 3"),
        ("dev.csv", "id,id,gold\n1,d,Q\n", "the column \"id\" occurs twice"),
        ("dev.csv", "id,db\n1,d\n", "line 2: no gold query"),
    ];
    for (name, content, part) in cases {
        let message = read(name, content).unwrap_err().to_string();
        assert!(message.contains(part), "{content}: {message}");
    }
    let dev = ("dev.json", r#"[{"db_id": "d"}, {"db_id": "e"}]"#);
    for (gold, part) in [
        ("A\td", "dev.json has 2 examples, but gold.sql has 1 example"),
        (
            "A\td\nB\td",
            "gold.sql, line 2: the db_id is \"d\", but dev.json, entry 1 (counted from 0), says \"e\"",
        ),
    ] {
        let message = read_with(("gold.sql", gold), dev).unwrap_err().to_string();
        assert!(message.contains(part), "{gold}: {message}");
    }
}

#[test]
fn a_column_that_is_called_as_golds_are_and_holds_none_is_no_gold() {
    let ask = "How many singers are there?";
    let cases = [
        (
            format!(r#"[{{"query": "{ask}", "sql": "SELECT 1", "db_id": "d"}}]"#),
            format!("0|d|{ask}|-|-|SELECT 1|-"),
        ),
        (
            format!(r#"[{{"query": "{ask}", "question": "q", "sql": "SELECT 1", "db_id": "d"}}]"#),
            "0|d|q|-|-|SELECT 1|-".to_owned(),
        ),
        (
            format!(r#"[{{"query": "{ask}", "sql": ["SELECT 1", "SELECT 2"], "db_id": "d"}}]"#),
            format!("0|d|{ask}|-|-|SELECT 1;SELECT 2|-"),
        ),
        // Both are SQL: the order of the names decides, as before.
        (
            r#"[{"query": "SELECT 1", "sql": "SELECT 2", "db_id": "d"}]"#.to_owned(),
            "0|d|-|-|-|SELECT 1|-".to_owned(),
        ),
        // Nothing is SQL: nothing is decided.
        (r#"[{"query": "A", "sql": "B", "db_id": "d"}]"#.to_owned(), "0|d|-|-|-|A|-".to_owned()),
        (
            r#"[{"query": "SELECT a FROM t WHERE b ! = 1", "sql": {"select": []}, "db_id": "d"}]"#.to_owned(),
            "0|d|-|-|-|SELECT a FROM t WHERE b ! = 1|-".to_owned(),
        ),
    ];
    for (content, expected) in cases {
        assert_eq!(example_lines(&read("dev.json", &content).unwrap()), [expected], "{content}");
    }
    // Most of a column decides, not one item of it.
    let mixed = format!(
        "query,sql,db_id\n{ask},SELECT 1,d\nSelect the names,SELECT 2,d\nselect names,SELECT 3,d\nList all,SELECT 4,d\n"
    );
    let benchmark = read("dev.csv", mixed).unwrap();
    assert_eq!(benchmark.examples[2].golds, ["SELECT 3"]);
    assert!(benchmark.notes[0].contains("\"query\" holds no SQL"), "{:?}", benchmark.notes);
    // What the user names is taken.
    let mut columns = Columns::default();
    columns.set(ColumnRole::Gold, "query");
    let named = input("dev.json", format!(r#"[{{"query": "{ask}", "sql": "SELECT 1", "db_id": "d"}}]"#));
    assert_eq!(parse_benchmark(&named, None, None, &columns).unwrap().examples[0].golds, [ask]);
}

#[test]
fn a_text_that_is_a_list_is_several_golds() {
    for (name, content, golds) in [
        (
            "dev.csv",
            "db_id,gold\nd,\"[\"\"SELECT 1\"\", \"\"SELECT 2\"\"]\"\n",
            &["SELECT 1", "SELECT 2"][..],
        ),
        ("dev.tsv", "db_id\tgold\nd\t\"['SELECT 1', \"\"SELECT 'a'\"\"]\"\n", &["SELECT 1", "SELECT 'a'"]),
        ("dev.json", r#"[{"db_id": "d", "gold": "[\"SELECT 1\"]"}]"#, &["SELECT 1"]),
        ("gold.sql", "[\"SELECT 1\", \"SELECT 2\"]\td\n", &["SELECT 1", "SELECT 2"]),
    ] {
        assert_eq!(read(name, content).unwrap().examples[0].golds, golds, "{name}");
    }
    let error = read("dev.csv", "db_id,gold\nd,\"[SELECT 1]\"\n").unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("no list of texts"), "{error}");
}

#[test]
fn a_row_of_sql_eval_has_several_golds_and_choices_of_columns() {
    let csv = "question,query,db_name,query_category\n\
               q,\"SELECT {a, b}, count(*) FROM t GROUP BY {};SELECT 'x;y' FROM t;\",d,group_by\n";
    let golds = [
        "SELECT a, count(*) FROM t GROUP BY a",
        "SELECT b, count(*) FROM t GROUP BY b",
        "SELECT a, b, count(*) FROM t GROUP BY a, b",
        "SELECT 'x;y' FROM t",
    ];
    assert_eq!(read("questions.csv", csv).unwrap().examples[0].golds, golds);
    // Elsewhere a second statement is a mistake of the gold, and a choice is one all the same.
    let other = read("gold.csv", "gold,db_id\n\"SELECT {a} FROM t; SELECT 2\",d\n").unwrap();
    assert_eq!(other.examples[0].golds, ["SELECT a FROM t; SELECT 2"]);
    let many = format!("gold,db_id\n\"SELECT {{{}}} FROM t\",d\n", ["c"; 9].join(","));
    let error = read("gold.csv", many).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("list of SQL texts"), "{error}");
}
