//! By what rows find their examples, in files as people have them.

use proptest::prelude::*;
use sqlgauge_dataset::{
    Benchmark, ColumnRole, Columns, DatasetError, Input, PairedBy, PredictionOptions, PredictionSet,
    pair_rows, parse_benchmark, parse_predictions,
};

fn golds(text: &str) -> Benchmark {
    parse_benchmark(&Input::from_bytes("gold.json", text.into()), None, None, &Columns::default()).unwrap()
}

const GOLDS: &str = r#"[{"id": "a1", "db_id": "d", "question": "Who?", "query": "SELECT name"},
    {"id": "a2", "db_id": "d", "question": "How many?", "query": "SELECT count"},
    {"id": "a3", "db_id": "d", "question": "Where?", "query": "SELECT place"}]"#;

/// The same without ids, which are then 0, 1 and 2.
fn without_ids() -> Benchmark {
    golds(
        &["a1", "a2", "a3"]
            .iter()
            .fold(GOLDS.to_owned(), |text, id| text.replace(&format!("\"id\": \"{id}\", "), "")),
    )
}

fn read_for(benchmark: &Benchmark, rows: &[&str]) -> Result<PredictionSet, DatasetError> {
    let input = Input::from_bytes("p.jsonl", rows.join("\n").into_bytes());
    parse_predictions("S", input, benchmark, &PredictionOptions::default())
}

fn read(rows: &[&str]) -> Result<PredictionSet, DatasetError> {
    read_for(&golds(GOLDS), rows)
}

fn texts(set: &PredictionSet) -> String {
    set.predictions.iter().map(|p| p.as_ref().map_or("-", |p| p.sql.as_str())).collect()
}

#[test]
fn a_column_with_the_ids_is_the_id_whatever_its_name() {
    for name in ["custom_id", "task_id", "q_id", "idx", "row", "key"] {
        let row = |id: &str, sql: &str| format!(r#"{{"{name}": "{id}", "cost": 3, "sql": "{sql}"}}"#);
        let rows = [row("a3", "C"), row("a1", "A"), row("a2", "B")];
        let set = read(&rows.each_ref().map(String::as_str)).unwrap();
        assert_eq!(
            (texts(&set).as_str(), set.paired_by),
            ("ABC", PairedBy::Column(name.to_owned())),
            "{name}"
        );
    }
    // Some may be missing where the name is one of an id.
    let set = read(&[r#"{"custom_id": "a3", "sql": "C"}"#]).unwrap();
    assert_eq!(texts(&set), "--C");
    assert!(read(&[r#"{"row": "a3", "sql": "C"}"#]).unwrap_err().to_string().contains("1 item without ids"));
}

#[test]
fn rows_with_one_id_are_several_answers_where_a_question_may_have_them() {
    // The number of a row is the id of an example too.
    let row = |(id, at): (usize, usize)| format!(r#"{{"id": {id}, "sample_id": {at}, "sql": "S{at}"}}"#);
    let rows = [(2, 0), (0, 1), (2, 2)].map(row);
    let input = Input::from_bytes("p.jsonl", rows.join("\n").into_bytes());
    let paired = pair_rows(&input, &without_ids(), None, &Columns::default()).unwrap();
    let counts: Vec<usize> = paired.rows.iter().map(Vec::len).collect();
    assert_eq!((counts, paired.paired_by), (vec![1, 0, 2], PairedBy::Column("id".to_owned())));
    let twice = [r#"{"id": 2, "sql": "A"}"#, r#"{"id": 2, "sql": "B"}"#];
    assert!(matches!(read_for(&without_ids(), &twice), Err(DatasetError::AnsweredTwice { .. })));
}

#[test]
fn a_named_id_beats_a_count_of_rows() {
    let rows = [
        r#"{"id": 0, "question_id": 2, "sql": "C"}"#,
        r#"{"id": 1, "question_id": 0, "sql": "A"}"#,
        r#"{"id": 2, "question_id": 1, "sql": "B"}"#,
    ];
    let set = read_for(&without_ids(), &rows).unwrap();
    assert_eq!((texts(&set).as_str(), set.paired_by), ("ABC", PairedBy::Column("question_id".to_owned())));
    let odd = rows.map(|row| row.replace("question_id", "place"));
    let message = read_for(&without_ids(), &odd.each_ref().map(String::as_str)).unwrap_err().to_string();
    assert!(
        message.contains("by column place and, differently, by column id")
            && message.contains("pred.id=NAME"),
        "{message}"
    );
}

/// Whether an answer was right, its rank: numbers from 0 on are no ids because they are those of the benchmark.
#[test]
fn a_column_of_small_numbers_is_no_id() {
    let rows = |name: &str| {
        [r#"{"NAME": 1, "sql": "B"}"#, r#"{"NAME": 0, "sql": "A"}"#, r#"{"NAME": 2, "sql": "C"}"#]
            .map(|row| row.replace("NAME", name))
    };
    let read = |rows: [String; 3]| read_for(&without_ids(), &rows.each_ref().map(String::as_str));
    let message = read(rows("rank")).unwrap_err().to_string();
    assert!(message.contains("by column rank and, differently, by position"), "{message}");
    assert_eq!(texts(&read(rows("question_id")).unwrap()), "ABC");
    let both = rows("question_id").map(|row| row.replace('{', r#"{"rank": 0, "#));
    let both = [both[0].replace("k\": 0", "k\": 2"), both[1].clone(), both[2].replace("k\": 0", "k\": 1")];
    assert_eq!(texts(&read(both).unwrap()), "ABC");
}

#[test]
fn without_ids_the_question_pairs() {
    let rows = [r#"{"question": "Where?", "sql": "C"}"#, r#"{"question": " Who? ", "sql": "A"}"#];
    let set = read(&rows).unwrap();
    assert_eq!((texts(&set).as_str(), &set.paired_by), ("A-C", &PairedBy::Question));
    assert!(
        set.notes.iter().any(|note| note.contains("paired by the text of the question")),
        "{:?}",
        set.notes
    );
    // A count of the rows is no id.
    let counted = [
        r#"{"id": 0, "question": "Where?", "sql": "C"}"#,
        r#"{"id": 1, "question": "How many?", "sql": "B"}"#,
        r#"{"id": 2, "question": "Who?", "sql": "A"}"#,
    ];
    assert_eq!(texts(&read(&counted).unwrap()), "ABC");
    // A question that two examples have needs an answer for each.
    let twice = golds(&GOLDS.replace("Where?", "Who?"));
    assert!(read_for(&twice, &[r#"{"question": "Who?", "sql": "A"}"#]).is_err());
    let all = [
        r#"{"question": "Who?", "sql": "A"}"#,
        r#"{"question": "How many?", "sql": "B"}"#,
        r#"{"question": "Who?", "sql": "C"}"#,
    ];
    assert_eq!(texts(&read_for(&twice, &all).unwrap()), "ABC");
}

#[test]
fn the_position_pairs_last_and_is_said() {
    let set = read(&[r#"{"sql": "A"}"#, r#"{"sql": "B"}"#, r#"{"sql": "C"}"#]).unwrap();
    assert_eq!((texts(&set).as_str(), &set.paired_by), ("ABC", &PairedBy::Position));
    assert_eq!(set.notes, ["it has no ids; paired by position"]);
}

#[test]
fn a_row_with_the_text_of_another_is_refused() {
    // By position.
    for rows in [
        [
            r#"{"question": "How many?", "sql": "A"}"#,
            r#"{"question": "Who?", "sql": "B"}"#,
            r#"{"question": "Why?", "sql": "C"}"#,
        ],
        [
            r#"{"query": "SELECT count", "pred": "A"}"#,
            r#"{"query": "SELECT name;", "pred": "B"}"#,
            r#"{"query": "SELECT place", "pred": "C"}"#,
        ],
    ] {
        let message = read(&rows).unwrap_err().to_string();
        assert!(message.contains("2 rows with the") && message.contains("paired by position"), "{message}");
        assert!(
            message.contains(r#"line 1 stands for "a1" and has the"#) && message.contains("line 2"),
            "{message}"
        );
    }
    // By id.
    let message = read(&[r#"{"id": "a1", "question": "Where?", "sql": "A"}"#]).unwrap_err().to_string();
    assert!(message.contains("paired by column id"), "{message}");
    // A column of golds that holds drafts proves nothing.
    let drafts = [
        r#"{"query": "SELECT count", "pred": "A"}"#,
        r#"{"query": "SELECT x", "pred": "B"}"#,
        r#"{"query": "SELECT y", "pred": "C"}"#,
    ];
    assert_eq!(texts(&read(&drafts).unwrap()), "ABC");
}

#[test]
fn an_object_is_no_answer_and_its_texts_are_named() {
    let rows = [r#"{"id": "a1", "response": {"body": [{"text": "A"}], "model": "m"}}"#];
    let message = read(&rows).unwrap_err().to_string();
    let hint = "the SQL is an object; name the text in it that is the SQL: --column prediction=response.body.0.text (or response.model)";
    assert!(message.contains(hint), "{message}");
    assert!(
        read(&[r#"{"id": "a1", "sql": null}"#])
            .unwrap_err()
            .to_string()
            .contains("has no prediction for any example")
    );
}

/// Rows that copy the item, chat beside the query, columns under odd names: their values tell.
#[test]
fn values_settle_what_names_leave_in_doubt() {
    let copied = [
        r#"{"id": "a1", "sql": "SELECT name", "mine": "SELECT 7"}"#,
        r#"{"id": "a2", "sql": "SELECT count", "mine": "SELECT 8"}"#,
    ];
    let message = read(&copied).unwrap_err().to_string();
    assert!(
        message.contains(r#"has the golds themselves in the column "sql""#)
            && message.contains("prediction=mine"),
        "{message}"
    );
    // A system may be right in all its answers.
    assert_eq!(
        texts(&read(&[r#"{"id": "a1", "sql": "SELECT name", "model": "m"}"#]).unwrap()),
        "SELECT name--"
    );
    let chat = [r#"{"id": "a1", "answer": "It is Bob.", "sql": "SELECT 7"}"#];
    let set = read(&chat).unwrap();
    assert_eq!(texts(&set), "SELECT 7--");
    assert!(set.notes[0].contains(r#"the column "answer" holds few queries"#), "{:?}", set.notes);
    let odd_names = [
        r#"{"input": "Where?", "PREDICTED SQL": "C"}"#,
        r#"{"input": "who?", "PREDICTED SQL": "A"}"#,
        r#"{"input": "How many?", "PREDICTED SQL": "B"}"#,
    ];
    assert_eq!(texts(&read(&odd_names).unwrap()), "ABC");
    let shuffled = [
        r#"{"gts": "SELECT place", "pred": "SELECT 3"}"#,
        r#"{"gts": "SELECT name", "pred": "SELECT 1"}"#,
        r#"{"gts": "SELECT count", "pred": "SELECT 2"}"#,
    ];
    assert!(read(&shuffled).unwrap_err().to_string().contains("3 rows with the gold of another example"));
}

#[test]
fn a_column_that_is_named_pairs_or_is_an_error() {
    let read_with = |benchmark: &Benchmark, name: &str, rows: &str, named: &[(&str, &str)]| {
        let mut columns = Columns::default();
        named.iter().for_each(|(role, column)| columns.name(role, *column).unwrap());
        let options = PredictionOptions { columns, ..PredictionOptions::default() };
        parse_predictions("S", Input::from_bytes(name, rows.into()), benchmark, &options)
    };
    let rows = "{\"task\": \"x\", \"sql\": \"A\"}\n{\"task\": \"y\", \"sql\": \"B\"}\n{\"task\": \"z\", \"sql\": \"C\"}";
    let error =
        |named: &[(&str, &str)]| read_with(&without_ids(), "p.jsonl", rows, named).unwrap_err().to_string();
    assert!(error(&[("pred.id", "task")]).contains("3 of its ids are not in the benchmark"));
    assert!(error(&[("pred.question", "task")]).contains("names the questions in a column"));
    // One row of a batch failed.
    let batch = "{\"id\": \"a1\", \"response\": {\"text\": \"A\"}}\n{\"id\": \"a2\", \"response\": null, \"error\": \"timeout\"}";
    let set = read_with(&golds(GOLDS), "p.jsonl", batch, &[("prediction", "response.text")]).unwrap();
    assert_eq!(texts(&set), "A--");
    // The database that a line names is the example's.
    let two = golds(&GOLDS.replacen("\"d\"", "\"e\"", 1));
    assert!(
        read_with(&two, "p.sql", "A\td\nB\td\nC\n", &[])
            .unwrap_err()
            .to_string()
            .contains("line 1: the database is")
    );
    assert_eq!(texts(&read_with(&two, "p.sql", "A\te\nB\tother\nC\n", &[]).unwrap()), "ABC");
}

#[test]
fn columns_are_named_apart_and_paths_have_indices() {
    let mut columns = Columns::default();
    for (role, column) in [("pred.id", "meta.key"), ("pred.sql", "choices.-1.text"), ("gold.sql", "query")] {
        columns.name(role, column).unwrap();
    }
    assert!(columns.name("pred.nothing", "x").is_err() && columns.name("other.id", "x").is_err());
    let gold = parse_benchmark(&Input::from_bytes("gold.json", GOLDS.into()), None, None, &columns).unwrap();
    assert_eq!(gold.examples[2].golds, ["SELECT place"]);
    let rows = r#"{"id": "a1", "meta": {"key": "a3"}, "choices": [{"text": "draft"}, {"text": "C"}]}"#;
    let options = PredictionOptions { columns, ..PredictionOptions::default() };
    let set = parse_predictions("S", Input::from_bytes("p.jsonl", rows.into()), &gold, &options).unwrap();
    assert_eq!((texts(&set).as_str(), set.paired_by.to_string().as_str()), ("--C", "column meta.key"));
    let mut past_the_end = Columns::default();
    past_the_end.set(ColumnRole::Prediction, "choices.2.text");
    let options = PredictionOptions { columns: past_the_end, ..PredictionOptions::default() };
    assert!(parse_predictions("S", Input::from_bytes("p.jsonl", rows.into()), &gold, &options).is_err());
}

#[test]
fn an_item_that_is_there_twice_is_two_items() {
    let twice =
        golds(&GOLDS.replace("a2", "a1").replace("How many?", "Who?").replace("SELECT count", "SELECT name"));
    let ids: Vec<&str> = twice.examples.iter().map(|example| example.id.as_str()).collect();
    assert_eq!((ids, twice.notes.len()), (vec!["a1", "a1#2", "a3"], 1));
    let both = [r#"{"id": "a1", "sql": "A"}"#, r#"{"id": "a1", "sql": "B"}"#, r#"{"id": "a3", "sql": "C"}"#];
    assert_eq!(texts(&read_for(&twice, &both).unwrap()), "ABC");
    assert_eq!(texts(&read_for(&twice, &[both[2], both[0]]).unwrap()), "AAC");
    let thrice = [both[0], both[0], both[0]];
    assert!(read_for(&twice, &thrice).unwrap_err().to_string().contains("occurs twice"));
    let keyed = Input::from_bytes("p.json", r#"{"0": "A", "1": "B", "2": "C"}"#.into());
    assert_eq!(texts(&parse_predictions("S", keyed, &twice, &PredictionOptions::default()).unwrap()), "ABC");
}

#[test]
fn golds_come_by_id_without_databases_and_without_answers() {
    let gold = Input::from_bytes("g.json", r#"{"h1": "SELECT 1", "h2": "null", "h3": null}"#.into());
    let questions = Input::from_bytes(
        "q.json",
        r#"{"version": "1", "data": [{"id": "h3", "question": "c"}, {"id": "h1", "question": "a"}, {"id": "h2", "question": "b"}]}"#.into(),
    );
    let benchmark = parse_benchmark(&gold, Some(&questions), None, &Columns::default()).unwrap();
    let read: Vec<_> = benchmark
        .examples
        .iter()
        .map(|e| (e.id.as_str(), e.question.as_deref().unwrap(), e.golds.len(), e.db_id.as_str()))
        .collect();
    assert_eq!(read, [("h1", "a", 1, ""), ("h2", "b", 0, ""), ("h3", "c", 0, "")]);
    assert!(
        benchmark.notes.iter().any(|note| note.contains("2 of 3 questions have no answer")),
        "{:?}",
        benchmark.notes
    );
    let answers = Input::from_bytes("p.json", r#"{"h1": "SELECT 1", "h2": null}"#.into());
    let set = parse_predictions("S", answers, &benchmark, &PredictionOptions::default()).unwrap();
    assert_eq!(set.predictions[1].as_ref().map(|answer| answer.sql.as_str()), Some(""));
    assert!(set.predictions[2].is_none());
    let wrapped = r#"{"model": "m", "results": [{"id": "h1", "sql": "SELECT 1"}], "cost": 3}"#;
    let wrapped = Input::from_bytes("p.json", wrapped.into());
    let set = parse_predictions("S", wrapped, &benchmark, &PredictionOptions::default()).unwrap();
    assert_eq!(set.predictions[0].as_ref().map(|answer| answer.sql.as_str()), Some("SELECT 1"));
    // A cell that nobody filled is no statement.
    let csv = Input::from_bytes("g.csv", b"id,gold\n1,SELECT 1\n2,\n".to_vec());
    assert!(
        parse_benchmark(&csv, None, None, &Columns::default())
            .unwrap_err()
            .to_string()
            .contains("no gold query")
    );
    for lines in ["SELECT 1\nSELECT 2\n", "SELECT 1"] {
        let lines = Input::from_bytes("g.sql", lines.into());
        assert!(
            parse_benchmark(&lines, None, None, &Columns::default())
                .unwrap()
                .examples
                .iter()
                .all(|e| e.db_id.is_empty())
        );
    }
}

/// Columns that say nothing about the example, beside at most one that does.
#[derive(Debug, Clone)]
struct Shuffled {
    /// The example of each row.
    order: Vec<usize>,
    /// How the ids of the benchmark look.
    ids: Ids,
    /// The column with the id, and whether the question is there.
    id_column: Option<&'static str>,
    has_question: bool,
    decoys: Vec<(&'static str, Vec<usize>)>,
}

#[derive(Debug, Clone, Copy)]
enum Ids {
    Names,
    Numbers,
    LargeNumbers,
}

impl Shuffled {
    fn id(&self, at: usize) -> String {
        match self.ids {
            Ids::Names => format!("q{at}"),
            Ids::Numbers => at.to_string(),
            Ids::LargeNumbers => (100 + 7 * at).to_string(),
        }
    }

    fn benchmark(&self) -> Benchmark {
        let item = |at| serde_json::json!({"id": self.id(at), "db_id": "d", "question": format!("Question {at}?"), "query": format!("SELECT {at}")});
        golds(&(0..self.order.len()).map(item).collect::<serde_json::Value>().to_string())
    }

    fn rows(&self) -> Vec<String> {
        let row = |(row, at): (usize, &usize)| {
            let mut fields = serde_json::Map::new();
            for (name, values) in &self.decoys {
                fields.insert((*name).to_owned(), values[row].into());
            }
            if let Some(name) = self.id_column {
                fields.insert(name.to_owned(), self.id(*at).into());
            }
            if self.has_question {
                fields.insert("question".to_owned(), format!("Question {at}?").into());
            }
            fields.insert("pred".to_owned(), format!("SELECT {at}").into());
            serde_json::Value::Object(fields).to_string()
        };
        self.order.iter().enumerate().map(row).collect()
    }
}

fn shuffled() -> impl Strategy<Value = Shuffled> {
    let order = (1_usize..7).prop_flat_map(|count| Just((0..count).collect::<Vec<_>>()).prop_shuffle());
    order.prop_flat_map(|order| {
        let count = order.len();
        let counter = Just((0..count).collect::<Vec<_>>());
        let from_one = Just((1..=count).collect::<Vec<_>>());
        let rank = Just((0..count).collect::<Vec<_>>()).prop_shuffle();
        let flags = prop::collection::vec(0_usize..2, count);
        let decoy = prop_oneof![
            (prop_oneof![Just("id"), Just("index"), Just("Unnamed: 0")], prop_oneof![counter, from_one]),
            (Just("rank"), rank),
            (Just("correct"), flags),
        ];
        let ids = prop_oneof![Just(Ids::Names), Just(Ids::Numbers), Just(Ids::LargeNumbers)];
        let names = ["question_id", "custom_id", "task_id", "case", "key"];
        let id_column =
            prop_oneof![1 => Just(None), 4 => prop::sample::select(names.to_vec()).prop_map(Some)];
        (Just(order), ids, id_column, any::<bool>(), prop::collection::vec(decoy, 0..3)).prop_map(
            |(order, ids, id_column, has_question, decoys)| Shuffled {
                order,
                ids,
                id_column,
                has_question,
                decoys,
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Whatever stands beside: with an id or a question each row finds its example, or the file is refused.
    #[test]
    fn a_row_finds_its_example_or_none(file in shuffled()) {
        let is_in_order = file.order.iter().enumerate().all(|(row, at)| row == *at);
        prop_assume!(file.id_column.is_some() || file.has_question || is_in_order);
        let rows = file.rows();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        if let Ok(set) = read_for(&file.benchmark(), &rows) {
            for (at, answer) in set.predictions.iter().enumerate() {
                let sql = answer.as_ref().map_or("", |answer| answer.sql.as_str());
                let wanted = format!("SELECT {at}");
                prop_assert_eq!(sql, wanted.as_str(), "{:?}: {:?}", set.paired_by, rows);
            }
        }
    }
}
