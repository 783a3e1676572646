//! No bytes make a reader panic.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use sqlgauge_dataset::{
    Columns, FileFormat, Input, PredictionOptions, Removed, extract_sql, parse_benchmark, parse_predictions,
    parse_tables,
};

/// Small files of every real shape, to be damaged.
const SHAPES: &[&str] = &[
    "SELECT 1\td\nSELECT 2\te\n\nSELECT 3\td\n",
    "SELECT 1\nSELECT 2\n\nSELECT 3\n",
    r#"[{"question_id": 0, "db_id": "d", "question": "q", "evidence": "e", "SQL": "SELECT 1", "difficulty": "simple"}]"#,
    r#"[{"database_id": "d", "interaction": [{"utterance": "q", "query": "SELECT 1"}, {"query": "SELECT 2"}]}, {"database_id": "d", "interaction": []}]"#,
    r#"{"0": "SELECT 1\t----- bird -----\td", "1": "SELECT 2", "2": 0, "3": null}"#,
    "{\"id\": \"x\", \"db_id\": \"d\", \"gold\": [\"SELECT 1\", \"SELECT 2\"], \"pred\": \"SELECT 1\"}\n{\"id\": 1.0}\n",
    "id,db_id,gold,sql\n0,d,\"SELECT \"\"a\"\", 1\",\"x\ny\"\n1,d,SELECT 2,\n",
    "id\tdb_id\tgold\tsql\n0\td\tSELECT 1\tSELECT 1\n",
    r#"[{"db_id": "d", "table_names_original": ["t", "u"], "column_names_original": [[-1, "*"], [0, "a"], [1, "b"]], "column_types": ["text", "number", "time"], "primary_keys": [1, [2]], "foreign_keys": [[2, 1]]}]"#,
    "<think>x</think> Here: ```sql\nWITH x AS (SELECT `a`, [b] FROM t WHERE c = 'd''e') SELECT * FROM x; -- f\n``` Note: g",
    "\u{FEFF}{\"sql\": \"`SELECT 1`\"}\r\n\u{2028}\u{0}",
];

fn damaged_shape() -> impl Strategy<Value = Vec<u8>> {
    let edits = vec((any::<Index>(), any::<Option<u8>>(), 0..4_usize), 0..8);
    (select(SHAPES), edits, any::<bool>()).prop_map(|(shape, edits, as_utf16)| {
        let mut bytes: Vec<u8> = if as_utf16 {
            [0xFF, 0xFE].into_iter().chain(shape.encode_utf16().flat_map(u16::to_le_bytes)).collect()
        } else {
            shape.as_bytes().to_vec()
        };
        for (at, byte, deleted) in edits {
            let at = at.index(bytes.len() + 1);
            let end = (at + deleted).min(bytes.len());
            bytes.splice(at..end, byte);
        }
        bytes
    })
}

fn read_everything(bytes: &[u8]) {
    let benchmarks = [
        parse_benchmark(&Input::from_bytes("g.sql", SHAPES[0].into()), None, None, &Columns::default())
            .unwrap(),
        parse_benchmark(&Input::from_bytes("g.json", SHAPES[2].into()), None, None, &Columns::default())
            .unwrap(),
    ];
    for format in FileFormat::all().map(Some).chain([None]) {
        let input = Input::from_bytes("file", bytes.to_vec());
        let _ = parse_benchmark(&input, Some(&input), format, &Columns::default());
        if let Ok(benchmark) = parse_benchmark(&input, None, format, &Columns::default()) {
            let with_database = benchmark.examples.iter().filter(|e| !e.db_id.is_empty()).count();
            assert!([0, benchmark.examples.len()].contains(&with_database));
            assert!(benchmark.examples.iter().any(|e| !e.golds.is_empty()));
        }
        for benchmark in &benchmarks {
            let options = PredictionOptions { format, extract: true, ..PredictionOptions::default() };
            if let Ok(set) = parse_predictions("S", input.clone(), benchmark, &options) {
                assert_eq!(set.predictions.len(), benchmark.examples.len());
            }
        }
    }
    if let Ok(tables) = parse_tables(&Input::from_bytes("tables.json", bytes.to_vec())) {
        tables.entries().iter().for_each(|entry| drop(entry.schema()));
    }
    extract_sql(&String::from_utf8_lossy(bytes));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        read_everything(&bytes);
    }

    #[test]
    fn damaged_files_are_read_or_refused(bytes in damaged_shape()) {
        read_everything(&bytes);
    }

    #[test]
    fn extraction_gives_a_part_of_a_text_without_json(text in "[a-zA-Zé\u{2028}\u{FFFD} `'\";:()\\n.<>/-]{0,80}|(SELECT|WITH|from|```|```sql|\n\n|; |x|`|'|<think>|</think>|Note: |<sql>|</sql>|<answer>|</answer>|<observation>|~~~|'''|Final SQL: |\nSQLResult: |\nQuestion: |\u{FEFF}|é|\u{FFFD} |\u{2028}){0,12}") {
        let extraction = extract_sql(&text);
        let joins = [Removed::Thinking, Removed::CodeFence].iter().any(|kind| extraction.removed.contains(kind));
        prop_assert!(joins || text.contains(&extraction.sql));
    }
}

#[test]
fn long_lines_deep_nesting_and_endless_repetition_are_no_trouble() {
    let long = format!("SELECT '{}'", "x".repeat(30 << 20));
    let gold = Input::from_bytes("g.sql", format!("{long}\td").into_bytes());
    let benchmark = parse_benchmark(&gold, None, None, &Columns::default()).unwrap();
    assert_eq!(benchmark.examples[0].golds[0].len(), long.len());
    assert_eq!(extract_sql(&long).sql.len(), long.len());
    for part in [
        "[",
        "{\"a\":",
        "(",
        "`",
        "```",
        "\n",
        "x select ",
        "with a(",
        "with [",
        "SELECT [",
        "</think>",
        "<think>",
        "a ",
        "\t",
        "<sql>",
        "<answer>",
        "</answer>",
        "<observation>",
        "\\boxed{",
        "~~~",
        "'''select ",
        "Final SQL: ",
        "Final answer: SELECT ",
        "SQLResult: ",
        "\nObservation: ",
        "\nQuestion: SELECT a FROM t",
        "Action Input: SELECT a FROM t\n",
        "\u{ff1a}",
        "\u{ff08}",
    ] {
        for end in ["", "SELECT 1"] {
            for start in ["", "SELECT "] {
                read_everything(format!("{start}{}{end}", part.repeat(8_000)).as_bytes());
            }
        }
    }
}
