//! Questions in the words of a writer that is not to be trusted.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sqlgauge_engine::{Limits, SqliteEngine};
use sqlgauge_sql::schema::Schema;
use sqlgauge_synth::polish::{Polish, Polished, PolishedText, WordingRefusal, Writer, WriterError};
use sqlgauge_synth::{CorpusError, CorpusSummary, SynthOptions, SynthPair, sources, synthesize};

const SHOP: &str = "
    CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
    INSERT INTO customer SELECT i, 'Customer ' || char(64 + i), CASE i % 3 WHEN 0 THEN 'Ulm' WHEN 1 THEN 'Lyon' END, 20 + i FROM n;
";

/// Rewords every question, and answers its own words by turns rightly, wrongly, never, and with what would take all memory.
#[derive(Debug, Default)]
struct Fake {
    sql: Mutex<HashMap<String, String>>,
    /// After so many calls it is gone.
    lasts: Option<usize>,
    calls: AtomicUsize,
}

/// What the fake answers to its own wording, by the length of the query.
fn answer(sql: &str) -> String {
    match sql.len() % 4 {
        0 => format!("Here it is:\n```sql\n{sql};\n```"),
        1 => "SELECT 'nothing of the kind'".to_owned(),
        2 => "DELETE FROM customer".to_owned(),
        _ => {
            let doubled = |inner: String, _| format!("SELECT a || a AS a FROM ({inner})");
            (0..40).fold("SELECT name AS a FROM customer".to_owned(), doubled)
        }
    }
}

impl Fake {
    fn is_there(&self) -> Result<(), WriterError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        let is_gone = self.lasts.is_some_and(|lasts| call >= lasts);
        if is_gone {
            return Err(WriterError { message: "gone".to_owned(), is_cancelled: false });
        }
        Ok(())
    }
}

impl Writer for Fake {
    fn name(&self) -> String {
        "fake".to_owned()
    }

    fn reword(&self, _: &Schema, questions: &[(&str, &str)]) -> Result<Vec<PolishedText>, WriterError> {
        self.is_there()?;
        let mut queries = self.sql.lock().unwrap();
        let reword = |&(question, sql): &(&str, &str)| {
            let text =
                if sql.len().is_multiple_of(5) { sql.to_owned() } else { format!("In my words, {question}") };
            queries.insert(text.clone(), sql.to_owned());
            PolishedText { text, is_whole: true }
        };
        Ok(questions.iter().map(reword).collect())
    }

    fn answer(&self, _: &Schema, questions: &[&str]) -> Result<Vec<PolishedText>, WriterError> {
        self.is_there()?;
        let queries = self.sql.lock().unwrap();
        Ok(questions
            .iter()
            .map(|text| PolishedText { text: answer(&queries[*text]), is_whole: true })
            .collect())
    }
}

fn corpus(folder: &Path, out: &str, share: f64, writer: Fake) -> Result<CorpusSummary, CorpusError> {
    for name in ["shop", "store"] {
        let path = folder.join(name).join(format!("{name}.sqlite"));
        if !path.exists() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            rusqlite::Connection::open(&path).unwrap().execute_batch(SHOP).unwrap();
        }
    }
    let options = SynthOptions {
        pairs: 240,
        seed: 3,
        polish: Some(Polish { share, writer: Arc::new(writer) }),
        pairs_per_file: 1000,
        tool_version: "test".to_owned(),
        ..SynthOptions::default()
    };
    let engine = SqliteEngine::new(Limits { max_vm_steps: 1_000_000, max_rows: 20_000, ..Limits::default() });
    let sources =
        sources(&["shop", "store"].map(|name| folder.join(name).join(format!("{name}.sqlite")))).unwrap();
    synthesize(&sources, &engine, &options, folder.join(out), &|_, _| {})
}

fn pairs(folder: &Path) -> Vec<SynthPair> {
    let text = std::fs::read_to_string(folder.join("data/train-00000-of-00001.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_wording_stands_beside_its_question_and_only_right_rows_agree() {
    let folder = tempfile::tempdir().unwrap();
    let summary = corpus(folder.path(), "out", 1.0, Fake::default()).unwrap();
    let (mut agreed, mut differed, mut refused) = (0, 0, 0);
    for pair in pairs(&folder.path().join("out")) {
        let is_plain = pair.turns.is_empty() && pair.other_readings.is_empty();
        match pair.polished {
            None => assert!(!is_plain, "{}", pair.id),
            Some(Polished::Refused { refused: why }) => {
                assert!(
                    why == WordingRefusal::Sql && pair.sql.len().is_multiple_of(5),
                    "{why:?}: {}",
                    pair.sql
                );
                refused += 1;
            }
            Some(Polished::Wording { question, agrees }) => {
                assert_eq!(question, format!("In my words, {}", pair.question.unwrap()));
                assert_eq!(agrees, pair.sql.len().is_multiple_of(4), "{}", pair.sql);
                if agrees { agreed += 1 } else { differed += 1 }
            }
        }
    }
    let counted = |name: &str| summary.tally.polished[name];
    assert_eq!((counted("agrees"), counted("differs"), counted("refused: sql")), (agreed, differed, refused));
    assert!(agreed > 20 && differed > 60 && refused > 20);
    let card = std::fs::read_to_string(folder.path().join("out/README.md")).unwrap();
    assert!(card.contains(&format!("| agrees | {agreed} |")), "{card}");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_share_of_the_questions_is_reworded_and_the_rest_is_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    corpus(folder.path(), "none", 0.0, Fake::default()).unwrap();
    corpus(folder.path(), "some", 0.3, Fake::default()).unwrap();
    let of = |name: &str| pairs(&folder.path().join(name));
    let count = of("some").iter().filter(|pair| pair.polished.is_some()).count();
    assert!((30..100).contains(&count), "{count}");
    for (plain, mut other) in of("none").into_iter().zip(of("some")) {
        other.polished = None;
        assert_eq!(serde_json::to_value(plain).unwrap(), serde_json::to_value(other).unwrap());
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_writer_that_is_gone_ends_the_corpus_and_the_next_one_comes_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    corpus(folder.path(), "whole", 0.5, Fake::default()).unwrap();
    for lasts in [0, 1, 2, 3] {
        let out = format!("broken{lasts}");
        let error =
            corpus(folder.path(), &out, 0.5, Fake { lasts: Some(lasts), ..Fake::default() }).unwrap_err();
        assert!(matches!(&error, CorpusError::Polish(error) if !error.is_cancelled), "{error}");
        corpus(folder.path(), &out, 0.5, Fake::default()).unwrap();
        for file in ["data/train-00000-of-00001.jsonl", "README.md", "synth.json"] {
            let read = |name: &str| std::fs::read(folder.path().join(name).join(file)).unwrap();
            assert_eq!(read(&out), read("whole"), "{file} after {lasts} calls");
        }
    }
}
